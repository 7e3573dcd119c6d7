/* SPDX-License-Identifier: MIT
 * nccl_device.h: the virtual node's, also for nvcc.
 */
#include "../../../../vgpu/include/nccl_device.h"
