/* SPDX-License-Identifier: MIT
 * texture_indirect_functions.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __TEXTURE_INDIRECT_FUNCTIONS_H__
#define __TEXTURE_INDIRECT_FUNCTIONS_H__

#include "cuda_runtime.h"

#endif
