/* SPDX-License-Identifier: MIT
 * topology.h: the components of a node: its GPUs, its links as directed resources, and the costs of
 * operations. Read once at the start from a node description (vgpu/nodes/NAME.json).
 */
#ifndef VGPU_TOPOLOGY_H
#define VGPU_TOPOLOGY_H

#include <stdint.h>

#include "protocol.h"

#define MAX_RESOURCES 512
#define MAX_ROUTE 10
#define MAX_LINKS 18 /* greatest number of NVLinks of a GPU (Hopper: 18) */

enum path {
    PATH_H2D_PINNED,
    PATH_H2D_PAGEABLE,
    PATH_D2H_PINNED,
    PATH_D2H_PAGEABLE,
    PATH_LOCAL,
    PATH_PEER,   /* from GPU to GPU, direct */
    PATH_STAGED, /* from GPU to GPU through host memory, by the driver */
    PATH_HOST,
    PATH_COUNT
};

/* The cost of a copy over a path, from the node description (see docs/virtual-time.md). Times are
 * added: the call occupies the host for `issue_ps`; then follow `idle_ps` if the stream was idle,
 * and `latency_ps`; then the bytes flow, the first `ramp_bytes` at no more than `ramp_bytes_s`, the
 * others at the rate of the band that the total size falls into. */
#define MAX_BANDS 3
struct path_model {
    uint64_t issue_ps, idle_ps, latency_ps;
    uint64_t graph_ps;    /* the latency in a graph */
    double carried_bytes; /* from the host: so many travel with the command, without copy engine */
    uint64_t default_issue_ps, default_ps; /* more of both, for a copy between GPUs in a default
                                            * stream, which is ordered with both of them */
    double ramp_bytes, ramp_bytes_s;       /* 0: no ramp */
    struct {
        double up_to_bytes, bytes_s;
    } band[MAX_BANDS];
    int bands;
    double bytes_s; /* rate beyond the last band */
    /* Pageable sources only. Up to `inline_bytes`, the bytes are sent with the command: the call
     * copies them at `inline_bytes_s` and does not wait. Larger sources are read chunk by chunk:
     * the call returns `handover_ps` before the last byte has arrived. */
    double inline_bytes, inline_bytes_s;
    uint64_t inline_idle_ps; /* replaces idle_ps */
    uint64_t handover_ps;
};

/* The directed resources that a flow uses, and its greatest rate if it is alone. */
struct route {
    int resource[MAX_ROUTE];
    int length;
    double cap_bytes_s;
};

/* Delays until the end of an operation is known: to another GPU, and from one engine to another. */
struct edge_costs {
    uint64_t other_gpu_ps, other_kind_ps;
};

/* With VGPU_COLD=1, the additional time of what a program does for the first time: make a context,
 * enable peer access, launch on a GPU, copy between two GPUs, allocate from a GPU's pool. */
struct cold_costs {
    uint64_t context_ps, peer_ps, launch_ps, pair_ps, pool_ps;
};

struct costs {
    struct cold_costs cold;
    uint64_t local_ps, enqueue_ps, launch_ps, record_ps, query_ps, wake_ps, malloc_ps, free_ps;
    uint64_t kernel_delay_ps, kernel_floor_ps;
    uint64_t kernel_idle_ps; /* more for a kernel or a fill whose stream had nothing to do */
    uint64_t found_ps;       /* after a wait that finds everything over, instead of wake_ps */
    /* Recording an event without timing; cudaStreamWaitEvent. */
    uint64_t record_untimed_ps, wait_ps;
    uint64_t wait_gpu_ps;                      /* the latter for an event of another GPU */
    uint64_t record_shared_ps, wait_shared_ps; /* of an event for other processes; wait: or 0 */
    uint64_t timed_event_ps; /* how long a stream is busy with an event that has timing */
    uint64_t send_ps;        /* sending a message to another process */
    uint64_t receive_ps;     /* receiving one that has already come */
    uint64_t pool_grow_ps;   /* an allocation for which its pool gets memory from the driver */
    uint64_t graph_launch_ps, graph_node_ps; /* per launch; per node */
    uint64_t graph_gpu_ps;                   /* per further GPU with nodes */
    uint64_t graph_copy_ps;                  /* per copy */
    uint64_t graph_engine_ps;                /* more per copy that a copy engine does */
    uint64_t graph_wait_ps;                  /* per wait of a node for one on another GPU */
    uint64_t graph_kernel_ps;                /* per kernel and further GPU with nodes */
    struct edge_costs stream_edge, graph_edge;
    uint64_t graph_first_ps, graph_next_ps; /* kernel in a graph: delay and floor together */
    uint64_t host_function_ps;
    /* Of a rank's kernel of a collective; more for the first one of a group of calls. */
    uint64_t collective_launch_ps, collective_group_ps;
    double kernel_peer_bytes_s; /* rate of loads and stores over a link between GPUs */
    double kernel_l2_bytes_s;   /* rate of repeated reads; 0: that of memory */
    double kernel_write_weight; /* time of a byte written, in bytes read */
};

/* What one processor of a GPU does in a cycle, and how long its parts take (kernel_time.h). All
 * zero: not described. */
