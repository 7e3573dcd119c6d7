// SPDX-License-Identifier: MIT
// graphs.cu: nodes of all kinds by hand, changed before and after graphs are made executable.
#include "ask.h"

static __global__ void put(int *p, int v)
{
    *p = v;
}
static __global__ void other(int *p, int v)
{
    *p = v + 1;
}
static void CUDART_CB count(void *at)
{
    ++*(int *)at;
}

static cudaGraph_t graph(void)
{
    cudaGraph_t g;
    OK(cudaGraphCreate(&g, 0));
    return g;
}

static int *memory(void)
{
    int *p;
    OK(cudaMalloc(&p, 4096));
    OK(cudaMemset(p, 0, 4096));
    return p;
}

static cudaKernelNodeParams kernel(void *function, void **args)
{
    cudaKernelNodeParams k = {};
    k.func = function;
    k.gridDim = dim3(1);
    k.blockDim = dim3(1);
    k.kernelParams = args;
    return k;
}

static cudaMemsetParams fill(void *at, unsigned value)
{
    return ask_fill(at, value, 4);
}

static void run(cudaGraphExec_t x)
{
    R(cudaGraphLaunch(x, 0));
    R(cudaDeviceSynchronize());
}

CASE(graph_kernel)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t n;
    int *p = memory(), v = 3, w = 4;
    void *args[] = {&p, &v}, *later[] = {&p, &w};
    cudaKernelNodeParams k = kernel((void *)put, args);
    R(cudaGraphAddKernelNode(&n, g, NULL, 0, &k));
    k.kernelParams = later;
    R(cudaGraphKernelNodeSetParams(n, &k));
    cudaGraphExec_t x;
    R(cudaGraphInstantiateWithFlags(&x, g, 0));
    run(x);
    V("%d", ask_peek(p));
    k.func = (void *)other;
    R(cudaGraphExecKernelNodeSetParams(x, n, &k));
    run(x);
    V("%d", ask_peek(p));
    k.gridDim = dim3(0);
    R(cudaGraphKernelNodeSetParams(n, &k));
    k.gridDim = dim3(1);
    k.blockDim = dim3(2000);
    R(cudaGraphKernelNodeSetParams(n, &k));
    k.blockDim = dim3(1);
    k.func = (void *)count;
    R(cudaGraphKernelNodeSetParams(n, &k));
    R(cudaGraphAddKernelNode(&n, g, NULL, 0, &k));
    k.func = (void *)put;
    R(cudaGraphKernelNodeSetParams(NULL, &k));
    R(cudaGraphKernelNodeSetParams(n, NULL));
    R(cudaGraphAddKernelNode(&n, g, NULL, 0, NULL));
    R(cudaGraphAddKernelNode(&n, NULL, NULL, 0, &k));
    R(cudaGraphAddKernelNode(NULL, g, NULL, 0, &k));
}

