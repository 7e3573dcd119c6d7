/* SPDX-License-Identifier: MIT
 * exec_counts.c: sectors, banks and footprints of accesses, and divisions that the processor traps
 * on.
 */
#include <string.h>

#include "bank.h"
#include "check.h"
#include "counters.h"
#include "divide.h"
#include "exec_stage.h"
#include "footprint.h"
#include "sample.h"

static void start_sampled(void)
{
    stage_start();
    sample_begin(&stage.run);
    sample_block_starts(stage.block);
}

/* Each lane of a warp loads 4 bytes, `stride` bytes from its neighbour's, at one place. */
static void warp_loads(uint64_t window, uint64_t stride, uint64_t pc)
{
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        stage_run(lane);
        access_pc = pc;
        sample_note(window, WINDOW_VA(window) + lane * stride, 4, false);
    }
}

static uint64_t moved(uint64_t bytes)
{
    struct vgpu_run_counts counts = {0};
    counts.read_bytes[0] = bytes;
    sample_end(&stage.run);
    sample_apply(&stage.run, &counts);
    return counts.read_moved[0];
}

UNIT(neighbours_share_sectors)
{
    start_sampled();
    warp_loads(0, 4, 1);
    EXPECT(moved(128) == 128, "%llu bytes are moved", (unsigned long long)moved(128));
}

UNIT(lanes_far_apart_move_a_sector_each)
{
    start_sampled();
    warp_loads(0, 256, 1);
    warp_loads(0, 256, 2); /* it is at hand */
    uint64_t bytes = moved(256);
    EXPECT(bytes == WARP_LANES * SECTOR_BYTES, "%llu bytes are moved", (unsigned long long)bytes);
}

/* ---- the busiest thread ---- */

static void read_ints(uint32_t lane, uint32_t count)
{
    stage_run(lane);
    for (uint32_t i = 0; i < count; i++)
        sample_note(i % 2 ? WINDOW_SHARED : 0, WINDOW_VA(0) + lane * 4096ull + i * 4ull, 4, false);
}

UNIT(the_busiest_thread_counts_shared_memory_too)
{
    start_sampled();
    read_ints(0, 3);
    read_ints(1, 100);
    read_ints(2, 99);
    EXPECT(stage.run.counts.busiest == 100, "%llu accesses",
           (unsigned long long)stage.run.counts.busiest);
}

/* All threads have made as many accesses as sectors are looked at: one may make any number more. */
UNIT(who_is_busiest_is_not_known_after_the_sample)
{
    start_sampled();
    for (uint32_t lane = 0; lane < stage.block->thread_count; lane++)
        read_ints(lane, 200);
    EXPECT(stage.run.counts.busiest == VGPU_BUSIEST_UNKNOWN, "%llu accesses",
           (unsigned long long)stage.run.counts.busiest);
}

/* Wavefronts too many, and of how many words of one bank. */
static void banks(uint64_t stride, uint64_t *extra, uint32_t *ways)
{
    struct vgpu_run_counts counts = {.shared_accesses = WARP_LANES};
    start_sampled();
    warp_loads(WINDOW_SHARED, stride, 1);
    sample_end(&stage.run);
    bank_apply(&stage.run, &counts);
    *extra = counts.conflicts;
    *ways = (uint32_t)counts.conflict_ways;
}

UNIT(a_column_of_shared_memory_is_one_bank)
{
    uint64_t extra;
    uint32_t ways;
    banks(128, &extra, &ways);
    EXPECT(extra == 31 && ways == 32, "%llu wavefronts too many, %u ways",
           (unsigned long long)extra, ways);
}

UNIT(a_padded_column_is_all_banks)
{
    uint64_t extra;
    uint32_t ways;
    banks(132, &extra, &ways);
    EXPECT(extra == 0 && ways == 0, "%llu wavefronts too many, %u ways", (unsigned long long)extra,
           ways);
}

UNIT(one_word_for_all_lanes_is_one_wavefront)
{
    uint64_t extra;
    uint32_t ways;
    banks(0, &extra, &ways);
    EXPECT(extra == 0, "%llu wavefronts too many", (unsigned long long)extra);
}

UNIT(wide_loads_take_the_least_that_so_many_words_can)
{
    start_sampled();
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        stage_run(lane);
        access_pc = 1;
        sample_note(WINDOW_SHARED, STAGE_SHARED + lane * 16ull, 16, false);
    }
    sample_end(&stage.run);
    EXPECT(stage.run.bank.noted == WARP_LANES && stage.run.bank.extra == 0,
           "%llu wavefronts too many", (unsigned long long)stage.run.bank.extra);
}

/* ---- footprints ---- */

static void start_footprint(void)
{
    stage_start();
    stage.run.checks = VGPU_CHECK_ORDER;
    footprint_begin(&stage.run);
    EXPECT(footprint_on, "%s", "no memory for footprints");
}

static void expect_span(uint32_t i, uint64_t offset, uint64_t bytes, uint64_t count)
{
    struct vgpu_span *s = &stage.sent[i];
    EXPECT(s->address == STAGE_MEMORY + offset && s->bytes == bytes && s->count == count,
           "span %u is %llu times %llu bytes from %llu on", i, (unsigned long long)s->count,
           (unsigned long long)s->bytes, (unsigned long long)(s->address - STAGE_MEMORY));
}

