/* SPDX-License-Identifier: MIT
 * sample.c: see sample.h. A hash table holds the sectors that the block has touched, separately for
 * reads and writes. It begins small and grows: a kernel's sectors are then on few of its pages.
 */
#include "sample.h"

#include <string.h>

#include "counters.h"
#include "bank.h"
#include "work.h"

enum { WIDEST_BYTES = 16, SAMPLE_ACCESSES = 64 };
enum { LEAST_BITS = 10, MOST_BITS = 18, TABLE_LIMIT = 1 << (MOST_BITS - 1) };
enum { WARP_SHIFT = 50 /* above a sector's number */, LINE_BYTES = 128 };
#define PAIR (1ull << 49)

struct block *sample_block;

static const struct run *sampled;
static uint64_t touched[1 << MOST_BITS];  /* sector and direction, plus 1; 0: free */
static unsigned table_bits = LEAST_BITS;  /* the first 1 << table_bits are in use */
static uint64_t sector_keys[TABLE_LIMIT]; /* those in the table */
static uint32_t sector_count;
static struct lane_turn lane_turns[SAMPLE_ACCESSES];
static uint32_t exhausted; /* threads of the block with SAMPLE_ACCESSES recorded */

static void clear_table(void)
{
    memset(touched, 0, sizeof *touched << table_bits);
}

static void forget_sectors(void)
{
    if (sector_count)
        clear_table();
    table_bits = LEAST_BITS;
    sector_count = 0;
}

void sample_begin(struct run *run)
{
    if (sampled)
        return;
    sampled = run;
    forget_sectors();
}

void sample_end(struct run *run)
{
    if (sampled != run)
        return;
    bank_sum(run);
    sample_leave();
}

void sample_leave(void)
{
    sampled = NULL;
    sample_block = NULL;
    access_sample(false);
}

bool sample_wants(const struct run *run, uint64_t number)
{
    return number == 0 && run == sampled;
}

void sample_block_starts(struct block *block)
{
    if (block->run == sampled && block->number <= 1)
        contention_block_starts(block);
    if (!sample_wants(block->run, block->number))
        return;
    work_block_starts(block);
    sample_block = block;
    exhausted = 0;
    memset(lane_turns, 0, sizeof lane_turns);
}

void sample_block_ends(const struct block *block)
{
    if (sample_block != block)
        return;
    bank_sum(block->run);
    sample_block = NULL;
    access_sample(false);
}

void sample_thread_starts(struct thread *thread)
{
    thread->sampled = (struct sampled){0};
    access_sample(true);
}

void sample_goes_on(void)
{
    access_sample(true);
}

/* Where the key is, or where it belongs. */
static uint64_t *find_sector(uint64_t key)
{
    uint64_t at = key * 0x9E3779B97F4A7C15ull >> (64 - table_bits);
    while (touched[at] != 0 && touched[at] != key + 1)
        at = (at + 1) % (1u << table_bits);
    return &touched[at];
}

static void grow_table(void)
{
    clear_table();
    table_bits += 2;
    for (uint32_t i = 0; i < sector_count; i++)
        *find_sector(sector_keys[i]) = sector_keys[i] + 1;
}

/* True if the key is new. */
static bool insert_sector(uint64_t key)
{
    uint64_t *slot = find_sector(key);
    if (*slot != 0)
        return false;
    *slot = key + 1;
    sector_keys[sector_count++] = key;
    if (sector_count > 1u << (table_bits - 1) && table_bits < MOST_BITS)
        grow_table();
    return true;
}

/* A copy of many bytes counts as accesses of 16 bytes, the widest of a GPU. */
static void count_busiest(struct thread *thread, uint64_t bytes)
{
    struct vgpu_run_counts *counts = &now.run->counts;
    uint64_t all = thread->sampled.all + (bytes + WIDEST_BYTES - 1) / WIDEST_BYTES;
    thread->sampled.all = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
    if (thread->sampled.all > counts->busiest)
        counts->busiest = thread->sampled.all;
}

void sample_note(uint64_t window, uint64_t address, uint64_t bytes, bool write)
{
    struct thread *thread = now.thread;
    if (thread->block != sample_block ||
        sector_count + 2 * (bytes / SECTOR_BYTES + 2) > TABLE_LIMIT) {
        if (thread->block == sample_block)
            now.run->counts.busiest = VGPU_BUSIEST_UNKNOWN;
        access_sample(false);
        return;
    }
    count_busiest(thread, bytes);
    if (window == WINDOW_SHARED) {
        bank_note(address, bytes, write, access_pc);
        return;
    }
    if (thread->sampled.accesses == SAMPLE_ACCESSES)
        return;
    struct sample *sample = &now.run->sample[write];
    sample->accesses++;
    sample->lines += 1ull - lanes_joined(&lane_turns[thread->sampled.accesses], thread, address,
                                         LINE_BYTES, false);
    uint64_t warp = write ? (uint64_t)(thread->number / WARP_LANES) << WARP_SHIFT : 0;
    uint64_t first = address / SECTOR_BYTES, last = (address + bytes - 1) / SECTOR_BYTES;
    if (++thread->sampled.accesses == SAMPLE_ACCESSES &&
        ++exhausted == thread->block->thread_count) {
        sample_block_ends(thread->block);
        now.run->counts.busiest = VGPU_BUSIEST_UNKNOWN;
    }
    sample->bytes[window] += bytes;
    for (uint64_t pair = first / 2; pair <= last / 2; pair++)
        sample->pairs[window] += insert_sector(PAIR | pair << 1 | write);
    for (uint64_t sector = first; sector <= last; sector++)
        sample->sectors[window] += insert_sector(warp | sector << 1 | write);
}

/* What `bytes` come to if `noted` bytes came to `moved`. */
static uint64_t moved_bytes(uint64_t bytes, uint64_t noted, uint64_t moved)
{
    return noted == 0 ? bytes : (uint64_t)((unsigned __int128)bytes * moved / noted);
}

static uint64_t moved_sectors(uint64_t bytes, const struct sample *sample, int window)
{
    return moved_bytes(bytes, sample->bytes[window], sample->sectors[window] * SECTOR_BYTES);
}

static uint64_t moved_pairs(uint64_t bytes, const struct sample *sample)
{
    int own = context.device;
    return moved_bytes(bytes, sample->bytes[own], sample->pairs[own] * 2 * SECTOR_BYTES);
}

void sample_apply(const struct run *run, struct vgpu_run_counts *counts)
{
    for (int window = 0; window <= WINDOW_HOST; window++) {
        counts->read_moved[window] =
            moved_sectors(counts->read_bytes[window], &run->sample[0], window);
        counts->write_moved[window] =
            moved_sectors(counts->write_bytes[window], &run->sample[1], window);
    }
    counts->read_pairs = moved_pairs(counts->read_bytes[context.device], &run->sample[0]);
    counts->write_pairs = moved_pairs(counts->write_bytes[context.device], &run->sample[1]);
    counts->lines = moved_bytes(counts->accesses, run->sample[0].accesses + run->sample[1].accesses,
                                run->sample[0].lines + run->sample[1].lines);
    bank_apply(run, counts);
    contention_apply(run, counts);
}