CASE(graph_flags)
{
    cudaGraph_t g = graph();
    cudaGraphExec_t x;
    R(cudaGraphCreate(&g, 1));
    R(cudaGraphInstantiateWithFlags(&x, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    R(cudaGraphInstantiateWithFlags(&x, g, cudaGraphInstantiateFlagUseNodePriority));
    R(cudaGraphInstantiateWithFlags(&x, g, 64));
    R(cudaGraphInstantiateWithFlags(&x, NULL, 0));
    R(cudaGraphInstantiateWithFlags(NULL, g, 0));
    R(cudaGraphCreate(NULL, 0));
}

CASE(graph_upload)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t n;
    int *p = memory();
    cudaMemsetParams m = fill(p, 5);
    cudaGraphExec_t x;
    OK(cudaGraphAddMemsetNode(&n, g, NULL, 0, &m));
    OK(cudaGraphInstantiate(&x, g, 0));
    cudaStream_t s = ask_stream();
    R(cudaGraphUpload(x, s));
    R(cudaStreamSynchronize(s));
    R(cudaGraphUpload(x, NULL));
    run(x);
    V("%d", ask_peek(p));
    R(cudaGraphUpload(NULL, s));
    R(cudaGraphLaunch(NULL, s));
    R(cudaGraphExecDestroy(NULL));
}

CASE(graph_memset)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t n, bad;
    int *p = memory(), h = 0;
    cudaMemsetParams m = fill(p, 5);
    R(cudaGraphAddMemsetNode(&n, g, NULL, 0, &m));
    m.value = 6;
    R(cudaGraphMemsetNodeSetParams(n, &m));
    cudaGraphExec_t x;
    OK(cudaGraphInstantiate(&x, g, 0));
    run(x);
    V("%d", ask_peek(p));
    m.value = 7;
    R(cudaGraphExecMemsetNodeSetParams(x, n, &m));
    run(x);
    V("%d", ask_peek(p));
    m.elementSize = 3;
    R(cudaGraphMemsetNodeSetParams(n, &m));
    R(cudaGraphExecMemsetNodeSetParams(x, n, &m));
    R(cudaGraphAddMemsetNode(&bad, g, NULL, 0, &m));
    m = fill(&h, 5);
    R(cudaGraphAddMemsetNode(&bad, g, NULL, 0, &m));
    m = fill(p, 5);
    m.width = 0;
    R(cudaGraphMemsetNodeSetParams(n, &m));
    m.width = 2;
    m.height = 3;
    m.pitch = 4;
    R(cudaGraphMemsetNodeSetParams(n, &m));
    m.pitch = 16;
    R(cudaGraphMemsetNodeSetParams(n, &m));
    R(cudaGraphExecMemsetNodeSetParams(x, n, &m));
    m = fill(p, 5);
    R(cudaGraphExecMemsetNodeSetParams(NULL, n, &m));
    R(cudaGraphExecMemsetNodeSetParams(x, NULL, &m));
    R(cudaGraphMemsetNodeSetParams(NULL, &m));
    R(cudaGraphMemsetNodeSetParams(n, NULL));
    R(cudaGraphExecMemsetNodeSetParams(x, n, NULL));
    R(cudaGraphAddMemsetNode(&bad, g, NULL, 0, NULL));
}

CASE(graph_copy)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t n, bad;
    int *p = memory(), h[4] = {1, 2, 3, 4};
    R(cudaGraphAddMemcpyNode1D(&n, g, NULL, 0, p, h, 8, cudaMemcpyHostToDevice));
    R(cudaGraphMemcpyNodeSetParams1D(n, p, h + 1, 8, cudaMemcpyHostToDevice));
    cudaGraphExec_t x;
    OK(cudaGraphInstantiate(&x, g, 0));
    run(x);
    V("%d %d", ask_peek(p), ask_peek(p + 1));
    R(cudaGraphExecMemcpyNodeSetParams1D(x, n, p + 1, h + 3, 4, cudaMemcpyHostToDevice));
    run(x);
    V("%d %d", ask_peek(p), ask_peek(p + 1));
    R(cudaGraphExecMemcpyNodeSetParams1D(x, n, h, p, 4, cudaMemcpyDeviceToHost));
    R(cudaGraphMemcpyNodeSetParams1D(n, h, p, 4, cudaMemcpyDeviceToHost));
    R(cudaGraphMemcpyNodeSetParams1D(n, p, h, 4, cudaMemcpyDeviceToHost));
    R(cudaGraphMemcpyNodeSetParams1D(n, p, h, 4, (cudaMemcpyKind)9));
    R(cudaGraphMemcpyNodeSetParams1D(n, p, h, 0, cudaMemcpyHostToDevice));
    R(cudaGraphMemcpyNodeSetParams1D(n, NULL, h, 4, cudaMemcpyHostToDevice));
    R(cudaGraphMemcpyNodeSetParams1D(n, p, h, 64 << 20, cudaMemcpyHostToDevice));
    R(cudaGraphAddMemcpyNode1D(&bad, g, NULL, 0, p, h, 0, cudaMemcpyHostToDevice));
    R(cudaGraphMemcpyNodeSetParams1D(NULL, p, h, 4, cudaMemcpyHostToDevice));
    R(cudaGraphExecMemcpyNodeSetParams1D(NULL, n, p, h, 4, cudaMemcpyHostToDevice));
    R(cudaGraphExecMemcpyNodeSetParams1D(x, NULL, p, h, 4, cudaMemcpyHostToDevice));
}