struct processor {
    /* Lanes per cycle: of all instructions; of those on integers and doubles; of special functions.
     */
    double slots, integers, doubles, special;
    double line_cycles;       /* for each line of 128 bytes in a warp's access to global memory */
    double barrier_cycles;    /* for each warp at a barrier */
    double launch_ps;         /* for each block: the GPU starts one after another */
    double block_ps, warp_ps; /* for each block and each warp: to become resident and to leave */
    double first_access_ps;
    double l2_ps, memory_ps;           /* latency of a load */
    double l2_share;                   /* share of L2 in which a kernel's data stays if it fits */
    double atomic_ps, atomic_float_ps; /* between two requests for one line */
    double atomic_spread;              /* factor of these if requests go to several lines */
};

/* How long a collective of NCCL takes once all ranks have come: the least of its protocols' times,
 * each `base_ps`, `step_ps` for each hop after the first, and the bytes of a rank at the rate of
 * the channels that they fill. */
#define COLLECTIVE_PROTOCOLS 8
struct collective_protocol {
    uint32_t ranks; /* for so many ranks at most */
    uint64_t base_ps, step_ps;
    double bytes_s, channels, channel_bytes; /* of all channels; bytes for each of them */
};

struct collective_cost {
    int protocols; /* 0: not described; a kernel takes the time of its own slices */
    struct collective_protocol protocol[COLLECTIVE_PROTOCOLS];
};

struct topology {
    struct vgpu_node_info info;
    struct processor processor[VGPU_MAX_DEVICES];
    struct costs cost;
    struct collective_cost collective[VGPU_COLLECTIVES];
    int copies_at_once;                      /* per kind and GPU; 0: any number */
    double memory_bytes_s[VGPU_MAX_DEVICES]; /* rate of a kernel on its own memory */
    double rate_bytes_s[MAX_RESOURCES];
    char resource_name[MAX_RESOURCES][32]; /* names for output: "GPU0 PCIe up" */
    int resource_count;
    /* used by topology.c and route.c only; a resource of -1 does not exist and limits nothing */
    struct path_model path[PATH_COUNT];
    int port_out[VGPU_MAX_DEVICES], port_in[VGPU_MAX_DEVICES]; /* to an NVSwitch */
    int nvlink[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];            /* between two GPUs, directed */
    int pcie_up[VGPU_MAX_DEVICES], pcie_down[VGPU_MAX_DEVICES];
    int switch_of[VGPU_MAX_DEVICES], socket_of[VGPU_MAX_DEVICES];   /* -1: none */
    int switch_up[VGPU_MAX_DEVICES], switch_down[VGPU_MAX_DEVICES]; /* indexed by switch */
    int root_up[VGPU_MAX_DEVICES], root_down[VGPU_MAX_DEVICES];     /* indexed by socket */
    int socket_link[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];            /* directed */
    int pcie_both[VGPU_MAX_DEVICES]; /* a GPU's PCIe lanes, both directions together */
    int staging[VGPU_MAX_DEVICES];   /* the same of copies between GPUs through the host */
    int host_memory, host_written, host_read;
    int memory[VGPU_MAX_DEVICES];
};

/* The links in a description: rates in GB/s per direction; 0: no such links. */
struct wires {
    double pcie_gbs, switch_gbs, root_gbs, socket_gbs, memory_gbs;
    double pcie_both_gbs, staged_gbs, memory_written_gbs, memory_read_gbs;
    double port_gbs;                               /* from a GPU to the NVSwitch */
    double link_gbs;                               /* of one NVLink between two GPUs */
    int links[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES]; /* numbers of NVLinks */
    char nvlink_label[8], pcie_label[8];
};

/* A node description that is being read (topology.c). The first error is kept. */
struct reader;

struct cJSON;
/* Sets the value to whose line and column the next error message refers. */
void reader_at(struct reader *r, const struct cJSON *item);
void reader_complain(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports the first member of `object` that is not one of the words in `fields`. */
void reader_fields(struct reader *r, const struct cJSON *object, const char *what,
                   const char *fields);
/* Returns `key` of `object`, or NULL. The next error message refers to this value or, if it is
 * missing, to `object`. */
const struct cJSON *reader_item(struct reader *r, const struct cJSON *object, const char *key);
const char *reader_text(struct reader *r, const struct cJSON *object, const char *key);
double reader_number(struct reader *r, const struct cJSON *object, const char *key, double least);

/* paths.c: reads "copies" and "kernel" of a node description. `t->cost` must be set already. */
void topology_read_paths(struct reader *r, const struct cJSON *root, struct topology *t);

/* collectives.c: reads "nccl"; after the paths. */
void topology_read_collectives(struct reader *r, const struct cJSON *root, struct topology *t);

/* links.c: reads "nvlink", "pcie", "sockets" and "peers". The GPUs must have been read already. */
void topology_read_links(struct reader *r, const struct cJSON *root, struct topology *t);

/* Reads node `name`: a path if it contains '/', else NAME.json in `directory`. Returns 0, or -1
 * with a message in `error` that names file and key. */
int topology_load(struct topology *t, const char *directory, const char *name, char *error,
                  int error_room);

/* The route of `path` from GPU `from` to GPU `to` (-1: the host) for copies of `bytes` in total, on
 * which the route's cap depends. */
struct route topology_route(const struct topology *t, enum path path, int from, int to,
                            uint64_t bytes);

/* Sets info.pair[][].link and the resources; called by topology_read_links. */
void topology_wire(struct topology *t, const struct wires *wires);

#endif
