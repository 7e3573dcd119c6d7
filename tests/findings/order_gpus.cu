/* SPDX-License-Identifier: MIT
 * order_gpus.cu: cases of order.gpus, and of order.free: streams of two GPUs, and memory that a
 * stream frees.
 */
#include "cases.h"

#define N 4096
#define BYTES (N * sizeof(int))

__global__ void fill(int *to, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = value;
}

__global__ void sum(int *to, const int *from, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] += from[i];
}

__global__ void post(volatile int *flag, int *data)
{
    data[0] = 7;
    __threadfence_system();
    *flag = 1;
}

__global__ void fetch(volatile int *flag, const int *data, int *to)
{
    while (*flag == 0)
        ;
    __threadfence_system();
    *to = data[0];
}

__global__ void add_up(int *to)
{
    atomicAdd_system(to, 1);
}

static cudaStream_t s[2];
static cudaEvent_t e[2];
static int *x[2], *y[2], *host;

static void start(void)
{
    host = (int *)pinned_memory(BYTES);
    for (int g = 0; g < 2; g++) {
        x[g] = (int *)device_memory(g, BYTES);
        y[g] = (int *)device_memory(g, BYTES);
        s[g] = stream_on(g, cudaStreamNonBlocking);
        e[g] = event_on(g);
        MUST(cudaMemset(x[g], 0, BYTES));
        MUST(cudaMemset(y[g], 0, BYTES));
    }
    enable_peers();
    wait_for_all(2);
}

/* ---- mistakes ---- */

static void bad_peer_copy_then_kernel(void)
{
    MUST(cudaMemcpyPeerAsync(y[1], 1, x[0], 0, BYTES, s[0])); // @bad_peer_copy_then_kernel
    MUST(cudaSetDevice(1));
    sum<<<N / 256, 256, 0, s[1]>>>(x[1], y[1], N); // @bad_peer_copy_then_kernel
}

static void bad_kernel_then_peer_copy(void)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x[0], N, 5);              // @bad_kernel_then_peer_copy
    MUST(cudaMemcpyPeerAsync(y[1], 1, x[0], 0, BYTES, s[1])); // @bad_kernel_then_peer_copy
}

static void bad_reads_a_peer_that_writes(void)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x[0], N, 5); // @bad_reads_a_peer_that_writes
    MUST(cudaSetDevice(1));
    sum<<<N / 256, 256, 0, s[1]>>>(x[1], x[0], N); // @bad_reads_a_peer_that_writes
}

static void bad_both_write(void)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x[0], N, 5); // @bad_both_write
    MUST(cudaSetDevice(1));
    fill<<<N / 256, 256, 0, s[1]>>>(x[0], N, 6); // @bad_both_write
}

/* Two rings of a buffer: the next send comes before the neighbour has used the last one. */
static void bad_buffer_used_again(void)
{
    for (int round = 0; round < 2; round++) {
        MUST(cudaMemcpyPeerAsync(y[1], 1, x[0], 0, BYTES, s[0])); // @bad_buffer_used_again
        MUST(cudaEventRecord(e[0], s[0]));
        MUST(cudaStreamWaitEvent(s[1], e[0], 0));
        MUST(cudaSetDevice(1));
        sum<<<N / 256, 256, 0, s[1]>>>(x[1], y[1], N); // @bad_buffer_used_again
    }
}

/* One GPU was waited for, and it was the other. */
static void bad_waits_for_the_wrong_gpu(void)
{
    MUST(cudaMemcpyPeerAsync(y[1], 1, x[0], 0, BYTES, s[0])); // @bad_waits_for_the_wrong_gpu
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceSynchronize());
    sum<<<N / 256, 256, 0, s[1]>>>(x[1], y[1], N); // @bad_waits_for_the_wrong_gpu
}

/* ---- right ---- */

static void near_event(void)
{
    MUST(cudaMemcpyPeerAsync(y[1], 1, x[0], 0, BYTES, s[0]));
    MUST(cudaEventRecord(e[0], s[0]));
    MUST(cudaStreamWaitEvent(s[1], e[0], 0));
    MUST(cudaSetDevice(1));
    sum<<<N / 256, 256, 0, s[1]>>>(x[1], y[1], N);
}

