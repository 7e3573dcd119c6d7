/* SPDX-License-Identifier: MIT
 * kernels_sync.c: test kernels whose threads wait for each other.
 */
#include "kernels.h"

/* shared_poison(out): what a fresh block finds in its shared memory; then it writes there */
KERNEL(shared_poison)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *s = vgpu_shared(1, 256, 4);
    if (tid() == 0) {
        ((uint32_t *)a)[vgpu_block_idx().x] = s[63];
        s[63] = 5;
    }
}

/* shared_dynamic(out): a static object and the dynamic part do not overlap */
KERNEL(shared_dynamic)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *s = vgpu_shared(2, 128, 16), *t = vgpu_dynamic_shared();
    uint32_t i = tid();
    s[i] = i;
    t[i] = 100 + i;
    SYNC();
    ((uint32_t *)a)[i] = s[31 - i] + t[31 - i];
}

KERNEL(shared_huge)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *s = vgpu_shared(3, 300 << 10, 4);
    *(uint32_t *)a = s[0];
}

KERNEL(shared_beyond)
{
    UNUSED(c), UNUSED(d);
    volatile uint32_t *s = vgpu_shared(4, 256, 4);
    *(uint32_t *)a = s[b];
}

/* reduce(in, out, n): a tree in shared memory, one sum a block */
KERNEL(reduce)
{
    UNUSED(d);
    uint32_t *s = vgpu_shared(5, 4096, 4);
    uint32_t i = tid(), at = global_id();
    s[i] = at < c ? ((const uint32_t *)a)[at] : 0;
    SYNC();
    for (uint32_t half = vgpu_block_dim().x / 2; half > 0; half /= 2) {
        if (i < half)
            s[i] += s[i + half];
        SYNC();
    }
    if (i == 0)
        ((uint32_t *)b)[vgpu_block_idx().x] = s[0];
}

/* rotate(p, rounds): in each round every thread takes its right neighbour's value */
KERNEL(rotate)
{
    UNUSED(c), UNUSED(d);
    uint32_t *p = (uint32_t *)a, i = flat_tid();
    struct vgpu_dim3 n = vgpu_block_dim();
    uint32_t count = n.x * n.y * n.z;
    for (uint64_t round = 0; round < b; round++) {
        uint32_t value = p[(i + 1) % count];
        SYNC();
        p[i] = value;
        SYNC();
    }
}

KERNEL(divergent)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *p = (uint32_t *)a;
    if (tid() < 32)
        vgpu_syncthreads("lab.cu:10");
    else
        vgpu_syncthreads("lab.cu:20");
    p[tid()] = 1;
}

KERNEL(early_exit)
{
    UNUSED(c), UNUSED(d);
    if (tid() >= b)
        return;
    SYNC();
    ((uint32_t *)a)[tid()] = 1;
}

/* counted(out): the three reducing barriers */
KERNEL(counted)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *out = (uint32_t *)a, i = tid();
    int third = vgpu_syncthreads_reduce(0, i % 3 == 0, SITE);
    int all = vgpu_syncthreads_reduce(1, i < 99, SITE), every = vgpu_syncthreads_reduce(1, 1, SITE);
    int any = vgpu_syncthreads_reduce(2, i == 50, SITE), none = vgpu_syncthreads_reduce(2, 0, SITE);
    out[i] = (uint32_t)third << 16 | (uint32_t)(all << 3 | every << 2 | any << 1 | none);
}

/* Half of a warp waits at a barrier, the other half for the first. */
KERNEL(deadlock)
{
    UNUSED(a), UNUSED(b), UNUSED(c), UNUSED(d);
    if (tid() % 32 < 16)
        vgpu_syncthreads("lab.cu:30");
    else
        vgpu_syncwarp(0xffffffff, "lab.cu:40");
}

/* shuffles(out): out[kind * 64 + thread] */
KERNEL(shuffles)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *out = (uint32_t *)a, i = tid(), v = 100 + i;
    out[i] = (uint32_t)vgpu_shfl(VGPU_SHFL_IDX, ~0u, v, (int)(i + 1), 32, SITE);
    out[64 + i] = (uint32_t)vgpu_shfl(VGPU_SHFL_UP, ~0u, v, 1, 8, SITE);
    out[128 + i] = (uint32_t)vgpu_shfl(VGPU_SHFL_DOWN, ~0u, v, 3, 32, SITE);
    out[192 + i] = (uint32_t)vgpu_shfl(VGPU_SHFL_XOR, ~0u, v, 5, 32, SITE);
    uint64_t sum = v;
    for (int step = 16; step > 0; step /= 2)
        sum += vgpu_shfl(VGPU_SHFL_DOWN, ~0u, sum, step, 32, SITE);
    out[256 + i] = (uint32_t)sum;
}

/* votes(out): out[thread], out[64 + thread]: the odd lanes vote among themselves */
KERNEL(votes)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *out = (uint32_t *)a, i = tid();
    uint32_t ballot = vgpu_vote(VGPU_VOTE_BALLOT, ~0u, i % 4 == 0, SITE);
    uint32_t all = vgpu_vote(VGPU_VOTE_ALL, ~0u, i < 32, SITE);
    uint32_t any = vgpu_vote(VGPU_VOTE_ANY, ~0u, i == 40, SITE);
    out[i] = ballot ^ all << 1 ^ any << 2;
    out[64 + i] = i % 2 ? vgpu_vote(VGPU_VOTE_BALLOT, 0xAAAAAAAA, i % 3 == 0, SITE) : 7;
}

KERNEL(outside_mask)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t i = tid();
    ((uint32_t *)a)[i] = (uint32_t)vgpu_shfl(VGPU_SHFL_XOR, 0, i, 1, 32, SITE);
}

