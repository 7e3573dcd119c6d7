/* SPDX-License-Identifier: MIT
 * graph.h: graphs. A graph exists in the process only and not at the node: it is a list of nodes
 * with the parameters of their calls. A launch makes these calls, in streams of the graph's own
 * ("lanes") with events between them (graph_exec.c). A capture (capture.c) turns calls on its
 * streams into nodes.
 */
#ifndef VGPU_GRAPH_H
#define VGPU_GRAPH_H

#include "kernel_launch.h"
#include "work.h"

struct CUgraphNode_st {
    enum cudaGraphNodeType type;
    struct CUgraph_st *graph;
    int physical; /* device that was current when the node was made */
    union {
        struct vgpu__launch kernel;
        struct {
            struct vgpu__copy copy;
            struct cudaMemcpy3DParms box; /* as given; without an extent: given otherwise */
        };
        struct memset_call memset;
        struct host_function *host;
        struct CUgraph_st *child; /* owned by the node */
        cudaEvent_t event;
        struct {                         /* of allocations and frees */
            struct graph_memory *memory; /* graph_memory.c */
            size_t bytes;                /* as asked for, as is the next */
            uint32_t reach;              /* devices with access, a bit each */
        };
    } u;
    struct CUgraphNode_st **dep;
    size_t dep_count, dep_room;
    void *shown;         /* memory that a query of the parameters has handed out (graph_params.c) */
    size_t first, count; /* of a child graph that was expanded: the places of its nodes */
    bool disabled;       /* in an executable graph: a launch leaves it out */
    const struct CUgraphNode_st *original; /* what it was copied from, only to be compared */
    uint64_t asked;                        /* last search of vgpu__node_after that visited it */
};

struct CUgraph_st {
    struct CUgraphNode_st **node; /* in order of creation */
    size_t count, room;
    struct graph_object *objects; /* user_object.c: to which it holds references */
    unsigned captures;            /* that add to it */
    bool is_child;                /* of a node, which it belongs to */
    struct CUgraph_st *next;      /* list of all existing graphs, to recognise an invalid handle */
};

/* Returns cudaErrorInvalidValue after a message: `return vgpu__refuse_value(call, "...")`. */
static inline cudaError_t vgpu__refuse_value(const char *call, const char *what)
{
    return vgpu__refuse(cudaErrorInvalidValue, call, "%s", what);
}

struct CUgraph_st *vgpu__graph_new(void);
bool vgpu__graph_known(const struct CUgraph_st *graph);
/* Whether it has nodes that allocate or free memory: none of its nodes and edges can be removed. */
bool vgpu__graph_has_memory(const struct CUgraph_st *graph);
void vgpu__graph_free(struct CUgraph_st *graph);
struct CUgraph_st *vgpu__graph_copy(const struct CUgraph_st *graph); /* NULL: host memory ran out */
void vgpu__node_free(struct CUgraphNode_st *node); /* after it was removed from its graph */

/* Adds a node that depends on `deps`; the caller fills in its parameters. NULL: host memory ran
 * out. */
struct CUgraphNode_st *vgpu__graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                       struct CUgraphNode_st *const *deps, size_t count);
/* Makes `node` depend on `dep`. False: host memory ran out. */
bool vgpu__graph_edge(struct CUgraphNode_st *node, struct CUgraphNode_st *dep);
void vgpu__graph_take_out(struct CUgraphNode_st *node); /* removes it from its graph's list */
/* Destroys the node, whose dependents no longer wait for it. */
void vgpu__graph_drop_node(struct CUgraphNode_st *node);
/* The index of `node`, which must be a node of `graph`. */
size_t vgpu__node_place(const struct CUgraph_st *graph, const struct CUgraphNode_st *node);

/* Checks that all calls that add a node make; an error is recorded. */
cudaError_t vgpu__graph_check_new(const char *call, cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps, size_t count, const void *params);

/* graph_child.c: replaces child graph nodes by the nodes of the child graphs. False: host memory
 * ran out. */
bool vgpu__graph_expand(struct CUgraph_st *graph);

/* user_object.c: a copy of a graph holds what the graph does (false: host memory ran out); gives
 * all references back. */
