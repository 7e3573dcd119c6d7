/* SPDX-License-Identifier: MIT
 * graph_lanes.c: assigns the nodes of a graph to lanes. See graph_exec.h.
 */
#include <stdlib.h>

#include "graph_exec.h"

/* The greatest number of lanes of a device. Further branches share lanes, which only adds order
 * that a graph may have. */
#define LANES_OF_A_DEVICE 16

/* ---- requests to the node ---- */

cudaError_t vgpu__exec_make(uint32_t op, int physical, uint32_t flags, uint64_t *id)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin("cudaGraphInstantiate", op);
    if (!request)
        return vgpu__failed();
    request->device = physical;
    request->flags = flags;
    cudaError_t error = vgpu__record(vgpu__ask(-1, true, &reply));
    *id = error == cudaSuccess ? reply->value : 0;
    return error;
}

cudaError_t vgpu__exec_make_event(int physical, uint64_t *id)
{
    return *id ? cudaSuccess
               : vgpu__exec_make(VGPU_OP_EVENT_CREATE, physical, cudaEventDisableTiming, id);
}

void vgpu__exec_destroy(uint32_t op, uint64_t id)
{
    struct vgpu_request *request = id ? vgpu__begin("cudaGraphExecDestroy", op) : NULL;
    if (!request)
        return;
    request->stream = request->event = id;
    vgpu__ask(-1, true, NULL);
}

cudaError_t vgpu__exec_event(uint32_t op, uint64_t stream, uint64_t event)
{
    struct vgpu_request *request = vgpu__begin("cudaGraphLaunch", op);
    if (!request)
        return vgpu__failed();
    request->stream = stream;
    request->event = event;
    return vgpu__end(NULL);
}

/* ---- assignment to lanes ---- */

static size_t find_step(const struct CUgraphExec_st *x, const struct CUgraphNode_st *node)
{
    size_t i = 0;
    while (x->step[i].node != node)
        i++;
    return i;
}

static bool node_ready(const struct CUgraphNode_st *node, const bool *placed,
                       const struct CUgraph_st *graph)
{
    for (size_t d = 0; d < node->dep_count; d++)
        for (size_t i = 0; i < graph->count; i++)
            if (graph->node[i] == node->dep[d] && !placed[i])
                return false;
    return true;
}

/* Sorts the nodes topologically. */
static cudaError_t sort_nodes(struct CUgraphExec_st *x, const struct CUgraph_st *original)
{
    const struct CUgraph_st *g = x->graph;
    bool *placed = calloc(g->count + 1, sizeof *placed), moved = true;
    x->step = calloc(g->count + 1, sizeof *x->step);
    if (!placed || !x->step) {
        free(placed);
        return vgpu__no_memory("cudaGraphInstantiate");
    }
    while (moved && x->count < g->count) {
        moved = false;
        for (size_t i = 0; i < g->count; i++)
            if (!placed[i] && node_ready(g->node[i], placed, g)) {
                x->step[x->count++] = (struct step){
                    .node = g->node[i], .original = i < original->count ? original->node[i] : NULL};
                placed[i] = moved = true;
            }
    }
    free(placed);
    if (x->count < g->count)
        return vgpu__refuse(cudaErrorInvalidValue, "cudaGraphInstantiate",
                            "the graph has a cycle: nodes that wait for each other");
    return cudaSuccess;
}

static size_t lanes_on(const struct CUgraphExec_st *x, int physical)
{
    size_t count = 0;
    for (size_t i = 0; i < x->lane_count; i++)
        count += x->lane[i].physical == physical;
    return count;
}

/* Returns a lane whose last node `s` depends on; else a new lane; else any lane of the device. */
static size_t choose_node_lane(struct CUgraphExec_st *x, const struct step *s)
{
    size_t n = s->node->dep_count, any = 0;
    for (size_t i = 0; i < x->lane_count; i++) {
        if (x->lane[i].physical != s->node->physical)
            continue;
        any = i;
        for (size_t d = 0; d < n; d++)
            if (x->lane[i].last == s->dep[d])
                return i;
    }
    if (lanes_on(x, s->node->physical) >= LANES_OF_A_DEVICE)
        return any;
    x->lane[x->lane_count] = (struct lane){.physical = s->node->physical, .last = SIZE_MAX};
    return x->lane_count++;
}

