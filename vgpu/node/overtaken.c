/* SPDX-License-Identifier: MIT
 * overtaken.c: see overtaken.h.
 */
#include "overtaken.h"

#include <stdio.h>

#include "process.h"
#include "sim.h"

void overtaken_look(const struct connection *connection)
{
    struct process *p = connection->process;
    uint64_t clock_ps = connection->reply.r.clock_ps;
    if (clock_ps >= sim_now() || sim_now() <= connection->seen_ps) /* or its own doing */
        return;
    if (p->overtaken.by_threads + p->overtaken.by_programs == 0)
        snprintf(p->overtaken.first, sizeof p->overtaken.first, "%.47s%s%.63s, %.3f us late",
                 connection->request.q.call, connection->request.q.site[0] ? " at " : "",
                 connection->request.q.site, (double)(sim_now() - clock_ps) / 1e6);
    if (p->overtaken.workers > 1)
        p->overtaken.by_threads++;
    else
        p->overtaken.by_programs++;
}

void overtaken_tell(struct process *process)
{
    const struct overtaken *o = &process->overtaken;
    char text[512];
    if (process->timeline_fd < 0 || o->by_threads + o->by_programs == 0)
        return;
    snprintf(
        text, sizeof text,
        "the times of this program depend on the operating system: %llu operations were issued "
        "when another host thread had already waited for what comes later, %llu when another "
        "program had (the first: %s). Let threads and programs wait for each other (join, "
        "events, a barrier) before they issue what the other one's wait passes",
        (unsigned long long)o->by_threads, (unsigned long long)o->by_programs, o->first);
    process_explain(process, text);
}
