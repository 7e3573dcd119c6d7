/* SPDX-License-Identifier: MIT
 * graph_memory.cu: graphs that allocate and free device memory: nodes made one by one and by a
 * capture; memory that is freed outside of the graph, and by another graph; what launches share.
 */
#include "check.h"

enum { N = 1 << 18 };
static const size_t BYTES = N * sizeof(int);
static int host[N];

__global__ void fill(int *p, int from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = from + i;
}

__global__ void twice(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = 2 * from[i];
}

static void expect_host(int factor, int added)
{
    for (int i = 0; i < N; i++)
        HOLDS(host[i] == factor * (i + added), "%d: %d", i, host[i]);
}

static size_t footprint(void)
{
    size_t bytes = 0;
    MUST(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &bytes));
    return bytes;
}

static void *add_allocation(cudaGraph_t graph, cudaGraphNode_t *node, cudaGraphNode_t *after,
                            size_t bytes)
{
    struct cudaMemAllocNodeParams params = {};
    params.poolProps.allocType = cudaMemAllocationTypePinned;
    params.poolProps.location.type = cudaMemLocationTypeDevice;
    params.bytesize = bytes;
    MUST(cudaGraphAddMemAllocNode(node, graph, after, after ? 1 : 0, &params));
    return params.dptr;
}

/* Fills and copies; frees if asked to. */
static cudaGraphExec_t filling(int from, bool frees, void **at)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t allocated, filled, copied, freed;
    struct cudaKernelNodeParams kernel = {};
    MUST(cudaGraphCreate(&graph, 0));
    *at = add_allocation(graph, &allocated, NULL, BYTES);
    void *arguments[] = {at, &from};
    kernel.func = (void *)fill;
    kernel.gridDim = dim3(N / 256);
    kernel.blockDim = dim3(256);
    kernel.kernelParams = arguments;
    MUST(cudaGraphAddKernelNode(&filled, graph, &allocated, 1, &kernel));
    MUST(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, host, *at, BYTES,
                                  cudaMemcpyDeviceToHost));
    if (frees)
        MUST(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, *at));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    return exec;
}

/* Launches of one stream have the same memory at different addresses. */
static void test_shared(cudaStream_t stream)
{
    void *first, *second;
    cudaGraphExec_t one = filling(3, true, &first), other = filling(7, true, &second);
    HOLDS(first != second, "two graphs have the same address");
    HOLDS(footprint() == 0, "%zu bytes before a launch", footprint());
    for (int turn = 0; turn < 3; turn++) {
        MUST(cudaGraphLaunch(one, stream));
        MUST(cudaStreamSynchronize(stream));
        expect_host(1, 3);
        MUST(cudaGraphLaunch(other, stream));
        MUST(cudaStreamSynchronize(stream));
        expect_host(1, 7);
        HOLDS(footprint() == 2 << 20, "%zu bytes", footprint());
    }
    cudaStream_t apart;
    MUST(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
    MUST(cudaGraphLaunch(one, apart));
    MUST(cudaGraphLaunch(other, stream));
    MUST(cudaDeviceSynchronize());
    HOLDS(footprint() == 4 << 20, "%zu bytes in two streams", footprint());
    MUST(cudaDeviceGraphMemTrim(0));
    HOLDS(footprint() == 0, "%zu bytes after trimming", footprint());
    MUST(cudaGraphLaunch(one, apart));
    MUST(cudaStreamSynchronize(apart));
    expect_host(1, 3);
    MUST(cudaGraphExecDestroy(one));
    MUST(cudaGraphExecDestroy(other));
    MUST(cudaStreamDestroy(apart));
}

/* The memory stays for what comes after the graph, and a second launch must wait for its end. */
static void test_freed_outside(cudaStream_t stream)
{
    void *at;
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec = filling(5, false, &at), freeing;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemFreeNode(&node, graph, NULL, 0, at));
    MUST(cudaGraphInstantiate(&freeing, graph, 0));
    MUST(cudaGraphDestroy(graph));
    for (int way = 0; way < 3; way++) {
        MUST(cudaGraphLaunch(exec, stream));
        cudaError_t error = cudaGraphLaunch(exec, stream);
        HOLDS(error == cudaErrorInvalidValue, "launched twice: %d", error);
        cudaGetLastError();
        twice<<<N / 256, 256, 0, stream>>>((int *)at, (int *)at);
        MUST(cudaMemcpyAsync(host, at, BYTES, cudaMemcpyDeviceToHost, stream));
        MUST(cudaStreamSynchronize(stream));
        expect_host(2, 5);
        MUST(way == 0   ? cudaFree(at)
             : way == 1 ? cudaFreeAsync(at, stream)
                        : cudaGraphLaunch(freeing, stream));
        MUST(cudaStreamSynchronize(stream));
    }
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphExecDestroy(freeing));
    MUST(cudaDeviceGraphMemTrim(0));
}

static void test_captured(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *from, *to, *again;
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    MUST(cudaMallocAsync((void **)&from, BYTES, stream));
    MUST(cudaMallocAsync((void **)&to, BYTES, stream));
    fill<<<N / 256, 256, 0, stream>>>(from, 1);
    twice<<<N / 256, 256, 0, stream>>>(from, to);
    MUST(cudaFreeAsync(from, stream));
    MUST(cudaMallocAsync((void **)&again, BYTES, stream));
    HOLDS(again == from && to != from, "what was freed before is not taken again");
    twice<<<N / 256, 256, 0, stream>>>(to, again);
    MUST(cudaMemcpyAsync(host, again, BYTES, cudaMemcpyDeviceToHost, stream));
    MUST(cudaFreeAsync(to, stream));
    MUST(cudaFreeAsync(again, stream));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int turn = 0; turn < 2; turn++) {
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        expect_host(4, 1);
    }
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
}

// What CUDA does not let a graph with such nodes do.
static void refused()
{
    cudaGraph_t graph;
    cudaGraphNode_t node, freed, again;
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = 1024;
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    MUST(cudaGraphAddMemFreeNode(&freed, graph, &node, 1, p.dptr));
    cudaError_t error = cudaGraphAddMemFreeNode(&again, graph, &freed, 1, p.dptr);
    HOLDS(error == cudaErrorInvalidValue && cudaGetLastError() == error, "freed twice: %d", error);
    error = cudaGraphDestroyNode(freed);
    HOLDS(error == cudaErrorInvalidValue && cudaGetLastError() == error, "destroyed: %d", error);
    error = cudaGraphRemoveDependencies(graph, &node, &freed, NULL, 1);
    HOLDS(error == cudaErrorInvalidValue && cudaGetLastError() == error, "removed: %d", error);
    MUST(cudaGraphDestroy(graph));
}

int main(void)
{
    cudaStream_t stream;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    test_shared(stream);
    test_freed_outside(stream);
    test_captured(stream);
    MUST(cudaStreamDestroy(stream));
    refused();
    printf("memory in graphs: right\n");
    return 0;
}
