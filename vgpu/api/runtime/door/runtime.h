/* SPDX-License-Identifier: MIT
 * runtime.h: what the calls of the runtime and driver API include: the doors of the rooms below,
 * and the functions that calls of the runtime share.
 */
#ifndef VGPU_RUNTIME_H
#define VGPU_RUNTIME_H

#include "context.h"
#include "graph.h"
#include "host_ranges.h"
#include "work.h"

/* True if this process has the primary context of a physical device. Sends a request to the node
 * unless a call of this process is known to have made the context. */
bool vgpu__has_context(int physical);

/* Discard what a reset of the device (destruction of the stream) ends. */
void vgpu__host_forget(int physical);
void vgpu__limits_forget(int physical);

/* Applies an attribute of launches, for launch->call; an error is recorded. */
cudaError_t vgpu__launch_attribute(struct vgpu__launch *launch, const cudaLaunchAttribute *a);

void vgpu__stream_attributes_forget(cudaStream_t stream);

/* Allocates and frees device memory, for `call`. */
cudaError_t vgpu__device_allocate(const char *call, void **ptr, size_t bytes);
cudaError_t vgpu__device_free(const char *call, void *ptr);

/* Allocates pinned or managed memory from the process's host memfd, for cudaMallocHost and
 * cudaMallocManaged, and frees it. With 0 bytes *ptr becomes NULL. */
cudaError_t vgpu__host_allocate(const char *call, void **ptr, size_t bytes, unsigned int flags,
                                bool managed);
cudaError_t vgpu__host_free(const char *call, void *ptr);

/* vgpu__range_unmap removes a range from the process's address space; false, with errno:
 * impossible, and nothing has changed. vgpu__range_give_back then returns the range to the node; it
 * may only be called for a range that is unmapped. */
bool vgpu__range_unmap(const struct vgpu__range *r);
void vgpu__range_give_back(const char *call, uint64_t address);
/* host_register.c: makes registered pages private to the process again. False, with errno:
 * impossible, and nothing has changed. */
bool vgpu__range_take_home(const struct vgpu__range *r);

/* True if physical GPU `from` may access this device memory: its own or an enabled peer's, or
 * memory mapped or of a pool with access for `from`. */
bool vgpu__pointer_reached(int from, const struct vgpu_pointer *p);

/* ---- compiler.c, translate.c: vgpu-cc, while the program runs ---- */

/* A new folder for its files; false: see errno. */
bool vgpu__make_folder(char *folder, size_t room, const char *name);
void vgpu__remove_folder(const char *folder);
/* The file's bytes and a zero behind them; null: it cannot be read. */
char *vgpu__read_file(const char *folder, const char *name, size_t *bytes);
/* words[0] is set. Its exit status; -1: it could not be run. */
int vgpu__run_compiler(char **words, const char *log);

/* Whether the image is PTX or nvcc's container, and its size. */
bool vgpu__is_foreign(const void *image, size_t *bytes);
/* The record (fatbin.h) of such an image, to be freed: of the whole of it, of its part of that
 * number, or, where it has several, the list of parts (with CUDA_MODULE_LOADING=EAGER the whole).
 * Null: *log says why, or is null, too. */
enum { VGPU__WHOLE = -1, VGPU__PARTS = -2 };
void *vgpu__translate(const void *image, size_t bytes, int part, char **log);

/* Device code that a program has loaded (load_parts.c): row i of the record's kernels has stub i,
 * and of its variables cell i, which is the shadow, and holds a managed variable's address. */
struct vgpu__loaded {
    const struct vgpu_fatbin *head;
    const char *stubs;
    void *const *cells;
};
/* `record`: a struct vgpu_fatbin; it is copied, and so is the PTX that it lists the parts of. */
const struct vgpu__loaded *vgpu__load_record(const void *record, const void *ptx);

/* A copy or a fill as a call makes it: checked, and then sent or recorded by a capture. vgpu__copy
 * and vgpu__fill are whole calls; the others are parts of a call that vgpu__admit has let pass. */
cudaError_t vgpu__copy(const struct vgpu__copy *copy);
cudaError_t vgpu__admitted_copy(const struct vgpu__copy *copy);
cudaError_t vgpu__admitted_peer_copy(const struct vgpu__copy *copy, int dst_device, int src_device);
cudaError_t vgpu__fill(const char *call, const struct memset_call *set, cudaStream_t stream,
                       bool sync);
cudaError_t vgpu__admitted_fill(const char *call, const struct memset_call *set,
                                cudaStream_t stream, bool sync);

#endif
