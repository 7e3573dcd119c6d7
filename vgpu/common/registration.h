/* SPDX-License-Identifier: MIT
 * registration.h: the kernels and variables of a host object, in the form in which the runtime
 * (api/) keeps them.
 *
 * Each .cu file becomes one host object, which registers itself in a constructor
 * (api/runtime/registration.c). It contains its device image or, with -rdc=true, refers to its part
 * of the image that the device link makes of several files. In host code a kernel is represented by
 * its stub, which calls cudaLaunchKernel with the stub's own address.
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
    uint32_t ordinal; /* index in the image's table, relative to the part's first */
    uint32_t param_count;
    const uint32_t *param_bytes;
    uint32_t max_threads, static_shared_bytes;
    const char *file;
    int line;
    uint32_t cluster[3]; /* __cluster_dims__; 0, 0, 0: not given */
    const void *lost;    /* the stub of one whose code cannot be loaded */
};

/* A __device__ or __constant__ variable and its shadow in host code. */
struct vgpu_host_var {
    const char *key;
    const void *shadow;
    uint64_t bytes;
};

/* A device image: that of one file, or of a device link. */
struct vgpu_host_image {
    const char *name; /* the source file, or the first of several */
    const uint8_t *begin, *end;
    uint32_t id; /* set by the runtime: the node's number of the image plus one; 0: not sent yet */
};

/* The range of a file's kernels in the image's table. */
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
    /* Not NULL: the code is to be translated before its part, its kernels' rows and its variables'
     * keys can be read. Afterwards those that the code does not have are not found. */
    void (*translate)(struct vgpu_host_module *);
    /* Not NULL: the rows are complete, but the image and the kernels' ordinals are to be made,
     * which sets it to NULL. Returns a cudaError_t, and has said what is wrong. */
    int (*complete)(struct vgpu_host_module *, const char *call);
    int error;                     /* a cudaError_t: why the code cannot be loaded */
    struct vgpu_host_module *next; /* used by the runtime */
};

/* A __managed__ variable: the mark of its place in the image, and its initial value. */
struct vgpu_managed {
    uint64_t mark[2];
    const void *first;
    uint64_t bytes;
    void *address; /* set by the runtime, as are the fields below */
    struct vgpu_managed *next;
    const uint8_t *place; /* where to store the address in the image; NULL: search for the mark */
};

/* Called by the initialisers of __managed__ variables: allocates the variable; never returns NULL.
 */
void *vgpu_make_managed(struct vgpu_managed *variable);

/* Called by constructors before main; only adds the module to a list. */
void vgpu_register_module(struct vgpu_host_module *module);

#ifdef __cplusplus
}
#endif
#endif
