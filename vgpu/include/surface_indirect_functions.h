/* SPDX-License-Identifier: MIT
 * surface_indirect_functions.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __SURFACE_INDIRECT_FUNCTIONS_H__
#define __SURFACE_INDIRECT_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
