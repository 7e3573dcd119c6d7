/* SPDX-License-Identifier: MIT
 * runtime.h: all that a call of the runtime or the driver API may use: the rooms below, and what
 * calls of the runtime share.
 */
#ifndef VGPU_RUNTIME_H
#define VGPU_RUNTIME_H

#include "context.h"
#include "graph.h"
#include "host_ranges.h"
#include "work.h"

/* Whether this process has the primary context of a physical device; the node is asked where no
 * call of this process is known to have made one. */
bool vgpu__has_context(int physical);

/* What a reset of the device ends. */
void vgpu__host_forget(int physical);
void vgpu__limits_forget(int physical);

void vgpu__stream_attributes_forget(cudaStream_t stream); /* it is destroyed */

/* A range of the process's host memfd as cudaMallocHost and cudaMallocManaged give it, and its end.
 * bytes 0: *ptr becomes NULL. */
cudaError_t vgpu__host_allocate(const char *call, void **ptr, size_t bytes, unsigned int flags,
                                bool managed);
cudaError_t vgpu__host_free(const char *call, void *ptr);

/* Ends what the process sees of a range (false, errno: it cannot, and nothing has changed); tells
 * the node that it may have it: only if the process no longer sees it. */
bool vgpu__range_unmap(const struct vgpu__range *r);
void vgpu__range_give_back(const char *call, uint64_t address);
/* host_register.c: pages that were shared become the program's own again; false as above. */
bool vgpu__range_take_home(const struct vgpu__range *r);

/* Is this device memory within its reach: a peer's, mapped with access, or of a pool that lets it?
 */
bool vgpu__pointer_reached(int from, const struct vgpu_pointer *p);

/* Device code that a program has loaded (registration.c): row i of the record's kernels is kernel
 * i, and of its variables cell i, which is the shadow, and holds a managed variable's address. */
struct vgpu__loaded {
    const struct vgpu_fatbin *head;
    const struct vgpu_host_kernel *kernels;
    void *const *cells;
};
/* `record`: a struct vgpu_fatbin; it is copied. */
const struct vgpu__loaded *vgpu__load_record(const void *record);

/* A copy or a fill as the calls do it: checked, and sent or taken down by a capture. */
cudaError_t vgpu__copy(const struct vgpu__copy *copy);
cudaError_t vgpu__copy_peer(const struct vgpu__copy *copy, int dst_device, int src_device);
cudaError_t vgpu__fill(const char *call, const struct memset_call *set, cudaStream_t stream,
                       bool sync);

#endif
