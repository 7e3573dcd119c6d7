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
    TODO(1);
}

int vmm_alloc(int dev, size_t bytes, struct vmm *v)
{
    if (!v)
        return LAB_EINVAL;
    // TODO(2): memory, addresses, the one at the other, and access.  (about 23 lines)
    //   before: *v holds anything
    //   after:  *v is complete, or as it was, and then nothing is left
    //   use:    vmm_round, cuMemCreate (requestedHandleTypes!), cuMemAddressReserve, cuMemMap,
    //           cuMemSetAccess; vmm_free on the way out
    (void)dev, (void)bytes;
    TODO(2);
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
    TODO(3);
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
    (void)first;
    TODO(4);
}

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
    TODO(5);
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
    TODO(6);
}

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
    (void)dev;
    TODO(6);
}
