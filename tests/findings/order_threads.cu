/* SPDX-License-Identifier: MIT
 * order_threads.cu: cases of order.streams whose two operations are two host
 * threads': what one thread has waited for is another's only after they have met.
 */
#include "cases.h"

#include <pthread.h>
#include <stdint.h>

#define N 4096
#define BYTES (N * sizeof(int))

__global__ void fill(int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = i;
}

__global__ void sum(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] += from[i];
}

static cudaStream_t s[2];
static cudaEvent_t e;
static int *x, *y;
static pthread_barrier_t meet;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool filled;

static void start(void)
{
    x = (int *)device_memory(0, BYTES);
    y = (int *)device_memory(0, BYTES);
    s[0] = stream_on(0, cudaStreamNonBlocking);
    s[1] = stream_on(0, cudaStreamNonBlocking);
    e = event_on(0);
    MUST(cudaMemset(x, 0, BYTES));
    MUST(cudaMemset(y, 0, BYTES));
    wait_for_all(1);
    pthread_barrier_init(&meet, NULL, 2);
}

static void two(void *(*a)(void *), void *(*b)(void *))
{
    pthread_t thread[2];
    if (pthread_create(&thread[0], NULL, a, NULL) != 0 ||
        pthread_create(&thread[1], NULL, b, NULL) != 0)
        exit(3);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
}

/* ---- what threads do ---- */

static void *fills(void *)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x); // @bad_no_meeting // @bad_joined_without_wait
    return NULL;
}

static void *fills_and_waits(void *)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x); // @bad_waits_alone
    MUST(cudaStreamSynchronize(s[0]));
    return NULL;
}

static void *sums(void *)
{
    MUST(cudaSetDevice(0));
    sum<<<N / 256, 256, 0, s[1]>>>(y, x); // @bad_no_meeting // @bad_waits_alone
    MUST(cudaStreamSynchronize(s[1]));
    return NULL;
}

static void *reads(void *)
{
    static int host[N];
    MUST(cudaSetDevice(0));
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, s[0]));
    MUST(cudaStreamSynchronize(s[0]));
    return NULL;
}

static void *fills_meets_waits(void *)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x); // @bad_meets_too_early
    pthread_barrier_wait(&meet);
    MUST(cudaStreamSynchronize(s[0]));
    return NULL;
}

static void *fills_waits_meets(void *)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x);
    MUST(cudaStreamSynchronize(s[0]));
    pthread_barrier_wait(&meet);
    return NULL;
}

static void *fills_records_meets(void *)
{
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x);
    MUST(cudaEventRecord(e, s[0]));
    pthread_barrier_wait(&meet);
    return NULL;
}

static void *fills_waits_tells(void *)
{
    fills_and_waits(NULL);
    pthread_mutex_lock(&lock);
    filled = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *meets_sums(void *)
{
    MUST(cudaSetDevice(0));
    pthread_barrier_wait(&meet);
    sum<<<N / 256, 256, 0, s[1]>>>(y, x); // @bad_meets_too_early
    MUST(cudaStreamSynchronize(s[1]));
    return NULL;
}

static void *meets_awaits_sums(void *)
{
    MUST(cudaSetDevice(0));
    pthread_barrier_wait(&meet);
    MUST(cudaStreamWaitEvent(s[1], e, 0));
    return sums(NULL);
}

static void *hears_sums(void *)
{
    pthread_mutex_lock(&lock);
    while (!filled)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return sums(NULL);
}

/* ---- mistakes ---- */

static void bad_no_meeting(void)
{
    two(fills, sums);
}

/* Each waits for its own stream; that says nothing to the other one. */
static void bad_waits_alone(void)
{
    two(fills_and_waits, sums);
}

static void bad_meets_too_early(void)
{
    two(fills_meets_waits, meets_sums);
}

/* A join waits for the thread, not for what it gave the GPU to do. */
static void bad_joined_without_wait(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, fills, NULL) != 0)
        exit(3);
    pthread_join(thread, NULL);
    sum<<<N / 256, 256, 0, s[1]>>>(y, x); // @bad_joined_without_wait
}

static void bad_made_after_the_launch(void)
{
    pthread_t thread;
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256, 0, s[0]>>>(x); // @bad_made_after_the_launch
    if (pthread_create(&thread, NULL, sums, NULL) != 0)
        exit(3);
    pthread_join(thread, NULL);
}

/* ---- right ---- */

static void near_wait_then_barrier(void)
{
    two(fills_waits_meets, meets_sums);
}

static void near_event_then_barrier(void)
{
    two(fills_records_meets, meets_awaits_sums);
}

static void near_condition_variable(void)
{
    two(fills_waits_tells, hears_sums);
}

static void near_joined_after_wait(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, fills_and_waits, NULL) != 0)
        exit(3);
    pthread_join(thread, NULL);
    sums(NULL);
}

static void near_made_after_wait(void)
{
    pthread_t thread;
    fills_and_waits(NULL);
    if (pthread_create(&thread, NULL, sums, NULL) != 0)
        exit(3);
    pthread_join(thread, NULL);
}

static void near_both_only_read(void)
{
    two(sums, reads);
}

static const struct test_case all[] = {
    CASE("order.streams", bad_no_meeting),
    CASE("order.streams", bad_waits_alone),
    CASE("order.streams", bad_meets_too_early),
    CASE("order.streams", bad_joined_without_wait),
    CASE("order.streams", bad_made_after_the_launch),
    CASE("order.streams", near_wait_then_barrier),
    CASE("order.streams", near_event_then_barrier),
    CASE("order.streams", near_condition_variable),
    CASE("order.streams", near_joined_after_wait),
    CASE("order.streams", near_made_after_wait),
    CASE("order.streams", near_both_only_read),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    int status = run_case(all, sizeof all / sizeof *all, argc, argv);
    if (argc > 1)
        wait_for_all(1);
    return status;
}
