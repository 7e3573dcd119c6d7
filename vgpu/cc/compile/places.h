/* SPDX-License-Identifier: MIT
 * places.h: the folders of the installation's headers and libraries.
 */
#ifndef VGPU_CC_PLACES_H
#define VGPU_CC_PLACES_H

#include <stdbool.h>

struct cc_places {
    const char *include;  /* cuda_runtime.h and vgpu/prelude.h */
    const char *library;  /* libvgpurt.a */
    const char *toolkit;  /* with CUDA's layout: bin/nvcc, include, lib64; null: not known */
    const char *programs; /* vgpu-node; null: the runtime looks in the build folder */
    const char *cccl;     /* folder of thrust/, cub/, cuda/std/; null: no suitable one */
};

/* Searches $VGPU_HOME, then folders relative to this program, then the build folder. False: the
 * headers were not found, which was reported. */
bool cc_find_places(struct cc_places *places);

/* cccl.c: the folder of CCCL's headers: $VGPU_CCCL, the one that `./lab start --cccl` has
 * installed, that of an installed Toolkit; `around`: the parent of bin/. False: $VGPU_CCCL is
 * invalid, which was reported. */
bool cc_find_cccl(const char *around, struct cc_places *places);

/* A hint about CCCL if one of the compiler's messages says that a header of it is missing; else
 * null. */
const char *cc_cccl_hint(const char *said);

#endif
