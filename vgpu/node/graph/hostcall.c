/* SPDX-License-Identifier: MIT
 * hostcall.c: see hostcall.h.
 */
#include "hostcall.h"

#include "observer.h"
#include "order.h"
#include "process.h"

static struct op_list calls; /* in order of issue */

void hostcall_add(struct op *op)
{
    op_list_add(&calls, op);
}

static void sweep(void)
{
    for (int i = 0; i < calls.count;)
        if (calls.item[i]->carried)
            op_drop(op_list_take(&calls, i));
        else
            i++;
}

bool hostcall_pending(void)
{
    sweep();
    return calls.count > 0;
}

void hostcall_push(void)
{
    for (int i = 0; i < calls.count; i++)
        if (!calls.item[i]->carried)
            order_carry_out(calls.item[i]);
}

bool hostcall_next(const struct process *process, uint64_t *function)
{
    for (int i = 0; i < calls.count; i++) {
        struct host_call *call = &calls.item[i]->u.host;
        if (calls.item[i]->process == process && call->state == HOST_WANTED &&
            !calls.item[i]->carried) {
            call->state = HOST_RUNS;
            op_seen(calls.item[i]); /* what it waited for: the program goes on after it */
            *function = call->function;
            return true;
        }
    }
    return false;
}

void hostcall_done(const struct process *process, uint64_t function)
{
    for (int i = 0; i < calls.count; i++) {
        struct host_call *call = &calls.item[i]->u.host;
        if (calls.item[i]->process == process && call->state == HOST_RUNS &&
            call->function == function) {
            call->state = HOST_DONE;
            return;
        }
    }
}
