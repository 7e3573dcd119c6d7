/* SPDX-License-Identifier: MIT
 * crt/sm_80_rt.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __SM_80_RT_H__
#define __SM_80_RT_H__

#include "../cuda_runtime.h"

#endif
