// SPDX-License-Identifier: MIT
// streams.cu: numbers and attributes of streams, captures seen from outside, events.
#include "ask.h"

CASE(stream_numbers)
{
    cudaStream_t s = ask_stream(), t = ask_stream();
    unsigned long long a = 0, b = 0, c = 0;
    R(cudaStreamGetId(s, &a));
    R(cudaStreamGetId(t, &b));
    R(cudaStreamGetId(s, &c));
    V("two streams differ %d, one does not change %d", a != b, a == c);
    R(cudaStreamGetId(NULL, &a));
    R(cudaStreamGetId(cudaStreamLegacy, &b));
    R(cudaStreamGetId(cudaStreamPerThread, &c));
    V("null is the legacy stream %d, per thread another %d", a == b, a != c);
    R(cudaStreamGetId(s, NULL));
}

CASE(stream_flags)
{
    cudaStream_t s;
    unsigned flags = 9;
    int priority = 9, device = 9;
    R(cudaStreamCreateWithFlags(&s, 7));
    R(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -99));
    R(cudaStreamGetPriority(s, &priority));
    V("priority %d", priority);
    R(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, 99));
    R(cudaStreamGetPriority(s, &priority));
    V("priority %d", priority);
    R(cudaStreamGetFlags(s, &flags));
    V("flags %u", flags);
    R(cudaStreamGetFlags(NULL, &flags));
    V("flags %u", flags);
    R(cudaStreamGetFlags(cudaStreamPerThread, &flags));
    V("flags %u", flags);
    R(cudaStreamGetPriority(NULL, &priority));
    V("priority %d", priority);
    R(cudaStreamGetDevice(NULL, &device));
    V("device %d", device);
    R(cudaStreamGetFlags(s, NULL));
    R(cudaStreamGetPriority(s, NULL));
    R(cudaStreamGetDevice(s, NULL));
    R(cudaStreamDestroy(NULL));
    R(cudaStreamDestroy(cudaStreamLegacy));
    R(cudaStreamDestroy(cudaStreamPerThread));
    R(cudaStreamCreate(NULL));
}

CASE(stream_attributes)
{
    cudaStream_t s = ask_stream(), t = ask_stream();
    cudaStreamAttrValue v = {};
    R(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v));
    V("policy %d", (int)v.syncPolicy);
    v.syncPolicy = cudaSyncPolicyYield;
    R(cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v));
    R(cudaStreamCopyAttributes(t, s));
    memset(&v, 0, sizeof v);
    R(cudaStreamGetAttribute(t, cudaStreamAttributeSynchronizationPolicy, &v));
    V("policy %d", (int)v.syncPolicy);
    v.syncPolicy = (cudaSynchronizationPolicy)9;
    R(cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v));
    memset(&v, 0, sizeof v);
    R(cudaStreamGetAttribute(s, cudaStreamAttributePriority, &v));
    V("priority %d", v.priority);
    v.priority = -2;
    R(cudaStreamSetAttribute(s, cudaStreamAttributePriority, &v));
    R(cudaStreamGetAttribute(s, cudaStreamAttributePriority, &v));
    V("priority %d", v.priority);
    R(cudaStreamGetAttribute(s, cudaLaunchAttributeCooperative, &v));
    R(cudaStreamSetAttribute(s, cudaLaunchAttributeCooperative, &v));
    R(cudaStreamGetAttribute(s, (cudaStreamAttrID)77, &v));
    R(cudaStreamSetAttribute(s, (cudaStreamAttrID)77, &v));
    R(cudaStreamGetAttribute(NULL, cudaStreamAttributeSynchronizationPolicy, &v));
    V("policy %d", (int)v.syncPolicy);
    R(cudaStreamCopyAttributes(s, NULL));
    R(cudaStreamCopyAttributes(s, s));
    R(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, NULL));
    R(cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, NULL));
}

