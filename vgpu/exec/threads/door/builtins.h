/* SPDX-License-Identifier: MIT
 * builtins.h: builtin variables of device code.
 */
#ifndef VGPU_EXEC_BUILTINS_H
#define VGPU_EXEC_BUILTINS_H

#include "exec.h"

/* CUDA's builtin variables, as images see them: constant for each thread, and therefore for a
 * compiler; set when a thread is entered. They have a section of their own. */
extern struct vgpu_dim3 threadIdx, blockIdx, blockDim, gridDim;
extern int vgpu_cooperative; /* 1: a cooperative launch */
bool is_builtin_variable(uint64_t address);

#endif
