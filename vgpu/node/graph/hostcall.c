/* SPDX-License-Identifier: MIT
 * hostcall.c: see hostcall.h.
 */
#include "hostcall.h"

#include "observer.h"
#include "order.h"
#include "process.h"

static struct op_list host_calls; /* in order of issue */

void hostcall_add(struct op *op)
{
    op_list_add(&host_calls, op);
}

static void remove_done_calls(void)
{
    for (int i = 0; i < host_calls.count;)
        if (host_calls.item[i]->carried)
            op_drop(op_list_take(&host_calls, i));
        else
            i++;
}

bool hostcall_pending(void)
{
    remove_done_calls();
    return host_calls.count > 0;
}

void hostcall_push(void)
{
    for (int i = 0; i < host_calls.count; i++)
        if (!host_calls.item[i]->carried)
            order_carry_out(host_calls.item[i]);
}

bool hostcall_next(const struct process *process, uint64_t *function)
{
    for (int i = 0; i < host_calls.count; i++) {
        struct host_call *call = &host_calls.item[i]->u.host;
        if (host_calls.item[i]->process == process && call->state == HOST_WANTED &&
            !host_calls.item[i]->carried) {
            call->state = HOST_RUNS;
            op_seen(host_calls.item[i]); /* the host has waited for what the function depended on */
            *function = call->function;
            return true;
        }
    }
    return false;
}

void hostcall_done(const struct process *process, uint64_t function)
{
    for (int i = 0; i < host_calls.count; i++) {
        struct host_call *call = &host_calls.item[i]->u.host;
        if (host_calls.item[i]->process == process && call->state == HOST_RUNS &&
            call->function == function) {
            call->state = HOST_DONE;
            return;
        }
    }
}
