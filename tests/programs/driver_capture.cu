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
    MUST(cuStreamDestroy(stream));
    MUST(cuMemFree(source));
    MUST(cuMemFree(sum));
    puts("right");
    return 0;
}