static void near_buffer_used_again(void)
{
    for (int round = 0; round < 3; round++) {
        MUST(cudaStreamWaitEvent(s[0], e[1], 0));
        MUST(cudaMemcpyPeerAsync(y[1], 1, x[0], 0, BYTES, s[0]));
        MUST(cudaEventRecord(e[0], s[0]));
        MUST(cudaStreamWaitEvent(s[1], e[0], 0));
        MUST(cudaSetDevice(1));
        sum<<<N / 256, 256, 0, s[1]>>>(x[1], y[1], N);
        MUST(cudaEventRecord(e[1], s[1]));
    }
}

static void near_synchronous_peer_copy(void)
{
    MUST(cudaMemcpyPeer(y[1], 1, x[0], 0, BYTES));
    MUST(cudaSetDevice(1));
    sum<<<N / 256, 256, 0, s[1]>>>(x[1], y[1], N);
}

/* In a default stream a copy between GPUs waits for both, and both for it (default_copy.cu asked).
 */
static void near_copy_in_a_default_stream(void)
{
    for (int g = 0; g < 2; g++) {
        MUST(cudaSetDevice(1));
        fill<<<N / 256, 256>>>(x[1], N, 5);
        MUST(cudaSetDevice(g));
        MUST(cudaMemcpyAsync(x[0], x[1], BYTES, cudaMemcpyDefault, 0));
        MUST(cudaSetDevice(1));
        fill<<<N / 256, 256>>>(x[1], N, 6);
        MUST(cudaSetDevice(0));
        sum<<<N / 256, 256>>>(y[0], x[0], N);
    }
    wait_for_all(2);
}

static void near_halves_of_a_peer(void)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 512, 256, 0, s[0]>>>(x[0], N / 2, 5);
    MUST(cudaSetDevice(1));
    fill<<<N / 512, 256, 0, s[1]>>>(x[0] + N / 2, N / 2, 6);
}

static void near_all_waited_for(void)
{
    MUST(cudaMemcpyPeerAsync(y[1], 1, x[0], 0, BYTES, s[0]));
    wait_for_all(2);
    MUST(cudaSetDevice(1));
    sum<<<N / 256, 256, 0, s[1]>>>(x[1], y[1], N);
}

static void near_flag(void)
{
    MUST(cudaSetDevice(1));
    fetch<<<1, 1, 0, s[1]>>>(y[1], x[1], y[1] + 1);
    MUST(cudaSetDevice(0));
    post<<<1, 1, 0, s[0]>>>(y[1], x[1]);
}

static void near_atomics(void)
{
    for (int g = 0; g < 2; g++) {
        MUST(cudaSetDevice(g));
        add_up<<<1, 64, 0, s[g]>>>(x[0]);
    }
}

/* ---- memory that is freed in a stream: order.free ---- */

static int *fresh(cudaStream_t stream)
{
    void *p;
    MUST(cudaSetDevice(0));
    MUST(cudaMallocAsync(&p, BYTES, stream));
    MUST(cudaMemsetAsync(p, 0, BYTES, stream));
    MUST(cudaStreamSynchronize(stream));
    return (int *)p;
}

static void bad_free_before_a_kernel(void)
{
    int *p = fresh(s[0]);
    cudaStream_t other = stream_on(0, cudaStreamNonBlocking);
    fill<<<N / 256, 256, 0, other>>>(p, N, 5); // @bad_free_before_a_kernel
    MUST(cudaFreeAsync(p, s[0]));              // @bad_free_before_a_kernel
}

static void bad_free_before_a_copy(void)
{
    int *p = fresh(s[0]);
    cudaStream_t other = stream_on(0, cudaStreamNonBlocking);
    MUST(cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, other)); // @bad_free_before_a_copy
    MUST(cudaFreeAsync(p, s[0]));                                         // @bad_free_before_a_copy
}

