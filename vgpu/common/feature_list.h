/* SPDX-License-Identifier: MIT
 * feature_list.h: what a program has used, and which of it is exact, modelled, approximated or not
 * modelled (feature_list.def): the report of VGPU_REPORT and of vgpu-check.
 */
#ifndef VGPU_FEATURE_LIST_H
#define VGPU_FEATURE_LIST_H

#include <stdint.h>
#include <stdio.h>

enum vgpu_feature {
#define FEATURE(kind, name, title, sentence) VGPU_FEATURE_##name,
#define DEVICE_CODE(name, symbol)
#include "feature_list.def"
#undef FEATURE
#undef DEVICE_CODE
    VGPU_FEATURES
};
_Static_assert(VGPU_FEATURES <= 64, "a set of features is one word");

#define VGPU_FEATURES_ALL (~0ull >> (64 - VGPU_FEATURES))

/* The features that device code uses by what its image [begin, end) imports. */
uint64_t vgpu_features_of_image(const void *begin, const void *end);

/* A line for each feature of the set, by kinds. */
void vgpu_features_print(FILE *to, uint64_t set);

#endif
