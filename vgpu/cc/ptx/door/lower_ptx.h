/* SPDX-License-Identifier: MIT
 * lower_ptx.h: PTX: lowers inline statements to LLVM instructions, and reads whole modules.
 */
#ifndef VGPU_CC_LOWER_PTX_H
#define VGPU_CC_LOWER_PTX_H

#include "module.h"

/* False: a statement is unknown or invalid, which was reported with its place. */
bool cc_lower_ptx(struct cc_lowering *l);

/* Fills the empty module with the device code of PTX, which may be in nvcc's container, in the
 * shape of Clang's: a kernel has a parameter for each of CUDA's, variables are in the address
 * spaces of nvptx64. False: errors were reported. */
bool cc_read_ptx(struct cc_lowering *l, const char *data, size_t bytes);

#endif
