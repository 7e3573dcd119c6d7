/* SPDX-License-Identifier: MIT
 * process.h: a program that uses the node: its memory, contexts, streams and errors.
 *
 * A process is reference-counted: process_new's reference is dropped by process_end, and each
 * operation holds one until it is freed. When its last connection is closed it is `dead`: what it
 * has not freed is counted (for the witness), then freed; its pending operations complete without
 * an effect.
 */
#ifndef VGPU_PROCESS_H
#define VGPU_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "context.h"
#include "owner.h"
#include "protocol.h"
#include "stream.h"
#include "usage.h"

#define MAX_MODULES 1024 /* parts of PTX are device images of their own */
#define FINDINGS_TOLD 256

struct device_state {
    uint32_t peers; /* bit p: memory of device p can be accessed from this device */
    struct stream legacy;
    struct stream *streams; /* created streams and per-thread default streams */
    /* The pending work of destroyed streams; [1]: of non-blocking ones. */
    struct op *gone[2];
    struct context context; /* spawned at the first launch */
};

struct variable {
    uint32_t module;
    uint64_t offset, bytes;
    char key[112];
};

/* ---- state of each room; only that room writes to it ---- */

/* time_bound.c: how long a thread without a call has held time back. */
struct thread_hold {
    double since, cpu;
    bool given_up;
};

/* idle_flush.c: how long the program has made no call. */
struct silence {
    uint64_t calls;
    double since, cpu;
    bool silent;
};

/* cold.c: a bit for each GPU where it has been done. */
struct cold_done {
    uint32_t contexts, launched, pools, copied[VGPU_MAX_DEVICES];
};

struct process_server {
    struct cold_done cold;
    uint64_t calls;   /* number of requests */
    uint32_t threads; /* that have called */
    /* From the latest request: threads that have not called yet. */
    uint64_t unregistered;
    /* Clock of the request that reported the latest of them. */
    uint64_t unregistered_ps;
    struct thread_hold hold; /* for these threads */
    struct silence silence;
    /* idle_flush.c: processor time in s when activity stopped. */
    double cpu_when_quiescent;
};

struct process_check {
    struct call_advice *calls;     /* call_advice.c */
    struct kernel_advice *kernels; /* kernel_advice.c */
    uint64_t told[FINDINGS_TOLD];  /* finding.c: keys of those reported */
    uint32_t told_count;
};

struct process_trace {
    int timeline_fd; /* timeline.c; -1: no file */
};

struct late_issues {  /* late_issue.c */
    uint32_t workers; /* host threads that have issued work so far */
    uint64_t by_threads, by_programs, stores;
    char first[160];
};

struct process {
    pid_t pid; /* in its own pid namespace */
    /* In the node's pid namespace; 0: not visible there. */
    pid_t os_pid;
    char program[128];
    /* In order of arrival; restarts when virtual time restarts. */
    int number;
    int arrived; /* the first program of the node is 1; never restarts */
    int refs, connections;
    bool dead, left;          /* dead: see above; left: it has ended orderly */
    bool strict;              /* VGPU_STRICT=1: an access outside allocations is an error */
    uint32_t checks;          /* VGPU_CHECK: enum vgpu_check */
    bool times_read;          /* it has measured times */
    struct vgpu_usage *usage; /* never NULL; may be shared (usage.h) */

    /* The first sticky error, which every later call that needs a context returns. */
    int sticky;
    char explain[sizeof((struct vgpu_reply *)0)->explain];
    struct remark *remarks, **last_remark; /* findings not yet sent in a reply */
    char *printed;                         /* output of kernels not yet fetched */
    uint32_t printed_bytes;

    int module_fd[MAX_MODULES];
    int module_count;
    /* Addresses of the modules' variables; 0: not allocated. */
    uint64_t variables[VGPU_MAX_DEVICES][MAX_MODULES];
    struct variable *variable; /* variables of all modules */
    int variable_count;
    struct device_state device[VGPU_MAX_DEVICES];
    uint32_t stream_numbers; /* streams made so far */
    struct event *events;

    struct order *order; /* the order of its operations' effects */
    struct owner memory;
    struct late_issues late;
    struct process_server server;
    struct process_check check;
    struct process_trace trace;
    struct process *next;
};

bool process_any_alive(void);
struct process *process_new(struct order *order, pid_t pid, const char *program, char *error,
                            int error_room);
struct process *process_keep(struct process *process);
void process_drop(struct process *process);

/* The last connection has been closed: counts what is left, frees it, and ends the contexts. */
void process_end(struct process *process);

struct process *process_first(void);

/* process_watch sets the function that detects whether a program has closed all its connections
 * before the node has read that; process_is_gone calls it. Work for such a program is pointless. */
void process_watch(bool (*gone)(const struct process *process));
bool process_is_gone(const struct process *process);

/* Makes the primary context of `device` if necessary. Returns an error code. */
int process_context(struct process *process, int device);
void process_reset_device(struct process *process, int device);

/* Enables or disables access from `device` to memory of `peer`. */
void process_set_peer(struct process *process, int device, int peer, bool accessible);

bool process_peers_linked(const struct process *process, int from, int to);

/* Adds variables of a module from a context's struct vgpu_exec_var[]; the first one has index
 * `first` in the module. Variables that another context has reported before are skipped. */
void process_learn_variables(struct process *process, uint32_t module, uint32_t first,
                             const uint8_t *data, uint32_t bytes);

/* Sets the sticky error, unless one is set already. */
void process_fail(struct process *process, int error, const char *explain);

/* Adds a text for the next reply, after earlier ones; dropped if there is no room. */
void process_explain(struct process *process, const char *text);

/* The same for findings, which are kept in order until replies have room for them. */
void process_remark(struct process *process, const char *text);

/* Moves findings that fit to the end of `text`. */
void process_take_remarks(struct process *process, char *text, size_t room);

/* Stores printed output of a kernel until the program fetches it. */
void process_print(struct process *process, const uint8_t *text, uint32_t bytes);

#endif