UNIT(footprints_are_the_bytes_that_were_used)
{
    start_footprint();
    for (uint64_t i = 0; i < 16; i++)
        footprint_note(STAGE_MEMORY + 8 * i, 8, VGPU_USE_READ);
    footprint_note(STAGE_MEMORY + 1001, 1, VGPU_USE_WRITE);
    footprint_range(STAGE_MEMORY + FOOTPRINT_BLOCK - 2, 7, VGPU_USE_WRITE);
    footprint_end(&stage.run);
    footprint_send(&stage.run);
    EXPECT(stage.sent_count == 3, "%u spans", stage.sent_count);
    expect_span(0, 0, 128, 1);
    expect_span(1, 1001, 1, 1);
    expect_span(2, FOOTPRINT_BLOCK - 2, 7, 1);
    footprint_free(&stage.run);
}

UNIT(equal_steps_are_one_span)
{
    start_footprint();
    for (uint64_t i = 0; i < 100; i++)
        footprint_note(STAGE_MEMORY + 64 * i, 4, VGPU_USE_WRITE);
    footprint_end(&stage.run);
    footprint_send(&stage.run);
    EXPECT(stage.sent_count == 1 && stage.sent[0].stride == 64, "%u spans, %llu bytes apart",
           stage.sent_count, (unsigned long long)stage.sent[0].stride);
    expect_span(0, 0, 4, 100);
    footprint_free(&stage.run);
}

UNIT(the_next_slice_starts_with_nothing)
{
    start_footprint();
    footprint_note(STAGE_MEMORY, 4, VGPU_USE_WRITE);
    footprint_end(&stage.run);
    footprint_free(&stage.run);
    footprint_begin(&stage.run);
    footprint_end(&stage.run);
    footprint_send(&stage.run);
    EXPECT(stage.sent_count == 0, "%u spans", stage.sent_count);
    footprint_free(&stage.run);
}

/* ---- divisions ---- */

#if defined(__x86_64__)

static uint64_t divided(const uint8_t *code, uint64_t low, uint64_t divisor, uint64_t *rest,
                        unsigned *bytes, bool *by_zero)
{
    ucontext_t machine = {0};
    greg_t *regs = machine.uc_mcontext.gregs;
    regs[REG_RIP] = (greg_t)code;
    regs[REG_RAX] = (greg_t)low;
    regs[REG_RCX] = (greg_t)divisor;
    EXPECT(divide_step(&machine, by_zero), "%s", "it is no division");
    *rest = (uint64_t)regs[REG_RDX];
    *bytes = (unsigned)(regs[REG_RIP] - (greg_t)code);
    return (uint64_t)regs[REG_RAX];
}

UNIT(a_division_by_zero_is_all_ones)
{
    static const uint8_t div_ecx[16] = {0xf7, 0xf1}, idiv_rcx[16] = {0x48, 0xf7, 0xf9};
    uint64_t rest;
    unsigned bytes;
    bool by_zero;
    uint64_t quotient = divided(div_ecx, 7, 0, &rest, &bytes, &by_zero);
    EXPECT(quotient == 0xffffffff && rest == 7 && bytes == 2 && by_zero, "%llx rest %llx, %u bytes",
           (unsigned long long)quotient, (unsigned long long)rest, bytes);
    quotient = divided(idiv_rcx, 7, 0, &rest, &bytes, &by_zero);
    EXPECT(quotient == ~0ull && rest == 7 && bytes == 3 && by_zero, "%llx rest %llx, %u bytes",
           (unsigned long long)quotient, (unsigned long long)rest, bytes);
}

UNIT(the_lowest_number_by_minus_one_is_itself)
{
    static const uint8_t idiv_ecx[16] = {0xf7, 0xf9};
    uint64_t rest;
    unsigned bytes;
    bool by_zero;
    uint64_t quotient = divided(idiv_ecx, 0x80000000, 0xffffffff, &rest, &bytes, &by_zero);
    EXPECT(quotient == 0x80000000 && rest == 0 && !by_zero, "%llx rest %llx",
           (unsigned long long)quotient, (unsigned long long)rest);
}

UNIT(divisors_in_memory_are_stepped_over_whole)
{
    static const uint8_t based[16] = {0xf7, 0x75, 0xf8};                     /* div [rbp-8] */
    static const uint8_t indexed[16] = {0x48, 0xf7, 0xbc, 0x81, 1, 2, 3, 4}; /* [rcx+rax*4+n] */
    static const uint8_t fixed[16] = {0xf7, 0x35, 1, 2, 3, 4};               /* [rip+n] */
    static const struct {
        const uint8_t *code;
        unsigned bytes;
    } some[] = {{based, 3}, {indexed, 8}, {fixed, 6}};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t rest;
        unsigned bytes;
        bool by_zero;
        divided(some[i].code, 7, 0, &rest, &bytes, &by_zero);
        EXPECT(bytes == some[i].bytes, "division %u has %u bytes, not %u", i, bytes, some[i].bytes);
    }
}

UNIT(what_is_no_division_is_left_alone)
{
    static const uint8_t multiply[16] = {0xf7, 0xe1}, bytes[16] = {0xf6, 0xf1}, nop[16] = {0x90};
    static const uint8_t *const some[] = {multiply, bytes, nop};
    for (unsigned i = 0; i < 3; i++) {
        ucontext_t machine = {0};
        bool by_zero;
        machine.uc_mcontext.gregs[REG_RIP] = (greg_t)some[i];
        EXPECT(!divide_step(&machine, &by_zero), "instruction %u is stepped over", i);
    }
}

#endif
