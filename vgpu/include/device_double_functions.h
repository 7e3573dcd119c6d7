/* SPDX-License-Identifier: MIT
 * device_double_functions.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef VGPU_DEVICE_DOUBLE_FUNCTIONS_H
#define VGPU_DEVICE_DOUBLE_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
