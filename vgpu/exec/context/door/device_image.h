/* SPDX-License-Identifier: MIT
 * device_image.h: device images: kernels and variables of the program's modules.
 */
#ifndef VGPU_EXEC_DEVICE_IMAGE_H
#define VGPU_EXEC_DEVICE_IMAGE_H

#include "exec.h"

struct device_image;

/* All images loaded so far keep variables that pointers lead to on a second stack, so none of their
 * stores is meant for the first. */
extern bool images_have_two_stacks;

/* Loads the image from `fd`, and owns `fd` from then on. NULL and a reason in `why`. */
struct device_image *image_load(uint32_t module, int fd, char *why, uint64_t room);
struct device_image *image_find(uint32_t module);
const struct vgpu_kernel *image_kernel(const struct device_image *image, uint32_t ordinal);
uint32_t image_kernel_count(const struct device_image *image);
void image_vars(const struct device_image *image, uint64_t *base, uint64_t *bytes, uint32_t *count);
void image_var(const struct device_image *image, uint32_t index, struct vgpu_exec_var *var);
bool image_holds_vars(uint64_t va, uint64_t bytes);

/* The window in which an access outside of all windows is counted; -1: the address is in no
 * image. */
int image_window(uint64_t address);
/* Whether [first, end) is where one image's variables are. */
bool image_holds(uint64_t first, uint64_t end);
bool image_code(uint64_t pc);
void image_place(uint64_t pc, char *where, uint64_t room); /* "file:line", or "" */

#endif
