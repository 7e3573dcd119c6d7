// SPDX-License-Identifier: MIT
// graph_events.cu: nodes of a graph that record an event, and nodes that wait for one.
#include "ask.h"

static cudaGraph_t graph(void)
{
    cudaGraph_t g;
    OK(cudaGraphCreate(&g, 0));
    return g;
}

static cudaEvent_t event(void)
{
    cudaEvent_t e;
    OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    return e;
}

CASE(graph_event_record)
{
    cudaGraph_t g = graph();
    cudaEvent_t e = event(), f = event(), got = NULL;
    cudaGraphNode_t a = NULL, b = NULL;
    cudaGraphNodeType type;
    R(cudaGraphAddEventRecordNode(&a, g, NULL, 0, e));
    R(cudaGraphAddEventRecordNode(&b, g, &a, 1, e));
    R(cudaGraphNodeGetType(a, &type));
    V("type %d", (int)type);
    R(cudaGraphEventRecordNodeGetEvent(a, &got));
    V("the event %d", got == e);
    R(cudaGraphEventRecordNodeSetEvent(a, f));
    R(cudaGraphEventRecordNodeGetEvent(a, &got));
    V("the other %d", got == f);
    R(cudaGraphEventWaitNodeGetEvent(a, &got));
    R(cudaGraphEventWaitNodeSetEvent(a, f));
    R(cudaGraphAddEventRecordNode(NULL, g, NULL, 0, e));
    R(cudaGraphAddEventRecordNode(&b, NULL, NULL, 0, e));
    R(cudaGraphAddEventRecordNode(&b, g, NULL, 1, e));
    R(cudaGraphAddEventRecordNode(&b, g, NULL, 0, NULL));
    R(cudaGraphEventRecordNodeSetEvent(a, NULL));
    R(cudaGraphEventRecordNodeGetEvent(NULL, &got));
    R(cudaGraphEventRecordNodeSetEvent(NULL, e));
    R(cudaGraphEventRecordNodeGetEvent(a, NULL));
}

CASE(graph_event_wait)
{
    cudaGraph_t g = graph();
    cudaEvent_t e = event(), f = event(), got = NULL;
    cudaGraphNode_t a = NULL, b = NULL;
    cudaGraphNodeType type;
    R(cudaGraphAddEventWaitNode(&a, g, NULL, 0, e));
    R(cudaGraphAddEventWaitNode(&b, g, &a, 1, e));
    R(cudaGraphNodeGetType(a, &type));
    V("type %d", (int)type);
    R(cudaGraphEventWaitNodeGetEvent(a, &got));
    V("the event %d", got == e);
    R(cudaGraphEventWaitNodeSetEvent(a, f));
    R(cudaGraphEventWaitNodeGetEvent(a, &got));
    V("the other %d", got == f);
    R(cudaGraphEventRecordNodeGetEvent(a, &got));
    R(cudaGraphEventRecordNodeSetEvent(a, f));
    R(cudaGraphAddEventWaitNode(NULL, g, NULL, 0, e));
    R(cudaGraphAddEventWaitNode(&b, NULL, NULL, 0, e));
    R(cudaGraphAddEventWaitNode(&b, g, NULL, 1, e));
    R(cudaGraphAddEventWaitNode(&b, g, NULL, 0, NULL));
    R(cudaGraphEventWaitNodeSetEvent(a, NULL));
    R(cudaGraphEventWaitNodeGetEvent(NULL, &got));
    R(cudaGraphEventWaitNodeSetEvent(NULL, e));
    R(cudaGraphEventWaitNodeGetEvent(a, NULL));
}

static cudaGraphNode_t fill(cudaGraph_t g, const cudaGraphNode_t *after, int *at, unsigned value)
{
    cudaGraphNode_t n;
    cudaMemsetParams m = ask_fill(at, value, 1);
    OK(cudaGraphAddMemsetNode(&n, g, after, after ? 1 : 0, &m));
    return n;
}

