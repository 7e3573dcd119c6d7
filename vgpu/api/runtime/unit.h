/* SPDX-License-Identifier: MIT
 * unit.h: the device code of one file, or a part of it, between its record (fatbin.h) and the
 * module that the runtime keeps of it (registration.h).
 */
#ifndef VGPU_UNIT_H
#define VGPU_UNIT_H

#include <pthread.h>

#include "fatbin.h"
#include "registration.h"
#include "runtime.h"

struct wrapper { /* CUDA's __fatBinC_Wrapper_t */
    int magic, version;
    const void *data;
    void *file;
};

/* A device image. The files of one device link share an image. */
struct image {
    struct vgpu_host_image image;
    const struct vgpu_fatbin *head;
    struct image *next;
};

/* Its kernel table is allocated at full size where that is known, because the runtime keeps
 * pointers into it. */
struct unit {
    struct vgpu_host_module module; /* first: translate_unit(), complete_part() */
    struct vgpu_image_part part;
    const struct vgpu_fatbin *head;
    const struct wrapper *foreign; /* code of nvcc's that nothing has asked for yet */
    const char *name;              /* -rdc=true: prefix of the file's own symbols; otherwise NULL */
    struct vgpu_host_kernel *kernels;
    struct vgpu_host_var *vars;
    uint32_t kernel_room, var_room;
    /* Of a part: its number in the PTX, and until it is complete the list of parts as `head`. */
    const void *ptx;
    uint32_t number;
    pthread_mutex_t completing;
};

static inline const char *vgpu__record_text(const struct vgpu_fatbin *head, uint32_t at)
{
    return (const char *)head + at;
}

/* ---- registration.c ---- */

/* The memory; the process ends if there is none. */
void *vgpu__checked_memory(void *memory);
struct unit *vgpu__make_unit(const struct vgpu_fatbin *head);
/* The record has the unit's code. */
void vgpu__set_record(struct unit *unit, const struct vgpu_fatbin *head);
/* The row of the kernel, and its number, or of the variable; null: there is none. */
const struct vgpu_fatbin_kernel *vgpu__find_row(const struct unit *unit, const char *name,
                                                uint32_t *number);
const struct vgpu_fatbin_var *vgpu__find_var_row(const struct unit *unit, const char *name);

void __cudaRegisterFunction(void **handle, const char *stub, char *device, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *shadow, char *device, const char *name, int external,
                       size_t bytes, int constant, int global);

/* ---- load_parts.c ---- */

/* Registers the unit's kernels and variables as those of the parts that `list` has. */
void vgpu__divide_unit(const struct unit *unit, const struct vgpu_fatbin *list, const void *ptx);

#endif
