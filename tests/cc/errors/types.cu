// SPDX-License-Identifier: MIT
// What the compiler finds out about the types of variables.
struct with_constructor {
    with_constructor() : n(1) {}
    int n;
};

static int run_time();

__device__ int dynamic = run_time(); //!16 dynamic initialization is not supported for __device__

__global__ void decides(cudaGraphConditionalHandle handle); //! the virtual node has no conditional nodes of graphs

__global__ void shared()
{
    __shared__ with_constructor object; //! no matching constructor for initialization of 'with_constructor'
    object.n = 1;
}
