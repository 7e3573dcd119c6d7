// SPDX-License-Identifier: MIT
// driver_graphs.cu: graphs and captures by the driver API: every kind of node with the driver's
// parameters, over two GPUs; changes, updates, captures; and what the calls refuse.
#include "driver_check.h"

enum { N = 1 << 10, BYTES = N * sizeof(int) };

__global__ void add(int *to, const int *from, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + what;
}

static CUcontext context[2];
static CUdeviceptr source, sum, far;
static CUfunction function;
static CUstream stream;
static int host[N], called;

static void count_call(void *by)
{
    called += *(int *)by;
}

static CUDA_KERNEL_NODE_PARAMS kernel_of(void **args)
{
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.func = function;
    p.gridDimX = N / 256;
    p.blockDimX = 256;
    p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
    p.kernelParams = args;
    return p;
}

static CUDA_MEMSET_NODE_PARAMS fill_of(CUdeviceptr to, unsigned int value)
{
    CUDA_MEMSET_NODE_PARAMS p = {to, 0, value, 4, N, 1};
    return p;
}

static CUDA_MEMCPY3D copy_to_host(CUdeviceptr from)
{
    CUDA_MEMCPY3D p = {};
    p.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    p.srcDevice = from;
    p.dstMemoryType = CU_MEMORYTYPE_HOST;
    p.dstHost = host;
    p.WidthInBytes = BYTES;
    p.Height = p.Depth = 1;
    return p;
}

static void expect_all(int value)
{
    for (int i = 0; i < N; i++)
        HOLDS(host[i] == value, "[%d] is %d, not %d", i, host[i], value);
}

static void launch(CUgraphExec exec)
{
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
}

// memset -> kernel -> copy -> function, an empty node beside it
struct made {
    CUgraph graph;
    CUgraphNode fill, work, copy, call, nothing;
};

static struct made by_hand(int what)
{
    static int one = 1;
    struct made m;
    void *args[] = {&sum, &source, &what};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(args);
    CUDA_MEMSET_NODE_PARAMS fill = fill_of(source, 40);
    CUDA_MEMCPY3D copy = copy_to_host(sum);
    CUDA_HOST_NODE_PARAMS call = {count_call, &one};

    MUST(cuGraphCreate(&m.graph, 0));
    MUST(cuGraphAddMemsetNode(&m.fill, m.graph, NULL, 0, &fill, context[0]));
    MUST(cuGraphAddKernelNode(&m.work, m.graph, &m.fill, 1, &kernel));
    MUST(cuGraphAddMemcpyNode(&m.copy, m.graph, &m.work, 1, &copy, context[0]));
    MUST(cuGraphAddHostNode(&m.call, m.graph, &m.copy, 1, &call));
    MUST(cuGraphAddEmptyNode(&m.nothing, m.graph, &m.fill, 1));
    return m;
}

static void shape(const struct made *m)
{
    CUgraphNode nodes[8], from[8], to[8];
    CUgraphEdgeData data[8];
    CUgraphNodeType type;
    size_t count = 8;

    MUST(cuGraphGetNodes(m->graph, nodes, &count));
    HOLDS(count == 5 && nodes[0] == m->fill && nodes[4] == m->nothing, "%zu nodes", count);
    count = 8;
    MUST(cuGraphGetRootNodes(m->graph, nodes, &count));
    HOLDS(count == 1 && nodes[0] == m->fill, "%zu roots", count);
    count = 8;
    MUST(cuGraphGetEdges(m->graph, from, to, data, &count));
    HOLDS(count == 4 && from[0] == m->fill && to[0] == m->work, "%zu edges", count);
    count = 8;
    MUST(cuGraphNodeGetDependencies(m->call, nodes, data, &count));
    HOLDS(count == 1 && nodes[0] == m->copy, "%zu dependencies", count);
    MUST(cuGraphNodeGetType(m->copy, &type));
    HOLDS(type == CU_GRAPH_NODE_TYPE_MEMCPY, "type %d", (int)type);
    MUST(cuGraphAddDependencies(m->graph, &m->nothing, &m->call, NULL, 1));
    MUST(cuGraphRemoveDependencies(m->graph, &m->nothing, &m->call, NULL, 1));
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuGraphRemoveDependencies(m->graph, &m->nothing, &m->call, NULL, 1));
    MUST(cuGraphDestroyNode(m->nothing));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(m->nothing));
}

