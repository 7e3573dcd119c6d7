/* SPDX-License-Identifier: MIT
 * sm_20_intrinsics.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __SM_20_INTRINSICS_H__
#define __SM_20_INTRINSICS_H__

#include "cuda_runtime.h"

#endif
