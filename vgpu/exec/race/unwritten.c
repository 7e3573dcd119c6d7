/* SPDX-License-Identifier: MIT
 * unwritten.c: see unwritten.h.
 */
#include "unwritten.h"

#include "bounds_table.h"
#include "hazard.h"
#include "race.h"
#include "race_shadow.h"

static bool all_poison(uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address & ~3ull; at < address + bytes; at += 4)
        if (!unwritten_word(at))
            return false;
    return true;
}

/* New device and shared memory is poisoned; other memory is not. */
static bool is_poisoned_kind(uint64_t address)
{
    uint64_t window = window_of(address);
    return window < VGPU_MAX_DEVICES || window == WINDOW_SHARED;
}

static bool is_outside(uint64_t address, uint64_t bytes)
{
    return window_of(address) < VGPU_MAX_GPUS && bounds_partial(address) &&
           address % VGPU_GRANULE_BYTES + bytes > bounds_granule(address);
}

void unwritten_read(uint64_t address, uint64_t bytes, uint64_t pc)
{
    if (!is_poisoned_kind(address) || !all_poison(address, bytes) || is_outside(address, bytes) ||
        race_was_stored(address))
        return;
    struct hazard h = {.diagnosis = VGPU_DIAGNOSIS_kernels_unwritten,
                       .address = address,
                       .bytes = bytes,
                       .second = {.pc = pc,
                                  .block = now.block->number,
                                  .thread = now.thread->number,
                                  .mode = (int)race_mode}};
    if (!hazard_is_told(&h))
        hazard_note(&h);
}
