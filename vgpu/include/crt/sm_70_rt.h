/* SPDX-License-Identifier: MIT
 * crt/sm_70_rt.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __SM_70_RT_H__
#define __SM_70_RT_H__

#include "../cuda_runtime.h"

#endif
