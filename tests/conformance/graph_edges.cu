// SPDX-License-Identifier: MIT
// graph_edges.cu: edges, copies of graphs, and executable graphs brought up to date.
#include "ask.h"

static cudaGraph_t graph(void)
{
    cudaGraph_t g;
    OK(cudaGraphCreate(&g, 0));
    return g;
}

static cudaGraphNode_t empty(cudaGraph_t g)
{
    cudaGraphNode_t n;
    OK(cudaGraphAddEmptyNode(&n, g, NULL, 0));
    return n;
}

static cudaGraphNode_t fill(cudaGraph_t g, int *at, unsigned value)
{
    cudaGraphNode_t n;
    cudaMemsetParams m = ask_fill(at, value, 1);
    OK(cudaGraphAddMemsetNode(&n, g, NULL, 0, &m));
    return n;
}

CASE(graph_edges)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t a = empty(g), b = empty(g), c = empty(g), list[4] = {};
    cudaGraphNode_t from[] = {a, b}, to[] = {c, c};
    size_t n = 99;
    R(cudaGraphAddDependencies(g, from, to, NULL, 2));
    R(cudaGraphNodeGetDependencies(c, NULL, NULL, &n));
    V("%zu", n);
    n = 4;
    R(cudaGraphNodeGetDependencies(c, list, NULL, &n));
    V("%zu: %d %d, the rest null %d", n, list[0] == a, list[1] == b, list[2] == NULL);
    n = 1;
    R(cudaGraphNodeGetDependencies(c, list, NULL, &n));
    V("%zu", n);
    n = 0;
    R(cudaGraphNodeGetDependencies(a, NULL, NULL, &n));
    V("%zu", n);
    R(cudaGraphRemoveDependencies(g, from, to, NULL, 1));
    R(cudaGraphRemoveDependencies(g, from, to, NULL, 1));
    n = 4;
    R(cudaGraphGetEdges(g, NULL, NULL, NULL, &n));
    V("%zu", n);
    R(cudaGraphRemoveDependencies(g, &c, &a, NULL, 1));
    R(cudaGraphRemoveDependencies(g, from, to, NULL, 0));
    R(cudaGraphAddDependencies(g, &c, &b, NULL, 1));
    R(cudaGraphAddDependencies(g, &a, &a, NULL, 1));
    R(cudaGraphRemoveDependencies(NULL, from, to, NULL, 1));
    R(cudaGraphRemoveDependencies(g, NULL, to, NULL, 1));
    R(cudaGraphRemoveDependencies(g, from, NULL, NULL, 1));
    R(cudaGraphNodeGetDependencies(NULL, list, NULL, &n));
    R(cudaGraphNodeGetDependencies(c, list, NULL, NULL));
}

CASE(graph_edges_of_another)
{
    cudaGraph_t g = graph(), h = graph();
    cudaGraphNode_t a = empty(g), b = empty(h), n;
    R(cudaGraphAddDependencies(g, &a, &b, NULL, 1));
    R(cudaGraphRemoveDependencies(g, &a, &b, NULL, 1));
    R(cudaGraphAddEmptyNode(&n, g, &b, 1));
    R(cudaGraphAddEmptyNode(&n, g, NULL, 1));
    R(cudaGraphDestroyNode(NULL));
    R(cudaGraphGetNodes(NULL, NULL, NULL));
    R(cudaGraphNodeGetType(a, NULL));
    R(cudaGraphNodeGetType(NULL, NULL));
}

CASE(graph_clone)
{
    cudaGraph_t g = graph(), copy = NULL;
    int *p;
    OK(cudaMalloc(&p, 64));
    cudaGraphNode_t a = fill(g, p, 5);
    R(cudaGraphClone(&copy, g));
    size_t n = 0;
    R(cudaGraphGetNodes(copy, NULL, &n));
    V("%zu nodes", n);
    cudaGraphNode_t there = NULL;
    n = 1;
    R(cudaGraphGetNodes(copy, &there, &n));
    V("nodes of its own %d", there != a);
    R(cudaGraphDestroy(g));
    cudaGraphExec_t x;
    R(cudaGraphInstantiate(&x, copy, 0));
    R(cudaGraphLaunch(x, 0));
    R(cudaDeviceSynchronize());
    V("%d", ask_peek(p));
    R(cudaGraphClone(&copy, NULL));
    R(cudaGraphClone(NULL, copy));
}

static void update(cudaGraphExec_t x, cudaGraph_t g)
{
    cudaGraphExecUpdateResultInfo info = {};
    info.result = (cudaGraphExecUpdateResult)99;
    R(cudaGraphExecUpdate(x, g, &info));
    V("result %d, node %d, from %d", (int)info.result, info.errorNode != NULL,
      info.errorFromNode != NULL);
}

CASE(graph_update)
{
    cudaGraph_t g = graph(), same = graph(), more = graph(), kind = graph(), edge = graph();
    int *p;
    OK(cudaMalloc(&p, 64));
    fill(g, p, 5);
    fill(g, p + 1, 5);
    fill(same, p, 6);
    fill(same, p + 1, 6);
    fill(more, p, 7);
    fill(more, p + 1, 7);
    fill(more, p + 2, 7);
    fill(kind, p, 8);
    empty(kind);
    cudaGraphNode_t a = fill(edge, p, 9), b = fill(edge, p + 1, 9);
    OK(cudaGraphAddDependencies(edge, &a, &b, NULL, 1));
    cudaGraphExec_t x;
    OK(cudaGraphInstantiate(&x, g, 0));
    update(x, same);
    R(cudaGraphLaunch(x, 0));
    R(cudaDeviceSynchronize());
    V("%d %d", ask_peek(p), ask_peek(p + 1));
    update(x, more);
    update(x, kind);
    update(x, edge);
    R(cudaGraphLaunch(x, 0));
    R(cudaDeviceSynchronize());
    V("%d %d", ask_peek(p), ask_peek(p + 1));
}

CASE(graph_update_null)
{
    cudaGraph_t g = graph();
    cudaGraphExec_t x;
    cudaGraphExecUpdateResultInfo info;
    OK(cudaGraphInstantiate(&x, g, 0));
    R(cudaGraphExecUpdate(NULL, g, &info));
    R(cudaGraphExecUpdate(x, NULL, &info));
    R(cudaGraphExecUpdate(x, g, NULL));
}
