// SPDX-License-Identifier: MIT
// mbarrier and cp.async in inline PTX; addresses of shared memory in 32 bits; state spaces.
// prints: ptx async: 0, 719
#include <cuda_runtime.h>
#include <stdio.h>

typedef unsigned long long u64;

__device__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void init(u64 *barrier, unsigned count)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(count)
                 : "memory");
}

__device__ u64 arrive(u64 *barrier)
{
    u64 state;
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(shared_address(barrier))
                 : "memory");
    return state;
}

__device__ bool is_over(u64 *barrier, u64 state)
{
    unsigned over;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(over)
                 : "r"(shared_address(barrier)), "l"(state)
                 : "memory");
    return over;
}

__device__ bool parity_is_over(u64 *barrier, unsigned parity)
{
    unsigned over;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;"
                 " selp.b32 %0, 1, 0, p; }"
                 : "=r"(over)
                 : "r"(shared_address(barrier)), "r"(parity)
                 : "memory");
    return over;
}

// Each thread writes, arrives, and reads its neighbour's when all have arrived; three phases.
__global__ void meet(int *wrong)
{
    __shared__ u64 barrier;
    __shared__ int value[96];
    int i = (int)threadIdx.x, mine = i;

    if (i == 0)
        init(&barrier, 96);
    __syncthreads();
    for (unsigned phase = 0; phase < 3; phase++) {
        value[i] = mine + 1;
        u64 state = arrive(&barrier);
        if (phase == 1)
            while (!parity_is_over(&barrier, 1))
                ;
        else
            while (!is_over(&barrier, state))
                ;
        mine = value[(i + 1) % 96];
        __syncthreads();
    }
    if (mine != (i + 3) % 96 + 3)
        atomicAdd(wrong, 1);
}

// Bytes are waited for, too; a thread leaves; pending arrivals are counted.
__global__ void count(int *wrong)
{
    __shared__ u64 barrier;
    unsigned a = shared_address(&barrier), pending;
    u64 first, second;

    init(&barrier, 2);
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 64;"
                 : "=l"(first)
                 : "r"(a)
                 : "memory");
    second = arrive(&barrier);
    asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(second));
    *wrong += pending != 1 || is_over(&barrier, first);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(a) : "memory");
    *wrong +=
        !is_over(&barrier, first) || !parity_is_over(&barrier, 0) || parity_is_over(&barrier, 1);
    asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(a) : "memory");
    first = arrive(&barrier);
    *wrong += !is_over(&barrier, first);
    second = arrive(&barrier); // one thread is enough from now on
    *wrong += !is_over(&barrier, second);
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(a) : "memory");
}

__global__ void copy(const int *from, int *to, int *wrong)
{
    __shared__ alignas(16) int piece[8];
    __shared__ u64 barrier;
    unsigned local = 1, space = 0;
    int i = (int)threadIdx.x;

    for (int k = 0; k < 8; k++)
        piece[k] = -1;
    init(&barrier, 1);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(piece)),
                 "l"(from), "r"(12));
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;\n"
                 "cp.async.commit_group;\n cp.async.wait_group 0;" ::"r"(shared_address(piece + 4)),
                 "l"(from + 4), "n"(4)
                 : "memory");
    *wrong += piece[2] != 12 || piece[3] != 0 || piece[4] != 14 || piece[5] != -1;
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 32;" ::"r"(shared_address(&barrier))
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(piece)),
        "l"(from), "r"(32), "r"(shared_address(&barrier))
        : "memory");
    *wrong += !parity_is_over(&barrier, 0) || piece[7] != 17;
    asm volatile("st.shared.u32 [%0+4], %1;" ::"r"(shared_address(piece)), "r"(99) : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 16;\n"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::"l"(to),
                 "r"(shared_address(piece))
                 : "memory");
    asm("ld.shared.u32 %0, [%1];" : "=r"(local) : "r"(shared_address(piece + 7)));
    asm("{ .reg .pred p; isspacep.shared p, %1; @p mov.u32 %0, 1; }" : "+r"(space) : "l"(piece));
    *wrong += local != 17 || space != 1 || !__isShared(piece) || __isGlobal(piece) ||
              !__isLocal(&i) || !__isGlobal(from) ||
              __cvta_shared_to_generic(shared_address(piece)) != piece;
}

__global__ void misuse()
{
    __shared__ u64 barrier;
    init(&barrier, 1);
    asm volatile("mbarrier.arrive.shared.b64 _, [%0], 2;" ::"r"(shared_address(&barrier))
                 : "memory");
}

int main()
{
    int *d, h[17] = {0};

    cudaMalloc((void **)&d, sizeof h);
    for (int i = 0; i < 8; i++)
        h[i + 1] = 10 + i;
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    meet<<<2, 96>>>(d);
    count<<<1, 1>>>(d);
    copy<<<1, 1>>>(d + 1, d + 9, d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    h[0] += h[9] != 10 || h[10] != 99 || h[12] != 13;
    misuse<<<1, 1>>>();
    printf("ptx async: %d, %d\n", h[0], (int)cudaDeviceSynchronize());
    return 0;
}
