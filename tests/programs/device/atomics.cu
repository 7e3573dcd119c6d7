/* SPDX-License-Identifier: MIT
 * atomics.cu: cuda::atomic and cuda::atomic_ref of every scope, in device and in host code: every
 * operation's value, a lock, a message between blocks, and sums of many threads.
 */
#include <cuda/atomic>
#include <cuda/std/atomic>

#include "../check.h"

constexpr int BLOCKS = 8, THREADS = 64;

struct shared_state {
    cuda::atomic<int, cuda::thread_scope_device> turns;
    cuda::atomic<unsigned long long, cuda::thread_scope_system> total;
    cuda::atomic<float, cuda::thread_scope_device> real;
    cuda::atomic<double> large;
    cuda::std::atomic<unsigned> bits;
    cuda::std::atomic_flag lock;
    int plain, guarded;
};

__device__ cuda::atomic<int, cuda::thread_scope_device> arrived{0};

__global__ void count(shared_state *state, int *plain)
{
    __shared__ cuda::atomic<int, cuda::thread_scope_block> here;
    if (threadIdx.x == 0)
        here.store(0, cuda::std::memory_order_relaxed);
    __syncthreads();
    here.fetch_add(1, cuda::memory_order_relaxed);
    state->total += threadIdx.x;
    state->real.fetch_add(0.5f);
    state->large.fetch_max((double)(blockIdx.x * blockDim.x + threadIdx.x));
    state->bits |= 1u << threadIdx.x % 32;
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(*plain);
    ref.fetch_add(2, cuda::std::memory_order_relaxed);
    while (state->lock.test_and_set(cuda::std::memory_order_acquire))
        ;
    state->guarded = state->guarded + 1;
    state->lock.clear(cuda::std::memory_order_release);
    __syncthreads();
    if (threadIdx.x == 0 && here.load() == (int)blockDim.x)
        ++state->turns;
}

/* Block 0 sends, all others wait for it. */
__global__ void send(int *message, cuda::atomic<int, cuda::thread_scope_device> *ready, int *got)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == gridDim.x - 1) {
        *message = 42;
        cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
        ready->store(1, cuda::memory_order_relaxed);
        ready->notify_all();
    } else {
        ready->wait(0, cuda::memory_order_acquire);
        got[blockIdx.x] = *message;
        arrived.fetch_add(1);
    }
}

/* Every operation once; a bit for each one that is right. */
template <class Atomic> __host__ __device__ unsigned operations(Atomic &a)
{
    unsigned right = 0;
    int expected = 7;
    a.store(7);
    right |= (unsigned)(a.load() == 7 && (int)a == 7) << 0;
    right |= (unsigned)(a.exchange(9) == 7) << 1;
    right |= (unsigned)(!a.compare_exchange_strong(expected, 1) && expected == 9) << 2;
    right |= (unsigned)(a.compare_exchange_strong(expected, 12)) << 3;
    while (!a.compare_exchange_weak(expected, 12, cuda::std::memory_order_acq_rel))
        ;
    right |= (unsigned)(a.fetch_add(4) == 12 && a.fetch_sub(1) == 16) << 4;
    right |= (unsigned)(a.fetch_and(6) == 15 && a.fetch_or(9) == 6 && a.fetch_xor(5) == 15) << 5;
    right |= (unsigned)(a.fetch_min(3) == 10 && a.fetch_max(8) == 3 && a.load() == 8) << 6;
    right |= (unsigned)(a++ == 8 && ++a == 10 && a-- == 10 && --a == 8) << 7;
    right |= (unsigned)((a += 5) == 13 && (a -= 3) == 10 && (a &= 3) == 2 && (a |= 4) == 6) << 8;
    right |= (unsigned)((a ^= 1) == 7 && (a = 20) == 20 && a.is_lock_free()) << 9;
    return right;
}

__global__ void all_operations(int *at, unsigned *right)
{
    cuda::atomic_ref<int, cuda::thread_scope_system> ref(*at);
    __shared__ cuda::atomic<int, cuda::thread_scope_block> here;
    right[0] = operations(ref);
    right[1] = operations(here);
    /* a pointer, a structure, small integers */
    cuda::atomic<int *, cuda::thread_scope_thread> pointer(at);
    pointer.fetch_add(2);
    pointer--;
    cuda::atomic<short> small{-1};
    struct two {
        int a, b;
    };
    cuda::atomic<two> pair(two{1, 2});
    two old = pair.exchange(two{3, 4});
    right[2] = pointer.load() == at + 1 && small.fetch_add(2) == -1 && small.load() == 1 &&
               old.a == 1 && pair.load().b == 4;
}

int main()
{
    shared_state *state;
    int *plain, *message, *got;
    unsigned *right;
    cuda::atomic<int, cuda::thread_scope_device> *ready;
    MUST(cudaMallocManaged(&state, sizeof *state));
    MUST(cudaMallocManaged(&plain, sizeof *plain));
    MUST(cudaMallocManaged(&right, 3 * sizeof *right));
    MUST(cudaMalloc(&message, sizeof *message));
    MUST(cudaMalloc(&ready, sizeof *ready));
    MUST(cudaMallocManaged(&got, BLOCKS * sizeof *got));
    memset((void *)state, 0, sizeof *state);
    *plain = 0;
    count<<<BLOCKS, THREADS>>>(state, plain);
    MUST(cudaDeviceSynchronize());
    HOLDS(state->turns == BLOCKS, "%d", state->turns.load());
    HOLDS(state->total.load() == BLOCKS * THREADS * (THREADS - 1) / 2, "%llu", state->total.load());
    HOLDS(state->real.load() == BLOCKS * THREADS / 2, "%g", state->real.load());
    HOLDS(state->large.load() == BLOCKS * THREADS - 1, "%g", state->large.load());
    HOLDS(state->bits.load() == 0xffffffffu, "%x", state->bits.load());
    HOLDS(state->guarded == BLOCKS * THREADS && *plain == 2 * BLOCKS * THREADS, "%d %d",
          state->guarded, *plain);

    MUST(cudaMemset(ready, 0, sizeof *ready));
    send<<<BLOCKS, 32>>>(message, ready, got);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < BLOCKS - 1; i++)
        HOLDS(got[i] == 42, "block %d got %d", i, got[i]);
    int count_arrived = 0;
    MUST(cudaMemcpyFromSymbol(&count_arrived, arrived, sizeof count_arrived));
    HOLDS(count_arrived == BLOCKS - 1, "%d", count_arrived);

    all_operations<<<1, 1>>>(plain, right);
    MUST(cudaDeviceSynchronize());
    HOLDS(right[0] == 0x3ff && right[1] == 0x3ff && right[2] == 1, "%x %x %x", right[0], right[1],
          right[2]);
    cuda::atomic_ref<int> on_host(*plain);
    cuda::atomic<int> own{0};
    HOLDS(operations(on_host) == 0x3ff && operations(own) == 0x3ff, "on the host");
    printf("PASS\n");
    return 0;
}
