/* SPDX-License-Identifier: MIT
 * error.c: descriptions of results, and the last error message of each host thread.
 */
#include "comm.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_message[512] = "";

ncclResult_t nccl_fail(ncclResult_t result, const char *call, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(last_message, sizeof last_message, "%s: %s", call, text);
    fprintf(stderr, "vgpu: nccl: %s\n", last_message);
    return result;
}

ncclResult_t nccl_cuda(cudaError_t error, const char *call, const char *what)
{
    if (error == cudaSuccess)
        return ncclSuccess;
    return nccl_fail(ncclUnhandledCudaError, call, "%s: %s (%s)", what, cudaGetErrorString(error),
                     cudaGetErrorName(error));
}

const char *ncclGetLastError(ncclComm_t comm)
{
    (void)comm;
    return last_message;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    switch (result) {
    case ncclSuccess:
        return "no error";
    case ncclUnhandledCudaError:
        return "unhandled cuda error; stderr says which";
    case ncclSystemError:
        return "unhandled system error; stderr says which";
    case ncclInternalError:
        return "internal error";
    case ncclInvalidArgument:
        return "invalid argument; stderr says which";
    case ncclInvalidUsage:
        return "invalid usage; stderr says why";
    case ncclRemoteError:
        return "another rank has ended";
    case ncclInProgress:
        return "still in progress";
    default:
        return "unknown result code";
    }
}

ncclResult_t ncclGetVersion(int *version)
{
    if (!version)
        return nccl_fail(ncclInvalidArgument, "ncclGetVersion", "version is null");
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}
