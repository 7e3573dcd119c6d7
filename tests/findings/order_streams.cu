/* SPDX-License-Identifier: MIT
 * order_streams.cu: cases of order.streams: two streams of one GPU.
 */
#include "cases.h"

#define N 4096
#define BYTES (N * sizeof(int))

__global__ void fill(int *to, int first, int count, int step, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[first + i * step] = value;
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
    __threadfence();
    *flag = 1;
}

__global__ void fetch(volatile int *flag, const int *data, int *to)
{
    while (*flag == 0)
        ;
    __threadfence();
    *to = data[0];
}

__global__ void add_up(int *to)
{
    atomicAdd(to, 1);
}

static cudaStream_t a, b, c;
static cudaEvent_t e, f;
static int *x, *y, *host;

static void start(void)
{
    x = (int *)device_memory(0, BYTES);
    y = (int *)device_memory(0, BYTES);
    host = (int *)pinned_memory(BYTES);
    a = stream_on(0, cudaStreamNonBlocking);
    b = stream_on(0, cudaStreamNonBlocking);
    c = stream_on(0, cudaStreamNonBlocking);
    e = event_on(0);
    f = event_on(0);
    MUST(cudaMemset(x, 0, BYTES));
    MUST(cudaMemset(y, 0, BYTES));
    MUST(cudaDeviceSynchronize());
}

static void order(cudaStream_t first, cudaEvent_t event, cudaStream_t second)
{
    MUST(cudaEventRecord(event, first));
    MUST(cudaStreamWaitEvent(second, event, 0));
}

/* ---- mistakes ---- */

static void bad_fill_then_read(void)
{
    MUST(cudaMemsetAsync(y, 1, BYTES, a)); // @bad_fill_then_read
    sum<<<N / 256, 256, 0, b>>>(x, y, N);  // @bad_fill_then_read
}

static void bad_copy_then_read(void)
{
    MUST(cudaMemcpyAsync(y, host, BYTES, cudaMemcpyHostToDevice, a)); // @bad_copy_then_read
    sum<<<N / 256, 256, 0, b>>>(x, y, N);                             // @bad_copy_then_read
}

static void bad_result_too_early(void)
{
    fill<<<N / 256, 256, 0, a>>>(x, 0, N, 1, 5);                      // @bad_result_too_early
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, b)); // @bad_result_too_early
}

static void bad_overlap_by_one(void)
{
    fill<<<N / 512, 256, 0, a>>>(x, 0, N / 2, 1, 5);                 // @bad_overlap_by_one
    fill<<<N / 512 + 1, 256, 0, b>>>(x, N / 2 - 1, N / 2 + 1, 1, 6); // @bad_overlap_by_one
}

static void bad_event_too_early(void)
{
    order(a, e, b);
    MUST(cudaMemsetAsync(y, 1, BYTES, a)); // @bad_event_too_early
    sum<<<N / 256, 256, 0, b>>>(x, y, N);  // @bad_event_too_early
}

static void bad_other_stream_waits(void)
{
    MUST(cudaMemsetAsync(y, 1, BYTES, a)); // @bad_other_stream_waits
    order(a, e, c);
    sum<<<N / 256, 256, 0, b>>>(x, y, N); // @bad_other_stream_waits
}

/* The host waits for the reader only. */
static void bad_host_waits_for_one(void)
{
    fill<<<N / 256, 256, 0, a>>>(x, 0, N, 1, 5); // @bad_host_waits_for_one
    MUST(cudaStreamSynchronize(b));
    sum<<<N / 256, 256, 0, b>>>(y, x, N); // @bad_host_waits_for_one
    MUST(cudaStreamSynchronize(b));
}

static void bad_stride_meets(void)
{
    fill<<<N / 1024, 256, 0, a>>>(x, 0, N / 4, 4, 5); // @bad_stride_meets
    fill<<<N / 1536, 256, 0, b>>>(x, 3, N / 8, 3, 6); // @bad_stride_meets
}

static void bad_sum_of_atomics(void)
{
    add_up<<<1, 64, 0, a>>>(x);                                   // @bad_sum_of_atomics
    MUST(cudaMemcpyAsync(host, x, 4, cudaMemcpyDeviceToHost, b)); // @bad_sum_of_atomics
}

static void bad_columns_meet(void)
{
    MUST(cudaMemset2DAsync(x, 256, 1, 64, 64, a));                           // @bad_columns_meet
    MUST(cudaMemcpy2DAsync((char *)x + 60, 256, (char *)y + 60, 256, 64, 64, // @bad_columns_meet
                           cudaMemcpyDeviceToDevice, b));
}

