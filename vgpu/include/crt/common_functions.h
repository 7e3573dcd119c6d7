/* SPDX-License-Identifier: MIT
 * crt/common_functions.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __COMMON_FUNCTIONS_H__
#define __COMMON_FUNCTIONS_H__

#include "../cuda_runtime.h"

#endif
