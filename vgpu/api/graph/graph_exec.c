/* SPDX-License-Identifier: MIT
 * graph_exec.c: launches of executable graphs. A launch makes the calls of all nodes, each in its
 * lane, and costs the host thread the time of one call. See graph_exec.h.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "graph_exec.h"

static pthread_mutex_t graph_exec_lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUgraphExec_st *execs; /* guarded by graph_exec_lock, which launches hold, too */

void vgpu__execs_lock(void)
{
    pthread_mutex_lock(&graph_exec_lock);
}

void vgpu__execs_unlock(void)
{
    pthread_mutex_unlock(&graph_exec_lock);
}

bool vgpu__exec_known(const struct CUgraphExec_st *exec)
{
    const struct CUgraphExec_st *e = execs;
    while (e && e != exec)
        e = e->next;
    return exec && e;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                 unsigned long long flags)
{
    static const char call[] = "cudaGraphInstantiate";
    const unsigned long long known_flags = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                           cudaGraphInstantiateFlagUpload |
                                           cudaGraphInstantiateFlagUseNodePriority;
    if (!vgpu__admit(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (!pGraphExec || !vgpu__graph_known(graph))
        return vgpu__refuse_value(call, "a pointer is null, or the graph was destroyed");
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return vgpu__refuse(cudaErrorNotSupported, call, "flags %#llx are not modelled", flags);
    if (flags & ~known_flags)
        return vgpu__refuse(cudaErrorInvalidValue, call, "flags %#llx do not exist", flags);
    struct CUgraphExec_st *x = NULL;
    cudaError_t error = vgpu__exec_new(graph, &x);
    if (error != cudaSuccess)
        return error;
    x->flags = flags;
    pthread_mutex_lock(&graph_exec_lock);
    x->next = execs;
    execs = x;
    pthread_mutex_unlock(&graph_exec_lock);
    *pGraphExec = x;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return cudaGraphInstantiate(pGraphExec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *instantiateParams)
{
    cudaGraphInstantiateParams *p = instantiateParams;
    if (!p)
        return vgpu__refuse_value("cudaGraphInstantiateWithParams", "no parameters");
    cudaError_t error = cudaGraphInstantiate(pGraphExec, graph, p->flags);
    if (error == cudaSuccess && p->flags & cudaGraphInstantiateFlagUpload)
        error = cudaGraphUpload(*pGraphExec, p->uploadStream);
    p->errNode_out = NULL;
    p->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
}

/* ---- launching ---- */

/* Each launch has its own copy of the function, which may run after the graph was destroyed. */
static cudaError_t call_host_node(const char *call, const struct host_function *host,
                                  cudaStream_t stream)
{
    struct host_function *own = malloc(sizeof *own);
    if (!own)
        return vgpu__no_memory("cudaGraphLaunch");
    *own = *host;
    cudaError_t error = vgpu__host_function(call, own, stream);
    if (error != cudaSuccess)
        free(own);
    return error;
}

static cudaError_t repeat_node_call(const struct CUgraphNode_st *node, cudaStream_t stream)
{
    static const char call[] = "cudaGraphLaunch";
    struct vgpu__copy copy = node->u.copy;
    if (node->disabled)
        return cudaSuccess;
    switch (node->type) {
    case cudaGraphNodeTypeKernel:
        return vgpu__launch_send(&node->u.kernel, stream);
    case cudaGraphNodeTypeMemcpy:
        copy.stream = stream;
        return vgpu__copy_again(&copy);
    case cudaGraphNodeTypeMemset:
        return vgpu__admit(call, VGPU_OP_MEMSET)
                   ? vgpu__memset(call, &node->u.memset, stream, false)
                   : vgpu__failed();
    case cudaGraphNodeTypeHost:
        return call_host_node(call, node->u.host, stream);
    case cudaGraphNodeTypeEventRecord:
        return vgpu__exec_event(VGPU_OP_EVENT_RECORD, vgpu__stream_id(stream),
                                (uintptr_t)node->u.event);
    case cudaGraphNodeTypeWaitEvent:
        return vgpu__exec_event(VGPU_OP_STREAM_WAIT, vgpu__stream_id(stream),
                                (uintptr_t)node->u.event);
    default:
        return cudaSuccess;
    }
}

static cudaError_t run_step(const struct CUgraphExec_st *x, const struct step *s,
                            const uint64_t *streams)
{
    cudaError_t error = cudaSuccess;
    /* A node that depends on other GPUs is charged for that once, however many there are. */
    bool charged = false;
    for (size_t d = 0; error == cudaSuccess && d < s->node->dep_count; d++) {
        const struct step *dep = &x->step[s->dep[d]];
        bool apart = x->lane[dep->lane].physical != x->lane[s->lane].physical;
        vgpu__self.graph = VGPU_GRAPH_NEXT | (apart && !charged ? VGPU_GRAPH_EDGE : 0);
        charged |= apart;
        if (dep->lane != s->lane)
            error = vgpu__exec_event(VGPU_OP_STREAM_WAIT, streams[s->lane], dep->event);
    }
    vgpu__self.graph = (s->node->dep_count ? VGPU_GRAPH_NEXT : VGPU_GRAPH_FIRST) |
                       (x->gpus > 1 ? VGPU_GRAPH_MORE * ((uint32_t)x->gpus - 1) : 0);
    if (error == cudaSuccess)
        error = repeat_node_call(s->node, (cudaStream_t)(uintptr_t)streams[s->lane]);
    if (error == cudaSuccess && s->event)
        error = vgpu__exec_event(VGPU_OP_EVENT_RECORD, streams[s->lane], s->event);
    return error;
}

/* Makes all lanes wait for the previous work of the stream and for the last launch of this graph.
 */
static cudaError_t enter_graph(struct CUgraphExec_st *x, uint64_t stream, int physical,
                               const uint64_t *streams)
{
    cudaError_t error = cudaSuccess;
    if (x->launched_on >= 0)
        error = vgpu__exec_event(VGPU_OP_STREAM_WAIT, stream, x->done[x->launched_on]);
    if (error == cudaSuccess)
        error = vgpu__exec_make_event(physical, &x->entry[physical]);
    if (error == cudaSuccess)
        error = vgpu__exec_event(VGPU_OP_EVENT_RECORD, stream, x->entry[physical]);
    for (size_t i = 0; error == cudaSuccess && i < x->lane_count; i++)
        if (streams[i] != stream)
            error = vgpu__exec_event(VGPU_OP_STREAM_WAIT, streams[i], x->entry[physical]);
    return error;
}

static cudaError_t leave_graph(struct CUgraphExec_st *x, uint64_t stream, int physical,
                               const uint64_t *streams)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; error == cudaSuccess && i < x->lane_count; i++)
        if (streams[i] != stream) {
            error = vgpu__exec_event(VGPU_OP_EVENT_RECORD, streams[i], x->lane[i].tail);
            if (error == cudaSuccess)
                error = vgpu__exec_event(VGPU_OP_STREAM_WAIT, stream, x->lane[i].tail);
        }
    if (error == cudaSuccess)
        error = vgpu__exec_make_event(physical, &x->done[physical]);
    if (error == cudaSuccess)
        error = vgpu__exec_event(VGPU_OP_EVENT_RECORD, stream, x->done[physical]);
    x->launched_on = physical;
    return error;
}

/* Returns the stream of each lane; the caller frees the list. NULL: host memory ran out, or the
 * stream of lane 0 could not be made. */
static uint64_t *lane_streams(struct CUgraphExec_st *x, uint64_t stream, int physical)
{
    uint64_t *streams = calloc(x->lane_count + 1, sizeof *streams);
    for (size_t i = 0; streams && i < x->lane_count; i++) {
        struct lane *l = &x->lane[i];
        if (i == 0 && l->physical != physical && !l->stream &&
            vgpu__exec_make(VGPU_OP_STREAM_CREATE, l->physical, cudaStreamNonBlocking,
                            &l->stream) != cudaSuccess) {
            free(streams);
            return NULL;
        }
        streams[i] = i == 0 && l->physical == physical ? stream : l->stream;
    }
    return streams;
}

static cudaError_t launch_graph(struct CUgraphExec_st *x, uint64_t stream, int physical)
{
    uint64_t *streams = lane_streams(x, stream, physical);
    if (!streams)
        return vgpu__no_memory("cudaGraphLaunch");
    const uint64_t key = vgpu__graph_stream_key(stream, physical);
    cudaError_t error = vgpu__graph_memory_enter(x, key);
    vgpu__self.graph = VGPU_GRAPH_FIRST;
    if (error == cudaSuccess)
        error = enter_graph(x, stream, physical, streams);
    for (size_t i = 0; error == cudaSuccess && i < x->count; i++)
        error = run_step(x, &x->step[i], streams);
    if (error == cudaSuccess)
        error = leave_graph(x, stream, physical, streams);
    vgpu__self.graph = 0;
    if (error == cudaSuccess)
        vgpu__graph_memory_leave(x, key);
    free(streams);
    return error;
}

/* If `stream` is captured, records the launch as a child graph: then *node is not NULL or an error
 * is returned. */
static cudaError_t capture_launch(const struct CUgraphExec_st *x, cudaStream_t stream,
                                  struct CUgraphNode_st **node)
{
    cudaError_t error;
    *node = vgpu__capture("cudaGraphLaunch", stream, cudaGraphNodeTypeGraph, &error);
    if (*node && !((*node)->u.child = vgpu__graph_copy(x->graph))) {
        (*node)->type =
            cudaGraphNodeTypeEmpty; /* without a child graph; the capture becomes invalid */
        vgpu__capture_spoil(stream);
        error = vgpu__no_memory("cudaGraphLaunch");
    }
    if (*node && (*node)->u.child)
        (*node)->u.child->is_child = true;
    return error;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    static const char call[] = "cudaGraphLaunch";
    const struct vgpu_reply *reply;
    struct CUgraphNode_st *node = NULL;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&graph_exec_lock);
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_GRAPH);
    if (!vgpu__exec_known(graphExec)) {
        error = vgpu__refuse_value(
            call, "the handle is not an executable graph, or the graph was destroyed already");
    } else if (!request) {
        error = vgpu__failed();
    } else if ((error = capture_launch(graphExec, stream, &node)) == cudaSuccess && !node) {
        uint64_t id = request->stream = vgpu__stream_id(stream);
        request->value = graphExec->count;
        request->bytes = (uint64_t)graphExec->gpus;
        error = vgpu__end(&reply);
        if (error == cudaSuccess)
            error = launch_graph(graphExec, id, (int)reply->value);
    }
    pthread_mutex_unlock(&graph_exec_lock);
    return error;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
    (void)stream; /* a graph has no state on the device before its launch */
    pthread_mutex_lock(&graph_exec_lock);
    bool there = vgpu__exec_known(graphExec);
    pthread_mutex_unlock(&graph_exec_lock);
    return there ? cudaSuccess
                 : vgpu__refuse_value(
                       "cudaGraphUpload",
                       "the handle is not an executable graph, or the graph was destroyed already");
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
    pthread_mutex_lock(&graph_exec_lock);
    bool there = vgpu__exec_known(graphExec);
    struct CUgraphExec_st **at = &execs;
    while (there && *at != graphExec)
        at = &(*at)->next;
    if (there)
        *at = graphExec->next;
    pthread_mutex_unlock(&graph_exec_lock);
    if (!there)
        return vgpu__refuse_value(
            "cudaGraphExecDestroy",
            "the handle is not an executable graph, or the graph was destroyed already");
    vgpu__objects_outlive_launch(graphExec);
    vgpu__exec_drop(graphExec);
    return cudaSuccess;
}

struct CUgraphNode_st *vgpu__exec_node(const struct CUgraphExec_st *exec,
                                       const struct CUgraphNode_st *original,
                                       enum cudaGraphNodeType type)
{
    for (size_t i = 0; vgpu__exec_known(exec) && i < exec->count; i++)
        if (exec->step[i].original == original && exec->step[i].node->type == type)
            return exec->step[i].node;
    return NULL;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *pNodeParams)
{
    static const char call[] = "cudaGraphExecKernelNodeSetParams";
    vgpu__execs_lock();
    struct CUgraphNode_st *mine = vgpu__exec_node(hGraphExec, node, cudaGraphNodeTypeKernel);
    cudaError_t error =
        mine ? cudaGraphKernelNodeSetParams(mine, pNodeParams)
             : vgpu__refuse_value(call, "the handle is not an executable graph, or the node is not "
                                        "a kernel node of its graph");
    vgpu__execs_unlock();
    return error;
}
