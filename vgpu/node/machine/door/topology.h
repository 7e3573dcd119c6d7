/* SPDX-License-Identifier: MIT
 * topology.h: what a node is made of: its GPUs, its links as directed resources, and what an
 * operation on it costs. Read from a node description (vgpu/nodes/NAME.json) once at start.
 */
#ifndef VGPU_TOPOLOGY_H
#define VGPU_TOPOLOGY_H

#include <stdint.h>

#include "protocol.h"

#define MAX_RESOURCES 512
#define MAX_ROUTE 10
#define MAX_LINKS 18 /* NVLinks of one GPU, at most: a Hopper has 18 */

enum path {
    PATH_H2D_PINNED,
    PATH_H2D_PAGEABLE,
    PATH_D2H_PINNED,
    PATH_D2H_PAGEABLE,
    PATH_LOCAL,
    PATH_PEER,   /* one GPU to another, direct */
    PATH_STAGED, /* one GPU to another, through host memory, by the driver */
    PATH_HOST,
    PATH_COUNT
};

/* What a copy over a path costs, as the node description says (docs/virtual-time.md explains it).
 * Times add up: the call keeps the host for `issue_ps`; then, if the stream had nothing to do,
 * `idle_ps`; then `latency_ps`; then the bytes flow, the first `ramp_bytes` at no more than
 * `ramp_bytes_s`, the others at the rate of the band that the whole size falls into. */
#define MAX_BANDS 3
struct path_model {
    uint64_t issue_ps, idle_ps, latency_ps;
    double ramp_bytes, ramp_bytes_s; /* 0: no ramp */
    struct {
        double up_to_bytes, bytes_s;
    } band[MAX_BANDS];
    int bands;
    double bytes_s; /* beyond the last band */
    /* Pageable sources only. Up to `inline_bytes` the bytes travel with the command: the call
     * copies them at `inline_bytes_s` and waits for nothing. Larger ones are handed over chunk by
     * chunk: the call returns `handover_ps` before the last byte has arrived. */
    double inline_bytes, inline_bytes_s;
    uint64_t inline_idle_ps; /* instead of idle_ps */
    uint64_t handover_ps;
};

/* The directed resources that a flow occupies, and how fast it can be alone. */
struct route {
    int resource[MAX_ROUTE];
    int length;
    double cap_bytes_s;
};

/* How late work is heard of: by another GPU, and by the other of copy engines and processors. */
struct edge_costs {
    uint64_t other_gpu_ps, other_kind_ps;
};

struct costs {
    uint64_t local_ps, enqueue_ps, launch_ps, record_ps, query_ps, wake_ps, malloc_ps, free_ps;
    uint64_t kernel_delay_ps, kernel_floor_ps;
    uint64_t record_untimed_ps, wait_ps;     /* an event without timing; cudaStreamWaitEvent */
    uint64_t graph_launch_ps, graph_node_ps; /* the call, and for each node */
    uint64_t graph_gpu_ps;                   /* for each further GPU that the graph has nodes on */
    uint64_t graph_copy_ps;                  /* for each copy */
    uint64_t graph_wait_ps;                  /* for each wait of a node for one on another GPU */
    struct edge_costs stream_edge, graph_edge;
    uint64_t graph_first_ps, graph_next_ps; /* a kernel in a graph: delay and floor together */
    uint64_t host_function_ps;
    double kernel_peer_bytes_s; /* of loads and stores over a link between GPUs */
    double kernel_l2_bytes_s;   /* of what a kernel reads again; 0: as its memory */
    double kernel_write_weight; /* a byte written to memory takes as long as so many read */
};

struct topology {
    struct vgpu_node_info info;
    struct costs cost;
    int copies_at_once;                      /* of one kind, on one GPU; 0: any number */
    double memory_bytes_s[VGPU_MAX_DEVICES]; /* of a kernel on its own memory */
    double rate_bytes_s[MAX_RESOURCES];
    char resource_name[MAX_RESOURCES][32]; /* "GPU0 PCIe up": for people */
    int resource_count;
    /* the rest is topology.c's and route.c's; a resource of -1 is not there and limits nothing */
    struct path_model path[PATH_COUNT];
    int port_out[VGPU_MAX_DEVICES], port_in[VGPU_MAX_DEVICES]; /* to an NVSwitch */
    int nvlink[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];            /* between two GPUs, directed */
    int pcie_up[VGPU_MAX_DEVICES], pcie_down[VGPU_MAX_DEVICES];
    int switch_of[VGPU_MAX_DEVICES], socket_of[VGPU_MAX_DEVICES];   /* -1: none */
    int switch_up[VGPU_MAX_DEVICES], switch_down[VGPU_MAX_DEVICES]; /* by switch */
    int root_up[VGPU_MAX_DEVICES], root_down[VGPU_MAX_DEVICES];     /* by socket */
    int socket_link[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];            /* directed */
    int host_memory;
    int memory[VGPU_MAX_DEVICES];
};

/* The links as a description gives them, GB/s in each direction; 0: no such links. */
struct wires {
    double pcie_gbs, switch_gbs, root_gbs, socket_gbs, memory_gbs;
    double port_gbs;                               /* of a GPU to the NVSwitch */
    double link_gbs;                               /* of one NVLink between two GPUs */
    int links[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES]; /* how many of them */
    char nvlink_label[8], pcie_label[8];
};

/* One file being read (topology.c); the first complaint stays. */
struct reader;

struct cJSON;
/* The value that the next complaint is about: its line and column are told. */
void reader_at(struct reader *r, const struct cJSON *item);
void reader_complain(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Complains about the first member of `object` that is none of the words of `fields`. */
void reader_fields(struct reader *r, const struct cJSON *object, const char *what,
                   const char *fields);
/* `key` of `object`, or NULL; what the next complaint is about is the value, or what should hold
 * it.
 */
const struct cJSON *reader_item(struct reader *r, const struct cJSON *object, const char *key);
const char *reader_text(struct reader *r, const struct cJSON *object, const char *key);
double reader_number(struct reader *r, const struct cJSON *object, const char *key, double least);

/* paths.c: reads "copies" and "kernel" of a node description. `t->cost` is there already. */
void topology_read_paths(struct reader *r, const struct cJSON *root, struct topology *t);

/* links.c: reads "nvlink", "pcie", "sockets" and "peers". The GPUs are there already. */
void topology_read_links(struct reader *r, const struct cJSON *root, struct topology *t);

/* Reads node `name`: a path when it holds a '/', else NAME.json in `directory`. 0, or -1 with a
 * sentence in `error` naming file and key. */
int topology_load(struct topology *t, const char *directory, const char *name, char *error,
                  int error_room);

/* The route of `path` from GPU `from` to GPU `to` (-1 where that side is the host), for copies of
 * `bytes` in all: that is what the route's cap goes by. */
struct route topology_route(const struct topology *t, enum path path, int from, int to,
                            uint64_t bytes);

/* Fills info.pair[][].link and the resources; called by topology_read_links. */
void topology_wire(struct topology *t, const struct wires *wires);

#endif
