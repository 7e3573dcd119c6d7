/* SPDX-License-Identifier: MIT
 * registration.h: the kernels and variables of a host object, as the runtime (api/) keeps them.
 *
 * Each .cu becomes one host object, which registers itself from a constructor
 * (api/runtime/registration.c). It embeds its device image, or (-rdc=true) names the part of it in
 * an image that the device link makes of many files. A kernel's name in host code is its stub,
 * which calls cudaLaunchKernel with its own address.
 */
#ifndef VGPU_REGISTRATION_H
#define VGPU_REGISTRATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct vgpu_host_kernel {
    const char *name;
    const void *stub;
    uint32_t ordinal; /* in the image's table, from the part's first on */
    uint32_t param_count;
    const uint32_t *param_bytes;
    uint32_t max_threads, static_shared_bytes;
    const char *file;
    int line;
};

struct vgpu_host_var { /* a __device__ or __constant__ variable and its shadow in host code */
    const char *key;
    const void *shadow;
    uint64_t bytes;
};

/* A device image: one file's, or that of a device link. */
struct vgpu_host_image {
    const char *name; /* the source file, or the first of them */
    const uint8_t *begin, *end;
    uint32_t id; /* the runtime's: its number at the node plus one; 0: it is not there yet */
};

/* Where a file's kernels are in the image's table. */
struct vgpu_image_part {
    struct vgpu_host_image *image;
    uint32_t first_kernel;
};

struct vgpu_host_module {
    const struct vgpu_image_part *part;
    const struct vgpu_host_kernel *kernels;
    uint32_t kernel_count;
    const struct vgpu_host_var *vars;
    uint32_t var_count;
    struct vgpu_host_module *next; /* the runtime's */
};

/* A __managed__ variable: where its address is to stand in the image, and what it holds at first.
 */
struct vgpu_managed {
    uint64_t mark[2];
    const void *first;
    uint64_t bytes;
    void *address; /* the runtime's, from here on */
    struct vgpu_managed *next;
    const uint8_t *place; /* in the image; null: the mark is to be looked for */
};

/* Called by the initialisers of __managed__ variables: allocates one; never null. */
void *vgpu_make_managed(struct vgpu_managed *variable);

/* Called by constructors, before main; does nothing but link the module into a list. */
void vgpu_register_module(struct vgpu_host_module *module);

#ifdef __cplusplus
}
#endif
#endif
