/* SPDX-License-Identifier: MIT
 * places.h: where the headers and libraries of the installation are.
 */
#ifndef VGPU_CC_PLACES_H
#define VGPU_CC_PLACES_H

#include <stdbool.h>

struct cc_places {
    const char *include;  /* cuda_runtime.h and vgpu/prelude.h */
    const char *contract; /* image.h */
    const char *library;  /* libvgpurt.a */
    const char *toolkit;  /* laid out as CUDA's: bin/nvcc, include, lib64; null: not known */
    const char *programs; /* vgpu-node; null: not known, the runtime looks where it was built */
    const char *cccl;     /* thrust/, cub/, cuda/std/; null: there is none that will do */
};

/* $VGPU_HOME first, then what lies around this program, then where it was built. False: the headers
 * are nowhere, which was told. */
bool cc_find_places(struct cc_places *places);

/* cccl.c: the folder of CCCL's headers: $VGPU_CCCL, what `./lab start --cccl` has installed, that
 * of an installed Toolkit; `around`: the folder that bin/ is in. False: $VGPU_CCCL is wrong, which
 * was told. */
bool cc_find_cccl(const char *around, struct cc_places *places);

/* A sentence about CCCL where one of the compiler's messages says that a header of it is missing;
 * null: none does. */
const char *cc_cccl_hint(const char *said);

#endif
