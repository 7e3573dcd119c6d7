/* SPDX-License-Identifier: MIT
 * graph_exec.h: executable graphs. Nodes are assigned to lanes, each of which is a stream of one
 * device: a node follows one that it depends on in the same lane if possible, and events carry its
 * other dependencies. Lane 0 is the stream into which the graph is launched, if that is on the
 * lane's device.
 */
#ifndef VGPU_GRAPH_EXEC_H
#define VGPU_GRAPH_EXEC_H

#include "graph.h"

struct lane {
    int physical;
    uint64_t stream; /* 0: the stream of the launch (lane 0 only) */
    uint64_t tail;   /* event at the end of the lane */
    size_t last;     /* index of its last step; SIZE_MAX: none */
};

struct step {
    struct CUgraphNode_st *node;
    struct CUgraphNode_st *original; /* the node that it was copied from */
    size_t lane;
    uint64_t event; /* recorded after the node; 0: no other lane waits for it */
    size_t *dep;    /* indices of the steps that it depends on */
};

struct CUgraphExec_st {
    struct CUgraph_st *graph; /* its own copy */
    struct step *step;        /* sorted: each step follows those it depends on */
    size_t count;
    struct lane *lane;
    size_t lane_count;
    int gpus;                 /* number of devices with nodes */
    unsigned long long flags; /* of its instantiation */
    /* Events by the launch stream's device; 0: not made. */
    uint64_t entry[VGPU_MAX_DEVICES], done[VGPU_MAX_DEVICES];
    int launched_on; /* device of the last launch; -1: none */
    struct CUgraphExec_st *next;
};

/* graph_exec.c. The caller of the next two functions holds the lock; launches hold it, too.
 * vgpu__exec_node returns the executable graph's copy of `original`; NULL: none of that type. */
void vgpu__execs_lock(void);
void vgpu__execs_unlock(void);
bool vgpu__exec_known(const struct CUgraphExec_st *exec);
struct CUgraphNode_st *vgpu__exec_node(const struct CUgraphExec_st *exec,
                                       const struct CUgraphNode_st *original,
                                       enum cudaGraphNodeType type);

/* graph_memory.c: before and after a launch; `stream` is the same for what one stream launches. */
cudaError_t vgpu__graph_memory_enter(const struct CUgraphExec_st *exec, uint64_t stream);
void vgpu__graph_memory_leave(const struct CUgraphExec_st *exec, uint64_t stream);

/* graph_lanes.c. vgpu__exec_new copies the graph; an error is recorded. */
cudaError_t vgpu__exec_new(const struct CUgraph_st *graph, struct CUgraphExec_st **out);
void vgpu__exec_drop(struct CUgraphExec_st *exec);

/* graph_object.c: what the executable graph holds stays until its last launch has ended. */
void vgpu__objects_outlive_launch(struct CUgraphExec_st *exec);

/* The first sends a request about an event in a stream. The second destroys the graph's own stream
 * or event `id`; 0 destroys nothing. */
cudaError_t vgpu__exec_event(uint32_t op, uint64_t stream, uint64_t event);
void vgpu__exec_destroy(uint32_t op, uint64_t id);

/* Make a stream or an event of the graph's own, at no cost of virtual time. vgpu__exec_make_event
 * does nothing if *id is not 0. */
cudaError_t vgpu__exec_make(uint32_t op, int physical, uint32_t flags, uint64_t *id);
cudaError_t vgpu__exec_make_event(int physical, uint64_t *id);

#endif
