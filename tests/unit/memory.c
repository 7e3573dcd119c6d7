/* SPDX-License-Identifier: MIT
 * memory.c: device memory and the table of its bounds against a list of what is allocated.
 */
#include "device_memory.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "move.h"
#include "topology.h"
#include "unit.h"
#include "vmm.h"

enum { LIVE = 200, STEPS = 3000, OWNERS = 2 };

static struct topology topology;
static struct owner owners[OWNERS], *owner[OWNERS];
static struct {
    uint64_t at, bytes;
    int owner, device;
} live[LIVE];
static int live_count;

static void load_topology(void)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "teaching-4", error, sizeof error) ==
               0,
           "%s", error);
}

static void start(void)
{
    char error[512];
    load_topology();
    EXPECT(memory_start(&topology.info, error, sizeof error) == 0, "%s", error);
    for (int i = 0; i < OWNERS; i++) {
        owner[i] = &owners[i];
        *owner[i] = (struct owner){0};
        EXPECT(owner_start(owner[i], NULL), "%s", "no host memory");
    }
    live_count = 0;
}

static int at_address(uint64_t address)
{
    for (int i = 0; i < live_count; i++)
        if (address >= live[i].at && address - live[i].at < live[i].bytes)
            return i;
    return -1;
}

static void take(void)
{
    static const uint64_t sizes[] = {1, 512, 513, 4000, 100000, 1 << 20, 3 << 20, (2 << 20) + 5};
    int who = (int)unit_dice(OWNERS), device = (int)unit_dice(2);
    uint64_t bytes = sizes[unit_dice(8)] + unit_dice(3) * 256;
    uint64_t at = memory_take(owner[who], device, bytes, 0);
    EXPECT(at, "%llu bytes are not to be had", (unsigned long long)bytes);
    EXPECT(at % VGPU_GRANULE_BYTES == 0, "%#llx is not aligned", (unsigned long long)at);
    EXPECT((at - VGPU_ARENA_VA) / VGPU_DEVICE_STRIDE == (uint64_t)device, "%s", "another GPU's");
    for (int i = 0; i < live_count; i++)
        EXPECT(at + bytes <= live[i].at || at >= live[i].at + live[i].bytes,
               "%#llx+%llu overlaps %#llx+%llu", (unsigned long long)at, (unsigned long long)bytes,
               (unsigned long long)live[i].at, (unsigned long long)live[i].bytes);
    live[live_count].at = at;
    live[live_count].bytes = bytes;
    live[live_count].owner = who;
    live[live_count++].device = device;
}

static void give(int i)
{
    EXPECT(!memory_give(owner[1 - live[i].owner], live[i].at), "%s", "another program frees it");
    EXPECT(!memory_give(owner[live[i].owner], live[i].at + VGPU_GRANULE_BYTES / 2), "%s",
           "freed by an address inside of it");
    EXPECT(memory_give(owner[live[i].owner], live[i].at), "%s", "it is not freed");
    EXPECT(!memory_give(owner[live[i].owner], live[i].at), "%s", "it is freed twice");
    live[i] = live[--live_count];
}

static void check_find(uint64_t address)
{
    struct pointee p;
    int i = at_address(address);
    bool found = memory_find(address, &p);
    EXPECT(found == (i >= 0), "%#llx %s", (unsigned long long)address,
           found ? "is found and is not allocated" : "is allocated and is not found");
    EXPECT(!found || (p.base == live[i].at && p.bytes == live[i].bytes &&
                      p.owner == owner[live[i].owner] && p.device == live[i].device),
           "%#llx is another allocation's", (unsigned long long)address);
}

/* Bytes of the granule at `address` that are allocated, by the table that contexts look at. */
static uint64_t allowed(uint64_t address)
{
    const struct vgpu_control *c = memory_control();
    if (!c->partial[(address - VGPU_ARENA_VA) / VGPU_CHUNK_BYTES])
        return VGPU_GRANULE_BYTES;
    return c->tail[(address - VGPU_ARENA_VA) / VGPU_GRANULE_BYTES];
}

