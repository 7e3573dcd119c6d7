/* SPDX-License-Identifier: MIT
 * vmm.c: memory in three steps. Lab 06; the contract of each function is in lab06.h.
 *
 * cudaMalloc does everything at once: memory, addresses, and access for every GPU that
 * enables peer access. Here these are three things: an allocation has no address, addresses have no
 * memory, and access is given to each GPU. So one allocation can be shared and its neighbour not,
 * and a vector can grow without moving.
 */
#include "lab06.h"

#include <stdint.h>
#include <string.h>
#include <unistd.h>

// BEGIN SOLUTION
/* What we ask for: memory of one GPU that can be handed on as a descriptor. */
static CUmemAllocationProp memory_of(int device)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};
}

static CUresult allow(CUdeviceptr base, size_t bytes, int device, CUmemAccess_flags flags)
{
    CUmemAccessDesc who = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
                           .flags = flags};
    return cuMemSetAccess(base, bytes, &who, 1);
}

// END SOLUTION
int vmm_round(size_t bytes, const int *devs, int n, size_t *rounded)
{
    if (!devs || n < 1 || !rounded || bytes == 0)
        return LAB_EINVAL;
    // TODO(1): round up to what every one of the GPUs can allocate.  (about 30 lines with helpers)
    //   before: *rounded holds anything
    //   after:  *rounded is a multiple of each granularity, at least bytes, and no larger than
    //           needed
    //   use:    vmm_gpu, CUmemAllocationProp, cuMemGetAllocationGranularity with
    //           CU_MEM_ALLOC_GRANULARITY_MINIMUM (powers of two), vmm_result
    // BEGIN SOLUTION
    size_t largest = 1;
    int rc;
    for (int i = 0; i < n; i++) {
        size_t granule = 0;
        if ((rc = vmm_gpu(devs[i])))
            return rc;
        CUmemAllocationProp prop = memory_of(devs[i]);
        if ((rc = vmm_result(
                 cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM))))
            return rc;
        if (granule > largest) // powers of two: the largest is a multiple of all others
            largest = granule;
    }
    if (bytes > SIZE_MAX - (largest - 1))
        return LAB_ENOMEM;
    *rounded = (bytes + largest - 1) / largest * largest;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(1);
}

// BEGIN SOLUTION
/* Puts v->handle at addresses of its own, for GPU `dev` alone. What it did stands in *v, even when
 * it fails half-way. */
