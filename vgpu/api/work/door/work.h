/* SPDX-License-Identifier: MIT
 * work.h: work for streams: copies, fills, kernels (kernel_launch.h) and host functions. Each is
 * checked here and sent to the node: once by a call, and at every launch by a graph. The room above
 * decides which.
 */
#ifndef VGPU_WORK_H
#define VGPU_WORK_H

#include "arrays.h"
#include "checks.h"
#include "host_ranges.h"

/* Makes the linker include checks/register_observers.c, which registers the observers of calls: a
 * member of an archive is linked only if another one refers to it. Every file that defines CUDA
 * calls includes this header and so refers to it. */
extern const char vgpu__observers __attribute__((visibility("hidden")));
static const char *const vgpu__linked_for __attribute__((used)) = &vgpu__observers;

/* ---- copies ---- */

/* One copy as the program requested it. rows == 1 for a one-dimensional copy, which ignores the
 * pitches. A three-dimensional one has plane_rows rows in each plane. */
struct vgpu__copy {
    const char *call;
    void *dst;
    const void *src;
    size_t width, rows, dst_pitch, src_pitch;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    bool sync;
    size_t plane_rows, dst_plane, src_plane; /* plane_rows 0: one plane */
};
/* All record their errors. vgpu__copy_send needs a copy that vgpu__copy_check has accepted, in a
 * call that vgpu__admit has let pass; vgpu__copy_again does all three. */
cudaError_t vgpu__copy_check(const struct vgpu__copy *copy);
cudaError_t vgpu__copy_send(const struct vgpu__copy *copy);
cudaError_t vgpu__copy_again(const struct vgpu__copy *copy);

/* The same for copies between devices given by number: the numbers must be valid, but the addresses
 * decide. */
cudaError_t vgpu__copy_peer_check(const struct vgpu__copy *copy, int dst_device, int src_device);
cudaError_t vgpu__copy_peer_send(const struct vgpu__copy *copy, int dst_device, int src_device);

/* Turns the parameters into a copy, and checks them; an error is recorded, with a message. */
cudaError_t vgpu__box(const char *call, const struct cudaMemcpy3DParms *p, struct vgpu__copy *copy);

/* ---- fills and host functions ---- */

struct host_function {
    cudaHostFn_t function;
    cudaStreamCallback_t callback; /* instead of `function` */
    cudaStream_t stream;
    void *data;
};

struct memset_call {
    void *dst;
    size_t pitch, width, rows; /* width in elements */
    unsigned int value, element_bytes;
    size_t plane_rows, plane; /* as in struct vgpu__copy */
};

/* vgpu__memset: part of a call that vgpu__admit has let pass. vgpu__host_function: a whole call. */
cudaError_t vgpu__memset(const char *call, const struct memset_call *set, cudaStream_t stream,
                         bool sync);
cudaError_t vgpu__host_function(const char *call, struct host_function *function,
                                cudaStream_t stream);

/* ---- kernels and variables ---- */

struct vgpu_host_kernel;
struct vgpu_host_module;
struct vgpu_managed;

/* The kernel of this stub, NULL if there is none. `module` may be NULL. */
const struct vgpu_host_kernel *vgpu__find_kernel(const void *stub,
                                                 struct vgpu_host_module **module);
/* The error of `call` with a function that is no kernel, or one whose code cannot be loaded. */
cudaError_t vgpu__refuse_kernel(const char *call, const void *func);
/* Records a __managed__ variable whose memory is allocated. The record must never be freed. */
void vgpu__add_managed(struct vgpu_managed *variable);
/* The __managed__ variable that begins at `address`; NULL: none. */
const struct vgpu_managed *vgpu__find_managed(const void *address);
const struct vgpu_host_var *vgpu__find_var(const void *shadow, struct vgpu_host_module **module);

/* Stores the node's number of the module's image, which is sent to the node first if necessary. */
cudaError_t vgpu__load_image(struct vgpu_host_module *module, const char *call, uint32_t *id);

/* The greatest number of threads in a block of the kernel. */
int vgpu__max_threads(const struct vgpu_host_kernel *kernel);

/* The greatest number of bytes of dynamic shared memory that a launch of the kernel may request on
 * the current device. */
bool vgpu__has_large_clusters(const struct vgpu_host_kernel *kernel); /* of 9 to 16 blocks */
size_t vgpu__dynamic_limit(const struct vgpu_host_kernel *kernel);
void vgpu__functions_forget(int physical);

/* The number of blocks of this shape that an SM of the current device holds at once. */
int vgpu__blocks_per_sm(const struct vgpu_host_kernel *kernel, size_t threads,
                        size_t dynamic_bytes);

#endif