/* The granules of the chunk in which allocation `i` ends. */
static void check_bounds(int i)
{
    uint64_t end = live[i].at + live[i].bytes,
             first = (end - 1) / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    for (uint64_t at = first; at < first + VGPU_CHUNK_BYTES; at += VGPU_GRANULE_BYTES) {
        int there = at_address(at);
        uint64_t left = there < 0 ? 0 : live[there].at + live[there].bytes - at;
        uint64_t right = left < VGPU_GRANULE_BYTES ? left : VGPU_GRANULE_BYTES;
        EXPECT(allowed(at) == right, "%#llx: %llu bytes may be used, %llu are allocated",
               (unsigned long long)at, (unsigned long long)allowed(at), (unsigned long long)right);
    }
}

static void check_counts(void)
{
    for (int who = 0; who < OWNERS; who++) {
        int count = 0;
        uint64_t bytes;
        for (int i = 0; i < live_count; i++)
            count += live[i].owner == who;
        EXPECT(memory_count(owner[who], &bytes) == count, "%d allocations, not %d",
               memory_count(owner[who], &bytes), count);
    }
}

UNIT(memory_is_what_was_taken)
{
    start();
    unit_seed(7);
    for (int step = 0; step < STEPS; step++) {
        bool rises = step / 400 % 2 == 0;
        if (live_count == 0 || (live_count < LIVE && unit_dice(10) < (rises ? 7 : 3)))
            take();
        else
            give((int)unit_dice((uint64_t)live_count));
        check_find(VGPU_DEVICE_VA(unit_dice(2)) + unit_dice(64 << 20));
        if (live_count) {
            int i = (int)unit_dice((uint64_t)live_count);
            check_find(live[i].at + unit_dice(live[i].bytes));
            check_find(live[i].at + live[i].bytes);
            if (step % 20 == 0)
                check_bounds(i);
        }
        if (step % 50 == 0)
            check_counts();
    }
    memory_give_all(owner[0], -1);
    memory_give_all(owner[1], -1);
    EXPECT(memory_used_bytes(0) == 0 && memory_used_bytes(1) == 0, "%s", "something is left");
}

/* Blocks that an allocation looks at, on the average. `bytes` leave a gap behind, or none, in each
 * block; every other one is as large as a block. */
static uint64_t looks_per_take(int takes, uint64_t bytes)
{
    uint64_t before = memory_of(0)->looks;
    for (int i = 0; i < takes; i++) {
        EXPECT(memory_take(owner[0], 0, bytes, 0), "no room for the %d.", i);
        EXPECT(i % 2 || memory_take(owner[0], 0, VGPU_CHUNK_BYTES, 0), "no block %d", i);
    }
    memory_give_all(owner[0], -1);
    return (memory_of(0)->looks - before) / (uint64_t)takes;
}

UNIT(small_allocations_look_at_few_blocks)
{
    static const uint64_t sizes[] = {512, 700 << 10, 1 << 20};
    start();
    for (int i = 0; i < 3; i++) {
        uint64_t few = looks_per_take(500, sizes[i]), many = looks_per_take(2000, sizes[i]);
        EXPECT(few <= 4 && many <= 4, "%llu bytes: %llu and %llu blocks an allocation",
               (unsigned long long)sizes[i], (unsigned long long)few, (unsigned long long)many);
    }
}

static bool is_poison(uint64_t from, uint64_t to)
{
    const uint8_t *bytes = memory_view(from, to - from);
    for (uint64_t i = 0; bytes && i < to - from; i++)
        if (bytes[i] != VGPU_POISON)
            return false;
    return bytes != NULL;
}

/* What the node touches of a chunk takes little memory, and what it did not write is poison. */
UNIT(a_chunk_is_committed_in_parts)
{
    enum { SMALL = 4096, FAR = 700 << 10 };
    start();
    uint64_t held = memory_held_bytes();
    uint64_t first = memory_take(owner[0], 0, SMALL, 0), far = memory_take(owner[0], 0, FAR, 0);
    uint64_t last = memory_take(owner[0], 0, SMALL, 0), end = last + SMALL;
    uint8_t mark[SMALL];
    bool filled;
    memset(mark, 7, sizeof mark);
    EXPECT(!memory_target(first, mark, SMALL, &filled) && filled, "%s", "it is not fresh");
    *memory_view(last, 1) = 9;
    EXPECT(memory_held_bytes() - held <= 3 * VGPU_PART_BYTES, "%llu bytes for two small ones",
           (unsigned long long)(memory_held_bytes() - held));
    EXPECT(memcmp(memory_view(first, SMALL), mark, SMALL) == 0, "%s", "the contents are lost");
    EXPECT(is_poison(far, last) && is_poison(last + 1, end), "%s", "something is not poison");
    memset(memory_view(far, FAR), 5, FAR);
    EXPECT(*memory_view(last, 1) == 9, "%s", "a part is poisoned twice");
    EXPECT(memory_give(owner[0], far) && memory_take(owner[0], 0, FAR, 0) == far, "%s", "no room");
    EXPECT(is_poison(far, last), "%s", "what was taken again is not poison");
    memory_give_all(owner[0], -1);
}

