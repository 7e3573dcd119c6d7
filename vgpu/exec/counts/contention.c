/* SPDX-License-Identifier: MIT
 * contention.c: see work.h. Lanes run one after the other here, so an atomic of a lane is compared
 * with those that its neighbours made at the same turn.
 */
#include "work.h"

#include <string.h>

enum { LINES = 512, LINE_BYTES = 128, SECTOR = 32, TURNS = 64 };

static const struct run *noted_run; /* whose blocks are noted */
static uint64_t line[LINES];        /* a hash table of lines, plus 1; 0: free */
static struct lane_turn lanes_of[TURNS];
static uint32_t turn, turns_of; /* the running thread's next turn; which thread that is */

void contention_block_starts(const struct block *block)
{
    if (block->number == 0) {
        noted_run = block->run;
        memset(line, 0, sizeof line);
    }
    turns_of = UINT32_MAX;
    memset(lanes_of, 0, sizeof lanes_of);
}

bool contention_wants(const struct run *run, uint64_t number)
{
    return number == 1 && run == noted_run && run->contention.atomics[0] > 0;
}

/* True if the line is new, and there is room for it. */
static bool insert_line(uint64_t key)
{
    uint32_t at = (uint32_t)(key * 0x9E3779B97F4A7C15ull >> 55);
    for (uint32_t tries = 0; tries < LINES; tries++, at = (at + 1) % LINES) {
        if (line[at] == key + 1)
            return false;
        if (line[at] == 0) {
            line[at] = key + 1;
            return true;
        }
    }
    return true;
}

static uint32_t next_turn(const struct thread *thread)
{
    if (turns_of != thread->number)
        turn = 0;
    turns_of = thread->number;
    return turn++ % TURNS;
}

void contention_add(struct run *run, uint64_t window, uint64_t times)
{
    run->contention.all += window <= WINDOW_HOST ? times : 0;
}

void contention_begin_part(struct run *run)
{
    run->contention.all = 0;
}

void contention_merge(struct run *run, const struct contention *part)
{
    run->contention.all += part->all;
}

void contention_note(uint64_t address, bool is_float)
{
    struct run *run = now.run;
    const struct thread *thread = now.thread;
    uint64_t number = thread->block->number;
    contention_add(run, window_of(address), 1);
    if (run != noted_run || number > 1 || window_of(address) > WINDOW_HOST)
        return;
    uint32_t joined = lanes_joined(&lanes_of[next_turn(thread)], thread, address, SECTOR, is_float);
    run->contention.atomics[number]++;
    run->contention.requests[number] += 1ull - joined;
    run->contention.lines[number] += insert_line(address / LINE_BYTES);
    run->contention.floats |= is_float;
}

void contention_apply(const struct run *run, struct vgpu_run_counts *counts)
{
    const struct contention *c = &run->contention;
    uint64_t atomics = c->atomics[0] + c->atomics[1];
    if (atomics == 0)
        return;
    unsigned __int128 all = (unsigned __int128)c->all * (c->requests[0] + c->requests[1]);
    counts->atomic_requests = (uint64_t)(all / atomics);
    counts->atomic_lines = c->lines[0] + c->lines[1] * (run->block_count - 1);
    counts->atomic_floats = c->floats;
}
