/* SPDX-License-Identifier: MIT
 * idle_flush.c: see idle_flush.h.
 *
 * What is not waited for stays undone (order.c), so that a missing wait shows. That rule must not
 * depend on how fast this computer is: a program counts as silent after processor time of its own
 * without a call, which a program that others keep from running does not use, or after a whole
 * second. Only pinned and managed memory can be watched without a call.
 */
#include "idle_flush.h"

#include <stdio.h>

#include "quiescence.h"
#include "hostcall.h"
#include "order.h"
#include "kernel_timeout.h"
#include "process.h"
#include "server_state.h"

enum { LOOK_MS = 20, SILENT_LOOK_MS = 2 };
#define SILENT_CPU_S 0.1
#define SILENT_S 1.0
#define DEADLOCK_S 3      /* all host threads wait and no kernel moves: a deadlock */
#define SLEEPS_SHARE 0.05 /* of one processor: less is a thread that looks at a clock */

static bool may_watch(const struct process *process)
{
    for (int i = 0; i < process->memory.host.count && !process->dead; i++)
        if (process->memory.host.range[i].user != &host_staging)
            return true;
    return false;
}

int idle_flush_patience_ms(void)
{
    int patience = -1;
    for (const struct process *p = order_pending(server_state()->order) ? process_first() : NULL; p;
         p = p->next)
        if (p->server.silence.silent && p->server.silence.calls == p->server.calls)
            return SILENT_LOOK_MS;
        else if (may_watch(p))
            patience = LOOK_MS;
    return patience;
}

/* Whether the program has been silent for long enough since its last call. */
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
    for (struct process *p = order_pending(server_state()->order) ? process_first() : NULL; p;
         p = p->next)
        any |= may_watch(p) && is_program_silent(p);
    for (struct process *p = any ? process_first() : NULL; p; p = p->next)
        if (p->server.silence.silent && p->server.silence.calls == p->server.calls) {
            order_flush(p->order);
            checks_host_knows_all(server_state()->checks);
            return; /* of all programs: the list may have changed */
        }
}

/* ---- deadlocks ---- */

static double calm_since;      /* nothing has happened; 0: not asked since something did */
static double quiescent_since; /* nor has a program used the processor */

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

static bool all_quiescent(double patience)
{
    for (const struct process *p = process_first(); p; p = p->next) {
        double cpu = quiescence_cpu_seconds(p->os_pid);
        if (cpu < 0 || cpu - p->server.cpu_when_quiescent > SLEEPS_SHARE * patience)
            return false;
    }
    return true;
}

const char *idle_flush_hopeless(bool all_wait)
{
    static char why[100];
    double now = wall_seconds(), patience = vgpu_kernel_seconds();
    if (calm_since == 0) {
        calm_since = now;
        start_watching(now);
    }
    if (all_wait)
        return now - calm_since > DEADLOCK_S ? "every host thread waits" : NULL;
    if (!all_quiescent(patience) || hostcall_pending())
        start_watching(now);
    if (now - quiescent_since <= patience)
        return NULL;
    snprintf(why, sizeof why, "no host thread has called or used the processor for %.0f s",
             patience);
    return why;
}