/* First fit all the same: the lowest of the places that were freed is taken first. */
UNIT(small_allocations_fill_what_was_freed)
{
    enum { MANY = 64, BYTES = 1 << 20 };
    uint64_t at[MANY];
    start();
    for (int i = 0; i < MANY; i++)
        at[i] = memory_take(owner[0], 0, BYTES, 0);
    for (int i = MANY / 2 - 1; i > 0; i -= 3) {
        EXPECT(memory_give(owner[0], at[i]) && memory_give(owner[0], at[MANY - i]), "%d", i);
        EXPECT(memory_take(owner[0], 0, BYTES, 0) == at[i], "place %d is passed over", i);
        EXPECT(memory_take(owner[0], 0, BYTES, 0) == at[MANY - i], "place %d", MANY - i);
    }
    memory_give_all(owner[0], -1);
}

UNIT(freed_memory_is_remembered)
{
    struct pointee p;
    start();
    uint64_t at = memory_take(owner[0], 0, 1000, 0);
    EXPECT(!bounds_freed(at, &p), "%s", "it is live");
    EXPECT(memory_give(owner[0], at), "%s", "not freed");
    EXPECT(bounds_freed(at + 999, &p) && p.base == at && p.bytes == 1000, "%s", "it is forgotten");
    EXPECT(!bounds_freed(at + 1000, &p), "%s", "what is behind it was never allocated");
}

/* ---- copies ---- */

static enum moved copy_bytes_of(uint64_t to, uint64_t from, uint64_t bytes)
{
    const struct vgpu_copy copy = {.dst = to, .src = from, .bytes = bytes, .rows = 1};
    return move_copy(owner[0], &copy);
}

/* Memory that was never used is poison and has no pages, and a copy of it gives none to others. */
UNIT(copies_of_unused_memory_use_none)
{
    enum { BYTES = 3 << 20, PART = 1 << 20 };
    start();
    uint64_t from = memory_take(owner[0], 0, BYTES, 0), to = memory_take(owner[0], 1, BYTES, 0);
    EXPECT(from && to && copy_bytes_of(to, from, BYTES) == MOVED, "%s", "no memory");
    EXPECT(memory_untouched(from, BYTES) && memory_untouched(to, BYTES), "%s", "it has pages now");
    memset(memory_view(from, 1), 7, 1);
    EXPECT(copy_bytes_of(to, from, PART) == MOVED && *memory_view(to, 1) == 7, "%s", "not copied");
    EXPECT(*memory_view(to + PART, 1) == VGPU_POISON, "%s", "no poison behind the copied bytes");
    *memory_view(to + BYTES - 1, 1) = 7;
    EXPECT(copy_bytes_of(to + BYTES - 1, from + BYTES - 1, 1) == MOVED, "%s", "no memory");
    EXPECT(*memory_view(to + BYTES - 1, 1) == VGPU_POISON && memory_untouched(from + BYTES - 1, 1),
           "%s", "poison is not copied over what was stored");
    memory_give_all(owner[0], -1);
}

/* ---- mappings ---- */

enum { PLACES = 100 };

/* The lowest mapped place from `place` on; PLACES: none. */
static uint64_t next_mapped(const bool *mapped, uint64_t place)
{
    while (place < PLACES && !mapped[place])
        place++;
    return place;
}