CASE(stream_window)
{
    cudaStream_t s = ask_stream();
    void *p;
    OK(cudaMalloc(&p, 1 << 20));
    cudaStreamAttrValue v = {};
    R(cudaStreamGetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
    V("%zu bytes, ratio %g, hit %d, miss %d", v.accessPolicyWindow.num_bytes,
      v.accessPolicyWindow.hitRatio, (int)v.accessPolicyWindow.hitProp,
      (int)v.accessPolicyWindow.missProp);
    v.accessPolicyWindow.base_ptr = p;
    v.accessPolicyWindow.num_bytes = 1 << 20;
    v.accessPolicyWindow.hitRatio = 0.5f;
    v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    v.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    R(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
    memset(&v, 0, sizeof v);
    R(cudaStreamGetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
    V("%zu bytes, ratio %g, hit %d, miss %d", v.accessPolicyWindow.num_bytes,
      v.accessPolicyWindow.hitRatio, (int)v.accessPolicyWindow.hitProp,
      (int)v.accessPolicyWindow.missProp);
    v.accessPolicyWindow.hitRatio = 2;
    R(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
    v.accessPolicyWindow.hitRatio = 1;
    v.accessPolicyWindow.missProp = cudaAccessPropertyPersisting;
    R(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
    v.accessPolicyWindow.missProp = cudaAccessPropertyNormal;
    v.accessPolicyWindow.num_bytes = (size_t)1 << 40;
    R(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
    v.accessPolicyWindow.num_bytes = 0;
    R(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v));
}

CASE(attach)
{
    cudaStream_t s = ask_stream();
    char *m, *d;
    int h = 0;
    OK(cudaMallocManaged(&m, 1 << 16));
    OK(cudaMalloc(&d, 64));
    R(cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachSingle));
    R(cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachGlobal));
    R(cudaStreamAttachMemAsync(s, m, 0, cudaMemAttachHost));
    R(cudaStreamAttachMemAsync(s, m, 1 << 16, cudaMemAttachGlobal));
    R(cudaStreamAttachMemAsync(s, m, 16, cudaMemAttachGlobal));
    R(cudaStreamAttachMemAsync(s, m + 16, 0, cudaMemAttachGlobal));
    R(cudaStreamAttachMemAsync(s, m, 0, 0));
    R(cudaStreamAttachMemAsync(s, m, 0, 3));
    R(cudaStreamAttachMemAsync(s, m, 0, 8));
    R(cudaStreamAttachMemAsync(NULL, m, 0, cudaMemAttachGlobal));
    R(cudaStreamAttachMemAsync(NULL, m, 0, cudaMemAttachSingle));
    R(cudaStreamAttachMemAsync(s, d, 0, cudaMemAttachGlobal));
    R(cudaStreamAttachMemAsync(s, &h, 0, cudaMemAttachGlobal));
    R(cudaStreamAttachMemAsync(s, NULL, 0, cudaMemAttachGlobal));
    R(cudaStreamSynchronize(s));
}

static void capture(cudaStream_t s)
{
    cudaStreamCaptureStatus status = (cudaStreamCaptureStatus)9;
    unsigned long long id = 0;
    cudaGraph_t g = NULL;
    const cudaGraphNode_t *nodes = NULL;
    const cudaGraphEdgeData *edges = NULL;
    size_t count = 99;
    R(cudaStreamGetCaptureInfo(s, &status, &id, &g, &nodes, &edges, &count));
    V("status %d, id %d, graph %d, %zu nodes", (int)status, id != 0, g != NULL, count);
}

CASE(capture_info)
{
    cudaStream_t s = ask_stream();
    cudaGraph_t g;
    int *p;
    OK(cudaMalloc(&p, 64));
    capture(s);
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    capture(s);
    R(cudaMemsetAsync(p, 0, 64, s));
    capture(s);
    R(cudaStreamGetCaptureInfo(s, NULL, NULL, NULL, NULL, NULL, NULL));
    cudaStreamCaptureStatus status;
    R(cudaStreamGetCaptureInfo(s, &status, NULL, NULL, NULL, NULL, NULL));
    R(cudaStreamSynchronize(s));
    capture(s);
    R(cudaStreamEndCapture(s, &g));
    capture(s);
    capture(cudaStreamPerThread);
    capture(NULL);
    capture(cudaStreamLegacy);
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    capture(NULL);
    R(cudaStreamGetCaptureInfo(NULL, &status));
    R(cudaStreamIsCapturing(NULL, &status));
    R(cudaStreamEndCapture(s, &g));
    R(cudaStreamIsCapturing(s, NULL));
}

CASE(capture_mode)
{
    cudaStreamCaptureMode m = cudaStreamCaptureModeRelaxed;
    R(cudaThreadExchangeStreamCaptureMode(&m));
    V("before %d", (int)m);
    m = cudaStreamCaptureModeThreadLocal;
    R(cudaThreadExchangeStreamCaptureMode(&m));
    V("before %d", (int)m);
    m = (cudaStreamCaptureMode)7;
    R(cudaThreadExchangeStreamCaptureMode(&m));
    V("left %d", (int)m);
    R(cudaThreadExchangeStreamCaptureMode(NULL));
}

CASE(event_forms)
{
    cudaStream_t s = ask_stream();
    cudaEvent_t e, f;
    float ms = -1;
    R(cudaEventCreateWithFlags(&e, 8));
    R(cudaEventCreateWithFlags(&e, cudaEventBlockingSync | cudaEventDisableTiming));
    R(cudaEventCreate(&f));
    R(cudaEventRecordWithFlags(f, s, cudaEventRecordDefault));
    R(cudaEventRecordWithFlags(f, s, cudaEventRecordExternal));
    R(cudaEventRecordWithFlags(f, s, 2));
    R(cudaStreamWaitEvent(s, f, cudaEventWaitExternal));
    R(cudaStreamWaitEvent(s, f, 2));
    R(cudaEventRecord(e, s));
    R(cudaEventSynchronize(e));
    R(cudaEventSynchronize(f));
    R(cudaEventElapsedTime(&ms, f, e));
    R(cudaEventElapsedTime(NULL, f, f));
    R(cudaEventElapsedTime(&ms, NULL, f));
    R(cudaEventRecord(NULL, s));
    R(cudaEventQuery(NULL));
    R(cudaEventSynchronize(NULL));
    R(cudaStreamWaitEvent(s, NULL, 0));
    R(cudaEventDestroy(NULL));
    R(cudaEventCreateWithFlags(NULL, 0));
    R(cudaEventCreate(NULL));
}

static void CUDART_CB nothing(void *) {}
static void CUDART_CB told(cudaStream_t, cudaError_t, void *) {}

CASE(host_functions)
{
    cudaStream_t s = ask_stream();
    R(cudaLaunchHostFunc(s, nothing, NULL));
    R(cudaStreamAddCallback(s, told, NULL, 1));
    R(cudaStreamAddCallback(s, told, NULL, 0));
    R(cudaStreamSynchronize(s));
    R(cudaLaunchHostFunc(s, NULL, NULL));
    R(cudaStreamAddCallback(s, NULL, NULL, 0));
    R(cudaStreamSynchronize(s));
}
