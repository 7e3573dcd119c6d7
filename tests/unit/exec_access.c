/* SPDX-License-Identifier: MIT
 * exec_access.c: what device code's accesses count, which of them end a kernel, and which go past
 * what is allocated.
 */
#include <string.h>

#include "bounds.h"
#include "counters.h"
#include "device_image.h"
#include "exec_stage.h"
#include "sweep.h"

void __tsan_read4(void *p);
void __tsan_write8(void *p);
void __tsan_read16(void *p);
void *__wrap_memset(void *to, int value, size_t bytes);

static void *at(uint64_t offset)
{
    return (void *)(STAGE_MEMORY + offset); /* NOLINT */
}

UNIT(accesses_are_counted_by_window_and_direction)
{
    struct vgpu_run_counts counts = {0};
    stage_start();
    __tsan_read4(at(0));
    __tsan_read4(at(4));
    __tsan_write8(at(8));
    __tsan_read4((void *)STAGE_SHARED); /* NOLINT */
    __wrap_memset(at(64), 0, 100);
    access_harvest(&counts);
    EXPECT(counts.read_bytes[0] == 8, "%llu bytes read", (unsigned long long)counts.read_bytes[0]);
    EXPECT(counts.write_bytes[0] == 108, "%llu bytes written",
           (unsigned long long)counts.write_bytes[0]);
    EXPECT(counts.accesses == 4 && counts.shared_accesses == 1, "%llu accesses, %llu shared",
           (unsigned long long)counts.accesses, (unsigned long long)counts.shared_accesses);
    EXPECT(access_total() == 0, "%s", "counters are left after a run");
}

UNIT(pinned_pages_of_the_program_count_as_the_hosts)
{
    struct vgpu_run_counts counts = {0};
    static _Alignas(8) char mine[8];
    stage_start();
    stage.registered = (uint64_t)mine;
    __tsan_write8(mine);
    access_harvest(&counts);
    EXPECT(counts.write_bytes[WINDOW_HOST] == 8, "%llu bytes",
           (unsigned long long)counts.write_bytes[WINDOW_HOST]);
    stage.registered = 0;
    EXPECT_FAULT(__tsan_write8(mine), VGPU_FAULT_ADDRESS);
}

UNIT(no_store_reaches_return_addresses_and_arguments)
{
    void *own = (void *)(OWN_VA + 64); /* NOLINT */
    stage_start();
    images_have_two_stacks = true;
    EXPECT_FAULT(__tsan_write8(own), VGPU_FAULT_ADDRESS);
    EXPECT_FAULT(__wrap_memset(own, 0, 1), VGPU_FAULT_ADDRESS);
    __tsan_read4(own);
    images_have_two_stacks = false; /* some image has its variables there */
    __tsan_write8(own);
}

UNIT(misaligned_accesses_fault)
{
    stage_start();
    EXPECT_FAULT(__tsan_read4(at(2)), VGPU_FAULT_MISALIGNED);
    EXPECT(strstr(fault_last.text, "a misaligned load: 4 bytes at"), "%s", fault_last.text);
    EXPECT_FAULT(__tsan_write8(at(4)), VGPU_FAULT_MISALIGNED);
    EXPECT(fault_last.write && fault_last.address == STAGE_MEMORY + 4, "%s", fault_last.text);
    EXPECT_FAULT(__tsan_read16(at(4)), VGPU_FAULT_MISALIGNED);
    EXPECT(access_wide == 0, "%s", "it is noted as one that the processor may accept");
    __tsan_read16(at(8)); /* two members of 8 bytes are reported so, too */
    EXPECT(access_wide == STAGE_MEMORY + 8, "noted is 0x%llx", (unsigned long long)access_wide);
}

/* Of the first chunk 700 bytes are allocated: a granule, and 188 bytes of the second one. */
static void allocate_700_bytes(void)
{
    context.control->partial[0] = 1;
    context.control->tail[0] = 512;
    context.control->tail[1] = 188;
}

