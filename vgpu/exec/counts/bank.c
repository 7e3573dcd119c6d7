/* SPDX-License-Identifier: MIT
 * bank.c: see bank.h.
 */
#include "bank.h"

#include "device_image.h"

#include <string.h>

/* Accesses of one warp at one place, each lane's at the same turn there. */
struct request {
    uint32_t lanes;
    uint32_t word[WARP_LANES];
    uint8_t words[WARP_LANES];
};

static struct {
    uint64_t pc;
    bool write;
} place[BANK_PLACES];
static uint32_t place_count, last_place;

static struct request request[MAX_BLOCK_WARPS][BANK_PLACES][BANK_TURNS];
static struct request *used_requests[MAX_BLOCK_WARPS * BANK_PLACES * BANK_TURNS];
static uint32_t used_count;
static uint8_t turns[MAX_BLOCK_THREADS][BANK_PLACES];
static uint64_t noted; /* number of recorded accesses */

/* The index of a place. BANK_PLACES: the table is full. */
static uint32_t bank_place(uint64_t pc, bool write)
{
    uint32_t i = last_place;
    if (i < place_count && place[i].pc == pc && place[i].write == write)
        return i;
    for (i = 0; i < place_count; i++)
        if (place[i].pc == pc && place[i].write == write)
            break;
    if (i == BANK_PLACES)
        return i;
    if (i == place_count) {
        place[place_count].pc = pc;
        place[place_count++].write = write;
    }
    return last_place = i;
}

void bank_note(uint64_t address, uint64_t bytes, bool write, uint64_t pc)
{
    const struct thread *thread = now.thread;
    uint32_t at = bank_place(pc, write);
    if (at == BANK_PLACES || turns[thread->number][at] == BANK_TURNS || bytes > 16)
        return;
    uint32_t lane = thread->number % WARP_LANES, turn = turns[thread->number][at]++;
    struct request *r = &request[thread->number / WARP_LANES][at][turn];
    if (r->lanes == 0)
        used_requests[used_count++] = r;
    r->lanes |= 1u << lane;
    r->word[lane] = (uint32_t)(address % VGPU_DEVICE_STRIDE / BANK_BYTES);
    r->words[lane] = bytes > BANK_BYTES ? (uint8_t)(bytes / BANK_BYTES) : 1;
    noted++;
}

/* Counts `word` in its bank unless another lane has requested it. */
static void ask_bank(uint32_t word, uint32_t asked[BANKS][4 * WARP_LANES], uint32_t *count)
{
    uint32_t bank = word % BANKS;
    for (uint32_t i = 0; i < count[bank]; i++)
        if (asked[bank][i] == word)
            return;
    asked[bank][count[bank]++] = word;
}

/* Wavefronts beyond the minimum for that many words. */
static uint32_t extra_of(const struct request *r)
{
    static uint32_t asked[BANKS][4 * WARP_LANES];
    uint32_t count[BANKS] = {0}, most = 0, all = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        for (uint32_t i = 0; i < r->words[lane] && r->lanes >> lane & 1; i++)
            ask_bank(r->word[lane] + i, asked, count);
    for (uint32_t bank = 0; bank < BANKS; bank++) {
        all += count[bank];
        most = count[bank] > most ? count[bank] : most;
    }
    return most - (all + BANKS - 1) / BANKS;
}

static uint32_t place_of_request(const struct request *r)
{
    return (uint32_t)((r - &request[0][0][0]) / BANK_TURNS % BANK_PLACES);
}

static void forget_requests(void)
{
    memset(turns, 0, sizeof turns);
    for (uint32_t i = 0; i < used_count; i++)
        used_requests[i]->lanes = 0;
    used_count = place_count = last_place = 0;
    noted = 0;
}

void bank_sum(struct run *run)
{
    struct {
        uint64_t extra, requests;
    } at[BANK_PLACES] = {0}, worst = {0};
    if (used_count == 0)
        return;
    for (uint32_t i = 0; i < used_count; i++) {
        uint32_t p = place_of_request(used_requests[i]), extra = extra_of(used_requests[i]);
        at[p].extra += extra;
        at[p].requests++;
        run->bank.extra += extra;
    }
    for (uint32_t p = 0; p < place_count; p++)
        if (at[p].extra > worst.extra) {
            worst.extra = at[p].extra;
            worst.requests = at[p].requests;
            run->bank.pc = place[p].pc;
        }
    if (worst.requests)
        run->bank.ways = (uint32_t)((worst.extra + worst.requests / 2) / worst.requests + 1);
    run->bank.noted += noted;
    forget_requests();
}

void bank_apply(const struct run *run, struct vgpu_run_counts *counts)
{
    if (run->bank.extra == 0)
        return;
    unsigned __int128 all = (unsigned __int128)counts->shared_accesses * run->bank.extra;
    counts->conflicts = (uint64_t)(all / run->bank.noted);
    counts->conflict_ways = run->bank.ways;
    image_place(run->bank.pc, counts->conflict_where, sizeof counts->conflict_where);
}
