/* SPDX-License-Identifier: MIT
 * cudaProfiler.h: cuda_profiler_api.h of the driver API.
 */
#ifndef cuda_profiler_H
#define cuda_profiler_H

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif
