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
};

/* $VGPU_HOME first, then what lies around this program, then where it was built. False: the headers
 * are nowhere, which was told. */
bool cc_find_places(struct cc_places *places);

#endif