static void change(const struct made *m, CUgraphExec exec)
{
    static int ten = 10;
    int what = 5;
    void *args[] = {&sum, &source, &what};
    struct {
        CUdeviceptr to, from;
        int what;
    } packed = {sum, source, 7};
    size_t bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(args);
    CUDA_MEMSET_NODE_PARAMS fill = fill_of(source, 100);
    CUDA_HOST_NODE_PARAMS call = {count_call, &ten};

    MUST(cuGraphExecKernelNodeSetParams(exec, m->work, &kernel));
    MUST(cuGraphExecMemsetNodeSetParams(exec, m->fill, &fill, context[0]));
    MUST(cuGraphExecHostNodeSetParams(exec, m->call, &call));
    called = 0;
    launch(exec);
    expect_all(105);
    HOLDS(called == 10, "%d", called);

    // the graph's nodes, of which the executable graph knows after an update only
    kernel.kernelParams = NULL;
    kernel.extra = extra;
    MUST(cuGraphKernelNodeSetParams(m->work, &kernel));
    fill.value = 1000;
    MUST(cuGraphMemsetNodeSetParams(m->fill, &fill));
    MUST(cuGraphHostNodeSetParams(m->call, &call));
    launch(exec);
    expect_all(105);
    CUgraphExecUpdateResultInfo info;
    MUST(cuGraphExecUpdate(exec, m->graph, &info));
    HOLDS(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS, "%d", (int)info.result);
    launch(exec);
    expect_all(1007);
}

static void updates(CUgraphExec exec)
{
    CUgraphExecUpdateResultInfo info;
    struct made other = by_hand(3);
    REFUSED(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, other.graph, &info));
    HOLDS(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, "%d", (int)info.result);
    MUST(cuGraphDestroyNode(other.nothing));
    MUST(cuGraphExecUpdate(exec, other.graph, &info));
    launch(exec);
    expect_all(43);
    MUST(cuGraphDestroy(other.graph));
}

// A graph within a graph, and the same through a clone.
static void child(CUgraph inner)
{
    CUgraph outer, own, clone;
    CUgraphNode twice[2];
    CUgraphExec exec;
    MUST(cuGraphCreate(&outer, 0));
    MUST(cuGraphAddChildGraphNode(&twice[0], outer, NULL, 0, inner));
    MUST(cuGraphAddChildGraphNode(&twice[1], outer, &twice[0], 1, inner));
    MUST(cuGraphChildGraphNodeGetGraph(twice[1], &own));
    HOLDS(own != inner, "the node has a copy");
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddChildGraphNode(&twice[0], outer, NULL, 0, outer));
    MUST(cuGraphClone(&clone, outer));
    MUST(cuGraphDestroy(outer));
    MUST(cuGraphInstantiateWithFlags(&exec, clone, 0));
    MUST(cuGraphDestroy(clone));
    called = 0;
    MUST(cuGraphUpload(exec, stream));
    launch(exec);
    HOLDS(called == 20, "%d", called);
    MUST(cuGraphExecDestroy(exec));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphExecDestroy(exec));
}

