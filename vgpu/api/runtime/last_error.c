/* SPDX-License-Identifier: MIT
 * last_error.c: the calls that ask for the thread's last error.
 */
#include "observer.h"
#include "runtime.h"

/* Without devices both answer what every call answers, even the first one, and nothing takes it
 * away, as recorded ([visible_none_last], [visible_dup_last]). */
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
