/* SPDX-License-Identifier: MIT
 * error.c: the thread's last error and the names of error codes. The calls that read it are in
 * last_error.c.
 */
#include "observer.h"

#include "text.h"

struct code {
    cudaError_t value;
    const char *name, *text;
};

static const struct code codes[] = {
#define CODE(name, value, text) {(cudaError_t)(value), #name, text},
    VGPU_ERROR_LIST(CODE)
#undef CODE
};

static const struct code *find_code(cudaError_t error)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (codes[i].value == error)
            return &codes[i];
    return NULL;
}

void vgpu__call_named(const char *call)
{
    struct vgpu__unchecked *u = &vgpu__self.unchecked;
    if (!u->telling)
        vgpu_text_copy(u->current, sizeof u->current, call);
}

cudaError_t vgpu__record(cudaError_t error)
{
    if (error == cudaSuccess)
        return error;
    vgpu__used(error == cudaErrorNotSupported ? VGPU_FEATURE_refused : VGPU_FEATURE_errors);
    vgpu__self.last_error = error;
    vgpu__call_failed(error);
    return error;
}

void vgpu__next_is_collective(const struct vgpu_collective *collective)
{
    vgpu__self.collective = *collective;
}

struct vgpu__own_calls vgpu__own_calls_begin(void)
{
    struct vgpu__own_calls own = {vgpu__self.last_error, vgpu__self.unchecked};
    vgpu__self.last_error = cudaSuccess;
    vgpu__self.unchecked.telling = true;
    return own;
}

void vgpu__own_calls_end(const struct vgpu__own_calls *own)
{
    vgpu__self.last_error = own->last_error;
    vgpu__self.unchecked = own->unchecked;
}

const char *cudaGetErrorName(cudaError_t error)
{
    const struct code *code = find_code(error);
    return code ? code->name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    const struct code *code = find_code(error);
    return code ? code->text : "unrecognized error code";
}
