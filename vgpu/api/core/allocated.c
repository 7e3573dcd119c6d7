/* SPDX-License-Identifier: MIT
 * allocated.c: a record of what this process allocated on GPUs, for the SIGSEGV handler, which must
 * not send a request to the node. A ring of SLOTS entries that are written and read without locks;
 * a new entry overwrites the oldest.
 */
#include "core.h"

enum { SLOTS = 4096 };

struct slot {
    _Atomic uint64_t address; /* 0: the slot is empty or being written */
    uint64_t bytes, caller;
    _Atomic bool freed;
};

static struct slot slots[SLOTS];
static _Atomic uint64_t slots_taken;

void vgpu__allocated(uint64_t address, uint64_t bytes)
{
    struct slot *slot = &slots[atomic_fetch_add(&slots_taken, 1) % SLOTS];
    if (address == 0)
        return;
    atomic_store(&slot->address, 0);
    slot->bytes = bytes;
    slot->caller = vgpu__caller();
    atomic_store(&slot->freed, false);
    atomic_store(&slot->address, address);
}

/* The newest slot whose allocation holds `address`; NULL if there is none. */
static struct slot *slot_at(uint64_t address)
{
    uint64_t count = atomic_load(&slots_taken);
    for (uint64_t i = 0; i < SLOTS && i < count; i++) {
        struct slot *slot = &slots[(count - 1 - i) % SLOTS];
        uint64_t base = atomic_load(&slot->address);
        if (base && address >= base && address - base < slot->bytes)
            return slot;
    }
    return NULL;
}

void vgpu__freed(uint64_t address)
{
    struct slot *slot = slot_at(address);
    if (slot)
        atomic_store(&slot->freed, true);
}

bool vgpu__allocation_at(uint64_t address, struct vgpu__allocation *out)
{
    const struct slot *slot = slot_at(address);
    if (!slot)
        return false;
    *out = (struct vgpu__allocation){
        .base = slot->address, .bytes = slot->bytes, .caller = slot->caller, .freed = slot->freed};
    return true;
}
