/* SPDX-License-Identifier: MIT
 * hostcall.c: see hostcall.h.
 */
#include "hostcall.h"

#include <stdlib.h>

#include "conflict.h"
#include "order.h"
#include "process.h"

static struct op **calls; /* in order of issue, each with a reference */
static int count, room;

void hostcall_add(struct op *op)
{
    if (count == room) {
        room = room ? 2 * room : 16;
        calls = realloc(calls, (size_t)room * sizeof(struct op *));
        if (!calls)
            abort();
    }
    calls[count++] = op_keep(op);
}

static void sweep(void)
{
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (calls[i]->carried)
            op_drop(calls[i]);
        else
            calls[kept++] = calls[i];
    count = kept;
}

bool hostcall_pending(void)
{
    sweep();
    return count > 0;
}

void hostcall_push(void)
{
    for (int i = 0; i < count; i++)
        if (!calls[i]->carried)
            order_carry_out(calls[i]);
}

bool hostcall_next(const struct process *process, uint64_t *function)
{
    for (int i = 0; i < count; i++) {
        struct host_call *call = &calls[i]->u.host;
        if (calls[i]->process == process && call->state == HOST_WANTED && !calls[i]->carried) {
            call->state = HOST_RUNS;
            conflict_seen(calls[i]); /* what it waited for: the program goes on after it */
            *function = call->function;
            return true;
        }
    }
    return false;
}

void hostcall_done(const struct process *process, uint64_t function)
{
    for (int i = 0; i < count; i++) {
        struct host_call *call = &calls[i]->u.host;
        if (calls[i]->process == process && call->state == HOST_RUNS &&
            call->function == function) {
            call->state = HOST_DONE;
            return;
        }
    }
}
