/* SPDX-License-Identifier: MIT
 * kernels_table.c: the five objects that a device image exports, for the test image.
 */
#include "kernels.h"

#define EXPORTED __attribute__((visibility("default")))
#define DECLARE(name) void call_##name(void **v);
KERNELS(DECLARE)
DECLARE(mixed)

extern uint32_t counter, table[64];

static const uint32_t four_words[] = {8, 8, 8, 8}, mixed_bytes[] = {1, 7, 8, 8};

#define ENTRY(name)                                                                                \
    {"test#" #name, K_##name, #name, call_##name, 4, 0, four_words, 0, 1024, 0, 0, 0, 0},

EXPORTED const uint32_t vgpu_image_abi = VGPU_IMAGE_ABI;
EXPORTED const struct vgpu_kernel vgpu_image_kernels[] = {KERNELS(ENTRY){
    "test#mixed", K_mixed, "mixed", call_mixed, 4, 0, mixed_bytes, 0, 1024, 0, 0, 0, 0}};
EXPORTED const uint32_t vgpu_image_kernel_count = KERNEL_COUNT;
EXPORTED const struct vgpu_var vgpu_image_vars[] = {{"test:counter", &counter, sizeof counter},
                                                    {"test:table", table, sizeof table}};
EXPORTED const uint32_t vgpu_image_var_count = 2;
