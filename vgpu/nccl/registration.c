/* SPDX-License-Identifier: MIT
 * registration.c: buffers that a program registers. On hardware that saves copies; here the ring's
 * kernels reach every buffer already. The handle is the buffer.
 */
#include "comm.h"

static ncclResult_t check_buffer(const char *call, const struct ncclComm *comm, const void *buffer,
                                 const void *handle)
{
    if (comm && buffer && handle)
        return ncclSuccess;
    return nccl_fail(ncclInvalidArgument, call, "%s is null",
                     comm ? buffer ? "the handle's place" : "buffer" : "comm");
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buffer, size_t bytes, void **handle)
{
    (void)bytes;
    ncclResult_t result = check_buffer("ncclCommRegister", comm, buffer, handle);
    if (result == ncclSuccess)
        *handle = buffer;
    return result;
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
    return check_buffer("ncclCommDeregister", comm, handle, handle);
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *buffer, size_t bytes,
                                    ncclWindow_t *window, int flags)
{
    (void)bytes, (void)flags;
    ncclResult_t result = check_buffer("ncclCommWindowRegister", comm, buffer, window);
    if (result == ncclSuccess)
        *window = buffer;
    return result;
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window)
{
    return check_buffer("ncclCommWindowDeregister", comm, window, window);
}
