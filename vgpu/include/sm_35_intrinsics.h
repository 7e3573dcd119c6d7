/* SPDX-License-Identifier: MIT
 * sm_35_intrinsics.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __SM_35_INTRINSICS_H__
#define __SM_35_INTRINSICS_H__

#include "cuda_runtime.h"

#endif
