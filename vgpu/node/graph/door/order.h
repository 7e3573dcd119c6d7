/* SPDX-License-Identifier: MIT
 * order.h: the order in which effects on memory take place.
 *
 * Only the edges of the graph guarantee an order. An operation that nothing waits for is not
 * carried out. Of operations that access the same memory, the one issued *last* is carried out
 * first, together with what it depends on. Copies into host memory are delayed until the host waits
 * for them. So an unordered reader reads the data from before the write, in every run.
 */
#ifndef VGPU_ORDER_H
#define VGPU_ORDER_H

#include <stdbool.h>

#include "op.h"

struct order;

enum progress {
    PROGRESS_DONE,
    /* Every kernel that could continue polls memory that no operation here will change. */
    PROGRESS_BLOCKED,
};

/* The operations of one or several programs that have not been carried out yet (an argument of
 * process_new). NULL: host memory ran out. order_end: the programs must have ended. */
struct order *order_new(void);
void order_end(struct order *order);

/* order_add: an operation is submitted; called in order of issue. order_ready: everything that `op`
 * depends on has been carried out. */
void order_add(struct op *op);
void order_ready(struct op *op);

/* Carries out `op`, with everything that must or may take place before it. */
enum progress order_carry_out(struct op *op);

/* Carries out all operations, including copies to the host. */
enum progress order_flush(struct order *order);

/* Memory may have been changed from outside: stalled kernels must poll once more. */
void order_look(struct order *order);

/* Incremented when an operation begins or a stalled kernel makes progress. */
uint64_t order_steps(const struct order *order);
/* How many of these steps VGPU_SCHEDULE could have chosen differently. 0: there is only one order.
 */
uint64_t order_choices(const struct order *order);

/* Describes which kernels poll what; "" if none does. */
void order_describe(const struct order *order, char *text, int room);

/* Calls `see` for the stalled operations of `process`. */
void order_stalled(const struct process *process, void (*see)(const struct op *op));

/* Abandons the stalled kernels of `process`; their operations count as carried out. */
void order_abandon(struct process *process);

/* The last issued operation that has not begun; the others are linked by `older`. */
const struct op *order_newest(const struct order *order);

/* True if any operation has not begun or is stalled. */
bool order_pending(const struct order *order);

/* True if any kernel is stalled. */
bool order_any_stalled(const struct order *order);

#endif
