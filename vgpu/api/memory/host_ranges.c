/* SPDX-License-Identifier: MIT
 * host_ranges.c: the table of the process's pinned, managed and registered host memory: addresses,
 * flags, and the device in whose context each range was made.
 */
#include "host_ranges.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t ranges_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu__range *ranges; /* guarded by ranges_lock */
atomic_int vgpu__registered;

uint64_t vgpu__page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

size_t vgpu__whole_pages(size_t bytes)
{
    return (bytes + vgpu__page_bytes() - 1) / vgpu__page_bytes() * vgpu__page_bytes();
}

uint64_t vgpu__range_pages(uint64_t address, size_t bytes, size_t *all)
{
    uint64_t first = address / vgpu__page_bytes() * vgpu__page_bytes();
    *all = vgpu__whole_pages(bytes + (address - first));
    return first;
}

bool vgpu__map_host(uint64_t address, size_t bytes)
{
    void *want = (void *)(uintptr_t)address;
    void *got = mmap(want, vgpu__whole_pages(bytes), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_FIXED_NOREPLACE, vgpu__process.host_fd,
                     (off_t)(address - VGPU_HOST_VA));
    if (got == want)
        return true;
    if (got != MAP_FAILED)
        munmap(got, vgpu__whole_pages(bytes));
    vgpu__message("host memory",
                  "cannot map %zu bytes at %p: %s; is something else mapped there, or is "
                  "the address space limited (ulimit -v)?",
                  bytes, want,
                  got == MAP_FAILED ? strerror(errno) : "the kernel chose another address");
    return false;
}

/* ---- the table ---- */

/* Returns the link to the range that begins at `address` or, if `inside`, contains it; the link is
 * NULL if there is none. The caller holds ranges_lock. */
static struct vgpu__range **find_range(uint64_t address, bool inside)
{
    struct vgpu__range **at = &ranges;
    for (; *at; at = &(*at)->next)
        if ((*at)->address == address ||
            (inside && address > (*at)->address && address - (*at)->address < (*at)->bytes))
            break;
    return at;
}

struct vgpu__range *vgpu__range_take(uint64_t address, bool registered_one)
{
    pthread_mutex_lock(&ranges_lock);
    struct vgpu__range **at = find_range(address, false), *found = *at;
    if (found && vgpu__range_is_registered(found) != registered_one)
        found = NULL;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&ranges_lock);
    return found;
}

struct vgpu__range *vgpu__range_take_of(int physical)
{
    pthread_mutex_lock(&ranges_lock);
    struct vgpu__range **at = &ranges;
    while (*at && (*at)->physical != physical)
        at = &(*at)->next;
    struct vgpu__range *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&ranges_lock);
    return found;
}

void vgpu__range_add(struct vgpu__range *r, struct vgpu__range range)
{
    *r = range;
    pthread_mutex_lock(&ranges_lock);
    r->next = ranges;
    ranges = r;
    pthread_mutex_unlock(&ranges_lock);
}

bool vgpu__range_overlaps(uint64_t address, size_t bytes)
{
    size_t all, other;
    uint64_t first = vgpu__range_pages(address, bytes, &all);
    bool found = false;
    pthread_mutex_lock(&ranges_lock);
    for (const struct vgpu__range *r = ranges; r; r = r->next) {
        uint64_t begin = vgpu__range_pages(r->address, r->bytes, &other);
        found = found || (first < begin + other && begin < first + all);
    }
    pthread_mutex_unlock(&ranges_lock);
    return found;
}

/* ---- queries ---- */

uint64_t vgpu__node_address(const void *pointer)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (atomic_load_explicit(&vgpu__registered, memory_order_relaxed) == 0)
        return address;
    pthread_mutex_lock(&ranges_lock);
    const struct vgpu__range *r = *find_range(address, true);
    if (r)
        address = r->node + (address - r->address);
    pthread_mutex_unlock(&ranges_lock);
    return address;
}

enum vgpu__place vgpu__place(const void *pointer)
{
    uint64_t address = vgpu__node_address(pointer);
    if (address >= VGPU_ARENA_VA && address < VGPU_ARENA_END)
        return VGPU__DEVICE;
    if (address >= VGPU_HOST_VA && address < VGPU_HOST_END)
        return VGPU__PINNED;
    return VGPU__PAGEABLE;
}

int vgpu__host_owner(const void *pointer)
{
    pthread_mutex_lock(&ranges_lock);
    const struct vgpu__range *r = *find_range((uint64_t)(uintptr_t)pointer, true);
    int physical = r ? r->physical : -1;
    pthread_mutex_unlock(&ranges_lock);
    return physical;
}

bool vgpu__managed(const void *pointer, size_t bytes)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    pthread_mutex_lock(&ranges_lock);
    const struct vgpu__range *r = *find_range(address, true);
    bool managed = r && r->managed && bytes <= r->bytes - (address - r->address);
    pthread_mutex_unlock(&ranges_lock);
    return managed;
}

bool vgpu__host_range(const void *pointer, uint64_t *base, uint64_t *bytes)
{
    pthread_mutex_lock(&ranges_lock);
    const struct vgpu__range *r = *find_range((uint64_t)(uintptr_t)pointer, true);
    if (r) {
        *base = r->address;
        *bytes = r->bytes;
    }
    pthread_mutex_unlock(&ranges_lock);
    return r != NULL;
}

bool vgpu__host_flags(const void *pointer, unsigned int *flags)
{
    pthread_mutex_lock(&ranges_lock);
    const struct vgpu__range *r = *find_range((uint64_t)(uintptr_t)pointer, true);
    if (r)
        *flags = r->managed ? cudaHostAllocMapped : r->flags;
    pthread_mutex_unlock(&ranges_lock);
    return r != NULL;
}
