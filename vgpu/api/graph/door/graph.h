/* SPDX-License-Identifier: MIT
 * graph.h: graphs live in the process, not at the node: a list of nodes with all that their calls
 * need. Launching one makes these calls again, in streams of the graph's own ("lanes") with events
 * between them (graph_exec.c). A capture (capture.c) makes nodes of the calls on its streams.
 */
#ifndef VGPU_GRAPH_H
#define VGPU_GRAPH_H

#include "kernel_launch.h"
#include "work.h"

struct CUgraphNode_st {
    enum cudaGraphNodeType type;
    struct CUgraph_st *graph;
    int physical; /* the device that was current when the node was made */
    union {
        struct vgpu__launch kernel;
        struct vgpu__copy copy;
        struct memset_call memset;
        struct host_function *host;
        struct CUgraph_st *child; /* the node's own */
        cudaEvent_t event;
    } u;
    struct CUgraphNode_st **dep;
    size_t dep_count, dep_room;
    uint64_t asked; /* vgpu__node_after's */
};

struct CUgraph_st {
    struct CUgraphNode_st **node; /* in order of making */
    size_t count, room;
    struct CUgraph_st *next; /* of all that live: a forged handle is none */
};

/* cudaErrorInvalidValue with a sentence: `return vgpu__refuse_value(call, "...")`. */
static inline cudaError_t vgpu__refuse_value(const char *call, const char *what)
{
    return vgpu__refuse(cudaErrorInvalidValue, call, "%s", what);
}

struct CUgraph_st *vgpu__graph_new(void);
bool vgpu__graph_known(const struct CUgraph_st *graph);
void vgpu__graph_free(struct CUgraph_st *graph);
struct CUgraph_st *vgpu__graph_copy(const struct CUgraph_st *graph); /* NULL: no memory */
void vgpu__node_free(struct CUgraphNode_st *node); /* that no graph holds any more */

/* A node after `deps`; NULL: no memory. Its parameters are the caller's to fill in. */
struct CUgraphNode_st *vgpu__graph_add(struct CUgraph_st *graph, enum cudaGraphNodeType type,
                                       struct CUgraphNode_st *const *deps, size_t count);
bool vgpu__graph_edge(struct CUgraphNode_st *node, struct CUgraphNode_st *dep);
void vgpu__graph_take_out(struct CUgraphNode_st *node); /* of the list of its graph */
/* Its place among the graph's nodes, of which it is one. */
size_t vgpu__node_place(const struct CUgraph_st *graph, const struct CUgraphNode_st *node);

/* What all calls that add a node check; an error is recorded. */
cudaError_t vgpu__graph_check_new(const char *call, cudaGraphNode_t *out, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps, size_t count, const void *params);

/* graph_child.c: puts the nodes of child graphs into the graph itself. False: no memory. */
bool vgpu__graph_expand(struct CUgraph_st *graph);

bool vgpu__node_known(const struct CUgraphNode_st *node);

/* Does `node` come after `dep`, or is it the same? The graph is the caller's alone. */
bool vgpu__node_after(struct CUgraphNode_st *node, const struct CUgraphNode_st *dep);

/* ---- capture.c ---- */

/* A call on `stream` that a capture takes becomes a node, which the caller fills in. NULL and
 * success: it is not captured. NULL and an error, recorded: the call fails. */
struct CUgraphNode_st *vgpu__capture(const char *call, cudaStream_t stream,
                                     enum cudaGraphNodeType type, cudaError_t *error);

/* A call that no capture can take: cudaSuccess when `stream` is in none, and disturbs none. */
cudaError_t vgpu__capture_forbids(const char *call, cudaStream_t stream, bool waits);

/* The call on a captured stream failed: what is captured is no longer what was asked for. */
void vgpu__capture_spoil(cudaStream_t stream);

/* Record and wait: true when a capture took them, with what to answer. */
bool vgpu__capture_record(cudaEvent_t event, cudaStream_t stream, cudaError_t *error);
bool vgpu__capture_wait(const char *call, cudaStream_t stream, cudaEvent_t event,
                        cudaError_t *error);
void vgpu__capture_forget(cudaEvent_t event); /* it is destroyed */
/* graph_event.c: a node of that type, for an event that the graph shares with what is outside. */
cudaError_t vgpu__capture_external(const char *call, cudaStream_t stream,
                                   enum cudaGraphNodeType type, cudaEvent_t event);
bool vgpu__capture_holds(const char *call, cudaEvent_t event, cudaError_t *error); /* sync, query */

/* graph_check.c: whether it may be a node. */
cudaError_t vgpu__graph_check_copy(const struct vgpu__copy *copy);
cudaError_t vgpu__graph_check_memset(const char *call, const struct cudaMemsetParams *params);

#endif
