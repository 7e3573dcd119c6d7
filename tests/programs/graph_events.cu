// SPDX-License-Identifier: MIT
// graph_events.cu: a graph waits for work outside of it and says when it is half done, by nodes
// that wait for events and record them, made one by one and by capture.
#include "check.h"

enum { N = 1 << 12, BYTES = N * sizeof(int) };

__global__ void set(int *values, int what)
{
    values[blockIdx.x * blockDim.x + threadIdx.x] = what;
}

__global__ void add(int *to, const int *from, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + what;
}

static int *source, *sum;
static cudaEvent_t ready, done, begun;
static cudaStream_t outside, after, launching;

static cudaGraph_t by_hand(void)
{
    static int what = 1;
    void *args[] = {&sum, &source, &what};
    struct cudaKernelNodeParams kernel = {(void *)add, dim3(N / 256), dim3(256), 0, args, NULL};
    cudaGraphNode_t wait, first, work, last;
    cudaGraph_t graph;
    cudaEvent_t got;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, ready));
    MUST(cudaGraphAddEventRecordNode(&first, graph, &wait, 1, begun));
    MUST(cudaGraphAddKernelNode(&work, graph, &first, 1, &kernel));
    MUST(cudaGraphAddEventRecordNode(&last, graph, &work, 1, begun));
    MUST(cudaGraphEventRecordNodeSetEvent(last, done));
    MUST(cudaGraphEventRecordNodeGetEvent(last, &got));
    HOLDS(got == done, "the node's event");
    MUST(cudaGraphEventWaitNodeGetEvent(wait, &got));
    HOLDS(got == ready, "the node's event");
    HOLDS(cudaGraphEventWaitNodeGetEvent(last, &got) == cudaErrorInvalidValue, "another type");
    return graph;
}

static cudaGraph_t by_capture(void)
{
    cudaGraph_t graph;

    MUST(cudaStreamBeginCapture(launching, cudaStreamCaptureModeGlobal));
    MUST(cudaStreamWaitEvent(launching, ready, cudaEventWaitExternal));
    MUST(cudaEventRecordWithFlags(begun, launching, cudaEventRecordExternal));
    add<<<N / 256, 256, 0, launching>>>(sum, source, 1);
    MUST(cudaEventRecordWithFlags(done, launching, cudaEventRecordExternal));
    MUST(cudaStreamEndCapture(launching, &graph));
    return graph;
}

// Nothing but the two events orders the three streams.
static void meet(cudaGraphExec_t exec, int value, cudaEvent_t end)
{
    static int host[N];

    set<<<N / 256, 256, 0, outside>>>(source, value);
    MUST(cudaEventRecord(ready, outside));
    MUST(cudaGraphLaunch(exec, launching));
    MUST(cudaStreamWaitEvent(after, end, 0));
    MUST(cudaMemcpyAsync(host, sum, BYTES, cudaMemcpyDeviceToHost, after));
    MUST(cudaStreamSynchronize(after));
    for (int i = 0; i < N; i++)
        HOLDS(host[i] == value + 1, "[%d] is %d, not %d", i, host[i], value + 1);
    MUST(cudaDeviceSynchronize());
}

static void runs(cudaGraph_t graph)
{
    cudaGraphNode_t node[8];
    cudaGraphExec_t exec;
    cudaEvent_t other;
    size_t count = 8;
    float ms = 0;

    MUST(cudaGraphGetNodes(graph, node, &count));
    HOLDS(count == 4, "%zu nodes", count);
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    meet(exec, 10, done);
    meet(exec, 20, done);
    MUST(cudaEventElapsedTime(&ms, begun, done));
    HOLDS(ms > 0, "the kernel between them took %g ms", ms);
    MUST(cudaEventCreateWithFlags(&other, cudaEventDisableTiming));
    MUST(cudaGraphExecEventRecordNodeSetEvent(exec, node[3], other));
    meet(exec, 30, other);
    MUST(cudaEventDestroy(other));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
}

static void mistakes(void)
{
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaEvent_t gone;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaEventCreate(&gone));
    MUST(cudaEventDestroy(gone));
    cudaError_t error = cudaGraphAddEventRecordNode(&node, graph, NULL, 0, NULL);
    HOLDS(error == cudaErrorInvalidValue, "no event: %d", error);
    error = cudaGraphAddEventWaitNode(&node, graph, NULL, 0, gone);
    HOLDS(error != cudaSuccess, "a destroyed event");
    error = cudaEventRecordWithFlags(done, launching, cudaEventRecordExternal);
    HOLDS(error == cudaErrorIllegalState, "not captured: %d", error);
    error = cudaStreamWaitEvent(launching, ready, cudaEventWaitExternal);
    HOLDS(error == cudaErrorIllegalState, "not captured: %d", error);
    struct cudaMemAllocNodeParams memory = {};
    error = cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &memory);
    HOLDS(error == cudaErrorInvalidValue, "no bytes: %d", error);
    error = cudaGraphAddMemFreeNode(&node, graph, NULL, 0, sum);
    HOLDS(error == cudaErrorInvalidValue, "memory of cudaMalloc: %d", error);
    cudaGetLastError();
    MUST(cudaGraphDestroy(graph));
}

int main(void)
{
    MUST(cudaMalloc((void **)&source, BYTES));
    MUST(cudaMalloc((void **)&sum, BYTES));
    MUST(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    MUST(cudaEventCreate(&begun));
    MUST(cudaEventCreate(&done));
    for (cudaStream_t *stream : {&outside, &after, &launching})
        MUST(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    runs(by_hand());
    runs(by_capture());
    mistakes();
    printf("events in graphs: right\n");
    return 0;
}
