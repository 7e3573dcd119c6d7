/* SPDX-License-Identifier: MIT
 * driver_link.c: the linker of the driver (cuLink*). It takes one input, which vgpu-cc compiles as
 * cuModuleLoadData does; several inputs are refused, since virtual GPUs have no linker at run time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "fatbin.h"

struct CUlinkState_st {
    struct vgpu__jit_log log;
    struct vgpu_fatbin *record; /* NULL: no input yet */
};

static cudaError_t create_state(CUlinkState *out, struct vgpu__jit_log log)
{
    if (!out)
        return cudaErrorInvalidValue;
    CUlinkState made = calloc(1, sizeof *made);
    if (!made)
        return vgpu__no_memory("cuLinkCreate");
    made->log = log;
    *out = made;
    return cudaSuccess;
}

CUresult cuLinkCreate(unsigned int count, CUjit_option *options, void **values, CUlinkState *state)
{
    VGPU_DRIVER(create_state(state, vgpu__jit_log(count, options, values)));
}

static cudaError_t check_input(const char *call, CUlinkState state, CUjitInputType type)
{
    if (!state)
        return cudaErrorInvalidResourceHandle;
    if ((unsigned int)type >= CU_JIT_NUM_INPUT_TYPES)
        return cudaErrorInvalidValue;
    if (type == CU_JIT_INPUT_OBJECT || type == CU_JIT_INPUT_LIBRARY || type == CU_JIT_INPUT_NVVM)
        return vgpu__refuse(cudaErrorNotSupported, call,
                            "objects, libraries and NVVM are not linked when the program runs; "
                            "give PTX, or what vgpu-cc -fatbin makes");
    if (state->record)
        return vgpu__refuse(cudaErrorNotSupported, call,
                            "this is a second input; only one is linked when the program runs. "
                            "vgpu-cc -fatbin links several files beforehand");
    return cudaSuccess;
}

static cudaError_t add_link_input(const char *call, CUlinkState state, CUjitInputType type,
                                  const void *image, size_t bytes)
{
    cudaError_t error = check_input(call, state, type);
    if (error != cudaSuccess)
        return error;
    if (!image || bytes == 0)
        return cudaErrorInvalidValue;
    char *copy = calloc(1, bytes + 1); /* PTX need not end with a zero */
    if (!copy)
        return vgpu__no_memory(call);
    memcpy(copy, image, bytes);
    state->record = vgpu__read_module(call, copy, &state->log, &error);
    free(copy);
    return error;
}

static cudaError_t add_link_file(CUlinkState state, CUjitInputType type, const char *path)
{
    static const char call[] = "cuLinkAddFile";
    cudaError_t error = check_input(call, state, type);
    if (error != cudaSuccess)
        return error;
    if (!path)
        return cudaErrorInvalidValue;
    char *data = vgpu__read_module_file(path);
    if (!data)
        return vgpu__refuse(cudaErrorFileNotFound, call, "%s: %s", path, strerror(errno));
    state->record = vgpu__read_module(call, data, &state->log, &error);
    free(data);
    return error;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void *data, size_t size,
                       const char *name, unsigned int count, CUjit_option *options, void **values)
{
    (void)name, (void)count, (void)options, (void)values;
    VGPU_DRIVER(add_link_input("cuLinkAddData", state, type, data, size));
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char *path, unsigned int count,
                       CUjit_option *options, void **values)
{
    (void)count, (void)options, (void)values;
    VGPU_DRIVER(add_link_file(state, type, path));
}

static cudaError_t complete_state(CUlinkState state, void **out, size_t *bytes)
{
    if (!state || !state->record)
        return cudaErrorInvalidValue;
    if (out)
        *out = state->record;
    if (bytes)
        *bytes = state->record->bytes;
    return cudaSuccess;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut)
{
    VGPU_DRIVER(complete_state(state, cubinOut, sizeOut));
}

static cudaError_t destroy_state(CUlinkState state)
{
    if (!state)
        return cudaErrorInvalidResourceHandle;
    free(state->record);
    free(state);
    return cudaSuccess;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    VGPU_DRIVER(destroy_state(state));
}
