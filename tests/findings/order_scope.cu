/* SPDX-License-Identifier: MIT
 * order_scope.cu: cases of order.fence and order.scope: kernels of two GPUs that run at the same
 * time, with fences and atomics that do not reach from one to the other.
 */
#include "cases.h"

#define N 256
#define BYTES (N * sizeof(int))

enum fence { NONE, BLOCK, DEVICE, SYSTEM, LATE };

/* One thread: data, a fence or none, the flag. */
__global__ void post(int *data, volatile int *flag, enum fence fence)
{
    for (int i = 0; i < N; i++)
        data[i] = 7;
    if (fence == BLOCK)
        __threadfence_block();
    if (fence == DEVICE)
        __threadfence();
    if (fence == SYSTEM)
        __threadfence_system();
    *flag = 1;
    if (fence == LATE)
        __threadfence_system();
}

__global__ void post_exchange(int *data, int *flag)
{
    data[0] = 7;
    atomicExch_system(flag, 1);
}

__global__ void post_release(int *data, int *flag)
{
    data[0] = 7;
    asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
}

__global__ void post_all(int *data, volatile int *flag)
{
    data[threadIdx.x] = 7;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}

__global__ void post_value(volatile int *flag)
{
    *flag = 7;
}

__global__ void fetch(int *to, const int *data, volatile int *flag)
{
    while (*flag == 0)
        ;
    *to = data ? data[0] : *flag;
}

__global__ void load(int *to, const int *data)
{
    *to = data[0];
}

__global__ void add(int *n)
{
    atomicAdd(n, 1);
}

__global__ void add_block(int *n)
{
    atomicAdd_block(n + threadIdx.x, 1);
}

__global__ void add_system(int *n)
{
    atomicAdd_system(n, 1);
}

__global__ void bins(int *bin)
{
    atomicInc((unsigned *)bin + threadIdx.x % 8, 1000);
}

static cudaStream_t s[2];
static cudaEvent_t e;
static int *x[2], *y[2];

static void start(void)
{
    for (int g = 0; g < 2; g++) {
        x[g] = (int *)device_memory(g, BYTES);
        y[g] = (int *)device_memory(g, BYTES);
        s[g] = stream_on(g, cudaStreamNonBlocking);
        MUST(cudaMemset(x[g], 0, BYTES));
        MUST(cudaMemset(y[g], 0, BYTES));
    }
    enable_peers();
    e = event_on(0);
    wait_for_all(2);
    MUST(cudaSetDevice(0));
}

/* GPU 1 waits for the flag and reads. */
static void fetch_on_1(int *data)
{
    MUST(cudaSetDevice(1));
    fetch<<<1, 1, 0, s[1]>>>(y[1] + 1, data, y[1]);
    MUST(cudaGetLastError());
}

/* ---- mistakes: no fence that reaches the other GPU ---- */

static void bad_no_fence(void)
{
    post<<<1, 1, 0, s[0]>>>(x[1], y[1], NONE); // @bad_no_fence
    fetch_on_1(x[1]);
}

static void bad_block_fence(void)
{
    post<<<1, 1, 0, s[0]>>>(x[1], y[1], BLOCK); // @bad_block_fence
    fetch_on_1(x[1]);
}

static void bad_device_fence(void)
{
    fetch_on_1(x[0]); /* data stay on GPU 0: the same */
    MUST(cudaSetDevice(0));
    post<<<1, 1, 0, s[0]>>>(x[0], y[1], DEVICE); // @bad_device_fence
}

static void bad_fence_after_flag(void)
{
    post<<<1, 1, 0, s[0]>>>(x[1], y[1], LATE); // @bad_fence_after_flag
    fetch_on_1(x[1]);
}

static void bad_atomic_flag(void)
{
    post_exchange<<<1, 1, 0, s[0]>>>(x[1], y[1]); // @bad_atomic_flag
    fetch_on_1(x[1]);
}

/* ---- mistakes: atomics that do not reach the other GPU ---- */

static void bad_counter(void)
{
    add<<<4, 32, 0, s[0]>>>(x[0]); // @bad_counter
    MUST(cudaSetDevice(1));
    add<<<4, 32, 0, s[1]>>>(x[0]); // @bad_counter
}

static void bad_one_side(void)
{
    add<<<4, 32, 0, s[0]>>>(x[0]); // @bad_one_side
    MUST(cudaSetDevice(1));
    add_system<<<4, 32, 0, s[1]>>>(x[0]); // @bad_one_side
}

