/* SPDX-License-Identifier: MIT
 * race.c: see race.h. Notes and rules; hazard.c reports findings.
 *
 * Bits of a note, from the low end: place in the code (12), mode (2), extent of readers (2), thread
 * in its block (10), interval (38). A cell's write note is the last write. A write clears the reads
 * before it, since an access that is ordered after the write is ordered after those, too. Of
 * several readers that are not ordered among themselves, one note is kept and the one before it is
 * remembered, so that a writer that was one of the readers is still compared with another.
 */
#include "race.h"

#include "counters.h"
#include "grid.h"
#include "hazard.h"
#include "place.h"
#include "release_acquire.h"
#include "race_shadow.h"
#include "byte_shadow.h"

#include <stdlib.h>
#include <string.h>

enum { MODE_AT = 12, READERS_AT = 14, THREAD_AT = 16, INTERVAL_AT = 26 };
enum { OWNERS = 1 << 20, REPLACED = 1 << 10, SLOT_BITS = 8 };
enum readers { ONE, SOME_LANES, SOME_WARPS, SOME_BLOCKS }; /* by which it was read, at most */

bool race_on;
enum vgpu_access_mode race_mode;

static uint64_t counter;        /* the last interval that has begun */
static uint64_t first_interval; /* first interval of the current run, as a note: smaller notes are
                                   ordered before it */
static uint64_t owner[OWNERS];  /* of the latest intervals: block << SLOT_BITS | slot of the run */
static uint64_t cell_bytes = 4; /* size of the cells that are being checked */

/* Read notes that were replaced by another reader's, by cell. */
static struct {
    const struct cell *cell;
    uint64_t note;
} replaced[REPLACED];

/* The current store, and the race that it may be. */
static struct {
    bool suspect;
    uint8_t before[4];
    struct hazard hazard;
} pending;

/* ---- intervals ---- */

static uint64_t begin_epoch(const struct block *block)
{
    counter++;
    owner[counter % OWNERS] = block->number << SLOT_BITS | (uint64_t)block->run->arg_slot;
    return counter;
}

void race_run_begins(struct run *run)
{
    run->first_interval = counter + 1;
}

void race_run_goes(const struct run *run)
{
    race_on = run->checks & VGPU_CHECK_KERNELS;
    first_interval = run->first_interval << INTERVAL_AT;
    access_look(race_on);
}

void race_forget(void)
{
    visibility_forget();
    byte_cells_forget((counter + 1) << INTERVAL_AT);
    shadow_trim();
}

/* Reports the pending store if it has changed the memory's contents. */
static void settle_store(void)
{
    pending.suspect = false;
    const struct hazard *h = &pending.hazard;
    if (memcmp(pending.before, (const void *)h->address, h->bytes) != 0) /* NOLINT */
        hazard_note(h);
}

void race_run_stops(void)
{
    if (pending.suspect)
        settle_store();
    race_on = false;
    access_look(false);
}

void race_barrier(struct block *block)
{
    if (!race_on)
        return;
    block->intervals.since = counter + 1;
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].interval = block->warps[i].since = begin_epoch(block);
    visibility_block_meets(block);
}

void race_block_starts(struct block *block)
{
    block->intervals.first = counter + 1;
    if (race_on)
        visibility_block_starts(block);
    race_barrier(block);
}

void race_grid_synced(struct run *run)
{
    run->first_interval = counter + 1;
    first_interval = run->first_interval << INTERVAL_AT;
}

void race_cluster_synced(struct cluster *cluster)
{
    cluster->since = counter + 1;
    for (uint32_t i = 0; i < VGPU_CLUSTER_BLOCKS_MAX; i++)
        if (cluster->member[i])
            race_barrier(cluster->member[i]);
}

void race_new_interval(void)
{
    now.warp->interval = begin_epoch(now.block);
}

/* [lane][other]: `lane` is ordered after all that `other` did before this interval. Allocated for
 * blocks that synchronise parts of warps. Entries of an earlier block are too small to have an
 * effect. */
static uint64_t (*seen_by(struct warp *warp))[WARP_LANES]
{
    struct block *block = warp->threads->block;
    uint64_t bytes = (uint64_t)block->warp_count * WARP_LANES * WARP_LANES * sizeof(uint64_t);
    if (!block->intervals.met)
        block->intervals.met = calloc(1, bytes);
    return block->intervals.met ? block->intervals.met + (warp - block->warps) * WARP_LANES : NULL;
}

