/* SPDX-License-Identifier: MIT
 * capture_calls.c: the calls that begin, end and query captures. See capture.h.
 */
#include <stdlib.h>

#include "capture.h"

static unsigned long long next_capture_id = 1; /* guarded by vgpu__capture_lock */

/* A graph to capture into, and the nodes on which the first one captured depends. */
struct target {
    struct CUgraph_st *graph; /* NULL: a new one */
    struct CUgraphNode_st *const *deps;
    size_t count;
};

/* False: host memory ran out. */
static bool set_dependencies(struct set *last, struct CUgraphNode_st *const *nodes, size_t count)
{
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = vgpu__set_add(last, nodes[i]);
    return good;
}

static cudaError_t begin_capture(const char *call, uint64_t stream, enum cudaStreamCaptureMode mode,
                                 const struct stream_kind *kind, const struct target *to)
{
    struct member *m;
    if (vgpu__capture_of(stream, &m))
        return vgpu__refuse(cudaErrorIllegalState, call, "the stream is being captured already");
    struct capture *c = calloc(1, sizeof *c);
    struct CUgraph_st *graph = !c || to->graph ? to->graph : vgpu__graph_new();
    m = c && graph ? vgpu__capture_join(c, stream, kind) : NULL;
    if (!m || !set_dependencies(&m->last, to->deps, to->count)) {
        if (graph && !to->graph)
            vgpu__graph_free(graph);
        if (m)
            free(m->last.node);
        free(m);
        free(c);
        return vgpu__no_memory(call);
    }
    c->given = to->graph;
    c->id = next_capture_id++;
    c->graph = graph;
    graph->captures++;
    c->mode = mode;
    c->thread = &vgpu__capture_mode;
    c->origin = stream;
    c->next = vgpu__captures;
    vgpu__captures = c;
    vgpu__gate_set(vgpu__capture_gate);
    atomic_fetch_add(&vgpu__capturing, 1);
    return cudaSuccess;
}

static cudaError_t capture_into(const char *call, cudaStream_t stream,
                                enum cudaStreamCaptureMode mode, const struct target *to)
{
    struct stream_kind kind;
    if ((unsigned int)mode > cudaStreamCaptureModeRelaxed)
        return vgpu__refuse(
            cudaErrorInvalidValue, call,
            "there is no mode %d; give one of cudaStreamCaptureModeGlobal, ThreadLocal and Relaxed",
            (int)mode);
    if (vgpu__stream_id(stream) == VGPU_STREAM_LEGACY)
        return vgpu__refuse(cudaErrorStreamCaptureUnsupported, call,
                            "the legacy default stream cannot be captured; make a stream");
    cudaError_t error = vgpu__stream_kind(call, stream, &kind);
    if (error != cudaSuccess)
        return error;
    pthread_mutex_lock(&vgpu__capture_lock);
    error = begin_capture(call, vgpu__capture_key(stream), mode, &kind, to);
    pthread_mutex_unlock(&vgpu__capture_lock);
    return error;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    return capture_into("cudaStreamBeginCapture", stream, mode, &(struct target){NULL, NULL, 0});
}

/* An error if not all are nodes of the graph. */
static cudaError_t check_nodes(const char *call, const struct CUgraph_st *graph,
                               struct CUgraphNode_st *const *nodes, size_t count)
{
    if (count && !nodes)
        return vgpu__refuse_value(call, "the list of nodes is a null pointer");
    for (size_t i = 0; i < count; i++)
        if (!vgpu__node_known(nodes[i]) || nodes[i]->graph != graph)
            return vgpu__refuse_value(call, "a dependency is not a node of the graph");
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *dependencyData,
                                          size_t numDependencies, enum cudaStreamCaptureMode mode)
{
    static const char call[] = "cudaStreamBeginCaptureToGraph";
    (void)dependencyData; /* used by programmatic launches only */
    if (!vgpu__graph_known(graph))
        return vgpu__refuse_value(call,
                                  "the handle is not a graph, or the graph was destroyed already");
    cudaError_t error = check_nodes(call, graph, dependencies, numDependencies);
    return error == cudaSuccess
               ? capture_into(call, stream, mode,
                              &(struct target){graph, dependencies, numDependencies})
               : error;
}

