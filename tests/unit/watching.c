/* SPDX-License-Identifier: MIT
 * watching.c: when a thread watches its door (vgpu/api/core/watching.c), by a clock of the test's.
 */
#include "core.h"
#include "unit.h"

struct vgpu__process vgpu__process = {.node_cpu = 3};
static bool near_node, may_leave = true;
static uint64_t now_ns = 1000000;

uint64_t __wrap_vgpu_door_clock_ns(void);

uint64_t __wrap_vgpu_door_clock_ns(void)
{
    return now_ns;
}

bool vgpu__is_near_node(void)
{
    return near_node;
}

bool vgpu__affinity_leave_node(void)
{
    near_node = !may_leave;
    return may_leave;
}

/* Calls, each `pause_us` after the last one's end, until one watches; at most `most`. */
static int calls_until_watching(struct vgpu__watching *w, int pause_us, int most)
{
    for (int i = 0; i < most; i++) {
        now_ns += (uint64_t)pause_us * 1000;
        if (vgpu__watching_begins(w))
            return i;
        vgpu__watching_ends(w);
    }
    return most;
}

UNIT(watching_begins_after_calls_without_a_pause)
{
    struct vgpu__watching w = {0};
    EXPECT(calls_until_watching(&w, 100, 50) == 50, "calls with pauses watch");
    int first = calls_until_watching(&w, 2, 50);
    EXPECT(first > 2 && first < 20, "call %d is the first one that watches", first);
    for (int i = 0; i < 30; i++) {
        vgpu__watching_succeeded(&w);
        vgpu__watching_ends(&w);
        EXPECT(calls_until_watching(&w, 2, 50) == 0, "it stopped, with replies in time");
    }
    vgpu__watching_ends(&w);
    now_ns += 100000;
    EXPECT(!vgpu__watching_begins(&w), "it watches after a pause");
}

UNIT(watching_in_vain_is_tried_less_often)
{
    struct vgpu__watching w = {0};
    int last = 0, calls = 0;
    for (int i = 0; i < 30; i++) {
        calls = calls_until_watching(&w, 2, 100000);
        EXPECT(calls >= last && calls < 100000, "%d calls after %d", calls, last);
        last = calls;
        vgpu__watching_failed(&w);
        vgpu__watching_ends(&w);
    }
    EXPECT(calls > 1000, "every %d calls in vain", calls);
    calls_until_watching(&w, 2, 100000);
    for (int i = 0; i < 20; i++)
        vgpu__watching_succeeded(&w);
    vgpu__watching_failed(&w);
    vgpu__watching_ends(&w);
    calls = calls_until_watching(&w, 2, 100000);
    EXPECT(calls < 20, "%d calls until it is tried again, after it has worked", calls);
}

UNIT(watching_needs_another_processor_than_the_nodes)
{
    struct vgpu__watching w = {0};
    near_node = true;
    EXPECT(calls_until_watching(&w, 2, 100) < 100 && !near_node, "it stays at the node's");
    near_node = true;
    may_leave = false;
    w = (struct vgpu__watching){0};
    EXPECT(calls_until_watching(&w, 2, 100) == 100, "it watches at the node's processor");
    near_node = false;
    vgpu__process.node_cpu = -1;
    EXPECT(calls_until_watching(&w, 2, 100000) == 100000, "it watches a node without a place");
}

/* Calls until a thread is not held, of `most`; in it the thread is moved, or stays. */
static int calls_until_free(struct vgpu__staying *s, bool stays, int most)
{
    int calls = 0;
    near_node = true;
    while (calls < most && !vgpu__staying_begins(s)) {
        vgpu__staying_ends(s);
        calls++;
    }
    near_node = stays;
    vgpu__staying_ends(s);
    return calls;
}

UNIT(a_thread_that_stays_with_the_node_is_not_held)
{
    struct vgpu__staying s = {0};
    for (int i = 0; i < 5000; i++)
        EXPECT(calls_until_free(&s, true, 10) == 0, "call %d is held", i);
    EXPECT(calls_until_free(&s, false, 10) == 0, "it is held before it was moved");
    int last = 0, calls = 0;
    for (int i = 0; i < 20; i++) {
        calls = calls_until_free(&s, false, 100000);
        EXPECT(calls > last || calls > 1000, "%d calls after %d", calls, last);
        last = calls;
    }
    EXPECT(calls > 1000 && calls < 100000, "tried again after %d calls in vain", calls);
    calls_until_free(&s, true, 100000);
    for (int i = 0; i < 5000; i++)
        EXPECT(calls_until_free(&s, true, 10) == 0, "call %d is held again", i);
    calls_until_free(&s, false, 10);
    calls = calls_until_free(&s, false, 100000);
    EXPECT(calls < 20, "held in %d calls, after it has stayed in thousands", calls);
}
