/* SPDX-License-Identifier: MIT
 * host_register.c: cudaHostRegister, which turns the program's own pages into pinned memory at the
 * same address. Pages of the process's host memfd, which contexts map at that address, replace
 * them; cudaHostUnregister restores private pages. Other threads may store to these pages
 * meanwhile, above all to data that shares a page with the range: page_swap.c makes sure that no
 * store is lost.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime.h"
#include "page_swap.h"

/* ---- claims: one thread at a time for each page ---- */

/* Pages that a thread is registering or unregistering; lies in that thread's stack frame. */
struct claim {
    uint64_t first;
    size_t bytes;
    struct claim *next;
};

static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static struct claim *claims; /* guarded by register_lock, which is taken before the table's lock */

static void add_claim(struct claim *claim, uint64_t address, size_t bytes)
{
    claim->first = vgpu__range_pages(address, bytes, &claim->bytes);
    claim->next = claims;
    claims = claim;
}

static void drop_claim(const struct claim *claim)
{
    pthread_mutex_lock(&register_lock);
    struct claim **at = &claims;
    while (*at != claim)
        at = &(*at)->next;
    *at = claim->next;
    pthread_mutex_unlock(&register_lock);
}

/* False: a page is already in the table or claimed by another thread. */
static bool claim_pages(struct claim *claim, uint64_t address, size_t bytes)
{
    size_t all;
    uint64_t first = vgpu__range_pages(address, bytes, &all);
    pthread_mutex_lock(&register_lock);
    bool taken = vgpu__range_overlaps(address, bytes);
    for (const struct claim *c = claims; c; c = c->next)
        taken = taken || (first < c->first + c->bytes && c->first < first + all);
    if (!taken)
        add_claim(claim, address, bytes);
    pthread_mutex_unlock(&register_lock);
    return !taken;
}

/* Removes the range that begins at `address` from the table and claims its pages; NULL: there is
 * none. */
static struct vgpu__range *take_claimed(struct claim *claim, uint64_t address)
{
    pthread_mutex_lock(&register_lock);
    struct vgpu__range *r = vgpu__range_take(address, true);
    if (r)
        add_claim(claim, r->address, r->bytes);
    pthread_mutex_unlock(&register_lock);
    return r;
}

/* ---- swapping pages out and home ---- */

bool vgpu__range_take_home(const struct vgpu__range *r)
{
    size_t all;
    uint64_t first = vgpu__range_pages(r->address, r->bytes, &all);
    if (!vgpu__swap_home(first, all))
        return false;
    atomic_fetch_sub(&vgpu__registered, 1);
    return true;
}

/* Writes one byte of each page to the host memfd, where the whole page is copied next: a system
 * call fails, instead of raising a signal, if a page is not readable. */
static bool pages_are_readable(uint64_t first, size_t all, off_t offset)
{
    const size_t page = vgpu__page_bytes();
    for (size_t done = 0; done < all;) {
        struct iovec byte[64];
        int count = 0;
        for (; done < all && count < 64; done += page)
            byte[count++] = (struct iovec){(void *)(uintptr_t)(first + done), 1};
        if (syscall(SYS_pwritev, vgpu__process.host_fd, byte, count, (long)offset, 0L) != count)
            return false;
    }
    return true;
}

/* Swaps the inner pages first and the first and last page on their own: these two may hold other
 * data as well, and a thread that stores to it then waits for the copy of one page only. *stays: on
 * failure, true if some pages could not be restored and remain pages of the memfd. */
static bool swap_range(uint64_t first, size_t all, off_t offset, bool *stays)
{
    const size_t page = vgpu__page_bytes();
    size_t inner = all > 2 * page ? all - 2 * page : 0;
    const struct {
        size_t at, bytes;
    } part[] = {{page, inner}, {0, page}, {all - page, all > page ? page : 0}};
    for (int i = 0; i < 3; i++) {
        if (part[i].bytes == 0 ||
            vgpu__swap_out(first + part[i].at, part[i].bytes, offset + (off_t)part[i].at))
            continue;
        int why = errno;
        while (--i >= 0)
            *stays |= part[i].bytes && !vgpu__swap_home(first + part[i].at, part[i].bytes);
        errno = why;
        return false;
    }
    return true;
}

