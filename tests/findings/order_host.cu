/* SPDX-License-Identifier: MIT
 * order_host.cu: cases of order.host: what host code does with pinned and managed memory between
 * its calls.
 */
#include "cases.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define N (1 << 16)
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

__global__ void post(int *data, volatile int *flag)
{
    data[0] = 7;
    __threadfence_system();
    *flag = 1;
}

static cudaStream_t a, b;
static cudaEvent_t e;
static int *x, *y, *host, *other, *managed;
static int seen;

static void start(void)
{
    x = (int *)device_memory(0, BYTES);
    y = (int *)device_memory(0, BYTES);
    host = (int *)pinned_memory(BYTES);
    other = (int *)pinned_memory(BYTES);
    MUST(cudaMallocManaged(&managed, BYTES));
    memset(managed, 0, BYTES);
    a = stream_on(0, cudaStreamNonBlocking);
    b = stream_on(0, cudaStreamNonBlocking);
    e = event_on(0);
    MUST(cudaMemset(x, 1, BYTES));
    MUST(cudaMemset(y, 0, BYTES));
    MUST(cudaDeviceSynchronize());
}

/* What was seen must not be optimised away. */
static void see(int value)
{
    *(volatile int *)&seen = value;
}

/* ---- mistakes ---- */

static void bad_reads_too_early(void)
{
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a)); // @bad_reads_too_early
    see(host[5]);                                                     // @bad_reads_too_early
    MUST(cudaStreamSynchronize(a));
}

static void bad_fills_again(void)
{
    MUST(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, a)); // @bad_fills_again
    host[N - 1] = 3;                                                  // @bad_fills_again
    MUST(cudaStreamSynchronize(a));
}

static void bad_memset_too_early(void)
{
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a)); // @bad_memset_too_early
    memset(host, 0, BYTES);                                           // @bad_memset_too_early
    MUST(cudaStreamSynchronize(a));
}

static void bad_other_stream_waited_for(void)
{
    MUST(cudaMemcpyAsync(other, y, BYTES, cudaMemcpyDeviceToHost, b));
    MUST(cudaMemcpyAsync(host, x, BYTES, // @bad_other_stream_waited_for
                         cudaMemcpyDeviceToHost, a));
    MUST(cudaStreamSynchronize(b));
    see(other[0]);
    see(host[0]); // @bad_other_stream_waited_for
}

static void bad_event_before_the_copy(void)
{
    MUST(cudaEventRecord(e, a));
    MUST(cudaMemcpyAsync(host, x, BYTES, // @bad_event_before_the_copy
                         cudaMemcpyDeviceToHost, a));
    MUST(cudaEventSynchronize(e));
    see(host[0]); // @bad_event_before_the_copy
}

static void bad_managed_too_early(void)
{
    fill<<<N / 256, 256, 0, a>>>(managed, N, 5); // @bad_managed_too_early
    see(managed[0]);                             // @bad_managed_too_early
    MUST(cudaDeviceSynchronize());
}

static void bad_managed_input_changes(void)
{
    sum<<<N / 256, 256, 0, a>>>(x, managed, N); // @bad_managed_input_changes
    managed[0] = 2;                             // @bad_managed_input_changes
    MUST(cudaDeviceSynchronize());
}

static void bad_zero_copy_result(void)
{
    fill<<<1, 1, 0, a>>>(host, 1, 5); // @bad_zero_copy_result
    see(host[0]);                     // @bad_zero_copy_result
    MUST(cudaDeviceSynchronize());
}

/* Never waited for: the program ends. */
static void bad_pinned_fill(void)
{
    MUST(cudaMemsetAsync(host, 1, BYTES, a)); // @bad_pinned_fill
    see(host[100]);                           // @bad_pinned_fill
}

static void bad_registered(void)
{
    static int mine[N];
    MUST(cudaHostRegister(mine, BYTES, cudaHostRegisterDefault));
    MUST(cudaMemcpyAsync(mine, x, BYTES, cudaMemcpyDeviceToHost, a)); // @bad_registered
    see(mine[N / 2]);                                                 // @bad_registered
    MUST(cudaHostUnregister(mine));
}

/* A graph's copy is one of its launch. */
static void bad_graph(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    MUST(cudaStreamEndCapture(a, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, a)); // @bad_graph
    see(host[0]);                   // @bad_graph
    MUST(cudaStreamSynchronize(a));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
}

/* ---- right ---- */

static void near_waits(void)
{
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    MUST(cudaStreamSynchronize(a));
    see(host[5]);
    host[5] = 1;
}

static void near_reads_what_is_read(void)
{
    MUST(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, a));
    MUST(cudaMemcpyAsync(y, host, BYTES, cudaMemcpyHostToDevice, b));
    see(host[5]);
}

static void near_event(void)
{
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    MUST(cudaEventRecord(e, a));
    MUST(cudaMemcpyAsync(other, y, BYTES, cudaMemcpyDeviceToHost, a));
    MUST(cudaEventSynchronize(e));
    host[5]++;
}

static void near_query(void)
{
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    while (cudaStreamQuery(a) == cudaErrorNotReady)
        ;
    host[5]++;
}