static void check_mappings(const bool *mapped, uint64_t start_va)
{
    const struct vmm_mapping *m = vmm_first(start_va);
    for (uint64_t i = 0; i < PLACES; i++) {
        const uint64_t va = start_va + i * VGPU_CHUNK_BYTES, next = next_mapped(mapped, i);
        const struct vmm_mapping *found = vmm_first(va + VGPU_CHUNK_BYTES - 1);
        EXPECT(found ? found->va == start_va + next * VGPU_CHUNK_BYTES : next == PLACES,
               "not the first mapping from place %llu on", (unsigned long long)i);
        EXPECT(!!vmm_at(va) == mapped[i], "place %llu", (unsigned long long)i);
        if (mapped[i]) {
            EXPECT(m && m->va == va, "the chain has not place %llu", (unsigned long long)i);
            m = m->next;
        }
    }
    EXPECT(!m, "%s", "the chain has more than what is mapped");
}

/* Places of a range are mapped and unmapped in a random order. */
UNIT(mappings_are_found_by_address)
{
    bool mapped[PLACES] = {false};
    start();
    struct vmm_handle *handle = vmm_create(owner[0], 0, VGPU_CHUNK_BYTES, 0);
    uint64_t va = vmm_reserve(owner[0], PLACES * VGPU_CHUNK_BYTES, VGPU_CHUNK_BYTES);
    EXPECT(handle && va, "%s", "no room");
    unit_seed(11);
    for (int step = 0; step < 1000; step++) {
        const uint64_t place = unit_dice(PLACES), at = va + place * VGPU_CHUNK_BYTES;
        if (mapped[place])
            vmm_unmap(vmm_at(at));
        else if (vmm_map(handle, at))
            vmm_allow(vmm_first(at), 0, 3);
        mapped[place] = !mapped[place];
        check_mappings(mapped, va);
    }
    vmm_end(owner[0]);
    EXPECT(!vmm_first(0) && vmm_count(owner[0]) == 0, "%s", "something is left");
}

/* ---- two memories ---- */

/* The first allocation of a memory, one chunk large. */
static uint64_t take_first(struct memory *memory, struct owner *of)
{
    memory_use(memory);
    *of = (struct owner){0};
    EXPECT(owner_start(of, NULL), "%s", "no host memory");
    uint64_t at = memory_take(of, 0, VGPU_CHUNK_BYTES, 0);
    EXPECT(at, "%s", "no device memory");
    return at;
}

static void give_all(struct memory *memory, struct owner *of)
{
    memory_use(memory);
    memory_give_all(of, -1);
    owner_end(of);
    memory_end(memory);
}

static struct memory *new_memory(void)
{
    char error[512];
    struct memory *memory = memory_new(&topology.info, error, sizeof error);
    EXPECT(memory, "%s", error);
    return memory;
}

/* NULL: what is stored to the same address of `second` changes nothing in `first`. */
static const char *check_apart(struct memory *first, struct memory *second, uint64_t at)
{
    memory_use(first);
    *memory_view(at, 1) = 1;
    memory_use(second);
    *memory_view(at, 1) = 2;
    memory_use(first);
    return *memory_view(at, 1) == 1 ? NULL : "a store to one memory is seen in the other";
}

/* The serial number of the allocation at this address of `memory`. */
static uint64_t serial_at(struct memory *memory, uint64_t at)
{
    struct pointee found;
    memory_use(memory);
    EXPECT(memory_find(at, &found), "%s", "no allocation");
    return found.serial;
}

UNIT(memories_are_apart)
{
    struct pointee found;
    load_topology();
    struct memory *first = new_memory(), *second = new_memory();
    uint64_t at = take_first(first, &owners[0]);
    EXPECT(at == take_first(second, &owners[1]), "%s", "two new memories begin at two addresses");
    EXPECT(serial_at(first, at) == serial_at(second, at), "%s",
           "a memory's allocations are numbered after those of the other one");
    const char *wrong = check_apart(first, second, at);
    EXPECT(!wrong, "%s", wrong);
    REJECTS(check_apart(first, first, at), "one memory for both");
    memory_use(second);
    EXPECT(memory_find(at, &found) && found.owner == &owners[1] && owner_first() == &owners[1],
           "%s", "another memory's allocation is found");
    memory_give(&owners[1], at);
    memory_use(first);
    EXPECT(memory_find(at, &found) && !bounds_freed(at, &found), "%s",
           "what the other memory gave back is gone in this one");
    give_all(first, &owners[0]);
    give_all(second, &owners[1]);
}
