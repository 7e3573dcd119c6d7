/* SPDX-License-Identifier: MIT
 * host_memory.c: pinned host memory. The node hands out ranges of the process's host memfd at
 * addresses of its own choosing; the process maps each at exactly that address, so that one pointer
 * is good in host code and in kernels.
 *
 * A table remembers what is mapped: flags, and what a device reset destroys.
 */
#define _GNU_SOURCE
#include "guard.h"
#include "host_range.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu__range *ranges; /* guarded by lock */
atomic_int vgpu__registered;

uint64_t vgpu__page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

size_t vgpu__whole_pages(size_t bytes)
{
    return (bytes + vgpu__page_bytes() - 1) / vgpu__page_bytes() * vgpu__page_bytes();
}

/* The pages that hold the range: the first, and how many bytes they have. */
uint64_t vgpu__range_pages(uint64_t address, size_t bytes, size_t *all)
{
    uint64_t first = address / vgpu__page_bytes() * vgpu__page_bytes();
    *all = vgpu__whole_pages(bytes + (address - first));
    return first;
}

static bool was_registered(const struct vgpu__range *r)
{
    return r->node != r->address;
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
    vgpu__say("host memory",
              "cannot map %zu bytes at %p: %s; is something else mapped there, or is "
              "the address space limited (ulimit -v)?",
              bytes, want,
              got == MAP_FAILED ? strerror(errno) : "the kernel chose another address");
    return false;
}

void vgpu__range_unmap(const struct vgpu__range *r)
{
    vgpu__guard_drop(r->address, r->bytes);
    if (was_registered(r))
        vgpu__range_take_home(r);
    else
        munmap((void *)(uintptr_t)r->address, vgpu__whole_pages(r->bytes));
}

/* Where the range is linked that begins at `address`, or also holds it where `inside`. The caller
 * holds the lock. */
static struct vgpu__range **find(uint64_t address, bool inside)
{
    struct vgpu__range **at = &ranges;
    for (; *at; at = &(*at)->next)
        if ((*at)->address == address ||
            (inside && address > (*at)->address && address - (*at)->address < (*at)->bytes))
            break;
    return at;
}

/* Takes the range that begins at `address` out of the table; NULL: there is none of the kind. */
struct vgpu__range *vgpu__range_take(uint64_t address, bool registered_one)
{
    pthread_mutex_lock(&lock);
    struct vgpu__range **at = find(address, false), *found = *at;
    if (found && was_registered(found) != registered_one)
        found = NULL;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Tells the node alone; the call that led here has its own result. */
void vgpu__range_give_back(const char *call, uint64_t address)
{
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_FREE);
    if (request) {
        request->ptr = address;
        vgpu__ask(-1, true, NULL);
    }
}

static struct vgpu__range *take_any_of(int physical)
{
    pthread_mutex_lock(&lock);
    struct vgpu__range **at = &ranges;
    while (*at && (*at)->physical != physical)
        at = &(*at)->next;
    struct vgpu__range *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

void vgpu__host_forget(int physical)
{
    struct vgpu__range *r;
    while ((r = take_any_of(physical)) != NULL) {
        vgpu__range_unmap(r);
        vgpu__range_give_back("cudaDeviceReset", r->node / vgpu__page_bytes() * vgpu__page_bytes());
        free(r);
    }
}

int vgpu__host_owner(const void *pointer)
{
    pthread_mutex_lock(&lock);
    const struct vgpu__range *r = *find((uint64_t)(uintptr_t)pointer, true);
    int physical = r ? r->physical : -1;
    pthread_mutex_unlock(&lock);
    return physical;
}

void vgpu__range_add(struct vgpu__range *r, struct vgpu__range range)
{
    *r = range;
    pthread_mutex_lock(&lock);
    r->next = ranges;
    ranges = r;
    pthread_mutex_unlock(&lock);
}

static cudaError_t remember(struct vgpu__range range)
{
    struct vgpu__range *r = malloc(sizeof *r);
    if (!r || !vgpu__map_host(range.address, range.bytes)) {
        free(r);
        return cudaErrorOperatingSystem;
    }
    vgpu__range_add(r, range);
    return cudaSuccess;
}

cudaError_t vgpu__host_allocate(const char *call, void **ptr, size_t bytes, unsigned int flags,
                                bool managed)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_ALLOC);
    if (!request)
        return vgpu__failed();
    int physical = request->device;
    request->bytes = bytes;
    request->flags = flags;
    request->value = managed ? VGPU_HOST_MANAGED : VGPU_HOST_PINNED;
    cudaError_t error = vgpu__end(&reply);
    if (error != cudaSuccess)
        return error;
    uint64_t address = reply->value;
    if (address == 0) {
        *ptr = NULL; /* 0 bytes */
        return cudaSuccess;
    }
    error = remember((struct vgpu__range){address, bytes, physical, flags, managed, address, NULL});
    if (error == cudaSuccess)
        *ptr = (void *)(uintptr_t)address;
    else
        vgpu__range_give_back(call, address);
    return vgpu__record(error);
}

