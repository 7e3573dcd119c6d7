/* SPDX-License-Identifier: MIT
 * host_function.c: the calls that enqueue host functions: cudaLaunchHostFunc and
 * cudaStreamAddCallback.
 */
#include "runtime.h"

#include <stdlib.h>

static cudaError_t enqueue_host_function(const char *name, struct host_function function)
{
    cudaError_t error;
    if (!vgpu__admit(name, VGPU_OP_HOST_FUNC))
        return vgpu__failed();
    if (!function.function && !function.callback)
        return vgpu__refuse(cudaErrorInvalidValue, name, "the function is a null pointer");
    if (function.callback &&
        (error = vgpu__capture_forbids(name, function.stream, true)) != cudaSuccess)
        return error;
    struct host_function *f = malloc(sizeof *f);
    if (!f) {
        vgpu__capture_spoil(function.stream);
        return vgpu__no_memory(name);
    }
    *f = function;
    struct CUgraphNode_st *node =
        vgpu__capture(name, function.stream, cudaGraphNodeTypeHost, &error);
    if (error != cudaSuccess) {
        free(f);
        return error;
    }
    if (node) {
        node->u.host = f;
        return cudaSuccess;
    }
    error = vgpu__host_function(name, f, function.stream);
    if (error != cudaSuccess)
        free(f);
    return error;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return enqueue_host_function(
        "cudaLaunchHostFunc",
        (struct host_function){.function = fn, .stream = stream, .data = userData});
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags)
{
    if (flags != 0)
        return vgpu__refuse(cudaErrorInvalidValue, "cudaStreamAddCallback",
                            "flags are %u and must be 0", flags);
    return enqueue_host_function(
        "cudaStreamAddCallback",
        (struct host_function){.callback = callback, .stream = stream, .data = userData});
}
