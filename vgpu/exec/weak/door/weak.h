/* SPDX-License-Identifier: MIT
 * weak.h: VGPU_SCHEDULE=weak: loads of device code return what PTX's memory model allows, not only
 * what was stored last.
 *
 * Threads run one after another, and the compiler's callbacks come before each access. So a load of
 * an older value is made by putting that value into memory, until the next callback puts the newest
 * one back. Which values are old enough to be returned and new enough to be allowed is decided by
 * views (weak_table.h): a thread must see what it has read or stored itself, what it has acquired,
 * and what came before a barrier that it has passed. Loads and stores of one location are coherent,
 * and atomics read the newest value.
 *
 * Two stores to one location may have another order than that in which they ran, if neither thread
 * need have seen the other's. A store that is independent of the load in front of it may be made
 * before it (load buffering): vgpu-cc says which are (lower_early.c). Values of __shared__ and host
 * memory are always the newest, but flags there order other memory.
 */
#ifndef VGPU_EXEC_WEAK_H
#define VGPU_EXEC_WEAK_H

#include "exec.h"

enum { WEAK_PLAIN = -1 }; /* no scope: an access that orders nothing */

/* What the next reported access is; `scope` as vgpu_fence's. */
struct weak_access {
    int scope;
    bool change; /* a read and a write at once */
    bool newest; /* it must read the newest value */
};
extern struct weak_access weak_kind;
extern const struct weak_access weak_plain;

/* Scope of the next atomic load or store of device code (vgpu_scope). */
int weak_take_scope(void);

/* Ends the access that was reported last: memory has the newest values again. */
void weak_settle(void);

/* An access of `bytes` is about to be made. */
void weak_access(uint64_t address, uint64_t bytes, bool write);

/* Changes whenever an access is made, or ends. */
uint64_t weak_mark(void);

/* Whether the running thread now makes a store that comes behind a load, which is noted; and
 * whether the store that it is about to make is that one. */
bool weak_may_be_early(uint64_t to, uint64_t from);
bool weak_was_early(uint64_t to);

/* The running thread calls a fence; acquires what it has read; is about to store with release. */
void weak_fence(int scope, bool sequential);
void weak_acquire(int scope);

/* Barriers: what one of them has seen, all have. */
void weak_block_meets(struct block *block);
void weak_lanes_meet(struct warp *warp, uint32_t lanes);
/* A barrier of some threads: adds what the running one has seen; a thread has seen all that. */
struct weak_sum;
void weak_sums_up(struct weak_sum **all);
void weak_joins(struct thread *thread, struct weak_sum *all);
void weak_cluster_meets(struct cluster *cluster);
void weak_grid_meets(struct run *run);

/* A run begins (slot, after: protocol_exec.h), is carried on with, is suspended. */
void weak_run_begins(struct run *run, int32_t slot, uint64_t after);
void weak_run_goes(const struct run *run);
void weak_run_stops(void);
/* A run is gone; a block has ended; a thread has left its kernel. */
void weak_run_ends(struct run *run);
void weak_block_ends(struct block *block);
void weak_thread_ends(struct thread *thread);

#endif