static cudaError_t place_node(struct CUgraphExec_st *x, size_t at)
{
    struct step *s = &x->step[at];
    size_t n = s->node->dep_count;
    s->dep = calloc(n + 1, sizeof *s->dep);
    if (!s->dep)
        return vgpu__no_memory("cudaGraphInstantiate");
    for (size_t d = 0; d < n; d++)
        s->dep[d] = find_step(x, s->node->dep[d]);
    s->lane = choose_node_lane(x, s);
    for (size_t d = 0; d < n; d++) {
        struct step *dep = &x->step[s->dep[d]];
        cudaError_t error = dep->lane == s->lane
                                ? cudaSuccess
                                : vgpu__exec_make_event(dep->node->physical, &dep->event);
        if (error != cudaSuccess)
            return error;
    }
    x->lane[s->lane].last = at;
    return cudaSuccess;
}

static int count_gpus(const struct CUgraphExec_st *x)
{
    uint32_t seen = 0;
    for (size_t i = 0; i < x->lane_count; i++)
        seen |= 1u << x->lane[i].physical;
    return __builtin_popcount(seen);
}

static cudaError_t make_lanes(struct CUgraphExec_st *x)
{
    cudaError_t error = cudaSuccess;
    x->lane = calloc(x->count + 1, sizeof *x->lane);
    if (!x->lane)
        return vgpu__no_memory("cudaGraphInstantiate");
    for (size_t i = 0; error == cudaSuccess && i < x->count; i++)
        error = place_node(x, i);
    x->gpus = count_gpus(x);
    for (size_t i = 0; error == cudaSuccess && i < x->lane_count; i++) {
        struct lane *l = &x->lane[i];
        if (i > 0)
            error = vgpu__exec_make(VGPU_OP_STREAM_CREATE, l->physical, cudaStreamNonBlocking,
                                    &l->stream);
        if (error == cudaSuccess)
            error = vgpu__exec_make_event(l->physical, &l->tail);
    }
    return error;
}

void vgpu__exec_drop(struct CUgraphExec_st *x)
{
    for (size_t i = 0; i < x->count; i++) {
        vgpu__exec_destroy(VGPU_OP_EVENT_DESTROY, x->step[i].event);
        free(x->step[i].dep);
    }
    for (size_t i = 0; i < x->lane_count; i++) {
        vgpu__exec_destroy(VGPU_OP_EVENT_DESTROY, x->lane[i].tail);
        vgpu__exec_destroy(VGPU_OP_STREAM_DESTROY, x->lane[i].stream);
    }
    for (int d = 0; d < VGPU_MAX_DEVICES; d++) {
        vgpu__exec_destroy(VGPU_OP_EVENT_DESTROY, x->entry[d]);
        vgpu__exec_destroy(VGPU_OP_EVENT_DESTROY, x->done[d]);
    }
    vgpu__graph_free(x->graph);
    free(x->step);
    free(x->lane);
    free(x);
}

cudaError_t vgpu__exec_new(const struct CUgraph_st *graph, struct CUgraphExec_st **out)
{
    struct CUgraphExec_st *x = calloc(1, sizeof *x);
    if (!x || !(x->graph = vgpu__graph_copy(graph)) || !vgpu__graph_expand(x->graph)) {
        if (x && x->graph)
            vgpu__graph_free(x->graph);
        free(x);
        return vgpu__no_memory("cudaGraphInstantiate");
    }
    x->launched_on = -1;
    cudaError_t error = sort_nodes(x, graph);
    if (error == cudaSuccess)
        error = make_lanes(x);
    if (error != cudaSuccess) {
        vgpu__exec_drop(x);
        return error;
    }
    *out = x;
    return cudaSuccess;
}