static void part_synced(struct warp *warp, uint32_t lanes)
{
    uint64_t(*seen)[WARP_LANES] = seen_by(warp), all[WARP_LANES] = {0};
    if (!seen)
        return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        for (uint32_t other = 0; other < WARP_LANES; other++)
            if (all[other] < seen[__builtin_ctz(rest)][other])
                all[other] = seen[__builtin_ctz(rest)][other];
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        all[__builtin_ctz(rest)] = warp->interval;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        memcpy(seen[__builtin_ctz(rest)], all, sizeof all);
}

void race_warp_synced(struct warp *warp, uint32_t lanes)
{
    if (!race_on)
        return;
    warp->interval = begin_epoch(warp->threads->block);
    if (lanes == warp->live)
        warp->since = warp->interval;
    else
        part_synced(warp, lanes);
    visibility_lanes_meet(warp, lanes);
}

/* ---- notes ---- */

static uint32_t thread_of(uint64_t note)
{
    return note >> THREAD_AT & (MAX_BLOCK_THREADS - 1);
}

static uint64_t interval_of(uint64_t note)
{
    return note >> INTERVAL_AT;
}

static enum vgpu_access_mode access_mode_of(uint64_t note)
{
    return note >> MODE_AT & 3;
}

static enum readers readers_of(uint64_t note)
{
    return note >> READERS_AT & 3;
}

/* ---- what orders two accesses ---- */

enum relation { ORDERED, SAME_WARP, SAME_BLOCK, OTHER_BLOCK };

/* The block of an interval, from `owner`; ~0: the interval is too old. */
static uint64_t interval_owner(uint64_t interval)
{
    return interval + OWNERS > counter ? owner[interval % OWNERS] : ~0ull;
}

static enum relation of_warp(uint64_t interval, uint32_t thread)
{
    const struct warp *warp = now.warp;
    uint32_t me = now.thread->number;
    const uint64_t(*seen)[WARP_LANES] = (const void *)now.block->intervals.met;
    if (interval < warp->since)
        return ORDERED;
    return seen && interval < seen[me][thread % WARP_LANES] ? ORDERED : SAME_WARP;
}

/* Whether this block's cluster has met since that interval of another block of it. */
static bool is_before_cluster_met(uint64_t number, uint64_t interval)
{
    const struct cluster *cluster = now.block->cluster;
    return cluster && interval < cluster->since &&
           run_same_cluster(now.run, number, now.block->number);
}

static enum relation relation_of(uint64_t note)
{
    const struct block *block = now.block;
    uint64_t interval = interval_of(note);
    uint32_t thread = thread_of(note), me = now.thread->number;
    uint64_t whose = interval_owner(interval);
    uint64_t mine = block->number << SLOT_BITS | (uint64_t)now.run->arg_slot;
    enum relation r;
    if (whose == ~0ull || (whose ^ mine) & ((1u << SLOT_BITS) - 1))
        return ORDERED; /* another kernel's: checked by the node */
    if (whose != mine && is_before_cluster_met(whose >> SLOT_BITS, interval))
        return ORDERED;
    if (whose != mine)
        r = OTHER_BLOCK;
    else if (thread == me || interval < block->intervals.since)
        return ORDERED;
    else
        r = thread / WARP_LANES == me / WARP_LANES ? of_warp(interval, thread) : SAME_BLOCK;
    if (r != ORDERED && is_visible_to_me(whose >> SLOT_BITS, thread, interval))
        return ORDERED;
    return r;
}

/* Whether the modes of two accesses permit them to overlap. */
static bool is_harmless(uint64_t note, uint64_t me, enum relation r, bool shared)
{
    enum vgpu_access_mode a = access_mode_of(note), b = access_mode_of(me);
    if (a == VGPU_PLAIN || b == VGPU_PLAIN)
        return false;
    if (a == VGPU_VOLATILE && b == VGPU_VOLATILE)
        return !(shared && r == SAME_WARP);
    return r != OTHER_BLOCK || (a != VGPU_ATOMICALLY_IN_BLOCK && b != VGPU_ATOMICALLY_IN_BLOCK);
}

/* ---- an access ---- */

static struct hazard_side side_of(uint64_t note, bool write)
{
    return (struct hazard_side){.pc = race_places[note & (RACE_PLACES - 1)],
                                .thread = thread_of(note),
                                .block = interval_owner(interval_of(note)) >> SLOT_BITS,
                                .write = write,
                                .mode = (int)access_mode_of(note)};
}

