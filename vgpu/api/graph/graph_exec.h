/* SPDX-License-Identifier: MIT
 * graph_exec.h: an executable graph. Nodes are laid out in lanes, streams of one device each: a
 * node goes behind one that it depends on where it can, and events carry the other dependencies.
 * Lane 0 is the stream that the graph is launched into, where the device fits.
 */
#ifndef VGPU_GRAPH_EXEC_H
#define VGPU_GRAPH_EXEC_H

#include "graph.h"

struct lane {
    int physical;
    uint64_t stream; /* 0: the launching stream (lane 0 only) */
    uint64_t tail;   /* event: all of the lane */
    size_t last;     /* node; SIZE_MAX: none */
};

struct step {
    struct CUgraphNode_st *node;
    struct CUgraphNode_st *original; /* in the graph it was made from */
    size_t lane;
    uint64_t event; /* recorded after the node, 0: nobody in another lane waits */
    size_t *dep;    /* steps */
};

struct CUgraphExec_st {
    struct CUgraph_st *graph; /* its own copy */
    struct step *step;        /* in an order that can be launched */
    size_t count;
    struct lane *lane;
    size_t lane_count;
    int gpus;                                                 /* that it has nodes on */
    uint64_t entry[VGPU_MAX_DEVICES], done[VGPU_MAX_DEVICES]; /* events; 0: not made yet */
    int launched_on;                                          /* device of the last launch, -1 */
    struct CUgraphExec_st *next;
};

/* graph_exec.c: a launch holds this lock as well. The calls below want it. exec_node: the exec's
 * own node for one of the graph that it was made from; NULL: none of that type. */
void vgpu__execs_lock(void);
void vgpu__execs_unlock(void);
bool vgpu__exec_known(const struct CUgraphExec_st *exec);
struct CUgraphNode_st *vgpu__exec_node(const struct CUgraphExec_st *exec,
                                       const struct CUgraphNode_st *original,
                                       enum cudaGraphNodeType type);

/* graph_lanes.c. The graph is copied; an error is recorded. */
cudaError_t vgpu__exec_new(const struct CUgraph_st *graph, struct CUgraphExec_st **out);
void vgpu__exec_drop(struct CUgraphExec_st *exec);

/* A stream or an event of the exec's own; free of charge. make_event: where there is none yet. */
cudaError_t vgpu__exec_make(uint32_t op, int physical, uint32_t flags, uint64_t *id);
cudaError_t vgpu__exec_make_event(int physical, uint64_t *id);

#endif
