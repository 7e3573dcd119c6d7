/* SPDX-License-Identifier: MIT
 * memory_state.c: see memory_state.h.
 */
#include "memory_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory_limit.h"

struct memory *memory_current;

int memory_sealed_fd(const char *name, uint64_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void *map_shared(int fd, uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Pages are used when they are written first. */
static bool make_patterns(struct memory *memory)
{
    memory->poison = aligned_alloc(VGPU_CHUNK_BYTES, VGPU_CHUNK_BYTES);
    memory->fill.chunk = aligned_alloc(VGPU_CHUNK_BYTES, VGPU_CHUNK_BYTES);
    return memory->poison && memory->fill.chunk;
}

static bool make_device(struct memory *memory, struct device_memory *m, uint64_t bytes)
{
    m->bytes = bytes / VGPU_CHUNK_BYTES * VGPU_CHUNK_BYTES;
    m->fd = memory_sealed_fd("vgpu-device", m->bytes);
    m->base = m->fd < 0 ? NULL : map_shared(m->fd, m->bytes);
    arena_init(&m->blocks, m->bytes, VGPU_CHUNK_BYTES, &memory->serials);
    return m->base;
}

static bool make_devices(struct memory *memory, const struct vgpu_node_info *info)
{
    memory->control_fd = memory_sealed_fd("vgpu-control", sizeof *memory->control);
    if (memory->control_fd >= 0)
        memory->control = map_shared(memory->control_fd, sizeof *memory->control);
    while (memory->control && memory->device_count < info->device_count &&
           make_device(memory, &memory->devices[memory->device_count],
                       info->device[memory->device_count].total_bytes))
        memory->device_count++;
    return memory->control && memory->device_count == info->device_count;
}

struct memory *memory_new(const struct vgpu_node_info *info, char *error, int error_room)
{
    struct memory *memory = calloc(1, sizeof *memory);
    if (!memory) {
        snprintf(error, (size_t)error_room, "%s", strerror(errno));
        return NULL;
    }
    memory->exported.ends = -1;
    if (!make_patterns(memory))
        snprintf(error, (size_t)error_room, "%s", strerror(errno));
    else if (!make_devices(memory, info))
        snprintf(error, (size_t)error_room,
                 "cannot map the memory of GPU %d (%llu bytes, sparse): %s; is the address space "
                 "limited (ulimit -v)?",
                 memory->device_count,
                 (unsigned long long)info->device[memory->device_count].total_bytes,
                 strerror(errno));
    else if ((memory->limit_bytes = memory_limit(error, error_room)) != 0)
        return memory;
    memory_end(memory);
    return NULL;
}

static void close_made(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void end_device(struct device_memory *m)
{
    if (m->base)
        munmap(m->base, m->bytes);
    if (m->bytes)
        close_made(m->fd);
    arena_clear(&m->blocks);
}

void memory_end(struct memory *memory)
{
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        end_device(&memory->devices[d]);
    if (memory->control)
        munmap(memory->control, sizeof *memory->control);
    free(memory->poison);
    free(memory->fill.chunk);
    free(memory->vmm.mappings);
    close_made(memory->control_fd);
    close_made(memory->exported.ends);
    arena_clear(&memory->vmm.ranges);
    if (memory_current == memory)
        memory_current = NULL;
    free(memory);
}

void memory_use(struct memory *memory)
{
    memory_current = memory;
}

int memory_start(const struct vgpu_node_info *info, char *error, int error_room)
{
    memory_use(memory_new(info, error, error_room));
    return memory_current ? 0 : -1;
}

struct device_memory *memory_of(int device)
{
    return &memory_current->devices[device];
}

int memory_control_fd(void)
{
    return memory_current->control_fd;
}

struct vgpu_control *memory_control(void)
{
    return memory_current->control;
}