CASE(graph_event_launched)
{
    cudaGraph_t g = graph();
    cudaEvent_t ready = event(), done = event(), other = event();
    cudaStream_t s = ask_stream(), t = ask_stream();
    cudaGraphNode_t wait, last;
    cudaGraphExec_t x;
    int *p;
    OK(cudaMalloc(&p, 64));
    R(cudaGraphAddEventWaitNode(&wait, g, NULL, 0, ready));
    cudaGraphNode_t work = fill(g, &wait, p, 5);
    R(cudaGraphAddEventRecordNode(&last, g, &work, 1, done));
    R(cudaGraphInstantiate(&x, g, 0));
    R(cudaGraphLaunch(x, s)); // the event it waits for was never recorded
    R(cudaStreamWaitEvent(t, done, 0));
    R(cudaStreamSynchronize(t));
    R(cudaEventQuery(done));
    V("%d", ask_peek(p));
    R(cudaEventRecord(ready, t));
    R(cudaGraphExecEventRecordNodeSetEvent(x, last, other));
    R(cudaGraphExecEventWaitNodeSetEvent(x, wait, other));
    R(cudaGraphExecEventWaitNodeSetEvent(x, wait, ready));
    R(cudaGraphLaunch(x, s));
    R(cudaEventSynchronize(other));
    R(cudaEventQuery(other));
    cudaEvent_t got = NULL;
    R(cudaGraphEventRecordNodeGetEvent(last, &got));
    V("the graph keeps its own %d", got == done);
    R(cudaGraphExecEventRecordNodeSetEvent(x, wait, other));
    R(cudaGraphExecEventWaitNodeSetEvent(x, last, other));
    R(cudaGraphExecEventRecordNodeSetEvent(x, work, other));
    R(cudaGraphExecEventRecordNodeSetEvent(x, last, NULL));
    R(cudaGraphExecEventWaitNodeSetEvent(x, wait, NULL));
    R(cudaGraphExecEventRecordNodeSetEvent(x, NULL, other));
    R(cudaGraphExecEventWaitNodeSetEvent(x, NULL, other));
    R(cudaGraphExecEventRecordNodeSetEvent(NULL, last, other));
    R(cudaGraphExecEventWaitNodeSetEvent(NULL, wait, other));
    R(cudaStreamSynchronize(s));
}

// By capture, and the flags where nothing is captured.
CASE(graph_event_captured)
{
    cudaEvent_t e = event();
    cudaStream_t s = ask_stream();
    cudaGraph_t g = NULL;
    cudaGraphNode_t nodes[4];
    size_t n = 4;
    R(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    R(cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
    R(cudaEventRecordWithFlags(e, s, 2));
    R(cudaStreamWaitEvent(s, e, 2));
    R(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    R(cudaStreamWaitEvent(s, e, cudaEventWaitExternal));
    R(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    R(cudaStreamEndCapture(s, &g));
    R(cudaGraphGetNodes(g, nodes, &n));
    V("%zu nodes", n);
    for (size_t i = 0; i < n; i++) {
        cudaGraphNodeType type;
        OK(cudaGraphNodeGetType(nodes[i], &type));
        V("type %d", (int)type);
    }
}

// An event of another GPU than the work.
CASE(graph_event_of_another_gpu)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t a, b;
    cudaGraphExec_t x;
    int *p;
    OK(cudaMalloc(&p, 64));
    OK(cudaSetDevice(1));
    cudaEvent_t there = event(), record = event();
    OK(cudaEventRecord(there, 0));
    OK(cudaSetDevice(0));
    R(cudaGraphAddEventWaitNode(&a, g, NULL, 0, there));
    cudaGraphNode_t work = fill(g, &a, p, 7);
    R(cudaGraphAddEventRecordNode(&b, g, &work, 1, record));
    R(cudaGraphInstantiate(&x, g, 0));
    R(cudaGraphLaunch(x, 0));
    R(cudaDeviceSynchronize());
    R(cudaEventQuery(record));
    V("%d", ask_peek(p));
}

CASE(graph_event_recorded_elsewhere)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t a, b;
    cudaGraphExec_t x = NULL;
    cudaEvent_t here = event();
    int *p;
    OK(cudaMalloc(&p, 64));
    OK(cudaSetDevice(1));
    cudaEvent_t there = event();
    OK(cudaSetDevice(0));
    cudaGraphNode_t work = fill(g, NULL, p, 7);
    R(cudaGraphAddEventRecordNode(&a, g, &work, 1, there));
    R(cudaGraphAddEventRecordNode(&b, g, &a, 1, here));
    R(cudaGraphInstantiate(&x, g, 0));
    if (x) {
        R(cudaGraphLaunch(x, 0));
        R(cudaDeviceSynchronize());
        R(cudaEventQuery(here));
    }
    V("%d", ask_peek(p));
}

// An event that is no more.
CASE(graph_event_destroyed)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t a;
    cudaEvent_t e = event();
    OK(cudaEventDestroy(e));
    R(cudaGraphAddEventRecordNode(&a, g, NULL, 0, e));
    R(cudaGraphAddEventWaitNode(&a, g, NULL, 0, e));
}