static enum vgpu_diagnosis race_diagnosis(uint64_t note, uint64_t me, enum relation r, bool shared)
{
    bool marked = access_mode_of(note) != VGPU_PLAIN && access_mode_of(me) != VGPU_PLAIN;
    if (r == OTHER_BLOCK)
        return marked ? VGPU_DIAGNOSIS_kernels_scope : VGPU_DIAGNOSIS_kernels_grid_race;
    if (r == SAME_WARP)
        return VGPU_DIAGNOSIS_kernels_warp_race;
    return shared ? VGPU_DIAGNOSIS_kernels_shared_race : VGPU_DIAGNOSIS_kernels_block_race;
}

/* Whether a store changes the memory's contents is known only after it, so the report is
 * postponed. */
static void report_suspect(const struct hazard *hazard)
{
    memcpy(pending.before, (const void *)hazard->address, hazard->bytes); /* NOLINT */
    pending.hazard = *hazard;
    pending.suspect = true;
}

/* Of the readers that a read note stands for: those not ordered before the running thread, which is
 * one of them or ordered after the noted one. */
static enum readers still_read_by(uint64_t note)
{
    enum readers many = readers_of(note);
    uint64_t interval = interval_of(note);
    if (many == SOME_BLOCKS)
        return many;
    if (interval < now.block->intervals.since || (many == SOME_LANES && interval < now.warp->since))
        return ONE;
    return thread_of(note) == now.thread->number ? many : ONE;
}

static void replace_note(struct cell *cell, uint64_t note)
{
    uint64_t at = (uint64_t)cell / sizeof *cell % REPLACED;
    replaced[at].cell = cell;
    replaced[at].note = cell->read;
    cell->read = note;
}

/* The replaced note of the previous reader, if it is remembered and not ordered before this
 * thread. */
static bool reader_before(const struct cell *cell, uint64_t *note)
{
    uint64_t at = (uint64_t)cell / sizeof *cell % REPLACED;
    if (replaced[at].cell != cell || relation_of(replaced[at].note) == ORDERED)
        return false;
    *note = replaced[at].note;
    return true;
}

/* Checks this access (`me`) against the earlier one of `note`; at least one is a write. */
static void report_conflict(struct cell *cell, uint64_t note, bool wrote, uint64_t me, bool writes,
                            uint64_t address)
{
    bool shared = window_of(address) == WINDOW_SHARED;
    enum relation r = relation_of(note);
    bool others = r == ORDERED && readers_of(note) != ONE;
    if (others) { /* the readers are this thread and others */
        enum readers many = still_read_by(note);
        if (many == ONE || visibility_is_used())
            return;
        r = many == SOME_LANES ? SAME_WARP : many == SOME_WARPS ? SAME_BLOCK : OTHER_BLOCK;
        if (reader_before(cell, &note)) {
            others = false;
            r = relation_of(note);
        }
    }
    if (r == ORDERED || is_harmless(note, me, r, shared))
        return;
    struct hazard h = {.diagnosis = race_diagnosis(note, me, r, shared),
                       .address = address,
                       .bytes = cell_bytes,
                       .width = r,
                       .first = side_of(note, wrote),
                       .second = side_of(me, writes)};
    h.first.others = others;
    if (hazard_is_told(&h))
        return;
    if (writes)
        report_suspect(&h);
    else
        hazard_note(&h);
}

/* Adds another reader since the last write. */
static void read_also(struct cell *cell, uint64_t me)
{
    uint64_t note = cell->read;
    enum readers many = readers_of(note), now_many;
    enum relation r = relation_of(note);
    if (r == ORDERED) {
        cell->read = me | (uint64_t)still_read_by(note) << READERS_AT;
        return;
    }
    now_many = r == SAME_WARP ? SOME_LANES : r == SAME_BLOCK ? SOME_WARPS : SOME_BLOCKS;
    if (now_many > many)
        replace_note(cell, me | (uint64_t)now_many << READERS_AT);
    else if (access_mode_of(note) != VGPU_PLAIN && access_mode_of(me) == VGPU_PLAIN)
        cell->read = me | (uint64_t)many << READERS_AT;
}

static inline bool same_thread(uint64_t a, uint64_t b)
{
    return ((a ^ b) >> THREAD_AT) == 0;
}

