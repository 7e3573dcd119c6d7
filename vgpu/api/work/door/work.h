/* SPDX-License-Identifier: MIT
 * work.h: what is put into streams: copies, fills, kernels (kernel_launch.h), functions of the
 * host, each checked and sent to the node. A call sends it once, a graph as often as it is
 * launched; the captures above decide which.
 */
#ifndef VGPU_WORK_H
#define VGPU_WORK_H

#include "checks.h"
#include "host_ranges.h"

/* checks/register_observers.c registers who hears of calls. An archive's member is linked where
 * somebody names it: every file with calls of CUDA's does, in a word that nobody reads. */
extern const char vgpu__observers __attribute__((visibility("hidden")));
static const char *const vgpu__linked_for __attribute__((used)) = &vgpu__observers;

/* ---- copies ---- */

/* One copy as the program asked for it; rows == 1 and pitches unused for a plain one. A box has
 * plane_rows rows in each plane. */
struct vgpu__copy {
    const char *call;
    void *dst;
    const void *src;
    size_t width, rows, dst_pitch, src_pitch;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    bool sync;
    size_t plane_rows, dst_plane, src_plane; /* plane_rows == 0: one plane */
};
/* All record their errors. What vgpu__copy_check lets through can be sent; _again does both. */
cudaError_t vgpu__copy_check(const struct vgpu__copy *copy);
cudaError_t vgpu__copy_send(const struct vgpu__copy *copy);
cudaError_t vgpu__copy_again(const struct vgpu__copy *copy);

/* The same between devices by number: they must exist, the addresses decide. */
cudaError_t vgpu__copy_peer_check(const struct vgpu__copy *copy, int dst_device, int src_device);
cudaError_t vgpu__copy_peer_send(const struct vgpu__copy *copy, int dst_device, int src_device);

/* The box that the parameters describe, checked; recorded and said if there is none. */
cudaError_t vgpu__box(const char *call, const struct cudaMemcpy3DParms *p, struct vgpu__copy *copy);

/* ---- fills and functions of the host ---- */

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

cudaError_t vgpu__memset(const char *call, const struct memset_call *set, cudaStream_t stream,
                         bool sync);
cudaError_t vgpu__host_function(const char *call, struct host_function *function,
                                cudaStream_t stream);

/* ---- kernels and variables ---- */

struct vgpu_host_kernel;
struct vgpu_host_module;
struct vgpu_managed;

/* The kernel of this stub, NULL if none; *module may be NULL. */
const struct vgpu_host_kernel *vgpu__find_kernel(const void *stub,
                                                 struct vgpu_host_module **module);
/* Notes a __managed__ variable, which has its memory. The record stays for good. */
void vgpu__add_managed(struct vgpu_managed *variable);
/* The __managed__ variable that begins there, or null. */
const struct vgpu_managed *vgpu__find_managed(const void *address);
const struct vgpu_host_var *vgpu__find_var(const void *shadow, struct vgpu_host_module **module);

/* The number at the node of the module's image, which is sent there if need be. */
cudaError_t vgpu__load_image(const struct vgpu_host_module *module, const char *call, uint32_t *id);

/* How many threads a block of the kernel may have. */
int vgpu__max_threads(const struct vgpu_host_kernel *kernel);

/* Bytes of dynamic shared memory that the kernel may have on the current device. */
size_t vgpu__dynamic_limit(const struct vgpu_host_kernel *kernel);
void vgpu__functions_forget(int physical);

/* Blocks of this shape that one SM of the current device holds at once. */
int vgpu__blocks_per_sm(const struct vgpu_host_kernel *kernel, size_t threads,
                        size_t dynamic_bytes);

#endif
