/* SPDX-License-Identifier: MIT
 * order_default.cu: cases of order.default-stream: a non-blocking stream and the default one.
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

static cudaStream_t free_one, blocking;
static cudaEvent_t e;
static int *x, *y, *host;

static void start(void)
{
    x = (int *)device_memory(0, BYTES);
    y = (int *)device_memory(0, BYTES);
    host = (int *)pinned_memory(BYTES);
    free_one = stream_on(0, cudaStreamNonBlocking);
    blocking = stream_on(0, cudaStreamDefault);
    e = event_on(0);
    MUST(cudaMemset(x, 0, BYTES));
    MUST(cudaMemset(y, 0, BYTES));
    MUST(cudaDeviceSynchronize());
}

/* ---- mistakes ---- */

/* cudaMemset comes back before it has written. */
static void bad_memset_is_not_over(void)
{
    MUST(cudaMemset(y, 1, BYTES));               // @bad_memset_is_not_over
    sum<<<N / 256, 256, 0, free_one>>>(x, y, N); // @bad_memset_is_not_over
}

/* So does cudaMemcpy between two places on GPUs. */
static void bad_copy_is_not_over(void)
{
    MUST(cudaMemcpy(y, x, BYTES, cudaMemcpyDeviceToDevice)); // @bad_copy_is_not_over
    fill<<<N / 256, 256, 0, free_one>>>(x, N, 3);            // @bad_copy_is_not_over
}

static void bad_early(void)
{
    fill<<<N / 256, 256>>>(x, N, 3);                                         // @bad_early
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, free_one)); // @bad_early
}

/* The copy waits for the default stream, and for no other. */
static void bad_result_by_default_copy(void)
{
    fill<<<N / 256, 256, 0, free_one>>>(x, N, 3);             // @bad_result_by_default_copy
    MUST(cudaMemcpy(host, x, BYTES, cudaMemcpyDeviceToHost)); // @bad_result_by_default_copy
}

static void bad_two_kernels(void)
{
    fill<<<N / 256, 256, 0, free_one>>>(y, N, 3); // @bad_two_kernels
    sum<<<N / 256, 256>>>(x, y, N);               // @bad_two_kernels
}

/* ---- right ---- */

static void near_blocking_stream(void)
{
    MUST(cudaMemset(y, 1, BYTES));
    sum<<<N / 256, 256, 0, blocking>>>(x, y, N);
    fill<<<N / 256, 256>>>(x, N, 3);
}

static void near_copy_from_host_is_over(void)
{
    MUST(cudaMemcpy(y, host, BYTES, cudaMemcpyHostToDevice));
    sum<<<N / 256, 256, 0, free_one>>>(x, y, N);
}

static void near_copy_from_pageable(void)
{
    static int here[N];
    MUST(cudaMemcpy(y, here, BYTES, cudaMemcpyHostToDevice));
    sum<<<N / 256, 256, 0, free_one>>>(x, y, N);
}

static void near_synchronize(void)
{
    MUST(cudaMemset(y, 1, BYTES));
    MUST(cudaDeviceSynchronize());
    sum<<<N / 256, 256, 0, free_one>>>(x, y, N);
}

static void near_event_of_the_default_stream(void)
{
    MUST(cudaMemset(y, 1, BYTES));
    MUST(cudaEventRecord(e, 0));
    MUST(cudaStreamWaitEvent(free_one, e, 0));
    sum<<<N / 256, 256, 0, free_one>>>(x, y, N);
}

static void near_other_half(void)
{
    MUST(cudaMemset(y, 1, BYTES / 2));
    fill<<<N / 512, 256, 0, free_one>>>(y + N / 2, N / 2, 3);
}

/* Ordered by a blocking stream in between. */
static void near_through_a_blocking_stream(void)
{
    fill<<<N / 256, 256>>>(y, N, 3);
    MUST(cudaEventRecord(e, blocking));
    MUST(cudaStreamWaitEvent(free_one, e, 0));
    sum<<<N / 256, 256, 0, free_one>>>(x, y, N);
}

#define DEFAULT(name) CASE("order.default-stream", name)

static const struct test_case cases[] = {
    DEFAULT(bad_memset_is_not_over),
    DEFAULT(bad_copy_is_not_over),
    DEFAULT(bad_early),
    DEFAULT(bad_result_by_default_copy),
    DEFAULT(bad_two_kernels),
    DEFAULT(near_blocking_stream),
    DEFAULT(near_copy_from_host_is_over),
    DEFAULT(near_copy_from_pageable),
    DEFAULT(near_synchronize),
    DEFAULT(near_event_of_the_default_stream),
    DEFAULT(near_other_half),
    DEFAULT(near_through_a_blocking_stream),
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
