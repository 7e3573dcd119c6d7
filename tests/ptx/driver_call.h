/* SPDX-License-Identifier: MIT
 * driver_call.h: CALL(call) ends the program with the call and its error's name if it fails.
 */
#ifndef PTX_DRIVER_CALL_H
#define PTX_DRIVER_CALL_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static inline void expect(const char *call, CUresult result)
{
    const char *name = "?";
    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    printf("%s: %s\n", call, name);
    exit(EXIT_FAILURE);
}
#define CALL(call) expect(#call, call)

#endif
