// SPDX-License-Identifier: MIT
// driver_nodes.cu: nodes of every type out of one structure, in both APIs, attributes of kernels in
// graphs, a child graph with other parameters, and what is refused by name.
#include "driver_check.h"

enum { N = 1 << 10, BYTES = N * sizeof(int) };

__global__ void add(int *to, const int *from, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + what;
}

static CUcontext context;
static CUdeviceptr source, sum;
static CUfunction function;
static CUstream stream;
static CUevent before, after;
static int host[N], called;

static void count_call(void *by)
{
    called += *(int *)by;
}

static void expect_all(int value)
{
    for (int i = 0; i < N; i++)
        HOLDS(host[i] == value, "[%d] is %d, not %d", i, host[i], value);
}

static void launch(CUgraphExec exec)
{
    MUST(cuEventRecord(before, stream));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
}

static CUgraphNodeParams of_type(CUgraphNodeType type)
{
    CUgraphNodeParams p = {};
    p.type = type;
    return p;
}

static CUgraphNodeParams kernel_of(void **args)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
    p.kernel.func = function;
    p.kernel.gridDimX = N / 256;
    p.kernel.blockDimX = 256;
    p.kernel.gridDimY = p.kernel.gridDimZ = p.kernel.blockDimY = p.kernel.blockDimZ = 1;
    p.kernel.kernelParams = args;
    return p;
}

static CUgraphNodeParams fill_of(unsigned int value)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_MEMSET);
    p.memset.dst = source;
    p.memset.value = value;
    p.memset.elementSize = 4;
    p.memset.width = N;
    p.memset.height = 1;
    p.memset.ctx = context;
    return p;
}

static CUgraphNodeParams copy_of(CUdeviceptr from)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
    p.memcpy.copyCtx = context;
    p.memcpy.copyParams.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    p.memcpy.copyParams.srcDevice = from;
    p.memcpy.copyParams.dstMemoryType = CU_MEMORYTYPE_HOST;
    p.memcpy.copyParams.dstHost = host;
    p.memcpy.copyParams.WidthInBytes = BYTES;
    p.memcpy.copyParams.Height = p.memcpy.copyParams.Depth = 1;
    return p;
}

static CUgraphNodeParams call_of(int *by)
{
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_HOST);
    p.host.fn = count_call;
    p.host.userData = by;
    return p;
}

static CUgraphNodeParams event_of(CUgraphNodeType type, CUevent event)
{
    CUgraphNodeParams p = of_type(type);
    if (type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        p.eventWait.event = event;
    else
        p.eventRecord.event = event;
    return p;
}

// The node behind `*last`, which becomes the new one.
static CUgraphNode behind(CUgraph graph, CUgraphNode *last, CUgraphNodeParams p)
{
    CUgraphNode node;
    CUgraphNodeType type;
    MUST(cuGraphAddNode(&node, graph, *last ? last : NULL, NULL, *last ? 1 : 0, &p));
    MUST(cuGraphNodeGetType(node, &type));
    HOLDS(type == p.type, "type %d, not %d", (int)type, (int)p.type);
    return *last = node;
}

static int one = 1, ten = 10;

struct made {
    CUgraph graph;
    CUgraphNode wait, fill, work, copy, call, record;
};

static struct made every_type(int what)
{
    void *args[] = {&sum, &source, &what};
    struct made m;
    CUgraphNode last = NULL;
    MUST(cuGraphCreate(&m.graph, 0));
    m.wait = behind(m.graph, &last, event_of(CU_GRAPH_NODE_TYPE_WAIT_EVENT, before));
    m.fill = behind(m.graph, &last, fill_of(40));
    m.work = behind(m.graph, &last, kernel_of(args));
    m.copy = behind(m.graph, &last, copy_of(sum));
    m.call = behind(m.graph, &last, call_of(&one));
    behind(m.graph, &last, of_type(CU_GRAPH_NODE_TYPE_EMPTY));
    m.record = behind(m.graph, &last, event_of(CU_GRAPH_NODE_TYPE_EVENT_RECORD, after));
    return m;
}

static void memory(CUgraph graph)
{
    CUgraphNode last = NULL;
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    p.alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.alloc.bytesize = BYTES;
    MUST(cuGraphAddNode(&last, graph, NULL, NULL, 0, &p));
    HOLDS(p.alloc.dptr != 0, "no memory");
    CUgraphNodeParams give = of_type(CU_GRAPH_NODE_TYPE_MEM_FREE);
    give.free.dptr = p.alloc.dptr;
    behind(graph, &last, give);
}

static void set_every_type(const struct made *m, CUgraphExec exec)
{
    int what = 5;
    void *args[] = {&sum, &source, &what};
    CUgraphNodeParams p[] = {kernel_of(args),
                             fill_of(100),
                             copy_of(sum),
                             call_of(&ten),
                             event_of(CU_GRAPH_NODE_TYPE_WAIT_EVENT, before),
                             event_of(CU_GRAPH_NODE_TYPE_EVENT_RECORD, after)};
    CUgraphNode node[] = {m->work, m->fill, m->copy, m->call, m->wait, m->record};
    for (int i = 0; i < 6; i++)
        MUST(cuGraphExecNodeSetParams(exec, node[i], &p[i]));
    called = 0;
    launch(exec);
    expect_all(105);
    HOLDS(called == 10, "%d", called);
    what = 6;
    for (int i = 0; i < 6; i++)
        MUST(cuGraphNodeSetParams(node[i], &p[i]));
    CUgraphExecUpdateResultInfo info;
    MUST(cuGraphExecUpdate(exec, m->graph, &info));
    launch(exec);
    expect_all(106);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(m->work, &p[1]));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(m->work, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(exec, m->work, NULL));
    p[0].type = CU_GRAPH_NODE_TYPE_EMPTY;
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphExecNodeSetParams(exec, m->work, &p[0]));
}

