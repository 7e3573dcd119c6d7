/* SPDX-License-Identifier: MIT
 * last_error.c: cudaGetLastError and cudaPeekAtLastError.
 */
#include "observer.h"
#include "runtime.h"

/* Without devices both return the error that every call returns, from the first call on, and do not
 * clear it (recorded: [visible_none_last], [visible_dup_last]). */
static cudaError_t last_error(const char *call)
{
    cudaError_t error = vgpu__start();
    vgpu__error_asked(call);
    return error != cudaSuccess ? error : vgpu__self.last_error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error("cudaPeekAtLastError");
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error("cudaGetLastError");
    vgpu__self.last_error = cudaSuccess;
    return error;
}
