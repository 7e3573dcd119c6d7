/* SPDX-License-Identifier: MIT
 * mapped_memory.c: memory mapped by this context, and the first touch of device memory.
 *
 * The node decides what a context may access and requests mappings; everything else is unmapped,
 * and faults: the MMU enforces peer access. Device memory is mapped with PROT_NONE at first; the
 * first touch of a chunk (2 MiB) arrives here as a fault. If no context has touched it before, it
 * is committed against the node's limit and poisoned; then its protection is opened.
 */
#include "mapped_memory.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "bounds_table.h"
#include "device_image.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

/* Sparse and large: away from the system's mmap area, where programs have the memory that
 * cudaHostRegister maps at the same address here. */
#define CONTROL_VA 0x390000000000ull

enum { MEMORY_HOST = -1, IMAGES_WITH_VARS = 64 };

struct mapping {
    uint64_t va, bytes, offset;
    int32_t memory; /* device, or MEMORY_HOST */
    bool writable;
    uint32_t torn;   /* VGPU_MAP_TEARS_STORES, VGPU_MAP_CLIPS_STORES, or 0 */
    uint8_t *opened; /* one flag per chunk; NULL: all are open */
    uint64_t opened_count;
};

static struct mapping *maps; /* by address */
static uint32_t map_count, map_room;
static struct mapping vars[IMAGES_WITH_VARS]; /* of images; the last ones if there are more */
static uint32_t var_count;
static uint64_t host_home;    /* of host memory's first byte */
static uint32_t *commit_lock; /* NULL: no other process commits chunks */
static uint32_t commit_self;

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

/* ---- committing a chunk ---- */

/* Poisons the parts of a chunk whose bits are not in `there`. Written through the file, not a
 * mapping: a system call for adjacent parts in place of a page fault for each page. */
static bool poison_rest(int fd, uint64_t offset, uint32_t there)
{
    static uint8_t pattern[VGPU_PART_BYTES];
    struct iovec part[VGPU_PARTS];
    if (pattern[0] != VGPU_POISON)
        memset(pattern, VGPU_POISON, sizeof pattern);
    for (unsigned i = 0; i < VGPU_PARTS; i++)
        part[i] = (struct iovec){pattern, sizeof pattern};
    for (unsigned first = 0, count; first < VGPU_PARTS; first += count + 1) {
        for (count = 0; first + count < VGPU_PARTS && !(there >> (first + count) & 1);)
            count++;
        if (count && pwritev(fd, part, (int)count, (off_t)(offset + first * sizeof pattern)) !=
                         (ssize_t)(count * sizeof pattern))
            return false;
    }
    return true;
}

/* Host memory that all devices' memory takes, as the operating system counts it. */
static uint64_t held_bytes(void)
{
    uint64_t sum = 0;
    struct stat info;
    for (int d = 0; d < context.device_count; d++)
        sum += fstat(context.memory_fd[d], &info) == 0 ? (uint64_t)info.st_blocks * 512 : 0;
    return sum;
}

/* The node maintains the limit; exceeding it is an error of the kernel here. */
static bool commit_locked(int32_t device, uint64_t chunk)
{
    struct vgpu_control *control = context.control;
    if (control->chunk[device][chunk])
        return true;
    if (held_bytes() + VGPU_CHUNK_BYTES > context.limits.memory_bytes ||
        !poison_rest(context.memory_fd[device], chunk * VGPU_CHUNK_BYTES,
                     control->parts[device][chunk]))
        return false;
    control->chunk[device][chunk] = 1;
    return true;
}

void memory_share(uint32_t *lock, uint32_t self)
{
    commit_lock = lock;
    commit_self = self;
}

static void lock_commits(void)
{
    uint32_t nobody = 0;
    while (commit_lock && !__atomic_compare_exchange_n(commit_lock, &nobody, commit_self, false,
                                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        nobody = 0;
        sched_yield();
    }
}

static void unlock_commits(void)
{
    if (commit_lock)
        __atomic_store_n(commit_lock, 0, __ATOMIC_RELEASE);
}

/* False: over the limit. */
static bool commit_chunk(int32_t device, uint64_t chunk)
{
    if (context.control->chunk[device][chunk])
        return true;
    lock_commits();
    bool done = commit_locked(device, chunk);
    unlock_commits();
    return done;
}

/* ---- mappings ---- */

/* Maps device memory in place of the pages of an image's variables, with their contents. */
static bool map_vars(const struct vgpu_exec_request *request, char *why, uint64_t room)
{
    int fd = context.memory_fd[request->memory];
    uint64_t first = request->offset / VGPU_CHUNK_BYTES;
    for (uint64_t i = 0; i < chunks_of(request->offset, request->bytes); i++)
        if (!commit_chunk(request->memory, first + i)) {
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
        map.opened = calloc(chunks_of(map.offset, map.bytes), 1);
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

enum touch memory_touch(uint64_t address)
{
    struct mapping *map = map_at(address);
    if (!map || !map->opened)
        return TOUCH_FAULT;
    uint64_t at = map->offset + (address - map->va), chunk = at / VGPU_CHUNK_BYTES;
    uint8_t *opened = &map->opened[chunk - map->offset / VGPU_CHUNK_BYTES];
    if (*opened)
        return TOUCH_FAULT;
    if (!commit_chunk(map->memory, chunk))
        return TOUCH_LIMIT;
    uint64_t bytes;
    void *va = chunk_part(map, chunk, &bytes);
    if (mprotect(va, bytes, map->writable ? PROT_READ | PROT_WRITE : PROT_READ) != 0)
        return TOUCH_LIMIT;
    /* Large arrays are mostly used whole: populate the pages at once. */
    if (map->bytes > VGPU_CHUNK_BYTES)
        madvise(va, bytes, map->writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
    *opened = 1;
    map->opened_count++;
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
        if (context.control->chunk[map->memory][first + i])
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
        memset(maps[i].opened, 0, chunks_of(maps[i].offset, maps[i].bytes));
        maps[i].opened_count = 0;
    }
}

bool memory_is_registered(uint64_t address)
{
    const struct mapping *map = map_at(address);
    return map && map->memory == MEMORY_HOST && window_of(address) > WINDOW_HOST;
}

/* Whether the first touch of [address, end) cannot exceed the limit. */
static bool is_committed(const struct mapping *map, uint64_t address, uint64_t end)
{
    uint64_t first = map->offset + (address - map->va);
    uint64_t last =
        map->offset + ((end < map->va + map->bytes ? end : map->va + map->bytes) - map->va);
    for (uint64_t at = first / VGPU_CHUNK_BYTES; at * VGPU_CHUNK_BYTES < last && map->opened; at++)
        if (!context.control->chunk[map->memory][at])
            return false;
    return true;
}

bool memory_allows(uint64_t address, uint64_t end, bool write)
{
    for (uint32_t i = map_position(address); address < end; i++) {
        if (i == map_count || maps[i].va > address || (write && !maps[i].writable) ||
            !is_committed(&maps[i], address, end))
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
                 "%s 0x%llx: no memory of a GPU (an ordinary host pointer?): kernels reach device "
                 "memory and pinned host memory",
                 verb, at);
    return text;
}