// A child in a child gets other parameters, but no other shape.
static void child(void)
{
    struct made m = every_type(1);
    CUgraph middle, outer, other, wider;
    CUgraphNode inner, node;
    CUgraphExec exec;
    CUgraphNodeParams p = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
    MUST(cuGraphDestroyNode(m.wait));
    MUST(cuGraphCreate(&middle, 0));
    MUST(cuGraphCreate(&outer, 0));
    p.graph.graph = m.graph;
    MUST(cuGraphAddNode(&inner, middle, NULL, NULL, 0, &p));
    MUST(cuGraphAddChildGraphNode(&node, outer, NULL, 0, middle));
    MUST(cuGraphInstantiate(&exec, outer, 0));
    launch(exec);
    expect_all(41);

    int what = 9;
    void *args[] = {&sum, &source, &what};
    CUgraphNodeParams kernel = kernel_of(args);
    MUST(cuGraphNodeSetParams(m.work, &kernel));
    MUST(cuGraphCreate(&other, 0));
    MUST(cuGraphAddNode(&inner, other, NULL, NULL, 0, &p));
    MUST(cuGraphExecChildGraphNodeSetParams(exec, node, other));
    launch(exec);
    expect_all(49);
    p.graph.graph = middle;
    MUST(cuGraphExecNodeSetParams(exec, node, &p));
    launch(exec);
    expect_all(41);

    MUST(cuGraphClone(&wider, other));
    MUST(cuGraphAddEmptyNode(&inner, wider, NULL, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, node, wider));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, node, m.graph));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, m.work, other));
    p.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    REFUSED(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&inner, outer, NULL, NULL, 0, &p));
    MUST(cuGraphExecDestroy(exec));
    for (CUgraph graph : {m.graph, middle, outer, other, wider})
        MUST(cuGraphDestroy(graph));
}

