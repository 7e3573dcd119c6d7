// SPDX-License-Identifier: MIT
// only: gcc
// Ordinary compile errors keep their line and column, also behind rewritten text on the same line.
#define CHECK(call) if ((call) != cudaSuccess) return 1
#define LAUNCH(k, ...) k<<<1, 1>>>(__VA_ARGS__)

__global__ void k(float *out, int n)
{
    __shared__ float tile[8], other[missing_size]; //!37 'missing_size' was not declared in this scope
    __shared__ int flag; flag = missing_one;       //!33 'missing_one' was not declared in this scope
    tile[n] = missing_two;                         //!15 'missing_two' was not declared in this scope
    out[0] = tile[0] + other[0] + flag;
}

__global__ void second(float *out) { out[0] = 1; } int after = missing_three; //!64 'missing_three' was not declared in this scope

static int host(float *out) { return missing_four; } //!38 'missing_four' was not declared in this scope

int main()
{
    float *out;
    CHECK(cudaMalloc(&missing_five, 4));        //!23 'missing_five' was not declared in this scope
    k<<<missing_six, 1>>>(out, 1);              //!9 'missing_six' was not declared in this scope
    k<<<1,
        missing_seven>>>(out, missing_eight);   //!9 'missing_seven' was not declared in this scope
    k<<<1, 1>>>(out, missing_nine); int last = missing_ten; //!22 'missing_nine' was not declared in this scope
    LAUNCH(k, out, missing_eleven);             //? 'missing_eleven' was not declared in this scope
    missing_twelve = last + after + host(out);  //!5 'missing_twelve' was not declared in this scope
}
