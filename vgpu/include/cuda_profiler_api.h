/* SPDX-License-Identifier: MIT
 * cuda_profiler_api.h: where a profiler that was told to wait begins and ends to record. Without
 * one, as here, both do nothing and succeed.
 */
#ifndef __CUDA_PROFILER_API_H__
#define __CUDA_PROFILER_API_H__

#include "driver_types.h"

#ifdef __cplusplus
extern "C" {
#endif

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif
