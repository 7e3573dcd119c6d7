// SPDX-License-Identifier: MIT
// per_thread.cu: with --default-stream per-thread every host thread has a stream 0 of its own, on
// every GPU; without, all threads share one. Says what two threads' unordered work shows.
#include "check.h"

#include <pthread.h>

enum { N = 1 << 12, ROUNDS = 3 };

__global__ void fill(int *values, int n, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        values[i] = what;
}

static int gpus;
static int *shared_values;

static void each_gpu(int number)
{
    static __thread int host[N];
    for (int g = 0; g < gpus; g++) {
        int *device;
        MUST(cudaSetDevice(g));
        MUST(cudaMalloc((void **)&device, N * sizeof(int)));
        for (int round = 0; round < ROUNDS; round++) {
            MUST(cudaMemsetAsync(device, 0, N * sizeof(int)));
            fill<<<N / 256, 256>>>(device, N, 10 * number + round);
            MUST(cudaMemcpyAsync(host, device, N * sizeof(int), cudaMemcpyDefault));
            MUST(cudaStreamSynchronize(0));
            HOLDS(host[N - 1] == 10 * number + round, "thread %d, GPU %d: %d", number, g,
                  host[N - 1]);
        }
        MUST(cudaFree(device));
    }
}

static void *worker(void *number)
{
    each_gpu((int)(size_t)number);
    return NULL;
}

static void *producer(void *unused)
{
    (void)unused;
    MUST(cudaSetDevice(0));
    fill<<<N / 256, 256>>>(shared_values, N, 7);
    return NULL;
}

// A capture of one thread's stream 0 takes nothing of the other thread's.
static void *bystander(void *stream)
{
    enum cudaStreamCaptureStatus status;
    MUST(cudaSetDevice(0));
    MUST(cudaStreamIsCapturing((cudaStream_t)stream, &status));
    HOLDS(status == cudaStreamCaptureStatusNone, "another thread's stream: status %d", status);
    return NULL;
}

static void in_thread(void *(*what)(void *), void *argument)
{
    pthread_t thread;
    HOLDS(pthread_create(&thread, NULL, what, argument) == 0, "no thread");
    HOLDS(pthread_join(thread, NULL) == 0, "no end");
}

static void capture()
{
    cudaGraph_t graph;
    size_t nodes = 0;
    MUST(cudaSetDevice(0));
    MUST(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal));
    fill<<<N / 256, 256, 0, cudaStreamPerThread>>>(shared_values, N, 1);
    in_thread(bystander, cudaStreamPerThread);
    MUST(cudaStreamEndCapture(cudaStreamPerThread, &graph));
    MUST(cudaGraphGetNodes(graph, NULL, &nodes));
    HOLDS(nodes == 1, "%zu nodes", nodes);
    MUST(cudaGraphDestroy(graph));
}

#if CUDART_VERSION >= 13000
// A batch of copies names its stream: 0 is refused, whosever it is (asked on one H100).
static void batch()
{
    void *to = shared_values;
    const void *from = shared_values + N / 2;
    size_t bytes = 4, first = 0;
    cudaMemcpyAttributes order = {};
    order.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    cudaError_t error = cudaMemcpyBatchAsync(&to, &from, &bytes, 1, &order, &first, 1, 0);
    HOLDS(error == cudaErrorInvalidValue, "a batch in stream 0: %d", (int)error);
    HOLDS(cudaGetLastError() == error, "the batch left no error");
    MUST(cudaMemcpyBatchAsync(&to, &from, &bytes, 1, &order, &first, 1, cudaStreamPerThread));
    MUST(cudaStreamSynchronize(cudaStreamPerThread));
}
#else
static void batch() {} // CUDA 12 has no such call, or one with another parameter
#endif

int main(void)
{
    pthread_t threads[4];
    int host = -1;
    MUST(cudaGetDeviceCount(&gpus));
    for (size_t t = 0; t < 4; t++)
        HOLDS(pthread_create(&threads[t], NULL, worker, (void *)(t + 1)) == 0, "no thread");
    for (int t = 0; t < 4; t++)
        HOLDS(pthread_join(threads[t], NULL) == 0, "no end");
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc((void **)&shared_values, N * sizeof(int)));
    MUST(cudaMemset(shared_values, 0, N * sizeof(int)));
    MUST(cudaDeviceSynchronize());
    batch();
    capture();
    in_thread(producer, NULL);
    MUST(cudaMemcpy(&host, shared_values, sizeof host, cudaMemcpyDeviceToHost));
    printf("stream 0 on %d GPUs: %s\n", gpus, host == 7 ? "shared" : "each thread's own");
    MUST(cudaFree(shared_values));
    return 0;
}