static int place(struct vmm *v, int dev)
{
    int rc;
    if ((rc = vmm_result(cuMemAddressReserve(&v->base, v->bytes, 0, 0, 0))))
        return rc;
    if ((rc = vmm_result(cuMemMap(v->base, v->bytes, 0, v->handle, 0))))
        return rc;
    return vmm_result(allow(v->base, v->bytes, dev, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

// END SOLUTION
int vmm_alloc(int dev, size_t bytes, struct vmm *v)
{
    if (!v)
        return LAB_EINVAL;
    // TODO(2): memory, addresses, the one at the other, and access.  (about 23 lines)
    //   before: *v holds anything
    //   after:  *v is complete, or as it was, and then nothing is left
    //   use:    vmm_round, cuMemCreate (requestedHandleTypes!), cuMemAddressReserve, cuMemMap,
    //           cuMemSetAccess; vmm_free on the way out
    // BEGIN SOLUTION
    struct vmm made = {.device = dev};
    int rc;
    if ((rc = vmm_round(bytes, &dev, 1, &made.bytes)))
        return rc;
    CUmemAllocationProp prop = memory_of(dev);
    if (!(rc = vmm_result(cuMemCreate(&made.handle, made.bytes, &prop, 0))))
        rc = place(&made, dev);
    if (rc)
        (void)vmm_free(&made);
    else
        *v = made;
    return rc;
    // END SOLUTION
    // STUB: (void)dev, (void)bytes;
    // STUB: TODO(2);
}

int vmm_share(const struct vmm *v, int peer, CUmemAccess_flags flags)
{
    if (!v || !v->base || peer == v->device)
        return LAB_EINVAL;
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return LAB_EINVAL;
    // TODO(3): let one GPU use one allocation.  (about 6 lines)
    //   before: the owner has access
    //   after:  peer has what flags say, all other GPUs have what they had
    //   use:    vmm_gpu, vmm_reach, cuMemSetAccess, vmm_result
    // BEGIN SOLUTION
    int rc;
    if ((rc = vmm_gpu(peer)) || (rc = vmm_reach(peer, v->device)))
        return rc;
    return vmm_result(allow(v->base, v->bytes, peer, flags));
    // END SOLUTION
    // STUB: TODO(3);
}

int vmm_free(struct vmm *v)
{
    CUresult first = CUDA_SUCCESS;
    if (!v)
        return LAB_EINVAL;
    // TODO(4): give everything back, once.  (about 7 lines)
    //   before: some or all of *v may be zero; an allocation need not be mapped yet
    //   after:  nothing of v is left, *v is all zero
    //   use:    cuMemUnmap (fine where nothing is mapped), cuMemAddressFree, cuMemRelease,
    //           vmm_first for each result, memset, vmm_result(first)
    // BEGIN SOLUTION
    // A failure does not stop the rest: what can be given back is given back.
    if (v->base) {
        first = vmm_first(first, cuMemUnmap(v->base, v->bytes));
        first = vmm_first(first, cuMemAddressFree(v->base, v->bytes));
    }
    if (v->handle)
        first = vmm_first(first, cuMemRelease(v->handle));
    memset(v, 0, sizeof *v);
    return vmm_result(first);
    // END SOLUTION
    // STUB: (void)first;
    // STUB: TODO(4);
}

// BEGIN SOLUTION
/* The same access as in the rest of the vector: the owner's and each sharer's. */
static int allow_part(const struct vvec *v, CUdeviceptr at, size_t bytes)
{
    int rc = vmm_result(allow(at, bytes, v->device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    for (int i = 0; i < v->sharers && !rc; i++)
        rc = vmm_result(allow(at, bytes, v->sharer[i].device, v->sharer[i].flags));
    return rc;
}

// END SOLUTION
int vec_grow(struct vvec *v, size_t bytes)
{
    if (!v || !v->base || bytes == 0)
        return LAB_EINVAL;
    if (bytes <= v->bytes)
        return LAB_OK;
    // TODO(5): one more part behind the others.  (about 30 lines: a helper may help)
    //   before: v->bytes are mapped from v->base on, v->reserved are reserved
    //   after:  v->bytes >= bytes, v->base is what it was; or nothing has changed
    //   use:    vmm_round for the bytes that are missing (the sharers' GPUs count too),
    //           cuMemCreate, cuMemMap, cuMemSetAccess; vec_undo on the way out
    // BEGIN SOLUTION
    CUmemGenericAllocationHandle part;
    int devs[1 + VVEC_SHARERS], rc;
    CUdeviceptr end = v->base + v->bytes;
    size_t more;
    devs[0] = v->device;
    for (int i = 0; i < v->sharers; i++)
        devs[1 + i] = v->sharer[i].device;
    if ((rc = vmm_round(bytes - v->bytes, devs, 1 + v->sharers, &more)))
        return rc;
    if (more > v->reserved - v->bytes || v->parts == VVEC_PARTS)
        return LAB_ERANGE;
    CUmemAllocationProp prop = memory_of(v->device);
    if ((rc = vmm_result(cuMemCreate(&part, more, &prop, 0))))
        return rc;
    if ((rc = vmm_result(cuMemMap(end, more, 0, part, 0))) || (rc = allow_part(v, end, more))) {
        vec_undo(end, more, part);
        return rc;
    }
    v->part[v->parts++] = part;
    v->bytes += more;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(5);
}

int vmm_export(const struct vmm *v, struct vmm_parcel *parcel)
{
    if (!v || !parcel || !v->handle)
        return LAB_EINVAL;
    // TODO(6): a descriptor for the allocation.  (about 5 lines)
    //   before: *parcel holds anything
    //   after:  *parcel names the allocation and says how long it is
    //   use:    cuMemExportToShareableHandle with CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR (its
    //           first argument is the address of an int), parcel_make
    // BEGIN SOLUTION
    int fd, rc;
    if ((rc = vmm_result(cuMemExportToShareableHandle(
             &fd, v->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))))
        return rc;
    return parcel_make(parcel, fd, v->bytes);
    // END SOLUTION
    // STUB: TODO(6);
}

// BEGIN SOLUTION
/* Whose memory it is, and can `dev` reach it? */
static int whose(struct vmm *v, int dev)
{
    CUmemAllocationProp prop;
    int rc = vmm_result(cuMemGetAllocationPropertiesFromHandle(&prop, v->handle));
    if (rc)
        return rc;
    v->device = prop.location.id;
    return vmm_reach(dev, v->device);
}

// END SOLUTION
int vmm_import(struct vmm_parcel *parcel, int dev, struct vmm *v)
{
    if (!parcel || !v || parcel->fd <= 0 || parcel->bytes == 0)
        return LAB_EINVAL;
    // TODO(6), second half: the allocation that a descriptor names.  (about 28 lines)
    //   before: *v holds anything; the descriptor is the caller's
    //   after:  *v is complete and the descriptor closed; or both are as they were
    //   use:    vmm_gpu, cuMemImportFromShareableHandle (it takes the descriptor itself, cast to a
    //           pointer), cuMemGetAllocationPropertiesFromHandle (whose memory), vmm_reach,
    //           what vmm_alloc does from the reservation on, vmm_free, parcel_drop
    // BEGIN SOLUTION
    struct vmm made = {.device = -1};
    int rc;
    if ((rc = vmm_gpu(dev)))
        return rc;
    made.bytes = parcel->bytes;
    if ((rc = vmm_result(cuMemImportFromShareableHandle(&made.handle, (void *)(intptr_t)parcel->fd,
                                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))))
        return rc;
    if (!(rc = whose(&made, dev)))
        rc = place(&made, dev);
    if (rc) {
        (void)vmm_free(&made);
        return rc;
    }
    parcel_drop(parcel);
    *v = made;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)dev;
    // STUB: TODO(6);
}