bool vgpu__objects_copy(struct CUgraph_st *to, const struct CUgraph_st *from);
void vgpu__objects_release(struct CUgraph_st *graph);
void vgpu__objects_give_back(void *list); /* what was graph->objects */
/* The calls about a graph that exists. */
cudaError_t vgpu__objects_retain(struct CUgraph_st *graph, struct CUuserObject_st *object,
                                 unsigned int count, unsigned int flags);
cudaError_t vgpu__objects_let_go(struct CUgraph_st *graph, struct CUuserObject_st *object,
                                 unsigned int count);

/* graph_node.c: errors for types of nodes that a call does not take or the node does not have, and
 * for a child graph that is not to be copied. */
cudaError_t vgpu__graph_refuse_type(const char *call, int type);
cudaError_t vgpu__graph_check_ownership(const char *call, int ownership);

bool vgpu__node_known(const struct CUgraphNode_st *node);

/* True if `node` is `dep` or depends on it, directly or indirectly. No other thread may change the
 * graph meanwhile. */
bool vgpu__node_after(struct CUgraphNode_st *node, const struct CUgraphNode_st *dep);

/* ---- capture.c ---- */

/* If a capture records a call on `stream`, returns its node, whose parameters the caller fills in.
 * NULL and cudaSuccess: the stream is not captured. NULL and an error, which is recorded: the call
 * fails. */
struct CUgraphNode_st *vgpu__capture(const char *call, cudaStream_t stream,
                                     enum cudaGraphNodeType type, cudaError_t *error);

/* For a call that cannot be captured: an error if `stream` is captured, or if the call would
 * invalidate a capture. */
cudaError_t vgpu__capture_forbids(const char *call, cudaStream_t stream, bool waits);

/* A call on a captured stream failed: makes the capture invalid. */
void vgpu__capture_spoil(cudaStream_t stream);

/* For cudaEventRecord and cudaStreamWaitEvent: true if a capture recorded the call, with its result
 * in *error. */
bool vgpu__capture_record(cudaEvent_t event, cudaStream_t stream, cudaError_t *error);
bool vgpu__capture_wait(const char *call, cudaStream_t stream, cudaEvent_t event,
                        cudaError_t *error);
void vgpu__capture_forget(cudaEvent_t event); /* the event is destroyed */
/* graph_event.c: records a node of that type for an event that is used outside of the graph, too.
 */
cudaError_t vgpu__capture_external(const char *call, cudaStream_t stream,
                                   enum cudaGraphNodeType type, cudaEvent_t event);
/* For cudaEventSynchronize and cudaEventQuery: true if `event` was recorded in a capture, with the
 * call's result in *error. */
bool vgpu__capture_holds(const char *call, cudaEvent_t event, cudaError_t *error);

/* graph_memory.c. Makes `node` allocate `size` bytes for the devices `reach` (a bit each), or free
 * them; where that fails, it is an empty node. */
cudaError_t vgpu__graph_allocate(const char *call, struct CUgraphNode_st *node, int physical,
                                 size_t size, uint32_t reach, void **out);
cudaError_t vgpu__graph_release(const char *call, struct CUgraphNode_st *node, const void *pointer);
uint64_t vgpu__graph_address(const struct graph_memory *memory);
/* True if `pointer` is memory that a graph has allocated: it is free in `stream` now (0: in all,
 * after the device was waited for). */
bool vgpu__graph_frees(const void *pointer, uint64_t stream);
/* A default stream has the same number on all devices, and the one per thread in all threads. */
static inline uint64_t vgpu__graph_stream_key(uint64_t stream, int physical)
{
    uint64_t thread = stream == VGPU_STREAM_PER_THREAD ? (uint64_t)(uintptr_t)&vgpu__self : 0;
    return stream > VGPU_STREAM_PER_THREAD ? stream : (stream + thread) << 8 | (uint64_t)physical;
}

/* graph_check.c: an error if the copy or fill cannot be a node. */
cudaError_t vgpu__graph_check_copy(const struct vgpu__copy *copy);
cudaError_t vgpu__graph_check_memset(const char *call, const struct cudaMemsetParams *params);

#endif