// The second GPU computes what the first one filled, between two events.
static void two_gpus(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode wait, fill, work, copy, last;
    CUevent before, after, got;
    int what = 2;
    void *args[] = {&far, &far, &what};
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(args);
    CUDA_MEMSET_NODE_PARAMS zero = fill_of(far, 30);
    CUDA_MEMCPY3D back = copy_to_host(far);

    MUST(cuEventCreate(&before, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&after, CU_EVENT_DISABLE_TIMING));
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, before));
    MUST(cuGraphAddMemsetNode(&fill, graph, &wait, 1, &zero, context[1]));
    kernel.kern = (CUkernel)kernel.func;
    kernel.func = NULL;
    kernel.ctx = context[1];
    MUST(cuGraphAddKernelNode(&work, graph, &fill, 1, &kernel));
    MUST(cuGraphAddMemcpyNode(&copy, graph, &work, 1, &back, context[1]));
    MUST(cuGraphAddEventRecordNode(&last, graph, &copy, 1, before));
    MUST(cuGraphEventRecordNodeSetEvent(last, after));
    MUST(cuGraphEventRecordNodeGetEvent(last, &got));
    HOLDS(got == after, "the node's event");
    MUST(cuGraphEventWaitNodeGetEvent(wait, &got));
    HOLDS(got == before, "the node's event");
    MUST(cuGraphEventWaitNodeSetEvent(wait, before));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphExecEventWaitNodeSetEvent(exec, wait, before));
    MUST(cuGraphExecEventRecordNodeSetEvent(exec, last, after));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphExecEventWaitNodeSetEvent(exec, last, before));
    MUST(cuEventRecord(before, stream));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuEventSynchronize(after));
    expect_all(32);
    MUST(cuStreamSynchronize(stream));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuEventDestroy(before));
    MUST(cuEventDestroy(after));
}

static void memory(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode alloc, fill, copy, give;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {};
    CUmemAccessDesc reach = {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned long long used = 0;

    p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.poolProps.location.id = 0;
    p.accessDescs = &reach;
    p.accessDescCount = 1;
    p.bytesize = BYTES;
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &p));
    CUDA_MEMSET_NODE_PARAMS seven = fill_of(p.dptr, 7);
    CUDA_MEMCPY3D back = copy_to_host(p.dptr);
    MUST(cuGraphAddMemsetNode(&fill, graph, &alloc, 1, &seven, context[1]));
    MUST(cuGraphAddMemcpyNode(&copy, graph, &fill, 1, &back, context[0]));
    MUST(cuGraphAddMemFreeNode(&give, graph, &copy, 1, p.dptr));
    MUST(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH));
    launch(exec);
    expect_all(7);
    MUST(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &used));
    HOLDS(used >= BYTES, "%llu", used);
    used = 0;
    MUST(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &used));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuDeviceGraphMemTrim(0));
    MUST(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    HOLDS(used == 0, "%llu", used);
    REFUSED(CUDA_ERROR_INVALID_DEVICE, cuDeviceGraphMemTrim(99));
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
}

// Work of two streams becomes a graph; the second one joins by an event.
static void captured(void)
{
    static int one = 1;
    CUstream second;
    CUevent fork, join;
    CUgraph graph, seen;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    const CUgraphNode *nodes;
    const CUgraphEdgeData *data;
    cuuint64_t id = 0;
    size_t count = 0;
    int what = 9;
    void *args[] = {&sum, &source, &what};

    MUST(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    MUST(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    HOLDS(mode == CU_STREAM_CAPTURE_MODE_GLOBAL, "%d", (int)mode);
    MUST(cuThreadExchangeStreamCaptureMode(&mode));
    MUST(cuStreamIsCapturing(stream, &status));
    HOLDS(status == CU_STREAM_CAPTURE_STATUS_NONE, "%d", (int)status);

    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD32Async(source, 50, N, stream));
    MUST(cuEventRecord(fork, stream));
    MUST(cuStreamWaitEvent(second, fork, 0));
    MUST(cuLaunchKernel(function, N / 256, 1, 1, 256, 1, 1, 0, second, args, NULL));
    MUST(cuStreamIsCapturing(second, &status));
    HOLDS(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "%d", (int)status);
    MUST(cuMemcpyDtoHAsync(host, sum, BYTES, second));
    MUST(cuLaunchHostFunc(second, count_call, &one));
    MUST(cuEventRecord(join, second));
    MUST(cuStreamWaitEvent(stream, join, 0));
    MUST(cuStreamGetCaptureInfo(stream, &status, &id, &seen, &nodes, &data, &count));
    HOLDS(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id && count > 0, "%zu", count);
    MUST(cuStreamEndCapture(stream, &graph));
    HOLDS(seen == graph, "the graph under capture");
    MUST(cuGraphInstantiate(&exec, graph, 0));
    called = 0;
    launch(exec);
    expect_all(59);
    HOLDS(called == 1, "%d", called);

    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
    MUST(cuStreamIsCapturing(stream, &status));
    HOLDS(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED, "%d", (int)status);
    REFUSED(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &seen));
    REFUSED(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream, &seen));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(graph));
    MUST(cuEventDestroy(fork));
    MUST(cuEventDestroy(join));
    MUST(cuStreamDestroy(second));
}

