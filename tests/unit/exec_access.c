/* SPDX-License-Identifier: MIT
 * exec_access.c: what device code's accesses count, which of them end a kernel, and which go past
 * what is allocated.
 */
#include <string.h>

#include "bounds.h"
#include "counters.h"
#include "device_image.h"
#include "exec_stage.h"

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
