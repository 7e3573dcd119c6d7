// SPDX-License-Identifier: MIT
// Loads, stores, fences and additions in inline PTX, between two blocks of which one waits.
// prints: ptx memory: 10 20 30 40, 2.5 7, 42 43, 4 4, 0
#include <cuda_runtime.h>
#include <stdio.h>

struct box {
    uint4 vector;
    float2 pair;
    unsigned long long wide;
    unsigned flag, sum, old;
};

__device__ __forceinline__ void put(uint4 *to, uint4 v)
{
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.x), "r"(v.y),
                 "r"(v.z), "r"(v.w)
                 : "memory");
}

__device__ __forceinline__ uint4 get(const uint4 *from)
{
    uint4 v;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

__device__ unsigned acquire(const unsigned *flag)
{
    unsigned v;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    return v;
}

__device__ void send(box *to)
{
    float a = 2.5f, b = 7;
    unsigned long long wide = 42;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    put(&to->vector, make_uint4(10, 20, 30, 40));
    asm volatile("st.global.v2.f32 [%0], {%1,%2};" ::"l"(&to->pair), "f"(a), "f"(b));
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(&to->wide), "l"(wide));
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    asm volatile("red.release.sys.global.add.u32 [%0], %1;" ::"l"(&to->sum), "r"(4));
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&to->flag), "r"(1u) : "memory");
}

__device__ void receive(box *mine, box *out)
{
    unsigned old, last;
    unsigned long long wide;
    float a, b;
    while (acquire(&mine->flag) == 0)
        ;
    out->vector = get(&mine->vector);
    asm("ld.global.nc.L1::no_allocate.v2.f32 {%0,%1}, [%2];" : "=f"(a), "=f"(b) : "l"(&mine->pair));
    asm("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(wide) : "l"(&mine->wide));
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(wide)
                 : "l"(&mine->wide), "l"(wide / 42)
                 : "memory");
    asm volatile("atom.global.exch.b32 %0,[%1],%2;" : "=r"(old) : "l"(&mine->sum), "r"(9));
    asm volatile("ld.volatile.global.u32 %0,[%1];" : "=r"(last) : "l"(&mine->sum));
    out->pair = make_float2(a, b);
    out->wide = mine->wide - 1 == wide ? wide : 0;
    out->old = old;
    out->sum = last - 5;
    out->flag = 0;
}

__global__ void both(box *mine, box *out)
{
    if (blockIdx.x == 0)
        receive(mine, out);
    else
        send(mine);
}

int main()
{
    box *at, *out, h;
    int error = 0;

    error |= cudaMalloc((void **)&at, sizeof *at);
    error |= cudaMemset(at, 0, sizeof *at);
    error |= cudaMalloc((void **)&out, sizeof *out);
    both<<<2, 1>>>(at, out);
    error |= cudaDeviceSynchronize();
    error |= cudaMemcpy(&h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("ptx memory: %u %u %u %u, %g %g, %llu %llu, %u %u, %d\n", h.vector.x, h.vector.y,
           h.vector.z, h.vector.w, h.pair.x, h.pair.y, h.wide, h.wide + 1, h.old, h.sum, error);
    return 0;
}
