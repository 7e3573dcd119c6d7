/* SPDX-License-Identifier: MIT
 * exec_races.c: shadow words and bytes, what orders two accesses of a block, and barriers.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "byte_shadow.h"
#include "exec_stage.h"
#include "hazard.h"
#include "race.h"
#include "race_shadow.h"
#include "unwritten.h"

int vgpu_syncthreads_reduce(int op, int predicate, const char *site);

static uint32_t *word(uint64_t number)
{
    return (uint32_t *)(STAGE_MEMORY + 4 * number); /* NOLINT */
}

/* A kernel that is looked at, in its first interval. */
static void start(void)
{
    stage_start();
    EXPECT(shadow_touch((uint64_t)shadow_of(STAGE_MEMORY)), "%s", "no memory for notes");
    stage.run.checks = VGPU_CHECK_KERNELS;
    race_run_begins(&stage.run);
    race_run_goes(&stage.run);
    race_block_starts(stage.block);
}

/* `thread` stores `value` there, at this place in the code. */
static void store(uint32_t thread, uint32_t *to, uint32_t value, uint64_t pc)
{
    stage_run(thread);
    race_access((uint64_t)to, 4, true, pc);
    *to = value;
}

static void load(uint32_t thread, const uint32_t *from, uint64_t pc)
{
    stage_run(thread);
    race_access((uint64_t)from, 4, false, pc);
}

/* How many races were found, and settles the store that is under way. */
static uint32_t found(void)
{
    race_run_stops();
    race_run_goes(&stage.run);
    return stage.run.hazards.count;
}

UNIT(two_stores_of_a_block_race)
{
    start();
    store(0, word(0), 1, 10);
    store(40, word(0), 2, 11);
    EXPECT(found() == 1, "%u races", stage.run.hazards.count);
    struct vgpu_hazard *h = &stage.run.hazards.list[0];
    EXPECT(h->diagnosis == (int32_t)VGPU_DIAGNOSIS_kernels_block_race, "diagnosis %d",
           h->diagnosis);
    EXPECT(strcmp(h->first.where, "line 10") == 0 && strcmp(h->second.where, "line 11") == 0,
           "between %s and %s", h->first.where, h->second.where);
    EXPECT(h->first.thread.x == 0 && h->second.thread.x == 40, "of threads %u and %u",
           h->first.thread.x, h->second.thread.x);
}

UNIT(a_barrier_orders_a_block)
{
    start();
    store(0, word(0), 1, 10);
    race_barrier(stage.block);
    store(40, word(0), 2, 11);
    load(41, word(1), 12);
    EXPECT(found() == 0, "%u races", stage.run.hazards.count);
    load(2, word(0), 13);
    EXPECT(found() == 1, "%u races", stage.run.hazards.count);
}

UNIT(a_warp_is_ordered_by_its_own_barrier_only)
{
    start();
    store(0, word(0), 1, 10);
    race_warp_synced(&stage.block->warps[0], ~0u);
    load(1, word(0), 11);
    EXPECT(found() == 0, "%u races in the warp", stage.run.hazards.count);
    load(40, word(0), 12);
    EXPECT(found() == 1, "%u races with another warp", stage.run.hazards.count);
}

UNIT(lanes_of_a_warp_race)
{
    start();
    store(0, word(0), 1, 10);
    load(1, word(0), 11);
    EXPECT(found() == 1 &&
               stage.run.hazards.list[0].diagnosis == (int32_t)VGPU_DIAGNOSIS_kernels_warp_race,
           "%u races, diagnosis %d", stage.run.hazards.count, stage.run.hazards.list[0].diagnosis);
}

UNIT(a_store_that_changes_nothing_is_no_race)
{
    start();
    store(0, word(0), 7, 10);
    store(40, word(0), 7, 11);
    EXPECT(found() == 0, "%u races", stage.run.hazards.count);
}

