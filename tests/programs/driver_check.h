/* SPDX-License-Identifier: MIT
 * driver_check.h: check.h for programs of the driver API.
 */
#ifndef PROGRAMS_DRIVER_CHECK_H
#define PROGRAMS_DRIVER_CHECK_H

#include "check.h"

#include <cuda.h>

#undef MUST
#define MUST(call) must_answer(CUDA_SUCCESS, (call), #call, __FILE__, __LINE__)
#define REFUSED(error, call) must_answer((error), (call), #call, __FILE__, __LINE__)

static inline void must_answer(CUresult wanted, CUresult got, const char *call, const char *file,
                               int line)
{
    const char *name = NULL;
    if (got == wanted)
        return;
    cuGetErrorName(got, &name);
    fprintf(stderr, "%s:%d: %s: %d %s, not %d\n", file, line, call, (int)got, name, (int)wanted);
    exit(1);
}

/* The primary contexts of the first devices; the last one is current. */
static inline void begin(int devices, CUcontext *context)
{
    MUST(cuInit(0));
    for (int device = 0; device < devices; device++)
        MUST(cuDevicePrimaryCtxRetain(&context[device], device));
    MUST(cuCtxSetCurrent(context[devices - 1]));
}

static inline CUfunction function_of(const void *symbol)
{
    cudaFunction_t function;
    must_succeed(cudaGetFuncBySymbol(&function, symbol), "cudaGetFuncBySymbol", __FILE__, __LINE__);
    return function;
}

#endif
