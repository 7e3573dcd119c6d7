/* SPDX-License-Identifier: MIT
 * host_register.c: cudaHostRegister: the program's own pages become pinned memory at the address
 * that they have. They are replaced by pages of the process's host memfd, which contexts map at the
 * same address; unregistering brings them home.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host_range.h"

/* The pages become private again, with their contents, in one step. */
void vgpu__range_take_home(const struct vgpu__range *r)
{
    size_t all;
    void *first = (void *)(uintptr_t)vgpu__range_pages(r->address, r->bytes, &all);
    void *home = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (home == MAP_FAILED)
        return; /* they stay shared, which the program does not notice */
    memcpy(home, first, all);
    if (mremap(home, all, all, MREMAP_MAYMOVE | MREMAP_FIXED, first) == MAP_FAILED)
        munmap(home, all);
    atomic_fetch_sub(&vgpu__registered, 1);
}

/* Contents first, through the file (a system call says so where there is no memory); then the pages
 * are replaced by the file's. */
static cudaError_t hand_out(const char *call, uint64_t first, size_t all, uint64_t node)
{
    off_t offset = (off_t)(node - VGPU_HOST_VA);
    void *pages = (void *)(uintptr_t)first;
    for (size_t done = 0; done < all;) {
        ssize_t wrote =
            pwrite(vgpu__process.host_fd, (char *)pages + done, all - done, offset + (off_t)done);
        if (wrote <= 0)
            return vgpu__refuse(cudaErrorInvalidValue, call,
                                "the %zu bytes from %p on are not all memory that can be read: %s",
                                all, pages, strerror(errno));
        done += (size_t)wrote;
    }
    if (mmap(pages, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, vgpu__process.host_fd,
             offset) == MAP_FAILED)
        return vgpu__refuse(cudaErrorOperatingSystem, call, "cannot share %zu bytes at %p: %s", all,
                            pages, strerror(errno));
    return cudaSuccess;
}

static cudaError_t share(const char *call, uint64_t address, size_t bytes, unsigned int flags)
{
    const struct vgpu_reply *reply;
    size_t all;
    uint64_t first = vgpu__range_pages(address, bytes, &all);
    struct vgpu__range *r = malloc(sizeof *r);
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_ALLOC);
    if (!r || !request) {
        free(r);
        return vgpu__failed();
    }
    int physical = request->device;
    request->bytes = all;
    request->ptr = first;
    request->value = VGPU_HOST_REGISTERED;
    cudaError_t error = vgpu__end(&reply);
    uint64_t node = error == cudaSuccess ? reply->value : 0;
    if (error == cudaSuccess)
        error = hand_out(call, first, all, node);
    if (error == cudaSuccess) {
        vgpu__range_add(r, (struct vgpu__range){address, bytes, physical, flags, false,
                                                node + (address - first), NULL});
        atomic_fetch_add(&vgpu__registered, 1);
        return cudaSuccess;
    }
    if (node)
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
    if (!vgpu__begin(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (flags & cudaHostRegisterIoMemory)
        return vgpu__refuse(cudaErrorNotSupported, call, "memory of other devices is not modelled");
    if (!ptr || size == 0 || (flags & ~known) || __builtin_add_overflow(address, size, &end) ||
        vgpu__place(ptr) == VGPU__DEVICE)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%zu bytes of host memory at %p with flags %#x: expected a host "
                            "pointer, bytes, and flags of cudaHostRegister*",
                            size, ptr, flags);
    if (vgpu__range_overlaps(address, size))
        return vgpu__refuse(cudaErrorHostMemoryAlreadyRegistered, call,
                            "a page of the %zu bytes at %p is registered or pinned already", size,
                            ptr);
    return share(call, address, size, flags);
}

/* What is pending may use the memory: it is waited for before the pages go home. */
cudaError_t cudaHostUnregister(void *ptr)
{
    static const char call[] = "cudaHostUnregister";
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_FREE);
    if (!request)
        return vgpu__failed();
    struct vgpu__range *r = vgpu__range_take((uint64_t)(uintptr_t)ptr, true);
    uint64_t first, size;
    if (!r && vgpu__host_range(ptr, &first, &size) && first != (uint64_t)(uintptr_t)ptr)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%p is inside of registered memory: give its start, %#llx", ptr,
                            (unsigned long long)first);
    if (!r)
        return vgpu__refuse(cudaErrorHostMemoryNotRegistered, call,
                            "%p is not the start of registered memory", ptr);
    size_t all;
    uint64_t skip = r->address - vgpu__range_pages(r->address, r->bytes, &all),
             node = r->node - skip;
    request->ptr = node;
    request->flags = 1; /* only wait */
    cudaError_t error = vgpu__end(NULL);
    vgpu__range_unmap(r);
    free(r);
    vgpu__range_give_back(call, node);
    return error;
}
