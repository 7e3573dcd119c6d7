/* SPDX-License-Identifier: MIT
 * common_functions.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef VGPU_COMMON_FUNCTIONS_H
#define VGPU_COMMON_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
