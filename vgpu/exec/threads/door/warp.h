/* SPDX-License-Identifier: MIT
 * warp.h: lanes that wait for each other.
 */
#ifndef VGPU_EXEC_WARP_H
#define VGPU_EXEC_WARP_H

#include "exec.h"

/* A lane left the kernel while others wait. */
void warp_left(struct warp *warp);

/* No lane can run and some wait in vgpu_activemask: the lanes at one place continue. */
void warp_converge(struct warp *warp);

/* The lanes of the warp that have met in vgpu_matrix_product: their accumulators get the product.
 */
void matrix_product(struct warp *warp, uint32_t met);
/* The same for vgpu_ptx_mma. */
void mma_product(struct warp *warp, uint32_t met);

#endif
