/* SPDX-License-Identifier: MIT
 * lifetimes.c: operations that are over, and freed, while order.c or sim.c still has to do with
 * them. AddressSanitizer is what looks.
 */
#include <stdio.h>
#include <string.h>

#include "device_memory.h"
#include "node.h"
#include "op_list.h"
#include "order.h"
#include "process.h"
#include "sim.h"
#include "stream.h"
#include "topology.h"
#include "unit.h"

#define BYTES 65536

static struct topology topology;
static struct process *process;

static void start_node(void)
{
    char error[512] = "";
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "single", error, sizeof error) == 0,
           "%s", error);
    EXPECT(memory_start(&topology.info, error, sizeof error) == 0, "%s", error);
    EXPECT(node_start(&topology, -1, -1), "no node");
    process = process_new(server_state.order, 1, "unit", error, sizeof error);
    EXPECT(process, "%s", error);
    EXPECT(process_context(process, 0) == 0, "no context");
}

static uint64_t take_memory(void)
{
    uint64_t address = memory_take(&process->memory, 0, BYTES, 0);
    EXPECT(address, "no memory");
    return address;
}

/* A fill in `stream`, of which nobody but the node has a reference. */
static void push_fill(struct stream *stream, uint64_t address)
{
    struct op *op = op_new(process, 0, OP_MEMSET);
    op->to = 0;
    op->u.memset =
        (struct vgpu_memset){.dst = address, .bytes = BYTES, .rows = 1, .width = 1, .value = 7};
    op_touches(op, address);
    stream_push(stream, op);
    op_drop(op);
}

static void push_mark(struct stream *stream)
{
    struct op *mark = op_new(process, 0, OP_MARK);
    stream_push(stream, mark);
    op_drop(mark);
}

/* What cudaStreamQuery asks about, and does not wait for. */
UNIT(mark_nobody_keeps)
{
    start_node();
    struct stream *stream = stream_new(process, 0, 0, 0);
    push_fill(stream, take_memory());
    struct op *mark = stream_mark(stream, 0);
    EXPECT(order_carry_out(mark) == PROGRESS_DONE, "the fill is not carried out");
    EXPECT(!mark->finished, "no time has passed, yet the fill is over");
    op_drop(mark);
    EXPECT(sim_pass(server_state.sim, 1000000000000ull) == PROGRESS_DONE, "time stands still");
    EXPECT(stream->last->finished && stream->last->carried, "the fill is not over");
}

/* On the way back from an operation to the first one that it waits for lie marks. When they are
 * over the first forgets the second. */
UNIT(path_over_marks)
{
    start_node();
    struct stream *stream = stream_new(process, 0, STREAM_NON_BLOCKING, 0);
    struct stream *other = stream_new(process, 0, STREAM_NON_BLOCKING, 0);
    uint64_t first = take_memory(), shared = take_memory();
    push_fill(other, shared);
    push_fill(stream, first);
    push_mark(stream); /* a record, and a wait */
    push_mark(stream);
    push_fill(stream, shared);
    EXPECT(sim_pass(server_state.sim, 1000000000000ull) == PROGRESS_DONE, "time stands still");
    struct op *wanted = op_keep(other->last);
    EXPECT(wanted->finished && !wanted->carried, "time does not pass by what is not wanted");
    EXPECT(order_carry_out(wanted) == PROGRESS_DONE, "not carried out");
    EXPECT(stream->last->carried, "what may go first does not");
    op_drop(wanted);
}

/* A list keeps what is in it, and gives the reference away with the item. */
UNIT(lists_keep)
{
    start_node();
    struct op_list list = {0};
    struct op *op[3];
    for (int i = 0; i < 3; i++) {
        op[i] = op_new(process, 0, OP_MARK);
        op_list_add(&list, op[i]);
        op_drop(op[i]);
        EXPECT(op[i]->refs == 1, "%d references", op[i]->refs);
    }
    EXPECT(op_list_take(&list, 0) == op[0] && list.count == 2 && list.item[0] == op[1],
           "the first is not taken");
    op_drop(op[0]);
    EXPECT(op_list_pop(&list) == op[2] && list.count == 1, "the last is not taken");
    op_drop(op[2]);
    op_list_free(&list);
    EXPECT(list.count == 0 && !list.item, "not empty");
}

/* The first items lie in the list itself; a longer one moves, with all of them. */
UNIT(lists_grow)
{
    enum { ITEMS = 4 * OP_LIST_OWN + 1 };
    start_node();
    struct op_list list = {0};
    struct op *op[ITEMS];
    for (int i = 0; i < ITEMS; i++) {
        op[i] = op_new(process, 0, OP_MARK);
        op_list_add(&list, op[i]);
        op_drop(op[i]);
        EXPECT((list.item == list.own) == (i < OP_LIST_OWN), "%d items lie elsewhere", i + 1);
    }
    for (int i = 0; i < ITEMS; i++)
        EXPECT(list.item[i] == op[i], "item %d is another one", i);
    op_list_free(&list);
    EXPECT(list.count == 0 && !list.item, "not empty");
}