/* ---- right ---- */

static void near_event(void)
{
    MUST(cudaMemsetAsync(y, 1, BYTES, a));
    order(a, e, b);
    sum<<<N / 256, 256, 0, b>>>(x, y, N);
}

static void near_event_through_a_third(void)
{
    MUST(cudaMemsetAsync(y, 1, BYTES, a));
    order(a, e, c);
    order(c, f, b);
    sum<<<N / 256, 256, 0, b>>>(x, y, N);
}

static void near_host_waits(void)
{
    MUST(cudaMemsetAsync(y, 1, BYTES, a));
    MUST(cudaStreamSynchronize(a));
    sum<<<N / 256, 256, 0, b>>>(x, y, N);
}

static void near_query(void)
{
    MUST(cudaMemsetAsync(y, 1, BYTES, a));
    while (cudaStreamQuery(a) == cudaErrorNotReady)
        ;
    sum<<<N / 256, 256, 0, b>>>(x, y, N);
}

static void near_one_stream(void)
{
    MUST(cudaMemsetAsync(y, 1, BYTES, a));
    sum<<<N / 256, 256, 0, a>>>(x, y, N);
}

static void near_halves(void)
{
    fill<<<N / 512, 256, 0, a>>>(x, 0, N / 2, 1, 5);
    fill<<<N / 512, 256, 0, b>>>(x, N / 2, N / 2, 1, 6);
}

static void near_even_and_odd(void)
{
    fill<<<N / 512, 256, 0, a>>>(x, 0, N / 2, 2, 5);
    fill<<<N / 512, 256, 0, b>>>(x, 1, N / 2, 2, 6);
}

static void near_columns(void)
{
    MUST(cudaMemset2DAsync(x, 256, 1, 64, 64, a));
    MUST(cudaMemcpy2DAsync((char *)x + 64, 256, (char *)y + 64, 256, 64, 64,
                           cudaMemcpyDeviceToDevice, b));
}

static void near_all_read(void)
{
    int *z = (int *)device_memory(0, BYTES);
    MUST(cudaMemset(z, 0, BYTES));
    MUST(cudaDeviceSynchronize());
    sum<<<N / 256, 256, 0, a>>>(x, y, N);
    sum<<<N / 256, 256, 0, b>>>(z, y, N);
}

static void near_atomics(void)
{
    add_up<<<1, 64, 0, a>>>(x);
    add_up<<<1, 64, 0, b>>>(x);
}

static void near_flag(void)
{
    fetch<<<1, 1, 0, b>>>(y, x, y + 1);
    post<<<1, 1, 0, a>>>(y, x);
}

/* Ten rounds of a ring of two buffers, as everybody writes it. */
static void near_ring(void)
{
    cudaEvent_t full[2] = {e, f}, empty[2] = {event_on(0), event_on(0)};
    int *buffer[2] = {x, y};
    for (int i = 0; i < 10; i++) {
        MUST(cudaStreamWaitEvent(a, empty[i % 2], 0));
        fill<<<N / 256, 256, 0, a>>>(buffer[i % 2], 0, N, 1, i);
        order(a, full[i % 2], b);
        MUST(cudaMemcpyAsync(host, buffer[i % 2], BYTES, cudaMemcpyDeviceToHost, b));
        MUST(cudaEventRecord(empty[i % 2], b));
    }
}

#define STREAMS(name) CASE("order.streams", name)

static const struct test_case cases[] = {
    STREAMS(bad_fill_then_read),
    STREAMS(bad_copy_then_read),
    STREAMS(bad_result_too_early),
    STREAMS(bad_overlap_by_one),
    STREAMS(bad_event_too_early),
    STREAMS(bad_other_stream_waits),
    STREAMS(bad_host_waits_for_one),
    STREAMS(bad_stride_meets),
    STREAMS(bad_sum_of_atomics),
    STREAMS(bad_columns_meet),
    STREAMS(near_event),
    STREAMS(near_event_through_a_third),
    STREAMS(near_host_waits),
    STREAMS(near_query),
    STREAMS(near_one_stream),
    STREAMS(near_halves),
    STREAMS(near_even_and_odd),
    STREAMS(near_columns),
    STREAMS(near_all_read),
    STREAMS(near_atomics),
    STREAMS(near_flag),
    STREAMS(near_ring),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    int status = run_case(cases, sizeof cases / sizeof *cases, argc, argv);
    if (argc > 1)
        MUST(cudaDeviceSynchronize());
    return status;
}
