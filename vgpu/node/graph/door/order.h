/* SPDX-License-Identifier: MIT
 * order.h: in which order effects on memory take place.
 *
 * Only the graph's edges promise anything. What is not waited for stays undone; of what touches the
 * same memory the operation issued *last* is carried out first, with what it waits for; and copies
 * into host memory wait until the host has asked for them. So a reader that nothing orders after
 * its writer reads what was there before, in every run.
 */
#ifndef VGPU_ORDER_H
#define VGPU_ORDER_H

#include <stdbool.h>

#include "op.h"

struct order;

enum progress {
    PROGRESS_DONE,
    PROGRESS_BLOCKED, /* every kernel that could go on polls memory that nothing here will change */
};

/* The operations of some programs that have not been carried out yet (process_new is given it);
 * NULL: no memory. order_end: those programs have ended. */
struct order *order_new(void);
void order_end(struct order *order);

/* A submitted operation, in the order of issue; then: all that `op` depends on is carried out. */
void order_add(struct op *op);
void order_ready(struct op *op);

/* Carries out `op` and whatever must or may come before it. */
enum progress order_carry_out(struct op *op);

/* Carries out everything, the copies to the host included. */
enum progress order_flush(struct order *order);

/* Memory may have changed from outside: stalled kernels have to look again, once. */
void order_look(struct order *order);

/* Grows with every operation that was begun, and whenever a stalled kernel got further. */
uint64_t order_steps(const struct order *order);
/* How many of these VGPU_SCHEDULE could have chosen otherwise. 0: there is one order only. */
uint64_t order_choices(const struct order *order);

/* Which kernels poll what, in words; "" if none does. */
void order_describe(const struct order *order, char *text, int room);

/* Shows the stalled operations of `process`. */
void order_stalled(const struct process *process, void (*see)(const struct op *op));

/* Gives the stalled kernels of `process` up; their operations count as carried out. */
void order_abandon(struct process *process);

/* The operation issued last of those that have not begun; the others follow by `older`. */
const struct op *order_newest(const struct order *order);

/* Whether any operation has not begun, or is stalled. */
bool order_pending(const struct order *order);

/* Whether any kernel that has begun gets no further. */
bool order_any_stalled(const struct order *order);

#endif