UNIT(what_is_past_an_allocation_is_noted_once_a_place)
{
    stage_start();
    allocate_700_bytes();
    bounds_check(STAGE_MEMORY, 700, false, 1);
    EXPECT(stage.run.strays.count == 0, "%s", "an access to all of it is noted");
    bounds_check(STAGE_MEMORY + 500, 201, true, 2);
    bounds_check(STAGE_MEMORY + 500, 201, true, 2);
    EXPECT(stage.run.strays.count == 1, "%u accesses are noted", stage.run.strays.count);
    struct vgpu_stray *stray = &stage.run.strays.list[0];
    EXPECT(stray->address == STAGE_MEMORY + 512 && stray->write && stray->bytes == 189,
           "noted are %u bytes at 0x%llx", stray->bytes, (unsigned long long)stray->address);
    EXPECT(strcmp(stray->where, "line 2") == 0, "it is at '%s'", stray->where);
    bounds_check(STAGE_MEMORY + VGPU_CHUNK_BYTES, 4096, true, 3);
    EXPECT(stage.run.strays.count == 1, "%s", "an access to a chunk that is allocated is noted");
}

UNIT(callbacks_look_at_bounds)
{
    stage_start();
    allocate_700_bytes();
    __tsan_read4(at(696));
    EXPECT(stage.run.strays.count == 0, "%s", "the last word that is allocated is noted");
    __tsan_read4(at(700));
    EXPECT(stage.run.strays.count == 1, "%s", "the first word that is not is not noted");
    stage.run.strict = true;
    EXPECT_FAULT(__tsan_write8(at(1024)), VGPU_FAULT_ADDRESS);
}

UNIT(a_runs_places_are_four_and_what_workers_noted_is_added)
{
    struct vgpu_stray theirs[2] = {{.pc = 100, .where = "line 100"}, {.pc = 1, .where = "line 1"}};
    stage_start();
    allocate_700_bytes();
    for (uint64_t pc = 1; pc <= 2; pc++)
        bounds_check(STAGE_MEMORY + 800, 4, false, pc);
    bounds_merge(&stage.run, theirs, 2);
    EXPECT(stage.run.strays.count == 3, "%u places", stage.run.strays.count);
    for (uint64_t pc = 3; pc <= 9; pc++)
        bounds_check(STAGE_MEMORY + 800, 4, false, pc);
    EXPECT(stage.run.strays.count == VGPU_STRAYS, "%u places", stage.run.strays.count);
}

/* ---- sweeps ---- */

enum { BITS = 5, NUMBERS = 1 << BITS };

/* The number as `how` compares it. */
static int compared(uint64_t value, enum vgpu_compare how)
{
    int number = (int)(value % NUMBERS);
    return how >= VGPU_SGT && number >= NUMBERS / 2 ? number - NUMBERS : number;
}

static bool goes_on(uint64_t value, uint64_t end, enum vgpu_compare how)
{
    int a = compared(value, how), b = compared(end, how);
    switch (how) {
    case VGPU_EQ:
        return a == b;
    case VGPU_NE:
        return a != b;
    case VGPU_UGT:
    case VGPU_SGT:
        return a > b;
    case VGPU_UGE:
    case VGPU_SGE:
        return a >= b;
    case VGPU_ULT:
    case VGPU_SLT:
        return a < b;
    default:
        return a <= b;
    }
}

/* 0: it never ends. */
static uint64_t rounds_counted(uint64_t first, uint64_t step, uint64_t end, enum vgpu_compare how)
{
    uint64_t rounds = 1;
    for (uint64_t value = first; goes_on(value, end, how); value += step)
        if (++rounds > NUMBERS)
            return 0;
    return rounds;
}

