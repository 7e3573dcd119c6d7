/* SPDX-License-Identifier: MIT
 * orders.c: two orders of effects in one process. What is carried out in one of them draws nothing
 * of the other along.
 */
#include "device_memory.h"
#include "machine.h"
#include "op.h"
#include "order.h"
#include "process.h"
#include "stream.h"
#include "topology.h"
#include "unit.h"

enum { BYTES = 65536 };

static struct topology topology;

static void start(void)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "single", error, sizeof error) == 0,
           "%s", error);
    EXPECT(memory_start(&topology.info, error, sizeof error) == 0, "%s", error);
    machine = &topology;
}

static struct process *new_process(struct order *order, pid_t pid)
{
    char error[512];
    EXPECT(order, "%s", "no order");
    struct process *process = process_new(order, pid, "orders", error, sizeof error);
    EXPECT(process, "%s", error);
    return process;
}

/* A fill in a stream of its own. The caller has a reference. */
static struct op *push_fill(struct process *process, uint64_t address)
{
    struct op *op = op_new(process, 0, OP_MEMSET);
    op->to = 0;
    op->u.memset =
        (struct vgpu_memset){.dst = address, .bytes = BYTES, .rows = 1, .width = 1, .value = 7};
    op_touches(op, address);
    stream_push(stream_new(process, 0, STREAM_NON_BLOCKING, 0), op);
    return op;
}

/* A fill in `first`, then one of the same memory in `second`; the former is waited for. NULL: the
 * latter, which nothing orders, was not carried out. */
static const char *check_apart(struct order *first, struct order *second)
{
    struct process *one = new_process(first, 1), *two = new_process(second, 2);
    uint64_t address = memory_take(&one->memory, 0, BYTES, 0);
    struct op *wanted = push_fill(one, address), *later = push_fill(two, address);
    bool done = order_carry_out(wanted) == PROGRESS_DONE && wanted->carried;
    const char *wrong = !done            ? "what was waited for was not carried out"
                        : later->carried ? "the later one was carried out, too"
                                         : NULL;
    op_drop(wanted);
    op_drop(later);
    return wrong;
}

UNIT(orders_are_apart)
{
    start();
    struct order *first = order_new(), *second = order_new(), *both = order_new();
    const char *wrong = check_apart(first, second);
    EXPECT(!wrong, "%s", wrong);
    EXPECT(!order_pending(first) && order_pending(second), "%s", "the wrong one is pending");
    EXPECT(order_steps(first) == 1 && order_steps(second) == 0, "%llu and %llu steps",
           (unsigned long long)order_steps(first), (unsigned long long)order_steps(second));
    order_flush(second);
    EXPECT(!order_pending(second), "%s", "a flush leaves something");
    REJECTS(check_apart(both, both), "one order for both");
    order_flush(both);
    order_end(first);
    order_end(second);
    order_end(both);
}
