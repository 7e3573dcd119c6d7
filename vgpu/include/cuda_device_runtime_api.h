/* SPDX-License-Identifier: MIT
 * cuda_device_runtime_api.h: the runtime's calls for device code, of which there are none here:
 * no dynamic parallelism. Programs include it for the types.
 */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "cuda_runtime_api.h"

#endif