static long page_faults(void)
{
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

/* One at a time they are most of what it costs to look at a kernel that goes through much memory.
 */
UNIT(notes_get_their_pages_together)
{
    enum { PIECE_WORDS = 1 << 14, PAGE_WORDS = 256, PAGES = PIECE_WORDS / PAGE_WORDS };
    start();
    long before = page_faults();
    for (uint64_t i = 0; i < PIECE_WORDS; i += PAGE_WORDS)
        load(0, word(i), 10);
    EXPECT(page_faults() - before < PAGES / 2, "%ld page faults for %d pages",
           page_faults() - before, PAGES);
}

UNIT(bytes_of_a_word_are_told_apart)
{
    start();
    char *bytes = (char *)word(0);
    for (uint32_t i = 0; i < 4; i++) {
        stage_run(i);
        race_access((uint64_t)&bytes[i], 1, true, 10 + i);
        bytes[i] = (char)(1 + i);
    }
    EXPECT(found() == 0, "%u races between neighbours", stage.run.hazards.count);
    stage_run(40);
    race_access((uint64_t)&bytes[2], 1, true, 20);
    bytes[2] = 9;
    EXPECT(found() == 1, "%u races", stage.run.hazards.count);
    EXPECT(stage.run.hazards.list[0].first.thread.x == 2, "with thread %u",
           stage.run.hazards.list[0].first.thread.x);
}

UNIT(byte_shadows_are_copies_until_they_are_forgotten)
{
    struct cell cell = {5, 3}, whole = cell;
    struct cell *four = byte_cells_make(&cell, 100);
    EXPECT(four, "%s", "no room for byte shadows");
    EXPECT(cell.write >= BYTE_CELLS_MARK && cell.read == 100, "%s", "the cell is not marked");
    for (int i = 0; i < 4; i++)
        EXPECT(memcmp(&four[i], &whole, sizeof whole) == 0, "byte %d has another note", i);
    EXPECT(byte_cells_of(&cell) == four, "%s", "the marked cell leads elsewhere");
    byte_cells_forget(100);
    EXPECT(!byte_cells_of(&cell), "%s", "what was forgotten is found");
    cell = whole;
    EXPECT(byte_cells_make(&cell, 101) == four && byte_cells_of(&cell) == four, "%s",
           "what was given back is not used again");
}

UNIT(shadow_memory_ends_at_a_quarter_of_the_limit)
{
    start();
    context.limits.memory_bytes = 4 * (256 << 10); /* one piece of notes */
    struct cell *cell = shadow_of(STAGE_MEMORY);
    cell->write = 1;
    EXPECT(shadow_touch((uint64_t)shadow_of(STAGE_MEMORY + (1 << 20))), "%s", "no second piece");
    EXPECT(shadow_touch((uint64_t)cell), "%s", "the first piece was not given back");
    EXPECT(cell->write == 0, "%s", "a note is left of what was dropped");
    EXPECT(!shadow_touch(SHADOW_VA - 1) && !shadow_touch(SHADOW_END), "%s",
           "notes lie outside their windows");
}

UNIT(poison_that_no_kernel_wrote_is_told)
{
    start();
    memset(word(0), VGPU_POISON, 16);
    EXPECT(unwritten_suspect((uint64_t)word(0), 16), "%s", "poison is not suspect");
    unwritten_read((uint64_t)word(0), 16, 30);
    EXPECT(stage.run.hazards.count == 1, "%u findings", stage.run.hazards.count);
    store(0, word(2), 0x01010101u * VGPU_POISON, 31);
    unwritten_read((uint64_t)word(2), 4, 32);
    EXPECT(stage.run.hazards.count == 1, "%s", "a word that the kernel wrote is told");
    context.control->partial[0] = 1;
    context.control->tail[0] = 4;
    unwritten_read((uint64_t)word(3), 4, 33);
    EXPECT(stage.run.hazards.count == 1, "%s", "a word that is not allocated is told twice");
}

UNIT(two_lines_are_told_once)
{
    start();
    for (uint32_t i = 0; i < 3; i++) {
        store(0, word(i), 1 + i, 10);
        store(40, word(i), 8 + i, 11);
    }
    EXPECT(found() == 1, "%u races", stage.run.hazards.count);
    struct vgpu_exec_reply *reply = calloc(1, sizeof *reply);
    hazard_reply(&stage.run, reply);
    EXPECT(reply->hazard_count == 1 && stage.run.hazards.count == 0, "%u in the reply",
           reply->hazard_count);
    free(reply);
}

/* ---- barriers ---- */

/* All threads but the running one have arrived, `votes` of them with a yes. */
static void others_have_arrived(uint32_t votes, const char *site)
{
    stage.block->barrier.missing = 1;
    stage.block->barrier.votes = votes;
    stage.block->barrier.site = site;
}

UNIT(a_barrier_ends_when_the_last_has_arrived)
{
    stage_start();
    others_have_arrived(5, "a.cu:1");
    EXPECT(vgpu_syncthreads_reduce(0, 1, "a.cu:1") == 6, "%u votes", stage.block->barrier.result);
    EXPECT(stage.block->barrier.missing == STAGE_THREADS && !stage.block->barrier.votes &&
               !stage.block->barrier.site,
           "%u are missing at the next barrier", stage.block->barrier.missing);
    EXPECT(stage.run.counts.barriers == 1 && stage.block->ready_warps == 3, "%s",
           "the other threads do not go on");
}

UNIT(barriers_tell_whether_all_or_any_agree)
{
    stage_start();
    others_have_arrived(STAGE_THREADS - 1, "a.cu:1");
    EXPECT(vgpu_syncthreads_reduce(1, 1, "a.cu:1") == 1, "%s", "all have said yes");
    stage.block->warps[0].ready = ~0u;
    others_have_arrived(STAGE_THREADS - 1, "a.cu:1");
    EXPECT(vgpu_syncthreads_reduce(1, 0, "a.cu:1") == 0, "%s", "one has said no");
    stage.block->warps[0].ready = ~0u;
    others_have_arrived(0, "a.cu:1");
    EXPECT(vgpu_syncthreads_reduce(2, 0, "a.cu:1") == 0, "%s", "none has said yes");
    EXPECT(!stage.finding[0], "%s", stage.finding);
}

UNIT(different_barriers_and_early_exits_are_found)
{
    stage_start();
    others_have_arrived(0, "a.cu:1");
    (void)vgpu_syncthreads_reduce(0, 0, "a.cu:2");
    EXPECT(strstr(stage.finding, "(0,0,0) in a.cu:2, others in a.cu:1"), "%s", stage.finding);
    stage.block->live = STAGE_THREADS - 3;
    others_have_arrived(0, "a.cu:1");
    (void)vgpu_syncthreads_reduce(0, 0, "a.cu:1");
    EXPECT(strstr(stage.finding, "3 of 64 threads of block (0,0,0) had left"), "%s", stage.finding);
}