static void bad_pinned_counter(void)
{
    int *n = (int *)pinned_memory(BYTES);
    add<<<4, 32, 0, s[0]>>>(n); // @bad_pinned_counter
    MUST(cudaSetDevice(1));
    add<<<4, 32, 0, s[1]>>>(n); // @bad_pinned_counter
}

static void bad_block_scope(void)
{
    add_block<<<1, 8, 0, s[0]>>>(x[1]); // @bad_block_scope
    MUST(cudaSetDevice(1));
    add_block<<<1, 8, 0, s[1]>>>(x[1]); // @bad_block_scope
}

static void bad_bins(void)
{
    bins<<<2, 64, 0, s[0]>>>(y[1]); // @bad_bins
    MUST(cudaSetDevice(1));
    bins<<<2, 64, 0, s[1]>>>(y[1]); // @bad_bins
}

/* ---- what looks like one of them ---- */

static void near_system_fence(void)
{
    fetch_on_1(x[1]);
    MUST(cudaSetDevice(0));
    post<<<1, 1, 0, s[0]>>>(x[1], y[1], SYSTEM);
}

static void near_one_gpu(void)
{
    cudaStream_t other = stream_on(0, cudaStreamNonBlocking);
    post<<<1, 1, 0, s[0]>>>(x[1], y[1], DEVICE);
    fetch<<<1, 1, 0, other>>>(y[1] + 1, x[1], y[1]);
}

static void near_release(void)
{
    post_release<<<1, 1, 0, s[0]>>>(x[1], y[1]);
    fetch_on_1(x[1]);
}

static void near_fences_then_barrier(void)
{
    post_all<<<1, N, 0, s[0]>>>(x[1], y[1]);
    fetch_on_1(x[1]);
}

static void near_value_in_flag(void)
{
    post_value<<<1, 1, 0, s[0]>>>(y[1]);
    fetch_on_1(NULL);
}

static void near_event(void)
{
    post<<<1, 1, 0, s[0]>>>(x[1], y[1], NONE);
    MUST(cudaEventRecord(e, s[0]));
    MUST(cudaSetDevice(1));
    MUST(cudaStreamWaitEvent(s[1], e, 0));
    load<<<1, 1, 0, s[1]>>>(y[1] + 1, x[1]);
}

static void near_counter(void)
{
    add_system<<<4, 32, 0, s[0]>>>(x[0]);
    MUST(cudaSetDevice(1));
    add_system<<<4, 32, 0, s[1]>>>(x[0]);
}

static void near_counter_of_one_gpu(void)
{
    cudaStream_t other = stream_on(0, cudaStreamNonBlocking);
    add<<<4, 32, 0, s[0]>>>(x[1]);
    add<<<4, 32, 0, other>>>(x[1]);
}

static void near_own_counters(void)
{
    add<<<4, 32, 0, s[0]>>>(x[0]);
    MUST(cudaSetDevice(1));
    add<<<4, 32, 0, s[1]>>>(x[0] + 1);
}

static void near_counter_after_event(void)
{
    add<<<4, 32, 0, s[0]>>>(x[0]);
    MUST(cudaEventRecord(e, s[0]));
    MUST(cudaSetDevice(1));
    MUST(cudaStreamWaitEvent(s[1], e, 0));
    add<<<4, 32, 0, s[1]>>>(x[0]);
}

static void near_counter_after_wait(void)
{
    bins<<<2, 64, 0, s[0]>>>(y[1]);
    MUST(cudaStreamSynchronize(s[0]));
    MUST(cudaSetDevice(1));
    bins<<<2, 64, 0, s[1]>>>(y[1]);
}

static const struct test_case all[] = {
    CASE("order.fence", bad_no_fence),
    CASE("order.fence", bad_block_fence),
    CASE("order.fence", bad_device_fence),
    CASE("order.fence", bad_fence_after_flag),
    CASE("order.fence", bad_atomic_flag),
    CASE("order.scope", bad_counter),
    CASE("order.scope", bad_one_side),
    CASE("order.scope", bad_pinned_counter),
    CASE("order.scope", bad_block_scope),
    CASE("order.scope", bad_bins),
    CASE("order.fence", near_system_fence),
    CASE("order.fence", near_one_gpu),
    CASE("order.fence", near_release),
    CASE("order.fence", near_fences_then_barrier),
    CASE("order.fence", near_value_in_flag),
    CASE("order.fence", near_event),
    CASE("order.scope", near_counter),
    CASE("order.scope", near_counter_of_one_gpu),
    CASE("order.scope", near_own_counters),
    CASE("order.scope", near_counter_after_event),
    CASE("order.scope", near_counter_after_wait),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    int status = run_case(all, sizeof all / sizeof *all, argc, argv);
    if (argc > 1)
        wait_for_all(2);
    return status;
}
