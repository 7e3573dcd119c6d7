// SPDX-License-Identifier: MIT
// What CUDA does not allow, and what is not modelled.
__global__ void kernel(int *out)
{
    *out = 1;
}

__global__ void parent(int *out)
{
    kernel<<<1, 1>>>(out); //!5 reference to __global__ function 'kernel' in __global__ function
}

__device__ void thrower()
{
    throw 1; //!5 cannot use 'throw' in __device__ function
}

struct s {
    __global__ void member(int *out) { *out = 1; } //!5 kernel function 'member' must be a free function
};

void host(int *out)
{
    __shared__ int no_block;  //!5 __shared__ local variables not allowed in __host__ functions
    kernel(out);              //!11 call to global function 'kernel' not configured
    kernel<<<1, 1, 0, 0, 0>>>(out); //!26 too many execution configuration arguments
    host<<<1, 1>>>(out);      //!19 kernel call to non-global function 'host'
    kernel<<<1, 1>>> out;     //!21 expected '('
}

__global__ void initialised()
{
    __shared__ int n = 3; //!20 initialization is not supported for __shared__ variables
}
