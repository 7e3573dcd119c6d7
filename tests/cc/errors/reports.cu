// SPDX-License-Identifier: MIT
// The calls by which accesses are reported and counted, which vgpu-cc puts in, and the counters.
extern "C" __device__ void __tsan_read4(void *);
extern "C" __device__ void vgpu_sweep_count(unsigned long first, unsigned long rounds,
                                            unsigned how);
extern "C" __device__ void vgpu_early_store(void *, unsigned long, const void *, unsigned how);
extern "C" __device__ unsigned long vgpu_work[3];

__global__ void forged(int *p)
{
    __tsan_read4(p); //!5 __tsan_read4 is not allowed in device code
    unsigned long first = (unsigned long)p;
    vgpu_sweep_count(first, -100, 2); //!5 vgpu_sweep_count is not allowed in device code
    vgpu_early_store(p, 1, p, 68);    //!5 vgpu_early_store is not allowed in device code
    vgpu_work[0] = 0;                 //!18 vgpu_work is not allowed in device code
}
