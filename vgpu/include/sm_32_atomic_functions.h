/* SPDX-License-Identifier: MIT
 * sm_32_atomic_functions.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __SM_32_ATOMIC_FUNCTIONS_H__
#define __SM_32_ATOMIC_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
