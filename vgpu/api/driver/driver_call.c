/* SPDX-License-Identifier: MIT
 * driver_call.c: what every driver call does first and last; error codes and their names; cuInit.
 */
#include "driver.h"

#include <string.h>

/* The runtime's last error, saved for the duration of a driver call. */
static _Thread_local cudaError_t saved_last_error;

/* ---- codes ---- */

static const struct {
    CUresult value;
    const char *name;
} codes[] = {
#define CODE(name, value) {name, #name},
    VGPU_DRIVER_ERRORS(CODE)
#undef CODE
};

static const char *result_name(int value)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if ((int)codes[i].value == value)
            return codes[i].name;
    return NULL;
}

/* Error values of the runtime are those of the driver, except those that the driver API does not
 * have. */
static CUresult driver_result(cudaError_t error)
{
    if (error == cudaErrorInvalidSymbol)
        return CUDA_ERROR_NOT_FOUND;
    if (error == cudaErrorInsufficientDriver)
        return CUDA_ERROR_NO_DEVICE;
    return result_name((int)error) ? (CUresult)error : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    *name = result_name((int)error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text)
        return CUDA_ERROR_INVALID_VALUE;
    *text = result_name((int)error);
    if (!*text)
        return CUDA_ERROR_INVALID_VALUE;
    const char *known = cudaGetErrorString((cudaError_t)error);
    if (strcmp(known, "unrecognized error code") != 0)
        *text = known;
    return CUDA_SUCCESS;
}

/* ---- one call ---- */

static CUresult refuse_call(CUresult code, const char *call, const char *text)
{
    vgpu__message(call, "%s", text);
    return code;
}

CUresult vgpu__driver_begin(const char *call, enum vgpu__driver_need need)
{
    if (atomic_load(&vgpu__process.forked))
        return refuse_call(
            CUDA_ERROR_NOT_INITIALIZED, call,
            "this process was forked from one that used CUDA; a child must start its own "
            "before its parent does, or call exec");
    if (!atomic_load(&vgpu__process.driver_ready))
        return refuse_call(CUDA_ERROR_NOT_INITIALIZED, call, "call cuInit(0) first");
    CUcontext current = vgpu__driver_current();
    if (need == VGPU__NEED_CONTEXT && !current)
        return refuse_call(
            CUDA_ERROR_INVALID_CONTEXT, call,
            "no context is current to this thread; cuCtxCreate makes one and makes it "
            "current, cuDevicePrimaryCtxRetain and cuCtxSetCurrent take the device's own");
    if (need == VGPU__NEED_CONTEXT && atomic_load(&current->destroyed))
        return refuse_call(CUDA_ERROR_CONTEXT_IS_DESTROYED, call,
                           "the current context was destroyed");
    saved_last_error = vgpu__self.last_error;
    vgpu__self.in_driver = true;
    return CUDA_SUCCESS;
}

CUresult vgpu__driver_end(cudaError_t error)
{
    vgpu__self.last_error = saved_last_error;
    vgpu__self.in_driver = false;
    return driver_result(error);
}

CUresult cuInit(unsigned int flags)
{
    if (flags != 0)
        return refuse_call(CUDA_ERROR_INVALID_VALUE, "cuInit", "flags must be 0");
    cudaError_t error = vgpu__start();
    if (error == cudaSuccess && atomic_load(&vgpu__process.forked))
        error = cudaErrorInitializationError;
    if (error == cudaSuccess)
        atomic_store(&vgpu__process.driver_ready, true);
    return driver_result(error);
}

/* Works before cuInit. */
CUresult cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = vgpu__process.info ? vgpu__process.info->driver_version : CUDA_VERSION;
    return CUDA_SUCCESS;
}

/* ---- refused calls ---- */

static CUresult refuse_unmodelled_call(const char *call)
{
    static const struct {
        const char *in_name, *text;
    } subjects[] = {
#define ANSWER "; it answers CUDA_ERROR_NOT_SUPPORTED (801) and does nothing"
        {"Multicast", "multicast objects are not modelled" ANSWER},
        {"Conditional", "conditional nodes of graphs are not modelled" ANSWER},
        {"Dot", "drawings of graphs are not made" ANSWER},
        {"", "operations of streams on values in memory are not modelled" ANSWER
             ": a kernel that polls and one that stores do the same"},
#undef ANSWER
    };
    size_t at = 0;
    while (!strstr(call, subjects[at].in_name))
        at++;
    return refuse_call(CUDA_ERROR_NOT_SUPPORTED, call, subjects[at].text);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define BODY(name, parameters)                                                                     \
    CUresult name parameters                                                                       \
    {                                                                                              \
        return refuse_unmodelled_call(#name);                                                      \
    }
VGPU_DRIVER_REFUSED(BODY)
#pragma GCC diagnostic pop
