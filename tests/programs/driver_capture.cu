// SPDX-License-Identifier: MIT
// driver_capture.cu: captures by the driver API, also into a graph that is there; functions of the
// host in streams; objects that live as long as graphs do.
#include "driver_check.h"

enum { N = 1 << 10, BYTES = N * sizeof(int) };

__global__ void add(int *to, const int *from, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + what;
}

static CUdeviceptr source, sum;
static CUfunction function;
static CUstream stream;
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
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
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
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuThreadExchangeStreamCaptureMode(NULL));
}

// A node made by hand, behind which a capture goes on in the same graph.
static void into_graph(void)
{
    CUgraph graph, same, strange;
    CUgraphNode fill, nodes[8];
    CUgraphExec exec;
    CUcontext context;
    int what = 4;
    void *args[] = {&sum, &source, &what};
    CUDA_MEMSET_NODE_PARAMS p = {source, 0, 70, 4, N, 1};
    size_t count = 8;

    MUST(cuCtxGetCurrent(&context));
    MUST(cuGraphCreate(&graph, 0));
    MUST(cuGraphCreate(&strange, 0));
    MUST(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &p, context));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuStreamBeginCaptureToGraph(stream, strange, &fill, NULL, 1,
                                                                  CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(CUDA_ERROR_ILLEGAL_STATE,
            cuStreamUpdateCaptureDependencies(stream, &fill, NULL, 1,
                                              CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    MUST(cuStreamBeginCaptureToGraph(stream, graph, &fill, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuLaunchKernel(function, N / 256, 1, 1, 256, 1, 1, 0, stream, args, NULL));
    MUST(cuMemcpyDtoHAsync(host, sum, BYTES, stream));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuStreamUpdateCaptureDependencies(stream, &fill, NULL, 1, 2));
    MUST(cuStreamUpdateCaptureDependencies(stream, &fill, NULL, 1,
                                           CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    MUST(cuMemsetD32Async(sum + BYTES / 2, 0, 1, stream)); // beside the kernel: taken out below
    MUST(cuStreamEndCapture(stream, &same));
    HOLDS(same == graph, "another graph");
    MUST(cuGraphGetNodes(graph, nodes, &count));
    HOLDS(count == 4, "%zu nodes", count);
    count = 8;
    MUST(cuGraphNodeGetDependentNodes(fill, nodes, NULL, &count));
    HOLDS(count == 2, "%zu wait for the first", count);
    MUST(cuGraphDestroyNode(nodes[1]));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    launch(exec);
    expect_all(74);
    MUST(cuGraphExecDestroy(exec));

    // A capture that fails leaves the program its graph.
    MUST(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamQuery(stream));
    REFUSED(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &same));
    MUST(cuGraphDestroy(graph));
    MUST(cuGraphDestroy(strange));
}

static void destroyed(void *times)
{
    ++*(int *)times;
}

static void wait_until(volatile int *flag)
{
    while (!*flag)
        ;
}

static void held(void *flag)
{
    wait_until((volatile int *)flag);
}

// The object ends with its last reference, after a launch that is still under way.
static void objects(void)
{
    static int times;
    static volatile int go;
    CUuserObject object;
    CUgraph graph, clone;
    CUgraphNode node;
    CUgraphExec exec;
    CUDA_HOST_NODE_PARAMS call = {held, (void *)&go};

    REFUSED(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, &times, destroyed, 1, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE,
            cuUserObjectCreate(&object, &times, NULL, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuUserObjectCreate(&object, &times, destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuUserObjectRetain(object, 2));
    MUST(cuUserObjectRelease(object, 2));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuUserObjectRetain(object, 0));
    MUST(cuGraphCreate(&graph, 0));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 1));
    MUST(cuGraphRetainUserObject(graph, object, 1, 0));
    MUST(cuGraphReleaseUserObject(graph, object, 1));
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuGraphRetainUserObject(graph, object, 1, 2));
    MUST(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    MUST(cuGraphAddHostNode(&node, graph, NULL, 0, &call));
    MUST(cuGraphClone(&clone, graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphDestroy(graph));
    MUST(cuGraphDestroy(clone));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuGraphExecDestroy(exec));
    HOLDS(times == 0, "destroyed while a launch is under way");
    go = 1;
    MUST(cuStreamSynchronize(stream));
    MUST(cuCtxSynchronize());
    HOLDS(times == 1, "destroyed %d times", times);
    REFUSED(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));

    MUST(cuUserObjectCreate(&object, &times, destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    MUST(cuUserObjectRelease(object, 1));
    HOLDS(times == 2, "destroyed %d times", times);
}

int main(void)
{
    CUcontext context;
    begin(1, &context);
    function = function_of((const void *)add);
    MUST(cuMemAlloc(&source, BYTES));
    MUST(cuMemAlloc(&sum, BYTES));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    captured();
    callbacks();
    into_graph();
    objects();
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(source));
    MUST(cuMemFree(sum));
    puts("right");
    return 0;
}
