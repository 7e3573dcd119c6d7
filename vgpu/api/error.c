/* SPDX-License-Identifier: MIT
 * error.c: the thread's last error, and the names of codes.
 */
#include "runtime.h"

struct code {
    cudaError_t value;
    const char *name, *text;
};

static const struct code codes[] = {
#define CODE(name, value, text) {(cudaError_t)(value), #name, text},
    VGPU_ERROR_LIST(CODE)
#undef CODE
};

static const struct code *find(cudaError_t error)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].value == error)
            return &codes[i];
    return NULL;
}

cudaError_t vgpu__record(cudaError_t error)
{
    if (error == cudaSuccess)
        return error;
    vgpu__self.last_error = error;
    vgpu__blame_failed(error);
    return error;
}

/* Without devices both answer what every call answers, even the first one, and nothing takes it
 * away, as recorded ([visible_none_last], [visible_dup_last]). */
static cudaError_t last_error(const char *call)
{
    cudaError_t error = vgpu__start();
    vgpu__blame_asked(call);
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

const char *cudaGetErrorName(cudaError_t error)
{
    const struct code *code = find(error);
    return code ? code->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const struct code *code = find(error);
    return code ? code->text : "unrecognized error code";
}
