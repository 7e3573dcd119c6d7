// SPDX-License-Identifier: MIT
// driver_graphs.cu: graphs by the driver API: every kind of node with the driver's parameters, over
// two GPUs; queries, changes, updates; and what the calls refuse.
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

static void parameters(const struct made *m)
{
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_MEMCPY3D copy;
    CUDA_HOST_NODE_PARAMS call;
    CUgraphNode nodes[8], twin;
    CUgraph clone;
    size_t count = 8;

    MUST(cuGraphKernelNodeGetParams(m->work, &kernel));
    HOLDS(kernel.func == function && kernel.gridDimX == N / 256 && kernel.blockDimX == 256 &&
              kernel.ctx == context[0] && !kernel.extra,
          "the kernel's parameters");
    HOLDS(*(CUdeviceptr *)kernel.kernelParams[0] == sum && *(int *)kernel.kernelParams[2] == 2,
          "the kernel's arguments");
    MUST(cuGraphKernelNodeSetParams(m->work, &kernel));
    MUST(cuGraphMemsetNodeGetParams(m->fill, &fill));
    HOLDS(fill.dst == source && fill.value == 40 && fill.elementSize == 4 && fill.width == N &&
              fill.height == 1,
          "the fill's parameters");
    MUST(cuGraphMemcpyNodeGetParams(m->copy, &copy));
    HOLDS(copy.srcMemoryType == CU_MEMORYTYPE_DEVICE && copy.srcDevice == sum &&
              copy.dstMemoryType == CU_MEMORYTYPE_HOST && copy.dstHost == host &&
              copy.WidthInBytes == BYTES && copy.Height == 1 && copy.Depth == 1,
          "the copy's parameters");
    MUST(cuGraphMemcpyNodeSetParams(m->copy, &copy));
    MUST(cuGraphHostNodeGetParams(m->call, &call));
    HOLDS(call.fn == count_call && *(int *)call.userData == 1, "the function's parameters");
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams(m->fill, &kernel));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams(m->work, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphMemsetNodeGetParams(m->work, &fill));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeGetParams(m->work, &copy));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(m->work, &copy));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphHostNodeGetParams(m->work, &call));

    MUST(cuGraphNodeGetDependentNodes(m->fill, nodes, NULL, &count));
    HOLDS(count == 2 && nodes[0] == m->work && nodes[1] == m->nothing, "%zu dependents", count);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetDependentNodes(NULL, nodes, NULL, &count));
    MUST(cuGraphClone(&clone, m->graph));
    MUST(cuGraphNodeFindInClone(&twin, m->copy, clone));
    MUST(cuGraphMemcpyNodeGetParams(twin, &copy));
    HOLDS(twin != m->copy && copy.srcDevice == sum, "the node's copy");
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&twin, twin, clone));
    MUST(cuGraphDestroy(clone));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphNodeFindInClone(&twin, m->copy, clone));
}

// A kernel or a fill that is disabled leaves its memory as it is.
static void disabled(const struct made *m)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS p = {CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD, stream, m->work,
                                       CUDA_GRAPH_INSTANTIATE_ERROR};
    CUDA_MEMCPY3D copy = copy_to_host(source);
    CUgraphExec exec;
    cuuint64_t flags;
    unsigned int on;
    MUST(cuGraphInstantiateWithParams(&exec, m->graph, &p));
    HOLDS(p.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS && !p.hErrNode_out, "the result");
    MUST(cuGraphExecGetFlags(exec, &flags));
    HOLDS(flags == CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD, "%llu", (unsigned long long)flags);
    MUST(cuMemsetD32(source, 60, N));
    MUST(cuCtxSynchronize());
    MUST(cuGraphNodeSetEnabled(exec, m->fill, 0));
    MUST(cuGraphNodeGetEnabled(exec, m->fill, &on));
    HOLDS(on == 0, "%u", on);
    MUST(cuGraphNodeGetEnabled(exec, m->work, &on));
    HOLDS(on == 1, "%u", on);
    launch(exec);
    expect_all(62);
    MUST(cuGraphNodeSetEnabled(exec, m->fill, 1));
    MUST(cuGraphExecMemcpyNodeSetParams(exec, m->copy, &copy, context[0]));
    launch(exec);
    expect_all(40);
    copy.Height = 2;
    copy.WidthInBytes /= 2;
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuGraphExecMemcpyNodeSetParams(exec, m->copy, &copy, context[0]));
    copy = copy_to_host(source);
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = sum;
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuGraphExecMemcpyNodeSetParams(exec, m->copy, &copy, context[0]));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(exec, m->call, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetEnabled(exec, m->fill, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphExecGetFlags(exec, NULL));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&exec, m->graph, NULL));
    MUST(cuGraphExecDestroy(exec));
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
    CUDA_MEM_ALLOC_NODE_PARAMS got;
    CUdeviceptr given;
    MUST(cuGraphMemAllocNodeGetParams(alloc, &got));
    HOLDS(got.dptr == p.dptr && got.bytesize == BYTES && got.accessDescCount == 1 &&
              got.accessDescs->location.id == 1 && got.poolProps.location.id == 0,
          "the allocation's parameters");
    MUST(cuGraphMemFreeNodeGetParams(give, &given));
    HOLDS(given == p.dptr, "the freed pointer");
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphMemAllocNodeGetParams(give, &got));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphMemFreeNodeGetParams(alloc, &given));
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
    size_t before = 0, after = 0;
    MUST(cuGraphGetNodes(m->graph, NULL, &before));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphAddMemFreeNode(&node, m->graph, NULL, 0, sum));
    MUST(cuGraphGetNodes(m->graph, NULL, &after));
    HOLDS(after == before, "a refused call has left a node");
    kernel = kernel_of(args);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams(m->fill, &kernel));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(NULL, m->graph, 0));
    REFUSED(CUDA_ERROR_NOT_SUPPORTED,
            cuGraphInstantiate(&exec, m->graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(NULL, stream));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphClone(&graph, NULL));
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
    parameters(&m);
    disabled(&m);
    called = 0;
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
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphDestroy(m.graph));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(m.graph));
    MUST(cuStreamDestroy(stream));
    for (CUdeviceptr ptr : {source, sum, far})
        MUST(cuMemFree(ptr));
    puts("right");
    return 0;
}