static void call_back(CUstream of, CUresult status, void *data)
{
    called += of == stream && status == CUDA_SUCCESS ? *(int *)data : 1000;
}

static void callbacks(void)
{
    static int three = 3;
    called = 0;
    MUST(cuStreamAddCallback(stream, call_back, &three, 0));
    MUST(cuLaunchHostFunc(stream, count_call, &three));
    MUST(cuStreamSynchronize(stream));
    HOLDS(called == 6, "%d", called);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuStreamAddCallback(stream, NULL, NULL, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuStreamAddCallback(stream, call_back, NULL, 1));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc(stream, NULL, NULL));
}

static void refusals(const struct made *m)
{
    int what = 0;
    void *args[] = {&sum, &source, &what};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(args);
    CUDA_MEMSET_NODE_PARAMS fill = fill_of(source, 0);
    CUDA_MEMCPY3D copy = copy_to_host(sum);
    CUDA_HOST_NODE_PARAMS call = {NULL, NULL};
    CUcontext nobody = (CUcontext)&what;

    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(NULL, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(&graph, 1));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, m->graph, NULL, 0, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(NULL, m->graph, NULL, 0, &kernel));
    kernel.blockDimX = 4096;
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, m->graph, NULL, 0, &kernel));
    kernel.func = (CUfunction)&what;
    REFUSED(CUDA_ERROR_INVALID_HANDLE, cuGraphAddKernelNode(&node, m->graph, NULL, 0, &kernel));
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuGraphAddMemsetNode(&node, m->graph, NULL, 0, NULL, context[0]));
    REFUSED(CUDA_ERROR_INVALID_CONTEXT,
            cuGraphAddMemsetNode(&node, m->graph, NULL, 0, &fill, nobody));
    fill.elementSize = 3;
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuGraphAddMemsetNode(&node, m->graph, NULL, 0, &fill, context[0]));
    REFUSED(CUDA_ERROR_INVALID_CONTEXT,
            cuGraphAddMemcpyNode(&node, m->graph, NULL, 0, &copy, nobody));
    copy.WidthInBytes = 0;
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuGraphAddMemcpyNode(&node, m->graph, NULL, 0, &copy, context[0]));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddHostNode(&node, m->graph, NULL, 0, &call));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&node, m->graph, NULL, 0, sum));
    kernel = kernel_of(args);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams(m->fill, &kernel));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(NULL, m->graph, 0));
    REFUSED(CUDA_ERROR_NOT_SUPPORTED,
            cuGraphInstantiate(&exec, m->graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(NULL, stream));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphClone(&graph, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuThreadExchangeStreamCaptureMode(NULL));
}

int main(void)
{
    CUgraph graph;
    REFUSED(CUDA_ERROR_NOT_INITIALIZED, cuGraphCreate(&graph, 0));
    begin(2, context);
    function = function_of((const void *)add);
    MUST(cuMemAlloc(&far, BYTES));
    MUST(cuCtxSetCurrent(context[0]));
    MUST(cuMemAlloc(&source, BYTES));
    MUST(cuMemAlloc(&sum, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    CUgraphExec exec;
    struct made m = by_hand(2);
    shape(&m);
    MUST(cuGraphInstantiate(&exec, m.graph, 0));
    launch(exec);
    expect_all(42);
    HOLDS(called == 1, "%d", called);
    change(&m, exec);
    updates(exec);
    refusals(&m);
    child(m.graph);
    two_gpus();
    memory();
    captured();
    callbacks();
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(m.graph));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(m.graph));
    MUST(cuStreamDestroy(stream));
    for (CUdeviceptr ptr : {source, sum, far})
        MUST(cuMemFree(ptr));
    puts("right");
    return 0;
}