static cudaError_t allocate(const char *call, void **ptr, size_t bytes, unsigned int flags)
{
    if (!ptr || (flags & ~(unsigned int)(cudaHostAllocPortable | cudaHostAllocMapped |
                                         cudaHostAllocWriteCombined)))
        return vgpu__begin(call, VGPU_OP_CONTEXT) ? vgpu__record(cudaErrorInvalidValue)
                                                  : vgpu__failed();
    return vgpu__host_allocate(call, ptr, bytes, flags | cudaHostAllocMapped, false); /* always */
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
    return allocate("cudaMallocHost", ptr, size, cudaHostAllocDefault);
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
    return allocate("cudaHostAlloc", pHost, size, flags);
}

/* The pages are unmapped first: once the node has them back it may hand the same range to another
 * thread, which then maps it. What the table does not know the node refuses, with the right code.
 */
cudaError_t vgpu__host_free(const char *call, void *ptr)
{
    struct vgpu_request *request = vgpu__begin(call, ptr ? VGPU_OP_HOST_FREE : VGPU_OP_CONTEXT);
    if (!request)
        return vgpu__failed();
    request->ptr = (uint64_t)(uintptr_t)ptr;
    struct vgpu__range *r = ptr ? vgpu__range_take(request->ptr, false) : NULL;
    if (r) {
        vgpu__range_unmap(r);
        free(r);
    }
    return vgpu__end(NULL);
}

cudaError_t cudaFreeHost(void *ptr)
{
    if (vgpu__managed(ptr, 0))
        return vgpu__refuse(cudaErrorInvalidValue, "cudaFreeHost",
                            "%p is managed memory: give it back with cudaFree", ptr);
    return vgpu__host_free("cudaFreeHost", ptr);
}

/* Does a page of [address, +bytes) belong to a range already? */
bool vgpu__range_overlaps(uint64_t address, size_t bytes)
{
    size_t all, other;
    uint64_t first = vgpu__range_pages(address, bytes, &all);
    bool found = false;
    pthread_mutex_lock(&lock);
    for (const struct vgpu__range *r = ranges; r; r = r->next) {
        uint64_t begin = vgpu__range_pages(r->address, r->bytes, &other);
        found = found || (first < begin + other && begin < first + all);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

uint64_t vgpu__node_address(const void *pointer)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (atomic_load_explicit(&vgpu__registered, memory_order_relaxed) == 0)
        return address;
    pthread_mutex_lock(&lock);
    const struct vgpu__range *r = *find(address, true);
    if (r)
        address = r->node + (address - r->address);
    pthread_mutex_unlock(&lock);
    return address;
}

/* ---- questions ---- */

bool vgpu__managed(const void *pointer, size_t bytes)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    pthread_mutex_lock(&lock);
    const struct vgpu__range *r = *find(address, true);
    bool managed = r && r->managed && bytes <= r->bytes - (address - r->address);
    pthread_mutex_unlock(&lock);
    return managed;
}

bool vgpu__host_range(const void *pointer, uint64_t *base, uint64_t *bytes)
{
    pthread_mutex_lock(&lock);
    const struct vgpu__range *r = *find((uint64_t)(uintptr_t)pointer, true);
    if (r) {
        *base = r->address;
        *bytes = r->bytes;
    }
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

/* Flags of the range that holds `pointer`; false: it is not pinned memory of this process. */
static bool look_up(const void *pointer, unsigned int *flags)
{
    pthread_mutex_lock(&lock);
    const struct vgpu__range *r = *find((uint64_t)(uintptr_t)pointer, true);
    if (r)
        *flags = r->managed ? cudaHostAllocMapped : r->flags;
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

static cudaError_t question(const char *call, const void *pointer, unsigned int *flags)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && atomic_load(&vgpu__process.forked))
        error = cudaErrorInitializationError;
    if (error != cudaSuccess)
        return vgpu__record(error);
    if (!look_up(pointer, flags))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%p is no pinned host memory of this process; it must come from "
                            "cudaMallocHost or cudaHostAlloc",
                            pointer);
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
    unsigned int unused;
    if (!pDevice || flags != 0)
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = question("cudaHostGetDevicePointer", pHost, &unused);
    if (error == cudaSuccess && vgpu__managed(pHost, 1))
        return vgpu__refuse(cudaErrorInvalidValue, "cudaHostGetDevicePointer",
                            "%p is managed memory: its address is the devices' already", pHost);
    if (error == cudaSuccess)
        *pDevice = pHost; /* one address for all */
    return error;
}

cudaError_t cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
    unsigned int flags;
    if (!pFlags)
        return vgpu__record(cudaErrorInvalidValue);
    cudaError_t error = question("cudaHostGetFlags", pHost, &flags);
    if (error == cudaSuccess)
        *pFlags = flags;
    return error;
}