static cudaError_t replace_pages(const char *call, uint64_t first, size_t all, uint64_t node,
                                 bool *stays)
{
    off_t offset = (off_t)(node - VGPU_HOST_VA);
    void *pages = (void *)(uintptr_t)first;
    if (!pages_are_readable(first, all, offset))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "the %zu bytes from %p on are not all memory that can be read: %s", all,
                            pages, strerror(errno));
    if (vgpu__swap_would_part(first, all))
        return vgpu__refuse(cudaErrorNotSupported, call,
                            "the %zu bytes from %p on lie in a MAP_SHARED mapping: other processes "
                            "would not see what GPUs write there. Here only private memory can be "
                            "registered; copy through memory of cudaMallocHost instead",
                            all, pages);
    if (!swap_range(first, all, offset, stays))
        return vgpu__refuse(cudaErrorOperatingSystem, call, "cannot share %zu bytes at %p: %s", all,
                            pages, strerror(errno));
    return cudaSuccess;
}

static cudaError_t share_pages(const char *call, uint64_t address, size_t bytes, unsigned int flags)
{
    const struct vgpu_reply *reply;
    size_t all;
    uint64_t first = vgpu__range_pages(address, bytes, &all);
    struct vgpu__range *r = malloc(sizeof *r);
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_ALLOC);
    if (!r || !request) {
        free(r);
        return request ? vgpu__no_memory(call) : vgpu__failed();
    }
    int physical = request->device;
    request->bytes = all;
    request->ptr = first;
    request->value = VGPU_HOST_REGISTERED;
    cudaError_t error = vgpu__end(&reply);
    uint64_t node = error == cudaSuccess ? reply->value : 0;
    bool stays = false;
    if (error == cudaSuccess)
        error = replace_pages(call, first, all, node, &stays);
    if (error == cudaSuccess) {
        vgpu__range_add(r, (struct vgpu__range){address, bytes, physical, flags, false,
                                                node + (address - first), NULL});
        atomic_fetch_add(&vgpu__registered, 1);
        return cudaSuccess;
    }
    if (node && !stays)
        vgpu__range_give_back(call, node);
    free(r);
    return error;
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
    static const char call[] = "cudaHostRegister";
    const unsigned int known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                               cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    uint64_t address = (uint64_t)(uintptr_t)ptr, end;
    if (!vgpu__admit(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (flags & cudaHostRegisterIoMemory)
        return vgpu__refuse(cudaErrorNotSupported, call, "memory of other devices is not modelled");
    if (!ptr || size == 0 || (flags & ~known) || __builtin_add_overflow(address, size, &end) ||
        vgpu__place(ptr) == VGPU__DEVICE)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%zu bytes of host memory at %p with flags %#x: expected a host "
                            "pointer, bytes, and flags of cudaHostRegister*",
                            size, ptr, flags);
    struct claim claim;
    if (!claim_pages(&claim, address, size))
        return vgpu__refuse(cudaErrorHostMemoryAlreadyRegistered, call,
                            "a page of the %zu bytes at %p is registered or pinned already", size,
                            ptr);
    cudaError_t error = share_pages(call, address, size, flags);
    drop_claim(&claim);
    return error;
}

/* Waits for pending work, which may use the memory, before the pages are restored. If they cannot
 * be, the range stays registered and the node keeps it, since GPUs still use it. */
static cudaError_t unregister_pages(const char *call, struct vgpu_request *request,
                                    struct vgpu__range *r)
{
    size_t all;
    uint64_t skip = r->address - vgpu__range_pages(r->address, r->bytes, &all),
             node = r->node - skip;
    request->ptr = node;
    request->flags = 1; /* wait only */
    cudaError_t error = vgpu__end(NULL);
    if (!vgpu__range_unmap(r)) {
        int why = errno;
        vgpu__range_add(r, *r);
        return vgpu__refuse(
            cudaErrorMemoryAllocation, call,
            "the %zu bytes at %p cannot be given back to the program, and stay registered: %s",
            r->bytes, (void *)(uintptr_t)r->address, strerror(why));
    }
    free(r);
    vgpu__range_give_back(call, node);
    return error;
}

cudaError_t cudaHostUnregister(void *ptr)
{
    static const char call[] = "cudaHostUnregister";
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_FREE);
    if (!request)
        return vgpu__failed();
    struct claim claim;
    struct vgpu__range *r = take_claimed(&claim, (uint64_t)(uintptr_t)ptr);
    uint64_t first, size;
    if (!r && vgpu__host_range(ptr, &first, &size) && first != (uint64_t)(uintptr_t)ptr)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%p is inside of registered memory: give its start, %#llx", ptr,
                            (unsigned long long)first);
    if (!r)
        return vgpu__refuse(cudaErrorHostMemoryNotRegistered, call,
                            "%p is not the start of registered memory", ptr);
    cudaError_t error = unregister_pages(call, request, r);
    drop_claim(&claim);
    return error;
}
