/* SPDX-License-Identifier: MIT
 * meetings.c: kernels of collectives on the clock begin together, when the last of their ranks has
 * come, and those of other groups and of other peers do not count.
 */
#include <string.h>

#include "meeting.h"
#include "unit.h"

enum { RANKS = 4 };

static struct topology topology;
static struct event_queue events;
static struct meetings meetings;
static struct op op[RANKS];

static void start(const char *node)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", node, error, sizeof error) == 0, "%s",
           error);
    event_queue_end(&events);
    op_list_free(&meetings.waiting);
    meetings = (struct meetings){.topology = &topology, .events = &events};
}

/* The kernel of `rank` in a collective of `bytes`, which sends to `to`. */
static struct op *make(enum vgpu_collective_kind kind, int rank, uint32_t peers, uint32_t to,
                       uint64_t bytes)
{
    struct op *one = &op[rank];
    memset(one, 0, sizeof *one);
    one->kind = OP_KERNEL;
    one->refs = 2;
    one->device = rank;
    one->u.kernel.launch.collective = (struct vgpu_collective){.group = 7,
                                                               .bytes = bytes,
                                                               .kind = kind,
                                                               .rank = (uint32_t)rank,
                                                               .ranks = RANKS,
                                                               .peers = peers,
                                                               .to = to};
    return one;
}

static struct op *in_ring(int rank, uint64_t bytes)
{
    return make(VGPU_ALL_REDUCE, rank, 0xfu & ~(1u << rank), 1u << (rank + 1) % RANKS, bytes);
}

/* When the first byte of all four flows, after the last one has come at `last_ps`; 0: not at once.
 */
static uint64_t begin_of_ring(uint64_t bytes, uint64_t last_ps)
{
    for (int r = 0; r < RANKS; r++) {
        if (event_next_ps(&events) != EVENT_NEVER)
            return 0;
        meetings_come(&meetings, in_ring(r, bytes), last_ps - (uint64_t)(RANKS - 1 - r) * 1000);
    }
    uint64_t at_ps = event_next_ps(&events);
    for (int r = 0; r < RANKS; r++)
        if (event_pop(&events).at_ps != at_ps)
            return 0;
    return event_next_ps(&events) == EVENT_NEVER ? at_ps - last_ps : 0;
}

UNIT(collectives_begin_when_all_have_come)
{
    start("dgx-h100");
    uint64_t small = begin_of_ring(8, 5000000), large = begin_of_ring(1u << 30, 90000000);
    EXPECT(small > 7000000 && small < 9000000, "8 bytes: %llu ps", (unsigned long long)small);
    EXPECT(large > small, "1 GiB: %llu ps", (unsigned long long)large);
    for (int r = 0; r < RANKS; r++)
        EXPECT(op[r].clock.meeting.to == 1u << (r + 1) % RANKS, "rank %d sends to %x", r,
               op[r].clock.meeting.to);
}

UNIT(collectives_of_other_groups_do_not_meet)
{
    start("dgx-h100");
    for (int r = 0; r < RANKS - 1; r++)
        meetings_come(&meetings, in_ring(r, 8), 1000);
    struct op *last = in_ring(RANKS - 1, 8);
    last->u.kernel.launch.collective.group = 8;
    meetings_come(&meetings, last, 2000);
    EXPECT(event_next_ps(&events) == EVENT_NEVER, "%s", "a stranger was taken for a rank");
    EXPECT(meetings_leave(&meetings, 3000), "%s", "nobody waited");
    for (int r = 0; r < RANKS; r++)
        event_pop(&events);
    EXPECT(event_next_ps(&events) == EVENT_NEVER && !meetings_leave(&meetings, 3000), "%s",
           "not all have left");
}

UNIT(a_pair_does_not_wait_for_the_others)
{
    start("dgx-h100");
    meetings_come(&meetings, make(VGPU_ALL_TO_ALL, 0, 0x6, 0x6, 64), 1000);
    meetings_come(&meetings, make(VGPU_SEND_RECV, 1, 0x1, 0, 32), 2000);
    EXPECT(event_pop(&events).op == &op[1], "%s", "rank 1 has met rank 0 and waits");
    EXPECT(event_next_ps(&events) == EVENT_NEVER, "%s", "rank 0 began without rank 2");
    meetings_come(&meetings, make(VGPU_SEND_RECV, 2, 0x1, 0, 32), 4000);
    event_pop(&events);
    event_pop(&events);
    EXPECT(op[0].clock.meeting.begun && op[0].clock.meeting.to == 0x6, "%s", "rank 0 waits");
}

UNIT(a_node_without_nccl_has_no_meetings)
{
    start("teaching-4");
    EXPECT(!meeting_is_for(&topology, in_ring(0, 8)), "%s", "teaching-4 describes NCCL");
    start("hgx-h200-4");
    EXPECT(meeting_is_for(&topology, in_ring(0, 8)), "%s", "hgx-h200-4 does not");
    in_ring(0, 8)->u.kernel.launch.collective.kind = VGPU_NO_COLLECTIVE;
    EXPECT(!meeting_is_for(&topology, &op[0]), "%s", "a kernel of a program");
}