/* lockstep(out): relies on lanes in lockstep where __syncwarp is missing (unless b) */
KERNEL(lockstep)
{
    UNUSED(c), UNUSED(d);
    uint32_t *s = vgpu_shared(6, 128, 4), i = tid();
    s[i] = i;
    if (b)
        vgpu_syncwarp(~0u, SITE);
    ((uint32_t *)a)[i] = s[31 - i];
}

/* half_warps(out): lanes leave one after another; the rest still meets under the full mask */
KERNEL(half_warps)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t i = tid();
    for (uint32_t left = 0; left < 16; left++) {
        if (i % 32 == left)
            return;
        vgpu_syncwarp(~0u, SITE);
    }
    ((uint32_t *)a)[i] = vgpu_vote(VGPU_VOTE_BALLOT, ~0u, 1, SITE);
}

/* active(out): __activemask in a branch that a third of the lanes take */
KERNEL(active)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t i = tid();
    ((uint32_t *)a)[i] = i % 3 == 0 ? vgpu_activemask() : 7;
}

/* block_flag(flag, out): block 0 waits for what block 1 writes */
KERNEL(block_flag)
{
    UNUSED(c), UNUSED(d);
    volatile uint32_t *flag = (uint32_t *)a;
    if (vgpu_block_idx().x == 0) {
        while (*flag == 0)
            ;
        ((uint32_t *)b)[tid()] = *flag;
    } else if (tid() == 0) {
        *flag = 9;
    }
}

/* wait_flag(flag, value, out): waits; then says what it found */
KERNEL(wait_flag)
{
    UNUSED(d);
    volatile uint32_t *flag = (uint32_t *)a;
    while (*flag != b)
        ;
    if (tid() == 0)
        *(uint32_t *)c = *flag;
}

/* wait_either(flags, n, out): waits until one of n flags is set */
KERNEL(wait_either)
{
    UNUSED(d);
    volatile uint32_t *flag = (uint32_t *)a;
    for (uint64_t i = 0;; i = (i + 1) % b)
        if (flag[i]) {
            *(uint32_t *)c = (uint32_t)i;
            return;
        }
}

/* wait_shared(flag, out): one thread waits for the outside, the others for it */
KERNEL(wait_shared)
{
    UNUSED(c), UNUSED(d);
    volatile uint32_t *go = vgpu_shared(7, 4, 4);
    if (tid() == 0)
        *go = 0;
    SYNC();
    if (tid() == 0) {
        while (*(volatile uint32_t *)a == 0)
            ;
        *go = 1;
    }
    while (*go == 0)
        ;
    ((uint32_t *)b)[tid()] = 1;
}

/* grid_barrier(counter, out, rounds): all blocks meet by an atomic counter */
KERNEL(grid_barrier)
{
    UNUSED(d);
    uint32_t blocks = vgpu_grid_dim().x;
    for (uint64_t round = 1; round <= c; round++) {
        ((volatile uint32_t *)b)[global_id()] = (uint32_t)round;
        SYNC();
        if (tid() == 0) {
            vgpu_atomic(VGPU_ATOMIC_ADD, VGPU_U32, (void *)a, 1, 0, 1);
            while (*(volatile uint32_t *)a < round * blocks)
                ;
        }
        SYNC();
    }
}

/* lock(word, sum): a spin lock around a plain increment */
KERNEL(lock)
{
    UNUSED(c), UNUSED(d);
    while (vgpu_atomic(VGPU_ATOMIC_CAS, VGPU_U32, (void *)a, 1, 0, 1) != 0)
        ;
    *(volatile uint32_t *)b += 1;
    vgpu_atomic(VGPU_ATOMIC_EXCH, VGPU_U32, (void *)a, 0, 0, 1);
}

/* volatile_bound(n, data, out): reads its loop bound again and again, but is no spin */
KERNEL(volatile_bound)
{
    UNUSED(d);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < *(volatile uint32_t *)a; i++)
        sum += ((const uint32_t *)b)[i];
    ((uint64_t *)c)[global_id()] = sum;
}

KERNEL(builtin_atomics)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    uint32_t *p = (uint32_t *)a, i = tid(), zero = 0;
    __atomic_fetch_add(&p[0], i, __ATOMIC_RELAXED);
    __atomic_fetch_or(&p[1], 1u << i % 32, __ATOMIC_ACQ_REL);
    if (__atomic_compare_exchange_n(&p[2], &zero, i + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        __atomic_store_n(&p[3], i, __ATOMIC_RELEASE);
    if (i == 0)
        while (__atomic_load_n(&p[4], __ATOMIC_ACQUIRE) == 0)
            ;
    __atomic_exchange_n((uint64_t *)a + 2, 0x100000001ull, __ATOMIC_SEQ_CST);
}

/* delay(cycles, out): waits on the clock */
KERNEL(delay)
{
    UNUSED(c), UNUSED(d);
    int64_t start = vgpu_clock64();
    while (vgpu_clock64() - start < (int64_t)a)
        ;
    ((uint64_t *)b)[tid()] = (uint64_t)(vgpu_clock64() - start);
}

/* timeout(flag, cycles, out): waits for a flag, but not for ever */
KERNEL(timeout)
{
    UNUSED(d);
    int64_t start = vgpu_clock64();
    while (*(volatile uint32_t *)a == 0)
        if (vgpu_clock64() - start > (int64_t)b) {
            *(uint32_t *)c = 1;
            return;
        }
    *(uint32_t *)c = 2;
}

/* barriers(rounds), for the benchmark */
KERNEL(barriers)
{
    UNUSED(b), UNUSED(c), UNUSED(d);
    for (uint64_t i = 0; i < a; i++)
        SYNC();
}
