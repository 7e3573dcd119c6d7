/* SPDX-License-Identifier: MIT
 * math_functions.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __MATH_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
