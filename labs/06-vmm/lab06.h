/* SPDX-License-Identifier: MIT
 * lab06.h: choosing what to share. The contract of the functions in vmm.c, and what comes with the
 * lab (given.c). Everything here is CUDA's driver API: cudaMalloc cannot do any of it.
 *
 * Rules for every function here:
 * - The result is LAB_OK (0) or one of the LAB_E... of lab.h. On an error the outputs keep what
 *   they held, and nothing is left behind: no allocation, no range of addresses, no mapping, no
 *   descriptor.
 * - LAB_ENOGPU: a device number that no GPU here has, negative ones too. LAB_EINVAL: a null
 *   pointer, 0 bytes, or an argument that makes no sense.
 * - No function needs a current context, and none changes it.
 */
#ifndef LAB06_H
#define LAB06_H

#include <stddef.h>

#include <cuda.h>

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One allocation and the addresses it is seen at. All zero: no allocation. */
struct vmm {
    int device;   /* in whose memory */
    size_t bytes; /* whole granules: what the caller asked for, rounded up */
    CUdeviceptr base;
    CUmemGenericAllocationHandle handle;
};

/* 1. The smallest size of at least `bytes` bytes that is a multiple of the allocation granularity
 * of each of the n GPUs in devs. LAB_EINVAL: n < 1, 0 bytes. LAB_ENOGPU. LAB_ENOMEM: no size_t is
 * that large. */
int vmm_round(size_t bytes, const int *devs, int n, size_t *rounded);

/* 2. Makes an allocation of at least `bytes` bytes in dev's memory that can be exported as a
 * descriptor, puts it at addresses of its own, and lets dev, and no other GPU, read and write it.
 * v->handle stays held: vmm_export needs it. LAB_ENOMEM: no memory or no addresses left. */
int vmm_alloc(int dev, size_t bytes, struct vmm *v);

/* 3. Says what GPU `peer` may do with v from now on: CU_MEM_ACCESS_FLAGS_PROT_READ, _READWRITE or
 * _NONE. All others' access stays as it is. LAB_EINVAL: nothing is allocated, other flags, or peer
 * is the owner. LAB_ENOPEER: peer cannot reach the owner's memory. */
int vmm_share(const struct vmm *v, int peer, CUmemAccess_flags flags);

/* 4. Unmaps, gives the addresses and the handle back, each once, and sets *v to zero. Fields that
 * are zero are passed over, so that half an allocation can be freed as well. */
int vmm_free(struct vmm *v);

#define VVEC_PARTS 32
#define VVEC_SHARERS 16

struct vmm_sharer {
    int device;
    CUmemAccess_flags flags;
};

/* A vector that grows in place: a long range of addresses, of which the first `bytes` are backed by
 * allocations, one behind the other. vec_open makes one, vec_close gives it back. */
struct vvec {
    int device;             /* all parts lie in its memory */
    CUdeviceptr base;       /* never changes */
    size_t reserved, bytes; /* addresses taken; of those, mapped */
    int parts, sharers;
    CUmemGenericAllocationHandle part[VVEC_PARTS];
    struct vmm_sharer sharer[VVEC_SHARERS]; /* besides the owner, who may read and write */
};

/* 5. Grows v to at least `bytes` bytes: one more allocation behind the others, which the owner may
 * read and write and every sharer may use as before. It holds what is missing, rounded up
 * (vmm_round) for the GPUs of the owner and all sharers, and no more. What was in the vector stays
 * where it is; nothing is copied. Does nothing when v has that many bytes already. LAB_ERANGE: more
 * than the reserved addresses or VVEC_PARTS. LAB_ENOMEM. On every error the vector is as it was. */
int vec_grow(struct vvec *v, size_t bytes);

/* An allocation under way to another process. Without a descriptor (fd is -1, or 0 in a struct that
 * is all zero) it is no parcel. */
struct vmm_parcel {
    int fd; /* names the allocation; never 0, which an import takes for a null pointer */
    size_t bytes;
};

/* 6. Makes a descriptor of v's allocation; it is the caller's, and parcel_drop closes it. v itself
 * must live until the other side has imported it. parcel->fd is above 0, even in a process whose
 * stdin is closed. LAB_EINVAL: nothing is allocated. LAB_ENOMEM: no descriptor is left. */
int vmm_export(const struct vmm *v, struct vmm_parcel *parcel);

/* Takes an allocation that came as a descriptor, in this process or another: puts it at addresses
 * of its own and lets GPU `dev`, and no other, read and write it through them. v->device is the
 * GPU whose memory it is. The descriptor is closed and parcel->fd set to -1; on an error the parcel
 * stays the caller's. LAB_EINVAL: no parcel. LAB_ENOGPU. LAB_ECUDA: the descriptor or the size is
 * not of such an allocation. LAB_ENOPEER: dev cannot reach that GPU's memory. */
int vmm_import(struct vmm_parcel *parcel, int dev, struct vmm *v);

/* ---- comes with the lab (given.c) ---- */

static inline int vmm_result(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return LAB_OK;
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_NO_DEVICE:
        return LAB_ENOGPU;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return LAB_ENOMEM;
    default:
        return LAB_ECUDA;
    }
}

/* The first failure of several calls: first = vmm_first(first, the next call's result). */
static inline CUresult vmm_first(CUresult first, CUresult next)
{
    return first == CUDA_SUCCESS ? next : first;
}

/* Starts the driver API; LAB_OK when there is a GPU of that number, else LAB_ENOGPU. */
int vmm_gpu(int device);

/* LAB_OK when GPU `from` can reach the memory of GPU `to` (its own, always), else LAB_ENOPEER. */
int vmm_reach(int from, int to);

/* Reserves at least `reserve` bytes of addresses for a vector of dev's that is empty still. */
int vec_open(struct vvec *v, int dev, size_t reserve);

/* Lets `peer` use the vector, now and as it grows. */
int vec_share(struct vvec *v, int peer, CUmemAccess_flags flags);
int vec_close(struct vvec *v);

/* Gives a new part back that could not be used: unmaps it from `at`, if it is mapped there, and
 * releases its handle. */
void vec_undo(CUdeviceptr at, size_t bytes, CUmemGenericAllocationHandle part);

/* Through a connected Unix socket (SCM_RIGHTS): the descriptor arrives as another number for the
 * same thing; the sender keeps its own. */
int parcel_send(int to, const struct vmm_parcel *parcel);
int parcel_recv(int from, struct vmm_parcel *parcel); /* LAB_EPEER: the other side is gone */
void parcel_drop(struct vmm_parcel *parcel);

/* Fills a parcel with a descriptor that is just made, under a number above 0. LAB_ENOMEM: there is
 * no other number; the descriptor is closed then. */
int parcel_make(struct vmm_parcel *parcel, int fd, size_t bytes);

/* The descriptor fd under a number above 0: 0 is moved, any other stays. -1: there is no other. */
int parcel_number(int fd);

#ifdef __cplusplus
}
#endif
#endif