CASE(graph_copy_box)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t n;
    static int h[4] = {1, 2, 3, 4};
    cudaPitchedPtr d;
    OK(cudaMalloc3D(&d, make_cudaExtent(8, 2, 1)));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(h, 8, 8, 2);
    p.dstPtr = d;
    p.extent = make_cudaExtent(8, 2, 1);
    p.kind = cudaMemcpyHostToDevice;
    R(cudaGraphAddMemcpyNode(&n, g, NULL, 0, &p));
    cudaGraphExec_t x;
    R(cudaGraphInstantiate(&x, g, 0));
    run(x);
    V("%d", ask_peek((char *)d.ptr + d.pitch + 4));
    p.kind = (cudaMemcpyKind)9;
    R(cudaGraphAddMemcpyNode(&n, g, NULL, 0, &p));
    p.kind = cudaMemcpyHostToDevice;
    p.extent = make_cudaExtent(0, 0, 0);
    R(cudaGraphAddMemcpyNode(&n, g, NULL, 0, &p));
    p.extent = make_cudaExtent(8, 2, 1);
    R(cudaGraphAddMemcpyNode(&n, NULL, NULL, 0, &p));
    R(cudaGraphAddMemcpyNode(NULL, g, NULL, 0, &p));
    R(cudaGraphAddMemcpyNode(&n, g, NULL, 0, NULL));
}

CASE(graph_host)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t n, bad;
    static int a, b, c;
    cudaHostNodeParams h = {count, &a};
    R(cudaGraphAddHostNode(&n, g, NULL, 0, &h));
    h.userData = &b;
    R(cudaGraphHostNodeSetParams(n, &h));
    cudaGraphExec_t x;
    OK(cudaGraphInstantiate(&x, g, 0));
    run(x);
    V("%d %d %d", a, b, c);
    h.userData = &c;
    R(cudaGraphExecHostNodeSetParams(x, n, &h));
    run(x);
    V("%d %d %d", a, b, c);
    R(cudaGraphExecHostNodeSetParams(NULL, n, &h));
    R(cudaGraphExecHostNodeSetParams(x, NULL, &h));
    R(cudaGraphHostNodeSetParams(NULL, &h));
    h.fn = NULL;
    R(cudaGraphHostNodeSetParams(n, &h));
    R(cudaGraphExecHostNodeSetParams(x, n, &h));
    R(cudaGraphAddHostNode(&bad, g, NULL, 0, &h));
    R(cudaGraphHostNodeSetParams(n, NULL));
    R(cudaGraphExecHostNodeSetParams(x, n, NULL));
    R(cudaGraphAddHostNode(&bad, g, NULL, 0, NULL));
}

CASE(graph_child)
{
    cudaGraph_t g = graph(), child = graph(), inner = NULL;
    cudaGraphNode_t n, m;
    int *p = memory();
    cudaMemsetParams set = fill(p, 5);
    OK(cudaGraphAddMemsetNode(&m, child, NULL, 0, &set));
    R(cudaGraphAddChildGraphNode(&n, g, NULL, 0, child));
    R(cudaGraphChildGraphNodeGetGraph(n, &inner));
    V("a graph %d, another one %d", inner != NULL, inner != child);
    cudaGraphNodeType type = (cudaGraphNodeType)99;
    R(cudaGraphNodeGetType(n, &type));
    V("type %d", (int)type);
    set.value = 6;
    OK(cudaGraphMemsetNodeSetParams(m, &set));
    cudaGraphExec_t x;
    R(cudaGraphInstantiate(&x, g, 0));
    run(x);
    V("%d", ask_peek(p));
    R(cudaGraphDestroy(child));
    R(cudaGraphChildGraphNodeGetGraph(n, NULL));
    R(cudaGraphChildGraphNodeGetGraph(NULL, &inner));
    R(cudaGraphAddChildGraphNode(&n, g, NULL, 0, NULL));
    R(cudaGraphAddChildGraphNode(NULL, g, NULL, 0, graph()));
    R(cudaGraphAddChildGraphNode(&n, g, NULL, 0, g));
}

CASE(graph_child_of_other_kind)
{
    cudaGraph_t g = graph(), inner = NULL;
    cudaGraphNode_t n;
    OK(cudaGraphAddEmptyNode(&n, g, NULL, 0));
    R(cudaGraphChildGraphNodeGetGraph(n, &inner));
    cudaHostNodeParams h = {count, NULL};
    R(cudaGraphHostNodeSetParams(n, &h));
    cudaMemsetParams set = fill(memory(), 5);
    R(cudaGraphMemsetNodeSetParams(n, &set));
    R(cudaGraphMemcpyNodeSetParams1D(n, set.dst, &g, 4, cudaMemcpyHostToDevice));
    cudaKernelNodeParams k = kernel((void *)put, NULL);
    R(cudaGraphKernelNodeSetParams(n, &k));
}
