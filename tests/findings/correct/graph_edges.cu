// SPDX-License-Identifier: MIT
// graph_edges.cu: a graph made node by node: a fill on GPU 0, a copy to the last GPU, a kernel that
// comes after both ends.
#include "correct.h"

static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t after, void *function, void **args)
{
    cudaKernelNodeParams p = {};
    cudaGraphNode_t node;
    p.func = function;
    p.gridDim = dim3(BLOCKS);
    p.blockDim = dim3(BLOCK);
    p.kernelParams = args;
    CHECK(cudaGraphAddKernelNode(&node, graph, after ? &after : NULL, after ? 1 : 0, &p));
    return node;
}

int main()
{
    struct gpu g[GPUS];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t copied;
    int base = 12;
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    struct gpu *last = &g[gpus - 1];
    CHECK(cudaGraphCreate(&graph, 0));
    void *fill_args[] = {&g[0].a, &base}, *add_args[] = {&last->b, &last->a};
    CHECK(cudaSetDevice(0));
    cudaGraphNode_t filled = kernel(graph, NULL, (void *)fill, fill_args);
    CHECK(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, last->a, g[0].a, N * sizeof(int),
                                   cudaMemcpyDefault));
    CHECK(cudaSetDevice(gpus - 1));
    kernel(graph, copied, (void *)add, add_args);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, last->stream));
    CHECK(cudaGraphLaunch(exec, last->stream));
    CHECK(cudaStreamSynchronize(last->stream));
    int wrong = wrong_from(last->b, 24, 2);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}
