/* SPDX-License-Identifier: MIT
 * device_atomic_functions.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
