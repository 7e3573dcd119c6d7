/* SPDX-License-Identifier: MIT
 * nccl.h: the virtual node's, also for nvcc.
 */
#include "../../../../vgpu/include/nccl.h"
