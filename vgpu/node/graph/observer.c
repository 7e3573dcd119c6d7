/* SPDX-License-Identifier: MIT
 * observer.c: see observer.h.
 */
#include "observer.h"

#include <stdlib.h>

enum { MOST = 8 };

static const struct op_observer *observers[MOST];
static int observer_count;

void op_observe(const struct op_observer *observer)
{
    if (observer_count == MOST)
        abort(); /* node.c registers fewer */
    observers[observer_count++] = observer;
}

void op_unobserve(const struct op_observer *observer)
{
    int kept = 0;
    for (int i = 0; i < observer_count; i++)
        if (observers[i] != observer)
            observers[kept++] = observers[i];
    observer_count = kept;
}

#define TELL(what, ...)                                                                            \
    for (int i = 0; i < observer_count; i++)                                                       \
        if (observers[i]->what)                                                                    \
    observers[i]->what(observers[i]->self, __VA_ARGS__)

void op_seen(const struct op *op)
{
    TELL(seen, op);
}

void tell_issued(struct op *op)
{
    TELL(issued, op);
}

void tell_follows(struct op *op, const struct op *dep)
{
    TELL(follows, op, dep);
}

void tell_ordered(struct op *op, struct stream *stream)
{
    TELL(ordered, op, stream);
}

void tell_ready(struct op *op)
{
    TELL(ready, op);
}

void tell_begins(struct op *op)
{
    TELL(begins, op);
}

void tell_resumes(struct op *op)
{
    TELL(resumes, op);
}

void tell_ran(struct op *op, const struct kernel_report *report)
{
    TELL(ran, op, report);
}

void tell_done(struct op *op)
{
    TELL(done, op);
}

void tell_finished(struct op *op)
{
    TELL(finished, op);
}

void tell_freed(struct op *op)
{
    TELL(freed, op);
}

void tell_found(const struct finding *finding)
{
    TELL(found, finding);
}

void tell_stream_ends(struct stream *stream)
{
    TELL(stream_ends, stream);
}

void tell_process_ends(struct process *process)
{
    TELL(process_ends, process);
}

void tell_process_ended(struct process *process)
{
    TELL(process_ended, process);
}