static void attributes(const struct made *m)
{
    CUkernelNodeAttrValue value = {};
    struct made other = every_type(0);
    value.clusterDim.x = 2;
    value.clusterDim.y = value.clusterDim.z = 1;
    MUST(cuGraphKernelNodeSetAttribute(m->work, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    value.clusterDim.x = 3; // does not divide the grid
    REFUSED(CUDA_ERROR_INVALID_CLUSTER_SIZE,
            cuGraphKernelNodeSetAttribute(m->work, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    MUST(cuGraphKernelNodeCopyAttributes(other.work, m->work));
    MUST(cuGraphKernelNodeGetAttribute(other.work, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    HOLDS(value.clusterDim.x == 2, "%u", value.clusterDim.x);
    value.cooperative = 1;
    MUST(cuGraphKernelNodeSetAttribute(m->work, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    MUST(cuGraphKernelNodeGetAttribute(m->work, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    HOLDS(value.cooperative == 1, "%d", value.cooperative);
    MUST(cuGraphKernelNodeGetAttribute(other.work, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    HOLDS(value.cooperative == 0, "%d", value.cooperative);
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuGraphKernelNodeSetAttribute(m->fill, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuGraphKernelNodeGetAttribute(m->work, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeCopyAttributes(m->work, m->fill));
    MUST(cuGraphDestroy(other.graph));
}

// The same structure of the runtime's.
static void of_runtime(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, copy, node;
    struct cudaGraphNodeParams p = {};
    MUST((CUresult)cudaGraphCreate(&graph, 0));
    p.type = cudaGraphNodeTypeMemset;
    p.memset.dst = (void *)source;
    p.memset.value = 12;
    p.memset.elementSize = 4;
    p.memset.width = N;
    p.memset.height = 1;
    MUST((CUresult)cudaGraphAddNode(&fill, graph, NULL, NULL, 0, &p));
    p.memset.value = 13;
    MUST((CUresult)cudaGraphNodeSetParams(fill, &p));
    struct cudaGraphNodeParams c = {};
    c.type = cudaGraphNodeTypeMemcpy;
    c.memcpy.copyParams.srcPtr = make_cudaPitchedPtr((void *)source, BYTES, BYTES, 1);
    c.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(host, BYTES, BYTES, 1);
    c.memcpy.copyParams.extent = make_cudaExtent(BYTES, 1, 1);
    c.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    MUST((CUresult)cudaGraphAddNode(&copy, graph, &fill, NULL, 1, &c));
    MUST((CUresult)cudaGraphInstantiate(&exec, graph, 0));
    launch(exec);
    expect_all(13);
    p.memset.value = 14;
    MUST((CUresult)cudaGraphExecNodeSetParams(exec, fill, &p));
    launch(exec);
    expect_all(14);
    p.type = cudaGraphNodeTypeConditional;
    REFUSED(CUDA_ERROR_NOT_SUPPORTED, (CUresult)cudaGraphAddNode(&node, graph, NULL, NULL, 0, &p));
    MUST((CUresult)cudaGraphExecDestroy(exec));
    MUST((CUresult)cudaGraphDestroy(graph));
}

static void refused(const struct made *m)
{
    CUgraphNode node;
    CUgraphConditionalHandle handle;
    CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {};
    CUstreamBatchMemOpParams operation = {};
    for (CUgraphNodeType type :
         {CU_GRAPH_NODE_TYPE_CONDITIONAL, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
          CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT}) {
        CUgraphNodeParams p = of_type(type);
        REFUSED(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddNode(&node, m->graph, NULL, NULL, 0, &p));
    }
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, m->graph, NULL, NULL, 0, NULL));
    CUgraphNodeParams p = of_type((CUgraphNodeType)77);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddNode(&node, m->graph, NULL, NULL, 0, &p));
    REFUSED(CUDA_ERROR_NOT_SUPPORTED,
            cuGraphConditionalHandleCreate(&handle, m->graph, context, 0, 0));
    REFUSED(CUDA_ERROR_NOT_SUPPORTED, cuGraphDebugDotPrint(m->graph, "graph.dot", 0));
    REFUSED(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddBatchMemOpNode(&node, m->graph, NULL, 0, &batch));
    REFUSED(CUDA_ERROR_NOT_SUPPORTED, cuStreamBatchMemOp(stream, 1, &operation, 0));
    REFUSED(CUDA_ERROR_NOT_SUPPORTED, cuStreamWriteValue32(stream, source, 1, 0));
}

int main(void)
{
    CUgraphExec exec;
    begin(1, &context);
    function = function_of((const void *)add);
    MUST(cuMemAlloc(&source, BYTES));
    MUST(cuMemAlloc(&sum, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&after, CU_EVENT_DISABLE_TIMING));

    struct made m = every_type(2);
    memory(m.graph);
    MUST(cuGraphInstantiate(&exec, m.graph, 0));
    launch(exec);
    expect_all(42);
    HOLDS(called == 1, "%d", called);
    MUST(cuEventSynchronize(after));
    set_every_type(&m, exec);
    child();
    attributes(&m);
    of_runtime();
    refused(&m);
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(m.graph));
    MUST(cuEventDestroy(before));
    MUST(cuEventDestroy(after));
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(source));
    MUST(cuMemFree(sum));
    puts("right");
    return 0;
}