static void near_event_in_another_stream(void)
{
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    MUST(cudaEventRecord(e, a));
    MUST(cudaStreamWaitEvent(b, e, 0));
    MUST(cudaStreamSynchronize(b));
    host[5]++;
}

/* A system call on memory that was waited for, and on a neighbour of what is under way. */
static void near_system_calls(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        exit(3);
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    MUST(cudaStreamSynchronize(a));
    MUST(cudaMemcpyAsync(host, x, BYTES / 2 - 8, cudaMemcpyDeviceToHost, a));
    char *half = (char *)host + BYTES / 2 - 8;
    if (write(ends[1], half, 4096) != 4096 || read(ends[0], half, 4096) != 4096)
        exit(4);
    MUST(cudaMemcpyAsync(x, other, BYTES, cudaMemcpyHostToDevice, a));
    if (write(ends[1], other, 4096) != 4096)
        exit(5);
    close(ends[0]);
    close(ends[1]);
}

static void near_halves(void)
{
    for (int i = 0; i < 4; i++) {
        int *mine = host + i % 2 * (N / 2), *theirs = host + (i + 1) % 2 * (N / 2);
        MUST(cudaMemcpyAsync(mine, x, BYTES / 2, cudaMemcpyDeviceToHost, a));
        if (i > 0)
            memset(theirs, 0, BYTES / 2);
        MUST(cudaStreamSynchronize(a));
    }
}

/* Two buffers, each refilled when its copy is over. */
static void near_ring(void)
{
    int *buffer[2] = {host, other};
    cudaEvent_t sent[2] = {e, event_on(0)};
    for (int i = 0; i < 6; i++) {
        MUST(cudaEventSynchronize(sent[i % 2]));
        for (int k = 0; k < N; k++)
            buffer[i % 2][k] = i + k;
        MUST(cudaMemcpyAsync(x, buffer[i % 2], BYTES, cudaMemcpyHostToDevice, a));
        MUST(cudaEventRecord(sent[i % 2], a));
    }
}

static void add_one(void *data)
{
    ++*(int *)data;
}

static void near_host_function(void)
{
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    MUST(cudaLaunchHostFunc(a, add_one, host));
    MUST(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, a));
    MUST(cudaStreamSynchronize(a));
    host[0]++;
}

static void near_managed(void)
{
    fill<<<N / 256, 256, 0, a>>>(managed, N, 5);
    MUST(cudaStreamSynchronize(a));
    managed[0]++;
    sum<<<N / 256, 256, 0, a>>>(x, managed, N);
    see(managed[0]); /* both read */
}

/* The kernel stores in the other half. */
static void near_managed_halves(void)
{
    fill<<<N / 512, 256, 0, a>>>(managed, N / 2, 5);
    managed[N / 2] = 1;
    fill<<<1, 16, 0, b>>>(host, 16, 5);
    host[16] = 1;
}

/* Host code watches memory, as programs do that tell how far they are. */
static void near_flag(void)
{
    volatile int *flag = other;
    post<<<1, 1, 0, a>>>(host, other);
    while (*flag == 0)
        ;
    see(host[0]);
    MUST(cudaStreamSynchronize(a));
    see(host[0]);
}

static void *wait_in_a_thread(void *unused)
{
    MUST(cudaStreamSynchronize(a));
    return unused;
}

static void near_thread_waits(void)
{
    pthread_t thread;
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    pthread_create(&thread, NULL, wait_in_a_thread, NULL);
    pthread_join(thread, NULL);
    host[0]++;
}

static void near_freed_and_allocated(void)
{
    MUST(cudaMemcpyAsync(other, x, BYTES, cudaMemcpyDeviceToHost, a));
    MUST(cudaFreeHost(other));
    other = (int *)pinned_memory(BYTES);
    other[0] = 1;
}

/* A child has memory of its own to look at; it is no GPU's. */
static void near_child(void)
{
    int status;
    MUST(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, a));
    pid_t child = fork();
    if (child == 0) {
        see(host[0]);
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(6);
    MUST(cudaStreamSynchronize(a));
}

#define HOST(name) CASE("order.host", name)

static const struct test_case cases[] = {
    HOST(bad_reads_too_early),
    HOST(bad_fills_again),
    HOST(bad_memset_too_early),
    HOST(bad_other_stream_waited_for),
    HOST(bad_event_before_the_copy),
    HOST(bad_managed_too_early),
    HOST(bad_managed_input_changes),
    HOST(bad_zero_copy_result),
    HOST(bad_pinned_fill),
    HOST(bad_registered),
    HOST(bad_graph),
    HOST(near_waits),
    HOST(near_reads_what_is_read),
    HOST(near_event),
    HOST(near_query),
    HOST(near_event_in_another_stream),
    HOST(near_system_calls),
    HOST(near_halves),
    HOST(near_ring),
    HOST(near_host_function),
    HOST(near_managed),
    HOST(near_managed_halves),
    HOST(near_flag),
    HOST(near_thread_waits),
    HOST(near_freed_and_allocated),
    HOST(near_child),
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
