/* SPDX-License-Identifier: MIT
 * machine.h: what zero-plan takes from a node description: memory, and what a ring costs.
 */
#ifndef ZERO_PLAN_MACHINE_H
#define ZERO_PLAN_MACHINE_H

#include <stdint.h>

struct machine {
    char name[64], gpu[64];
    int gpus_a_node;
    uint64_t memory_bytes; /* of a GPU, less a context's */
    double link_bytes_s;   /* the slowest hop of the ring in a node, one way */
    double net_bytes_s;    /* of a GPU to the other nodes, one way */
    double step_s;         /* one step of a ring: a copy's latency, and the kernel that adds */
    double pcie_bytes_s;   /* of the slower way between GPU and pinned host memory */
    double local_bytes_s;  /* what a kernel reaches on its own memory */
    double flops;          /* what a GPU sustains in training */
};

/* Reads a node description: a name in the nodes folder, or a path. 0, or -1 with a sentence that
 * names file and field. net_bytes_s and flops are the caller's. */
int machine_read(struct machine *m, const char *node, char *error, int room);

/* Bytes a second and GPU, one way, of a ring over n GPUs. Within a node the slowest hop decides.
 * Over nodes there is a ring for each GPU of a node, each on a network card of its own, so that all
 * cards carry together. */
double machine_ring_rate(const struct machine *m, int n);

/* Seconds of a reduce-scatter or an all-gather (`ways` 1) or an all-reduce (2) of `bytes`. */
double machine_ring_s(const struct machine *m, int n, double bytes, int ways);

#endif