static void bad_free_by_default_stream(void)
{
    int *p = fresh(s[0]);
    fill<<<N / 256, 256, 0, s[0]>>>(p, N, 5); // @bad_free_by_default_stream
    MUST(cudaFreeAsync(p, 0));                // @bad_free_by_default_stream
}

static void bad_free_after_event_too_early(void)
{
    int *p = fresh(s[0]);
    cudaStream_t other = stream_on(0, cudaStreamNonBlocking);
    MUST(cudaEventRecord(e[0], other));
    fill<<<N / 256, 256, 0, other>>>(p, N, 5); // @bad_free_after_event_too_early
    MUST(cudaStreamWaitEvent(s[0], e[0], 0));
    MUST(cudaFreeAsync(p, s[0])); // @bad_free_after_event_too_early
}

static void bad_free_before_a_fill(void)
{
    int *p = fresh(s[0]);
    cudaStream_t other = stream_on(0, cudaStreamNonBlocking);
    MUST(cudaMemsetAsync(p, 1, BYTES, other)); // @bad_free_before_a_fill
    MUST(cudaFreeAsync(p, s[0]));              // @bad_free_before_a_fill
}

static void near_free_in_the_same_stream(void)
{
    int *p = fresh(s[0]);
    fill<<<N / 256, 256, 0, s[0]>>>(p, N, 5);
    MUST(cudaFreeAsync(p, s[0]));
}

static void near_free_after_event(void)
{
    int *p = fresh(s[0]);
    cudaStream_t other = stream_on(0, cudaStreamNonBlocking);
    fill<<<N / 256, 256, 0, other>>>(p, N, 5);
    MUST(cudaEventRecord(e[0], other));
    MUST(cudaStreamWaitEvent(s[0], e[0], 0));
    MUST(cudaFreeAsync(p, s[0]));
}

static void near_free_after_wait(void)
{
    int *p = fresh(s[0]);
    cudaStream_t other = stream_on(0, cudaStreamNonBlocking);
    fill<<<N / 256, 256, 0, other>>>(p, N, 5);
    MUST(cudaStreamSynchronize(other));
    MUST(cudaFreeAsync(p, s[0]));
}

/* The address comes again, with other memory behind it. */
static void near_freed_and_taken_again(void)
{
    for (int i = 0; i < 3; i++) {
        int *p = fresh(s[0]);
        fill<<<N / 256, 256, 0, s[0]>>>(p, N, i);
        MUST(cudaFreeAsync(p, s[0]));
    }
}

/* cudaFree waits for everything itself. */
static void near_plain_free(void)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x[0], N, 5);
    MUST(cudaFree(x[0]));
}

#define GPUS(name) CASE("order.gpus", name)
#define FREE(name) CASE("order.free", name)

static const struct test_case cases[] = {
    GPUS(bad_peer_copy_then_kernel),
    GPUS(bad_kernel_then_peer_copy),
    GPUS(bad_reads_a_peer_that_writes),
    GPUS(bad_both_write),
    GPUS(bad_buffer_used_again),
    GPUS(bad_waits_for_the_wrong_gpu),
    GPUS(near_event),
    GPUS(near_buffer_used_again),
    GPUS(near_synchronous_peer_copy),
    GPUS(near_copy_in_a_default_stream),
    GPUS(near_halves_of_a_peer),
    GPUS(near_all_waited_for),
    GPUS(near_flag),
    GPUS(near_atomics),
    FREE(bad_free_before_a_kernel),
    FREE(bad_free_before_a_copy),
    FREE(bad_free_by_default_stream),
    FREE(bad_free_after_event_too_early),
    FREE(bad_free_before_a_fill),
    FREE(near_free_in_the_same_stream),
    FREE(near_free_after_event),
    FREE(near_free_after_wait),
    FREE(near_freed_and_taken_again),
    FREE(near_plain_free),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    int status = run_case(cases, sizeof cases / sizeof *cases, argc, argv);
    if (argc > 1)
        wait_for_all(2);
    return status;
}
