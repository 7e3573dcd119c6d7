/* SPDX-License-Identifier: MIT
 * mma.h: what it declares in CUDA is in ../mma.h here.
 */
#ifndef __CUDA_MMA_HPP__
#define __CUDA_MMA_HPP__

#include "../mma.h"

#endif
