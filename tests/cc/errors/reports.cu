// SPDX-License-Identifier: MIT
// The calls by which accesses are reported, which vgpu-cc puts in.
extern "C" __device__ void __tsan_read4(void *);

__global__ void forged(int *p)
{
    __tsan_read4(p); //!5 __tsan_read4 is not allowed in device code
}
