// SPDX-License-Identifier: MIT
// Ordinary compile errors keep their line and column, also behind rewritten text on the same line.
#define CHECK(call) if ((call) != cudaSuccess) return 1
#define LAUNCH(k, ...) k<<<1, 1>>>(__VA_ARGS__)

__global__ void k(float *out, int n)
{
    __shared__ float tile[8], other[missing_size]; //!37 use of undeclared identifier 'missing_size'
    __shared__ int flag; flag = missing_one;       //!33 use of undeclared identifier 'missing_one'
    tile[n] = missing_two;                         //!15 use of undeclared identifier 'missing_two'
    out[0] = tile[0] + other[0] + flag; //!24 use of undeclared identifier 'other'
}

__global__ void second(float *out) { out[0] = 1; } int after = missing_three; //!64 use of undeclared identifier 'missing_three'

static int host(float *out) { return missing_four; } //!38 use of undeclared identifier 'missing_four'

int main()
{
    float *out;
    CHECK(cudaMalloc(&missing_five, 4));        //!23 use of undeclared identifier 'missing_five'
    k<<<missing_six, 1>>>(out, 1);              //!9 use of undeclared identifier 'missing_six'
    k<<<1,
        missing_seven>>>(out, missing_eight);   //!9 use of undeclared identifier 'missing_seven'
    k<<<1, 1>>>(out, missing_nine); int last = missing_ten; //!22 use of undeclared identifier 'missing_nine'
    LAUNCH(k, out, missing_eleven);             //? use of undeclared identifier 'missing_eleven'
    missing_twelve = last + after + host(out);  //!5 use of undeclared identifier 'missing_twelve'
}
