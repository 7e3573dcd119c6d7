/* SPDX-License-Identifier: MIT
 * process.h: a program that uses the node: its host memory, its contexts, its errors.
 *
 * A process lives as long as there is a reference to it: process_new's is process_end's, and each
 * operation has one until it is freed. When its last connection closes it is `dead`: what it left
 * is counted (the witness asks for it), then freed; its pending operations run out without effect.
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

#define MAX_MODULES 256
#define FINDINGS_TOLD 256

struct device_state {
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

/* ---- what each room keeps of a process; only that room writes there ---- */

struct thread_hold { /* time_bound.c: a thread that makes no call has held the time */
    double since, cpu;
    bool given_up;
};

struct silence { /* idle_flush.c: since when the program has made no call */
    uint64_t calls;
    double since, cpu;
    bool silent;
};

struct process_server {
    uint64_t calls;           /* requests so far */
    uint64_t unregistered;    /* as the latest request said: threads that have not called yet */
    uint64_t unregistered_ps; /* when the latest of them began, by who told us */
    struct thread_hold hold;  /* by them */
    struct silence silence;
    double cpu_when_quiescent; /* idle_flush.c: processor seconds when nothing happened any more */
};

struct process_check {
    struct call_advice *calls;     /* call_advice.c */
    struct kernel_advice *kernels; /* kernel_advice.c */
    uint64_t told[FINDINGS_TOLD];  /* finding.c: which were told already */
    uint32_t told_count;
};

struct process_trace {
    int timeline_fd; /* timeline.c; -1: no file */
};

struct late_issues {  /* late_issue.c */
    uint32_t workers; /* host threads that have worked so far */
    uint64_t by_threads, by_programs, stores;
    char first[160];
};

struct process {
    pid_t pid;    /* as it knows itself */
    pid_t os_pid; /* as we know it: it may live in a namespace of its own; 0: not at all */
    char program[128];
    int number; /* in the order in which they came; anew where time begins anew */
    int refs, connections;
    bool dead, left;          /* left: said goodbye */
    bool strict;              /* VGPU_STRICT=1: a stray access is an error */
    uint32_t checks;          /* VGPU_CHECK: enum vgpu_check */
    bool times_read;          /* it has asked how long something took */
    struct vgpu_usage *usage; /* never NULL; others may share it (usage.h) */

    int sticky; /* first sticky error; every later call that needs a context answers it */
    char explain[sizeof((struct vgpu_reply *)0)->explain];
    struct remark *remarks, **last_remark; /* findings that no reply has carried yet */
    char *printed;                         /* by kernels, not yet fetched */
    uint32_t printed_bytes;

    int module_fd[MAX_MODULES];
    int module_count;
    uint64_t variables[VGPU_MAX_DEVICES]
                      [MAX_MODULES]; /* where a module's variables lie, 0: not yet */
    struct variable *variable;       /* of all modules */
    int variable_count;
    struct device_state device[VGPU_MAX_DEVICES];
    uint32_t stream_numbers; /* streams made so far */
    struct event *events;

    struct order *order; /* in which its operations are carried out */
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

/* The last connection is gone: counts what was left, frees it, ends the contexts. */
void process_end(struct process *process);

struct process *process_first(void);

/* Who knows whether a program has closed all its connections, though we have not read them yet; and
 * what they say of it: nobody will use what is done for it. */
void process_watch(bool (*gone)(const struct process *process));
bool process_is_gone(const struct process *process);

/* Makes the primary context of `device`, if need be. An error code. */
int process_context(struct process *process, int device);
void process_reset_device(struct process *process, int device);

/* Memory of `peer` is accessible from `device` from now on, or no longer. */
void process_set_peer(struct process *process, int device, int peer, bool accessible);

bool process_peers_linked(const struct process *process, int from, int to);

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