UNIT(rounds_of_a_loop_are_those_that_it_makes)
{
    uint32_t known = 0;
    stage_start();
    sweeps_allow(true);
    for (uint64_t how = VGPU_EQ; how <= VGPU_SLE; how++)
        for (uint64_t all = 0; all < NUMBERS * NUMBERS * NUMBERS; all++) {
            uint64_t first = all % NUMBERS, step = all / NUMBERS % NUMBERS, end = all >> 2 * BITS;
            uint64_t said = vgpu_rounds(first, first + step, end, VGPU_ROUNDS(how, BITS));
            uint64_t true_rounds = rounds_counted(first, step, end, (enum vgpu_compare)how);
            known += said != 0;
            EXPECT(said == 0 || said == true_rounds,
                   "from %llu by %llu to %llu, comparison %llu: %llu rounds, not %llu",
                   (unsigned long long)first, (unsigned long long)step, (unsigned long long)end,
                   (unsigned long long)how, (unsigned long long)said,
                   (unsigned long long)true_rounds);
        }
    EXPECT(known > 100000, "of only %u loops the rounds are known", known);
    EXPECT(vgpu_rounds(0, 3, 10, VGPU_ROUNDS(VGPU_ULT, 64)) == 5, "%s", "0, 3, 6, 9, 12");
    EXPECT(vgpu_rounds(0, 1, ~0ull, VGPU_ROUNDS(VGPU_ULE, 64)) == 0, "%s", "an endless loop ends");
    sweeps_allow(false);
    EXPECT(vgpu_rounds(0, 3, 10, VGPU_ROUNDS(VGPU_ULT, 64)) == 0, "%s",
           "sweeps are asked for though none are allowed");
}

/* `rounds` accesses of 4 bytes at these offsets hold. */
static bool holds(int64_t first, int64_t second, int64_t last, uint64_t rounds)
{
    return vgpu_sweep_holds(STAGE_MEMORY + (uint64_t)first, STAGE_MEMORY + (uint64_t)second,
                            STAGE_MEMORY + (uint64_t)last, rounds, VGPU_SWEEP(ACCESS_4, true));
}

UNIT(sweeps_hold_where_each_access_would_only_be_counted)
{
    stage_start();
    allocate_700_bytes();
    sweeps_allow(true);
    EXPECT(holds(0, 16, 160, 11) && holds(696, 692, 600, 25) && holds(8, 8, 8, 1000), "%s",
           "sweeps of what is allocated do not hold");
    EXPECT(holds(0, 8, 696, 88) && !holds(0, 8, 704, 89), "%s", "not as far as 700 bytes");
    EXPECT(!holds(704, 696, 8, 88), "%s",
           "the first address of a sweep downwards is not looked at");
    EXPECT(!holds(0, 16, 176, 11), "%s", "the last address is not that of an even step");
    EXPECT(!holds(2, 18, 162, 11) && !holds(0, 6, 60, 11), "%s", "misaligned ones hold");
    EXPECT(!holds(0, 1ll << 40, 0, 1 + (1ull << 24)), "%s", "a step that overflows holds");
    EXPECT(!holds(0, 1ll << 40, 1ll << 40, 2), "%s", "a sweep over two windows holds");
    access_look(true);
    EXPECT(!holds(0, 16, 160, 11), "%s", "a sweep holds though detectors look");
    access_look(false);
}

UNIT(sweeps_are_counted_as_their_accesses)
{
    struct vgpu_run_counts counts = {0};
    stage_start();
    vgpu_sweep_count(STAGE_MEMORY, 11, VGPU_SWEEP(ACCESS_8, true));
    vgpu_sweep_count(STAGE_MEMORY + 64, 5, VGPU_SWEEP(ACCESS_16, false));
    access_harvest(&counts);
    EXPECT(counts.write_bytes[0] == 88 && counts.read_bytes[0] == 80 && counts.accesses == 16,
           "%llu bytes written, %llu read, %llu accesses",
           (unsigned long long)counts.write_bytes[0], (unsigned long long)counts.read_bytes[0],
           (unsigned long long)counts.accesses);
}
