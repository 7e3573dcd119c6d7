/* SPDX-License-Identifier: MIT
 * idle_flush.c: see idle_flush.h.
 *
 * Work that nothing waits for is not carried out (order.c), so that a missing wait has an effect.
 * This must not depend on the speed of this computer, so a program counts as silent after it has
 * used a certain processor time without a call (which it does not use while others keep it from
 * running), or after a second. Only pinned and managed memory can be observed without a call.
 */
#include "idle_flush.h"

#include <stdio.h>

#include "quiescence.h"
#include "hostcall.h"
#include "order.h"
#include "kernel_timeout.h"
#include "process.h"
#include "server.h"
#include "checks.h"

enum { LOOK_MS = 20, SILENT_LOOK_MS = 2 };
#define SILENT_CPU_S 0.1
#define SILENT_S 1.0
#define DEADLOCK_S 3      /* all host threads wait and no kernel makes progress for this long */
#define SLEEPS_SHARE 0.05 /* share of a processor; a thread that uses less only polls a clock */

static bool may_watch(const struct process *process)
{
    for (int i = 0; i < process->memory.host.count && !process->dead; i++)
        if (process->memory.host.range[i].user != &host_staging)
            return true;
    return false;
}

int idle_flush_timeout_ms(void)
{
    int timeout = -1;
    for (const struct process *p = order_pending(server_state.order) ? process_first() : NULL; p;
         p = p->next)
        if (p->server.silence.silent && p->server.silence.calls == p->server.calls)
            return SILENT_LOOK_MS;
        else if (may_watch(p))
            timeout = LOOK_MS;
    return timeout;
}

/* True if the program has been silent long enough since its last call. */
static bool is_program_silent(struct process *p)
{
    struct silence *s = &p->server.silence;
    double cpu = quiescence_cpu_seconds(p->os_pid), now = wall_seconds();
    if (s->calls != p->server.calls || s->since == 0)
        *s = (struct silence){.calls = p->server.calls, .since = now, .cpu = cpu};
    s->silent |= cpu - s->cpu > SILENT_CPU_S || now - s->since > SILENT_S;
    return s->silent;
}

void idle_flush(void)
{
    bool any = false;
    for (struct process *p = order_pending(server_state.order) ? process_first() : NULL; p;
         p = p->next)
        any |= may_watch(p) && is_program_silent(p);
    for (struct process *p = any ? process_first() : NULL; p; p = p->next)
        if (p->server.silence.silent && p->server.silence.calls == p->server.calls) {
            order_flush(p->order);
            checks_host_knows_all(server_state.checks);
            return; /* the list may have changed */
        }
}

/* ---- deadlocks ---- */

static double calm_since; /* start of the time without any progress; 0: not measured */
/* Start of the time in which no program has used the processor either. */
static double quiescent_since;

void idle_flush_stir(void)
{
    calm_since = 0;
}

static void start_watching(double now)
{
    quiescent_since = now;
    for (struct process *p = process_first(); p; p = p->next)
        p->server.cpu_when_quiescent = quiescence_cpu_seconds(p->os_pid);
}

static bool all_quiescent(double timeout)
{
    for (const struct process *p = process_first(); p; p = p->next) {
        double cpu = quiescence_cpu_seconds(p->os_pid);
        if (cpu < 0 || cpu - p->server.cpu_when_quiescent > SLEEPS_SHARE * timeout)
            return false;
    }
    return true;
}

const char *idle_flush_hopeless(bool all_wait)
{
    static char why[100];
    double now = wall_seconds(), timeout = vgpu_kernel_seconds();
    if (calm_since == 0) {
        calm_since = now;
        start_watching(now);
    }
    if (all_wait)
        return now - calm_since > DEADLOCK_S ? "every host thread waits" : NULL;
    if (!all_quiescent(timeout) || hostcall_pending())
        start_watching(now);
    if (now - quiescent_since <= timeout)
        return NULL;
    snprintf(why, sizeof why, "no host thread has called or used the processor for %.0f s",
             timeout);
    return why;
}
