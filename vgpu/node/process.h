/* SPDX-License-Identifier: MIT
 * process.h: a program that uses the node: its host memory, its contexts, its errors.
 *
 * A process lives as long as a connection of it or an operation of it does. When its last
 * connection closes it is `dead`: what it left is counted (the witness asks for it), then freed;
 * its pending operations run out without effect.
 */
#ifndef VGPU_PROCESS_H
#define VGPU_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "context.h"
#include "protocol.h"
#include "stream.h"

#define MAX_MODULES 256
#define FINDINGS_TOLD 256

struct device_state {
    bool made;      /* the primary context exists */
    uint32_t peers; /* bit p: memory of device p is accessible from here */
    struct stream legacy;
    struct stream *streams; /* created ones and per-thread defaults */
    struct op *gone[2];     /* what destroyed streams still do; [1]: of non-blocking ones */
    struct context context; /* spawned at the first launch */
};

struct variable {
    uint32_t module;
    uint64_t offset, bytes;
    char key[112];
};

/* idle.c: since when the program has made no call. */
struct silence {
    uint64_t calls;
    double since, cpu;
    bool silent;
};

struct held { /* passing.c: a thread that makes no call has held the time */
    double since, cpu;
    bool given_up;
};

struct overtaken {    /* overtaken.c */
    uint32_t workers; /* host threads that have worked so far */
    uint64_t by_threads, by_programs, stores;
    char first[160];
};

struct process {
    pid_t pid;    /* as it knows itself */
    pid_t os_pid; /* as we know it: it may live in a namespace of its own; 0: not at all */
    char program[128];
    int refs, connections;
    bool dead, left;     /* left: said goodbye */
    int sticky;          /* first sticky error; every later call that needs a context answers it */
    uint64_t calls;      /* requests so far */
    uint64_t unheard;    /* as the latest request said: threads that have not called yet */
    uint64_t unheard_ps; /* when the latest of them began, by who told us */
    struct held held;    /* by them */
    struct silence silence;
    double cpu_when_calm;    /* idle.c: processor seconds when things became calm */
    int number;              /* in the order in which they came */
    uint32_t stream_numbers; /* streams made so far */
    struct overtaken overtaken;
    bool times_read; /* it has asked how long something took */
    int timeline_fd; /* timeline.c's; -1: no file */
    bool strict;     /* VGPU_STRICT=1: a stray access is an error */
    uint32_t checks; /* VGPU_CHECK: enum vgpu_check */
    char explain[sizeof((struct vgpu_reply *)0)->explain];
    struct habits *habits;                 /* tally.c */
    struct pace *paces;                    /* pace.c */
    struct remark *remarks, **last_remark; /* findings that no reply has carried yet */
    uint64_t told[FINDINGS_TOLD];          /* finding.c: which were told already */
    uint32_t told_count;
    uint64_t map_version; /* grows with every change of what contexts may touch */

    int host_fd;
    uint8_t *host_base; /* the node's view of the host arena */
    struct arena host;  /* pinned allocations and staging ranges */

    int module_fd[MAX_MODULES];
    int module_count;
    uint64_t variables[VGPU_MAX_DEVICES]
                      [MAX_MODULES]; /* where a module's variables lie, 0: not yet */
    struct variable *variable;       /* of all modules */
    int variable_count;
    struct device_state device[VGPU_MAX_DEVICES];
    struct event *events;
    struct pool *pools;

    char *printed; /* by kernels, not yet fetched */
    uint32_t printed_bytes;
    struct process *next;
};

/* What a range of the host arena is for: its `user`. Pinned memory has none. */
extern char host_staging; /* the driver's own: no context maps it, nobody counts it */
extern char host_managed; /* cudaMallocManaged */
struct host_alias {       /* any other user: cudaHostRegister's; contexts see it at `va` */
    uint64_t va;
};
const struct host_alias *host_alias(const struct arena_range *range); /* NULL: not registered */

bool process_any_alive(void);
struct process *process_new(pid_t pid, const char *program, char *error, int error_room);
struct process *process_keep(struct process *process);
void process_drop(struct process *process);

/* The last connection is gone: counts what was left, frees it, ends the contexts. */
void process_end(struct process *process);

struct process *process_first(void);
int process_contexts_on(int device);

/* Makes the primary context of `device`, if need be. An error code. */
int process_context(struct process *process, int device);
void process_reset_device(struct process *process, int device);

bool process_peers_linked(const struct process *process, int from, int to);

/* Device of a node address, -1 for host memory. */
int process_device_of(uint64_t address);

/* The node's view of [address, +bytes) for this process, or NULL (not its memory, or no room). */
uint8_t *process_view(struct process *process, uint64_t address, uint64_t bytes);

/* Large pieces go into the process's host memory by one system call, which meets no page after the
 * other. False: small, or no host memory; nothing was written. `bytes` is not of that memory. */
bool process_write(struct process *process, uint64_t address, const uint8_t *bytes, uint64_t n);

/* Remembers variables of a module from a context's struct vgpu_exec_var[], whose first one is the
 * module's number `first`; another context has told the same before, perhaps. */
void process_learn_variables(struct process *process, uint32_t module, uint32_t first,
                             const uint8_t *data, uint32_t bytes);

/* First sticky error wins; later ones change nothing. */
void process_fail(struct process *process, int error, const char *explain);

/* Something a person should read with the next reply, after what waits already; dropped when there
 * is no room. */
void process_explain(struct process *process, const char *text);

/* The same for findings: they wait, in their order, until replies have room for them. */
void process_remark(struct process *process, const char *text);

/* Moves what fits behind what `text` holds. */
void process_take_remarks(struct process *process, char *text, size_t room);

/* Keeps what a kernel printed until the program fetches it. */
void process_print(struct process *process, const uint8_t *text, uint32_t bytes);

#endif
