/* SPDX-License-Identifier: MIT
 * watching.c: a thread whose calls follow each other closely watches its door for the reply: it
 * stays on another processor than the node's, and neither of them sleeps. Such a round trip takes
 * less than a microsecond, one by sleeping and waking some five.
 *
 * On a computer with other work the node may not run at once, and a kernel may take longer than a
 * thread watches. If a reply does not come in time, and few did before, the thread makes twice as
 * many calls in the other way before it tries again.
 *
 * In the other way a thread is on the node's CPU, and cpu_affinity.c holds it there, since a
 * scheduler wakes it on an idle CPU if there is one. If no CPU is idle, it stays by itself, which
 * saves system calls: this is tried, and after it was moved, the thread is held for twice as many
 * calls.
 */
#include "core.h"

/* A pause in which the node has stopped looking for requests. */
#define PAUSE_NS 15000
enum { FIRST_ROW = 8, LONGEST_ROW = 2048 };

bool vgpu__watching_begins(struct vgpu__watching *w)
{
    if (vgpu__process.node_cpu < 0)
        return false;
    if (w->wanted == 0)
        w->wanted = FIRST_ROW;
    w->row = vgpu_door_clock_ns() - w->last_ns < PAUSE_NS ? w->row + 1 : 0;
    if (w->row < w->wanted)
        return false;
    if (!vgpu__is_near_node() || vgpu__affinity_leave_node())
        return true;
    vgpu__watching_failed(w);
    return false;
}

void vgpu__watching_failed(struct vgpu__watching *w)
{
    if (w->good >= FIRST_ROW)
        w->wanted = FIRST_ROW;
    else if (w->wanted < LONGEST_ROW)
        w->wanted *= 2;
    w->row = w->good = 0;
}

void vgpu__watching_succeeded(struct vgpu__watching *w)
{
    w->good++;
}

void vgpu__watching_ends(struct vgpu__watching *w)
{
    w->last_ns = vgpu_door_clock_ns();
}

bool vgpu__staying_begins(struct vgpu__staying *s)
{
    s->is_free = s->held == 0;
    s->held -= !s->is_free;
    return s->is_free;
}

void vgpu__staying_ends(struct vgpu__staying *s)
{
    if (!s->is_free)
        return;
    s->is_free = false;
    if (vgpu__is_near_node()) {
        s->good++;
        return;
    }
    if (s->wanted == 0 || s->good >= LONGEST_ROW)
        s->wanted = FIRST_ROW;
    else if (s->wanted < LONGEST_ROW)
        s->wanted *= 2;
    s->held = s->wanted;
    s->good = 0;
}
