// SPDX-License-Identifier: MIT
// A block's static shared memory has a limit.
__global__ void shared(int *out) //!1 kernel 'shared' has 50000 bytes of static shared memory
{
    __shared__ char much[50000];
    much[threadIdx.x] = 1;
    *out = much[0];
}
