/* SPDX-License-Identifier: MIT
 * mapped_memory.c: memory mapped by this context, and the first touch of device memory.
 *
 * The node decides what a context may access and requests mappings; everything else is unmapped,
 * and faults: the MMU enforces peer access. Device memory is mapped with PROT_NONE at first; the
 * first touch of a part of a chunk arrives here as a fault. What nobody has touched before is
 * committed against the node's limit and poisoned; then its protection is opened. Of a small
 * allocation that is one part, then a few around the touched one, then the chunk (2 MiB).
 */
#include "mapped_memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bounds_table.h"
#include "commit.h"
#include "device_image.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* Sparse and large: away from the system's mmap area, where programs have the memory that
 * cudaHostRegister maps at the same address here. */
#define CONTROL_VA 0x390000000000ull

enum { MEMORY_HOST = -1, IMAGES_WITH_VARS = 64, PARTS_AROUND = 4 };

struct mapping {
    uint64_t va, bytes, offset;
    int32_t memory; /* device, or MEMORY_HOST */
    bool writable;
    uint32_t torn;         /* VGPU_MAP_TEARS_STORES, VGPU_MAP_CLIPS_STORES, or 0 */
    uint32_t *opened;      /* bits of the open parts of each chunk; NULL: all is open */
    uint64_t opened_count; /* chunks with an open part */
};

static struct mapping *maps; /* by address */
static uint32_t map_count, map_room;
static struct mapping vars[IMAGES_WITH_VARS]; /* of images; the last ones if there are more */
static uint32_t var_count;
static uint64_t host_home; /* of host memory's first byte */

static const struct vgpu_exec_limits default_limits = {.sm_count = 132,
                                                       .threads_per_sm = 2048,
                                                       .blocks_per_sm = 32,
                                                       .cc_major = 9,
                                                       .shared_per_sm = 233472,
                                                       .shared_per_block = 232448,
                                                       .memory_bytes = UINT64_MAX};

static void default_to(void *value, const void *standard, size_t bytes)
{
    static const uint64_t zero;
    if (memcmp(value, &zero, bytes) == 0)
        memcpy(value, standard, bytes);
}

static void set_limits(const struct vgpu_exec_limits *asked)
{
    struct vgpu_exec_limits *limits = &context.limits;
    *limits = *asked;
    default_to(&limits->sm_count, &default_limits.sm_count, 4);
    default_to(&limits->threads_per_sm, &default_limits.threads_per_sm, 4);
    default_to(&limits->blocks_per_sm, &default_limits.blocks_per_sm, 4);
    default_to(&limits->cc_major, &default_limits.cc_major, 4);
    default_to(&limits->shared_per_sm, &default_limits.shared_per_sm, 8);
    default_to(&limits->shared_per_block, &default_limits.shared_per_block, 8);
    default_to(&limits->memory_bytes, &default_limits.memory_bytes, 8);
}

bool memory_attach(const struct vgpu_exec_request *request, const int *fds, int fd_count, char *why,
                   uint64_t room)
{
    int count = request->device_count;
    if (context.attached || count < 1 || count > VGPU_MAX_DEVICES || fd_count != count + 2 ||
        request->device < 0 || request->device >= count) {
        snprintf(why, room,
                 "ATTACH to device %d of %d with %d descriptors%s: it comes once, first, with one "
                 "descriptor a device, the host's and the control's",
                 request->device, count, fd_count, context.attached ? ", again" : "");
        return false;
    }
    void *control = mmap((void *)CONTROL_VA, sizeof *context.control, PROT_READ | PROT_WRITE,
                         MAP_SHARED, /* NOLINT */
                         fds[count + 1], 0);
    if (control == MAP_FAILED) {
        snprintf(why, room, "cannot map the control memory: %s", strerror(errno));
        return false;
    }
    context.attached = true;
    context.device = request->device;
    context.device_count = count;
    memcpy(context.memory_fd, fds, sizeof *fds * (size_t)count);
    context.host_fd = fds[count];
    context.control = control;
    if (!bounds_attach(fds[count + 1])) {
        snprintf(why, room, "cannot map the table of bounds at 0x%llx: %s", BOUNDS_PARTIAL_VA,
                 strerror(errno));
        return false;
    }
    set_limits(&request->limits);
    return true;
}