static void check_part(struct cell *cell, uint64_t me, uint64_t live, uint64_t address,
                       uint64_t bytes, bool write);

static inline void read_cell(struct cell *cell, uint64_t me, uint64_t live, uint64_t address)
{
    uint64_t write = cell->write, read = cell->read;
    if (UNLIKELY(write >= BYTE_CELLS_MARK)) {
        check_part(cell, me, live, address, 4, false);
        return;
    }
    if (write >= live && !same_thread(write, me))
        report_conflict(cell, write, true, me, false, address);
    if (read < live)
        cell->read = me;
    else if (!same_thread(read, me))
        read_also(cell, me);
}

static inline void write_cell(struct cell *cell, uint64_t me, uint64_t live, uint64_t address)
{
    uint64_t write = cell->write, read = cell->read;
    if (UNLIKELY(write >= BYTE_CELLS_MARK)) {
        check_part(cell, me, live, address, 4, true);
        return;
    }
    if (write >= live && !same_thread(write, me))
        report_conflict(cell, write, true, me, true, address);
    if (read >= live && (!same_thread(read, me) || readers_of(read) != ONE))
        report_conflict(cell, read, false, me, true, address);
    cell->write = me;
    cell->read = 0;
}

/* Bytes of one word: each has its own cell. */
static void check_part(struct cell *cell, uint64_t me, uint64_t live, uint64_t address,
                       uint64_t bytes, bool write)
{
    bool marked = cell->write >= BYTE_CELLS_MARK;
    struct cell *four = marked ? byte_cells_of(cell) : NULL;
    if (marked && !four)
        *cell = (struct cell){0, 0};
    if (!four)
        four = byte_cells_make(cell, me);
    if (!four)
        return;
    cell_bytes = 1;
    for (uint64_t at = address; at < address + bytes; at++)
        if (write)
            write_cell(four + at % 4, me, live, at);
        else
            read_cell(four + at % 4, me, live, at);
    cell_bytes = 4;
}

bool race_was_stored(uint64_t address)
{
    const struct cell *cell = shadow_of(address);
    const struct cell *four = cell->write >= BYTE_CELLS_MARK ? byte_cells_of(cell) : NULL;
    if (cell->write < BYTE_CELLS_MARK)
        return cell->write != 0;
    return four && (four[0].write || four[1].write || four[2].write || four[3].write);
}

/* The running thread's note for an access at that place. */
static inline uint64_t my_note(uint64_t place)
{
    return now.warp->interval << INTERVAL_AT | (uint64_t)now.thread->number << THREAD_AT |
           (uint64_t)race_mode << MODE_AT | place;
}

/* Smaller notes are ordered before every access in the window. */
static inline uint64_t live_notes(uint64_t window)
{
    return window == WINDOW_SHARED ? now.block->intervals.since << INTERVAL_AT : first_interval;
}

void race_access(uint64_t address, uint64_t bytes, bool write, uint64_t pc)
{
    if (UNLIKELY(pending.suspect))
        settle_store();
    const uint64_t me = my_note(race_place(pc)), live = live_notes(window_of(address));
    for (uint64_t at = address, end = address + bytes, next; at < end; at = next) {
        struct cell *cell = shadow_of(at);
        next = (at & ~3ull) + 4;
        if (UNLIKELY(next - at != 4 || end < next))
            check_part(cell, me, live, at, (end < next ? end : next) - at, write);
        else if (write)
            write_cell(cell, me, live, at);
        else
            read_cell(cell, me, live, at);
    }
}

/* What most accesses need is written out without calls, so that no register has to be saved. */
void race_word(uint64_t address, bool write, uint64_t pc)
{
    const uint64_t at = place_slot(pc);
    if (UNLIKELY(pending.suspect || race_places[at] != pc)) {
        race_access(address, 4, write, pc);
        return;
    }
    const uint64_t me = my_note(at), live = live_notes(window_of(address));
    struct cell *cell = shadow_of(address);
    const uint64_t wrote = cell->write, read = cell->read;
    if (UNLIKELY(wrote >= live && !same_thread(wrote, me)))
        race_access(address, 4, write, pc);
    else if (write && (read < live || (same_thread(read, me) && readers_of(read) == ONE)))
        *cell = (struct cell){me, 0};
    else if (!write && read < live)
        cell->read = me;
    else if (write)
        race_access(address, 4, write, pc);
    else if (!same_thread(read, me))
        read_also(cell, me);
}
