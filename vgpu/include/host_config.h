/* SPDX-License-Identifier: MIT
 * host_config.h: what it declares in CUDA is in cuda_runtime.h here.
 */
#ifndef __HOST_CONFIG_H__
#define __HOST_CONFIG_H__

#include "cuda_runtime.h"

#endif
