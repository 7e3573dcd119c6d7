/* SPDX-License-Identifier: MIT
 * owner.c: see owner.h.
 */
#include "owner.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_memory.h"
#include "sealed.h"
#include "vmm.h"
#include "memory_state.h"

/* From this size on a system call is cheaper than a page fault for each page. */
#define HOST_WRITE_BYTES (64u << 10)

const char host_staging = 0, host_managed = 0, host_objects = 0;

bool owner_start(struct owner *owner, bool (*is_gone)(const struct owner *owner))
{
    int fd = memory_sealed_fd("vgpu-host", VGPU_HOST_BYTES);
    void *base = fd < 0 ? MAP_FAILED
                        : mmap(NULL, VGPU_HOST_BYTES, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) {
        int failed = errno;
        if (fd >= 0)
            close(fd);
        errno = failed;
        return false;
    }
    owner->host_fd = fd;
    owner->host_base = base;
    owner->map_version = 1;
    owner->is_gone = is_gone;
    arena_init(&owner->host, VGPU_DOOR_VA(0) - VGPU_HOST_VA, 4096, &memory_current->serials);
    owner->next = memory_current->owners;
    memory_current->owners = owner;
    return true;
}

void owner_end(struct owner *owner)
{
    struct owner **at = &memory_current->owners;
    while (*at != owner)
        at = &(*at)->next;
    *at = owner->next;
    munmap(owner->host_base, VGPU_HOST_BYTES);
    close(owner->host_fd);
    for (int i = 0; i < owner->host.count; i++)
        free((void *)host_alias(&owner->host.range[i]));
    arena_clear(&owner->host);
}

void owner_mappings_changed(struct owner *owner)
{
    owner->map_version++;
}

void owner_set_context(struct owner *owner, int device, bool exists)
{
    owner->context[device] = exists;
}

struct owner *owner_first(void)
{
    return memory_current->owners;
}

char *owner_status(struct owner *owner)
{
    return (char *)owner->host_base + (VGPU_STATUS_VA - VGPU_HOST_VA);
}

struct vgpu_door *owner_door(struct owner *owner, int number)
{
    return (void *)(owner->host_base + (VGPU_DOOR_VA(number) - VGPU_HOST_VA));
}

int owner_take_door(struct owner *owner)
{
    int slot = ~owner->thread_doors ? __builtin_ctzll(~owner->thread_doors) : -1;
    if (slot < 0)
        return 0;
    owner->thread_doors |= 1ull << slot;
    const int number = VGPU_DOORS_CONTEXTS + 2 * slot;
    vgpu_door_close(owner_door(owner, number));
    vgpu_door_close(owner_door(owner, number + 1));
    return number;
}

void owner_give_door(struct owner *owner, int number)
{
    if (number)
        owner->thread_doors &= ~(1ull << (number - VGPU_DOORS_CONTEXTS) / 2);
}

bool host_asked_for(const struct arena_range *range)
{
    return range->user != &host_staging && range->user != &host_objects;
}

const struct host_alias *host_alias(const struct arena_range *range)
{
    bool other = !range->user || range->user == &host_staging || range->user == &host_managed ||
                 range->user == &host_objects;
    return other ? NULL : range->user;
}

int memory_device_of(uint64_t address)
{
    if (address < VGPU_ARENA_VA || address >= VGPU_ARENA_END)
        return -1;
    if (vmm_address(address)) {
        const struct vmm_mapping *m = vmm_at(address);
        return m ? m->handle->allocation->device : -1;
    }
    return (int)((address - VGPU_ARENA_VA) / VGPU_DEVICE_STRIDE);
}

uint8_t *owner_view(struct owner *owner, uint64_t address, uint64_t bytes)
{
    if (sealed_is(address))
        return sealed_view(address, bytes);
    if (address >= VGPU_HOST_VA && address < VGPU_HOST_END)
        return bytes <= VGPU_HOST_END - address ? owner->host_base + (address - VGPU_HOST_VA)
                                                : NULL;
    return memory_view(address, bytes);
}

bool owner_write(struct owner *owner, uint64_t address, const uint8_t *bytes, uint64_t n)
{
    bool worth = n >= HOST_WRITE_BYTES && address >= VGPU_HOST_VA && address < VGPU_SEALED_VA &&
                 n <= VGPU_SEALED_VA - address;
    return worth && pwrite(owner->host_fd, bytes, n, (off_t)(address - VGPU_HOST_VA)) == (ssize_t)n;
}
