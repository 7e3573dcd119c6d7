/* SPDX-License-Identifier: MIT
 * late_issue.c: see late_issue.h.
 */
#include "late_issue.h"

#include <stdio.h>
#include <string.h>

#include "counts.h"
#include "op.h"
#include "process.h"

static struct late_issues late_totals; /* totals of all programs, for the witness */

void late_issue_worker(struct process *process)
{
    process->late.workers++;
}

static bool has_late_issues(const struct late_issues *o)
{
    return o->by_threads + o->by_programs + o->stores > 0;
}

static void count_late_issue(struct late_issues *o, const struct op *op, uint64_t late_ps,
                             bool by_thread)
{
    if (!has_late_issues(o))
        snprintf(o->first, sizeof o->first, "%.47s%s%.63s, %.3f us late",
                 op->kind == OP_KERNEL ? op->u.kernel.name : op->call, op->site[0] ? " at " : "",
                 op->site, (double)late_ps / 1e6);
    if (by_thread)
        o->by_threads++;
    else
        o->by_programs++;
}

void late_issue_note(const struct op *op, uint64_t late_ps)
{
    bool by_thread = op->process->late.workers > 1;
    count_late_issue(&op->process->late, op, late_ps, by_thread);
    count_late_issue(&late_totals, op, late_ps, by_thread);
    node_counts.late_issues++;
}

static void note_store(struct late_issues *o, const struct op *op)
{
    if (!has_late_issues(o))
        snprintf(o->first, sizeof o->first, "kernel %.63s polls what was stored",
                 op->u.kernel.name);
    o->stores++;
}

void late_issue_store(const struct op *op)
{
    note_store(&op->process->late, op);
    note_store(&late_totals, op);
    node_counts.late_issues++;
}

/* Appends a cause and how often it occurred, if it did. */
static void add_cause(char *text, size_t room, unsigned long long count, const char *cause)
{
    size_t used = strlen(text);
    if (count)
        snprintf(text + used, room - used, "%s%llu %s", used ? ", " : "", count, cause);
}

static void describe_late_issues(const struct late_issues *o, char *text, size_t room)
{
    char causes[300] = "";
    add_cause(causes, sizeof causes, o->by_threads,
              "operations were issued after another host thread had waited for later operations");
    add_cause(causes, sizeof causes, o->by_programs,
              "operations were issued after another program had waited for later operations");
    add_cause(causes, sizeof causes, o->stores,
              "kernels polled pinned memory that one of several host threads stored to");
    snprintf(text, room,
             "the times of this program depend on the operating system: %s (the first: %s). Let "
             "one thread or program wait for the other (join, a barrier, events), so that it "
             "issues its work before the other one waits for later work",
             causes, o->first);
}

void late_issue_describe(char *text, size_t room)
{
    text[0] = 0;
    if (has_late_issues(&late_totals))
        describe_late_issues(&late_totals, text, room);
}

bool late_issue_tell(struct process *process)
{
    const struct late_issues *o = &process->late;
    char text[800];
    if (!has_late_issues(o))
        return false;
    describe_late_issues(o, text, sizeof text);
    process_explain(process, text);
    return true;
}