static cudaError_t update_dependencies(const char *call, uint64_t stream,
                                       struct CUgraphNode_st *const *nodes, size_t count,
                                       bool replace)
{
    struct member *m;
    struct capture *c = vgpu__capture_of(stream, &m);
    if (!c)
        return vgpu__refuse(cudaErrorIllegalState, call, "the stream is not being captured");
    if (c->spoiled)
        return vgpu__record(cudaErrorStreamCaptureInvalidated);
    cudaError_t error = check_nodes(call, c->graph, nodes, count);
    if (error != cudaSuccess)
        return error;
    if (replace)
        m->last.count = 0;
    return set_dependencies(&m->last, nodes, count) ? cudaSuccess : vgpu__no_memory(call);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *dependencyData,
                                                size_t numDependencies, unsigned int flags)
{
    static const char call[] = "cudaStreamUpdateCaptureDependencies";
    (void)dependencyData;
    if (flags > cudaStreamSetCaptureDependencies)
        return vgpu__refuse_value(call, "flags must be 0 or cudaStreamSetCaptureDependencies");
    pthread_mutex_lock(&vgpu__capture_lock);
    cudaError_t error = update_dependencies(call, vgpu__capture_key(stream), dependencies,
                                            numDependencies, flags != 0);
    pthread_mutex_unlock(&vgpu__capture_lock);
    return error;
}

/* True if the origin's last nodes depend on the last nodes of all other streams of the capture. */
static bool all_streams_joined(struct capture *c)
{
    const struct set *origin = &vgpu__capture_member(c, c->origin)->last;
    for (const struct member *m = c->members; m; m = m->next)
        for (size_t i = 0; i < m->last.count; i++) {
            bool before = false;
            for (size_t k = 0; k < origin->count && !before; k++)
                before = vgpu__node_after(origin->node[k], m->last.node[i]);
            if (!before)
                return false;
        }
    return true;
}

static cudaError_t finish_capture(uint64_t stream, struct CUgraph_st **graph)
{
    static const char call[] = "cudaStreamEndCapture";
    struct member *m;
    struct capture *c = vgpu__capture_of(stream, &m);
    cudaError_t error = cudaSuccess;
    if (!c)
        return vgpu__refuse(cudaErrorIllegalState, call, "the stream is not being captured");
    if (c->origin != stream)
        return vgpu__capture_spoil_with(c, call, cudaErrorStreamCaptureUnmatched,
                                        "the capture began on another stream, and ends there");
    if (c->mode != cudaStreamCaptureModeRelaxed && c->thread != &vgpu__capture_mode)
        return vgpu__capture_spoil_with(c, call, cudaErrorStreamCaptureWrongThread,
                                        "the capture began in another thread");
    if (c->spoiled)
        error = vgpu__record(cudaErrorStreamCaptureInvalidated);
    else if (!all_streams_joined(c))
        error = vgpu__refuse(cudaErrorStreamCaptureUnjoined, call,
                             "a stream that joined the capture has work that the first stream does "
                             "not wait for: record an event there, and wait for it here");
    struct CUgraph_st *made = c->graph;
    bool given = c->given;
    vgpu__capture_end(c);
    if (error == cudaSuccess)
        *graph = made;
    else if (!given)
        vgpu__graph_free(made);
    return error;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
    struct CUgraph_st *graph = NULL;
    if (!pGraph)
        return vgpu__record(cudaErrorInvalidValue);
    pthread_mutex_lock(&vgpu__capture_lock);
    cudaError_t error = finish_capture(vgpu__capture_key(stream), &graph);
    pthread_mutex_unlock(&vgpu__capture_lock);
    *pGraph = graph;
    return error;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     enum cudaStreamCaptureStatus *captureStatus_out,
                                     unsigned long long *id_out, cudaGraph_t *graph_out,
                                     const cudaGraphNode_t **dependencies_out,
                                     const cudaGraphEdgeData **edgeData_out,
                                     size_t *numDependencies_out)
{
    struct member *m = NULL;
    struct stream_kind kind;
    if (!captureStatus_out)
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = vgpu__stream_kind("cudaStreamGetCaptureInfo", stream, &kind);
    if (error != cudaSuccess)
        return error;
    pthread_mutex_lock(&vgpu__capture_lock);
    const struct capture *c = vgpu__capture_of(vgpu__capture_key(stream), &m);
    *captureStatus_out = !c           ? cudaStreamCaptureStatusNone
                         : c->spoiled ? cudaStreamCaptureStatusInvalidated
                                      : cudaStreamCaptureStatusActive;
    bool active = c && !c->spoiled;
    if (id_out && active)
        *id_out = c->id;
    if (graph_out && active)
        *graph_out = c->graph;
    if (dependencies_out && active)
        *dependencies_out = m->last.node;
    if (edgeData_out)
        *edgeData_out = NULL;
    if (numDependencies_out && active)
        *numDependencies_out = m->last.count;
    pthread_mutex_unlock(&vgpu__capture_lock);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus)
{
    return cudaStreamGetCaptureInfo(stream, pCaptureStatus, NULL, NULL, NULL, NULL, NULL);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    if (!mode)
        return vgpu__record(cudaErrorInvalidValue);
    enum cudaStreamCaptureMode before = vgpu__capture_mode;
    vgpu__capture_mode = *mode;
    *mode = before;
    return cudaSuccess;
}