/* Index of the first mapping that ends behind `address`. */
static uint32_t map_position(uint64_t address)
{
    uint32_t low = 0, high = map_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (maps[middle].va + maps[middle].bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct mapping *map_at(uint64_t address)
{
    uint32_t i = map_position(address);
    return i < map_count && maps[i].va <= address ? &maps[i] : NULL;
}

static bool map_insert(struct mapping map)
{
    if (map_count == map_room) {
        uint32_t more = map_room ? 2 * map_room : 64;
        struct mapping *list = realloc(maps, more * sizeof *list);
        if (!list)
            return false;
        maps = list;
        map_room = more;
    }
    uint32_t at = map_position(map.va);
    memmove(&maps[at + 1], &maps[at], (map_count++ - at) * sizeof map);
    maps[at] = map;
    return true;
}

static uint64_t chunks_of(uint64_t offset, uint64_t bytes)
{
    return (offset + bytes - 1) / VGPU_CHUNK_BYTES - offset / VGPU_CHUNK_BYTES + 1;
}

/* ---- mappings ---- */

/* Maps device memory in place of the pages of an image's variables, with their contents. */
static bool map_vars(const struct vgpu_exec_request *request, char *why, uint64_t room)
{
    int fd = context.memory_fd[request->memory];
    uint64_t first = request->offset / VGPU_CHUNK_BYTES;
    for (uint64_t i = 0; i < chunks_of(request->offset, request->bytes); i++)
        if (!commit_parts(request->memory, first + i, WHOLE_CHUNK)) {
            snprintf(why, room, "no memory for %llu bytes of __device__ variables",
                     (unsigned long long)request->bytes);
            return false;
        }
    void *va = (void *)request->va; /* NOLINT */
    if (pwrite(fd, va, request->bytes, (off_t)request->offset) == (ssize_t)request->bytes &&
        mmap(va, request->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             (off_t)request->offset) != MAP_FAILED) {
        vars[var_count++ % IMAGES_WITH_VARS] = (struct mapping){.va = request->va,
                                                                .bytes = request->bytes,
                                                                .offset = request->offset,
                                                                .memory = request->memory,
                                                                .writable = true};
        return true;
    }
    snprintf(why, room, "cannot map __device__ variables: %s", strerror(errno));
    return false;
}

static bool map_range(const struct vgpu_exec_request *request, char *why, uint64_t room)
{
    bool host = request->memory == MEMORY_HOST;
    bool arrives =
        request->writable == VGPU_MAP_TEARS_STORES || request->writable == VGPU_MAP_CLIPS_STORES;
    uint32_t torn = arrives ? (uint32_t)request->writable : 0;
    bool lossy = torn || request->writable == VGPU_MAP_LOSES_STORES;
    int fd = host ? context.host_fd : context.memory_fd[request->memory];
    struct mapping map = {request->va,
                          request->bytes,
                          request->offset,
                          request->memory,
                          request->writable || host,
                          torn,
                          NULL,
                          0};
    if (!host)
        map.opened = calloc(chunks_of(map.offset, map.bytes), sizeof *map.opened);
    if ((host || map.opened) &&
        mmap((void *)map.va, map.bytes, host ? PROT_READ | PROT_WRITE : PROT_NONE, /* NOLINT */
             (lossy ? MAP_PRIVATE : MAP_SHARED) | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd,
             (off_t)map.offset) != MAP_FAILED) {
        if (map_insert(map))
            return true;
        munmap((void *)map.va, map.bytes); /* NOLINT */
        errno = ENOMEM;
    }
    snprintf(why, room, "cannot map %llu bytes of %s %d at 0x%llx: %s",
             (unsigned long long)map.bytes, host ? "host memory" : "device", map.memory,
             (unsigned long long)map.va,
             errno == EEXIST ? "something else lies there" : strerror(errno));
    free(map.opened);
    return false;
}

bool memory_map(const struct vgpu_exec_request *request, char *why, uint64_t room)
{
    bool known = request->memory == MEMORY_HOST ||
                 (request->memory >= 0 && request->memory < context.device_count);
    if (!known || request->bytes == 0 || (request->va | request->bytes | request->offset) % 4096) {
        snprintf(why, room,
                 "MAP of memory %d, %llu bytes from offset 0x%llx at 0x%llx: whole "
                 "pages of a device of this node, or of -1 (the host), are mapped",
                 request->memory, (unsigned long long)request->bytes,
                 (unsigned long long)request->offset, (unsigned long long)request->va);
        return false;
    }
    if (!request->fixed)
        return map_range(request, why, room);
    if (request->memory != MEMORY_HOST && image_holds_vars(request->va, request->bytes))
        return map_vars(request, why, room);
    snprintf(why, room,
             "MAP with `fixed` of %llu bytes at 0x%llx: no image has its variables there",
             (unsigned long long)request->bytes, (unsigned long long)request->va);
    return false;
}

bool memory_unmap(uint64_t va, uint64_t bytes, char *why, uint64_t room)
{
    uint32_t first = map_position(va), end = first;
    while (end < map_count && maps[end].va >= va && maps[end].va + maps[end].bytes <= va + bytes)
        end++;
    if (end == first || (end < map_count && maps[end].va < va + bytes)) {
        snprintf(why, room, "UNMAP of %llu bytes at 0x%llx: not one or more whole mappings",
                 (unsigned long long)bytes, (unsigned long long)va);
        return false;
    }
    for (uint32_t i = first; i < end; i++) {
        munmap((void *)maps[i].va, maps[i].bytes); /* NOLINT */
        free(maps[i].opened);
    }
    memmove(&maps[first], &maps[end], (map_count - end) * sizeof *maps);
    map_count -= end - first;
    return true;
}

/* ---- first touch ---- */

/* The part of a mapping that lies in a chunk: its address, and its size in *bytes. */
static void *chunk_part(const struct mapping *map, uint64_t chunk, uint64_t *bytes)
{
    uint64_t first = chunk * VGPU_CHUNK_BYTES, end = first + VGPU_CHUNK_BYTES;
    first = first > map->offset ? first : map->offset;
    end = end < map->offset + map->bytes ? end : map->offset + map->bytes;
    *bytes = end - first;
    return (void *)(map->va + (first - map->offset)); /* NOLINT */
}

/* What a touch of a part opens: little of a small allocation, large ones are mostly used whole. */
static uint32_t parts_to_open(const struct mapping *map, uint32_t opened, unsigned part)
{
    const uint32_t around = ((1u << PARTS_AROUND) - 1) << part / PARTS_AROUND * PARTS_AROUND;
    if (map->bytes > VGPU_CHUNK_BYTES || map->torn || __builtin_popcount(opened) > 1)
        return WHOLE_CHUNK;
    return opened ? around : 1u << part;
}

/* Gives parts of a chunk, which are adjacent, the mapping's protection. */
static bool open_parts(const struct mapping *map, uint64_t chunk, uint32_t parts)
{
    uint64_t bytes;
    const uint64_t va = (uint64_t)chunk_part(map, chunk, &bytes);
    const uint64_t chunk_va = map->va + (chunk * VGPU_CHUNK_BYTES - map->offset);
    uint64_t first = chunk_va + (unsigned)__builtin_ctz(parts) * VGPU_PART_BYTES;
    uint64_t end = chunk_va + (VGPU_PARTS - (unsigned)__builtin_clz(parts)) * VGPU_PART_BYTES;
    first = first > va ? first : va;
    end = end < va + bytes ? end : va + bytes;
    void *at = (void *)first; /* NOLINT */
    if (mprotect(at, end - first, map->writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0)
        return false;
    if (map->bytes > VGPU_CHUNK_BYTES) /* populate the pages at once */
        madvise(at, end - first, map->writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
    return true;
}

enum touch memory_touch(uint64_t address)
{
    struct mapping *map = map_at(address);
    if (!map || !map->opened)
        return TOUCH_FAULT;
    uint64_t at = map->offset + (address - map->va), chunk = at / VGPU_CHUNK_BYTES;
    unsigned part = (unsigned)(at % VGPU_CHUNK_BYTES / VGPU_PART_BYTES);
    uint32_t *opened = &map->opened[chunk - map->offset / VGPU_CHUNK_BYTES];
    if (*opened >> part & 1)
        return TOUCH_FAULT;
    const uint32_t parts = parts_to_open(map, *opened, part);
    if (!commit_parts(map->memory, chunk, parts) || !open_parts(map, chunk, parts))
        return TOUCH_LIMIT;
    map->opened_count += !*opened;
    *opened |= parts;
    return TOUCH_OPENED;
}

/* Delivers what arrives of each granule: its beginning, or all but the mapping's first bytes; drops
 * the context's own pages. */
static void deliver_chunk(const struct mapping *map, uint64_t chunk)
{
    uint64_t bytes;
    uint8_t there[VGPU_GRANULE_BYTES], *here = chunk_part(map, chunk, &bytes);
    size_t most = map->torn == VGPU_MAP_TEARS_STORES ? VGPU_TORN_BYTES : sizeof there;
    size_t lost =
        map->torn == VGPU_MAP_CLIPS_STORES && (uint64_t)here == map->va ? VGPU_CLIPPED_BYTES : 0;
    int fd = context.memory_fd[map->memory];
    off_t at = (off_t)(map->offset + ((uint64_t)here - map->va));
    for (uint64_t i = 0; i < bytes; i += VGPU_GRANULE_BYTES, lost = 0)
        if (pread(fd, there, most, at + (off_t)i) == (ssize_t)most &&
            memcmp(there + lost, here + i + lost, most - lost) != 0)
            (void)!pwrite(fd, here + i + lost, most - lost, at + (off_t)(i + lost));
    madvise(here, bytes, MADV_DONTNEED);
}

void memory_deliver_torn(void)
{
    for (struct mapping *map = maps; map < maps + map_count; map++)
        for (uint64_t i = 0; map->torn && i < chunks_of(map->offset, map->bytes); i++)
            if (map->opened[i])
                deliver_chunk(map, map->offset / VGPU_CHUNK_BYTES + i);
}

static void review_mapping(struct mapping *map)
{
    uint64_t first = map->offset / VGPU_CHUNK_BYTES, bytes;
    for (uint64_t i = 0, left = map->opened_count; left > 0; i++) {
        if (!map->opened[i])
            continue;
        left--;
        if (!(map->opened[i] & ~committed_parts(map->memory, first + i)))
            continue;
        void *va = chunk_part(map, first + i, &bytes);
        mprotect(va, bytes, PROT_NONE);
        map->opened[i] = 0;
        map->opened_count--;
    }
}

void memory_review(void)
{
    for (uint32_t i = 0; i < map_count; i++)
        if (maps[i].opened)
            review_mapping(&maps[i]);
}

void memory_reopen(void)
{
    for (uint32_t i = 0; i < map_count; i++) {
        if (!maps[i].opened_count)
            continue;
        mprotect((void *)maps[i].va, maps[i].bytes, PROT_NONE); /* NOLINT */
        memset(maps[i].opened, 0,
               chunks_of(maps[i].offset, maps[i].bytes) * sizeof *maps[i].opened);
        maps[i].opened_count = 0;
    }
}

bool memory_is_registered(uint64_t address)
{
    const struct mapping *map = map_at(address);
    return map && map->memory == MEMORY_HOST && window_of(address) > WINDOW_HOST;
}

/* The bits of a chunk's parts in [first, last), offsets. */
static uint32_t parts_between(uint64_t chunk, uint64_t first, uint64_t last)
{
    const uint64_t start = chunk * VGPU_CHUNK_BYTES, end = start + VGPU_CHUNK_BYTES;
    const uint64_t from = first > start ? (first - start) / VGPU_PART_BYTES : 0;
    const uint64_t to = ((last < end ? last : end) - 1 - start) / VGPU_PART_BYTES;
    return WHOLE_CHUNK << from & WHOLE_CHUNK >> (VGPU_PARTS - 1 - to);
}

/* Whether the first touch of [address, end) cannot exceed the limit. */
static bool may_touch(const struct mapping *map, uint64_t address, uint64_t end)
{
    uint64_t first = map->offset + (address - map->va), missing = 0;
    uint64_t last =
        map->offset + ((end < map->va + map->bytes ? end : map->va + map->bytes) - map->va);
    for (uint64_t at = first / VGPU_CHUNK_BYTES; at * VGPU_CHUNK_BYTES < last && map->opened; at++)
        missing += (unsigned)__builtin_popcount(parts_between(at, first, last) &
                                                ~committed_parts(map->memory, at));
    return missing == 0 || commit_has_room(missing * VGPU_PART_BYTES);
}

bool memory_allows(uint64_t address, uint64_t end, bool write)
{
    for (uint32_t i = map_position(address); address < end; i++) {
        if (i == map_count || maps[i].va > address || (write && !maps[i].writable) ||
            !may_touch(&maps[i], address, end))
            return false;
        address = maps[i].va + maps[i].bytes;
    }
    return true;
}

/* Of device or host memory, or of an image's variables. */
static const struct mapping *any_map_at(uint64_t address)
{
    for (uint32_t i = 0; i < var_count && i < IMAGES_WITH_VARS; i++)
        if (address - vars[i].va < vars[i].bytes)
            return &vars[i];
    return map_at(address);
}

bool memory_is_mapped(uint64_t address, uint64_t end, bool write)
{
    const struct mapping *map = any_map_at(address);
    return map && end <= map->va + map->bytes && (map->writable || !write);
}

#define HOME_OF(memory) ((uint64_t)(memory) << 44)

uint64_t memory_home(uint64_t address)
{
    struct stat info;
    const struct mapping *map = any_map_at(address);
    if (!map)
        return 0;
    if (map->memory != MEMORY_HOST)
        return HOME_OF(map->memory + 1) + map->offset + (address - map->va);
    if (!host_home && fstat(context.host_fd, &info) == 0)
        host_home = HOME_OF(VGPU_MAX_DEVICES + 1 + info.st_ino % (1 << 14));
    return host_home + map->offset + (address - map->va);
}

bool memory_home_is_host(uint64_t home)
{
    return home > HOME_OF(VGPU_MAX_DEVICES + 1);
}

const char *memory_describe(uint64_t address, bool write)
{
    static char text[200];
    const struct mapping *map = map_at(address);
    unsigned long long at = address;
    const char *verb = write ? "store to" : "load from";
    if (map)
        snprintf(text, sizeof text, "%s 0x%llx: this memory may only be read here", verb, at);
    else if (address < 1 << 20)
        snprintf(text, sizeof text, "%s 0x%llx: a null pointer", verb, at);
    else if (address >= VGPU_ARENA_VA && address < VGPU_ARENA_END)
        snprintf(text, sizeof text,
                 "%s 0x%llx: memory of GPU %d that GPU %d may not use: no peer access, freed, or "
                 "never allocated",
                 verb, at, (int)((address - VGPU_ARENA_VA) / VGPU_DEVICE_STRIDE), context.device);
    else if (address >= VGPU_HOST_VA && address < VGPU_HOST_END)
        snprintf(text, sizeof text, "%s 0x%llx: pinned host memory that is not allocated", verb,
                 at);
    else if (address >= WINDOW_VA(WINDOW_SHARED) && address < WINDOW_VA(WINDOW_STACK))
        snprintf(text, sizeof text, "%s 0x%llx: outside of the block's shared memory", verb, at);
    else
        snprintf(text, sizeof text,
                 "%s 0x%llx: not memory of a GPU (an ordinary host pointer?): kernels reach device "
                 "memory and pinned host memory",
                 verb, at);
    return text;
}
