// SPDX-License-Identifier: MIT
// Calls and fields as CUDA 12 spells them: test_older.py compiles it, each marked line is warned
// about with what CUDA 13 has instead, and it runs.
#include <cuda.h>
#include <stdio.h>

static void properties()
{
    cudaDeviceProp p;
    int clock, memory, mode, ratio;

    cudaGetDeviceProperties(&p, 0);
    cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
    cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, 0);
    cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0);
    cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, 0);
    bool same = p.clockRate == clock; // 12: cudaDevAttrClockRate
    same = same && p.memoryClockRate == memory; // 12: cudaDevAttrMemoryClockRate
    same = same && p.computeMode == mode; // 12: cudaDevAttrComputeMode
    same = same && p.singleToDoublePrecisionPerfRatio == ratio; // 12: PerfRatio
    same = same && p.deviceOverlap == 1; // 12: asyncEngineCount
    same = same && p.kernelExecTimeoutEnabled == 0; // 12: cudaDevAttrKernelExecTimeout
    printf("properties %d %d\n", same, clock > 0);
}

static void managed()
{
    int *p, n = 4096;

    cudaMallocManaged(&p, n);
    printf("prefetch %d", cudaMemPrefetchAsync(p, n, 0)); // 12: cudaMemLocation
    printf(" %d", cudaMemPrefetchAsync(p, n, cudaCpuDeviceId, 0)); // 12: cudaMemLocation
    printf(" %d", cudaMemPrefetchAsync(p, n, 99, 0)); // 12: cudaMemLocation
    printf(" advise %d", cudaMemAdvise(p, n, cudaMemAdviseSetPreferredLocation, 0)); // 12: cudaMemLocation
    printf(" %d\n", cudaMemAdvise(p, n, cudaMemAdviseSetAccessedBy, 99)); // 12: cudaMemLocation
    cudaFree(p);
}

static void graphs()
{
    cudaGraph_t graph;
    cudaGraphNode_t a, b, from[2], to[2];
    size_t edges = 2, before = 2;

    cudaGraphCreate(&graph, 0);
    cudaGraphAddEmptyNode(&a, graph, nullptr, 0);
    cudaGraphAddEmptyNode(&b, graph, nullptr, 0);
    cudaGraphAddDependencies(graph, &a, &b, 1); // 12: edge data
    cudaGraphGetEdges(graph, from, to, &edges); // 12: edge data
    cudaGraphNodeGetDependencies(b, from, &before); // 12: edge data
    printf("edges %zu of them %zu", edges, before);
    cudaGraphRemoveDependencies(graph, &a, &b, 1); // 12: edge data
    cudaGraphGetEdges(graph, nullptr, nullptr, &edges); // 12: edge data
    printf(" then %zu\n", edges);
    cudaGraphDestroy(graph);
}

int main()
{
    CUcontext context;

    properties();
    managed();
    graphs();
    cuInit(0);
    printf("context %d\n", cuCtxCreate(&context, 0, 0)); // 12: cuCtxCreate(context, NULL, flags, device)
    return cuCtxDestroy(context);
}
