/* SPDX-License-Identifier: MIT
 * missing.c: calls of NCCL that are not modelled. They say so.
 */
#include "comm.h"

static ncclResult_t missing(const char *call, const char *instead)
{
    return nccl_fail(ncclInvalidUsage, call, "not modelled by the virtual node; %s", instead);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made,
                           ncclConfig_t *config)
{
    (void)comm, (void)color, (void)key, (void)made, (void)config;
    return missing("ncclCommSplit", "make a communicator of the ranks' own with ncclGetUniqueId");
}

/* Registration makes real hardware faster and changes nothing else; who asks is told. */
ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buffer, size_t bytes, void **handle)
{
    (void)comm, (void)buffer, (void)bytes, (void)handle;
    return missing("ncclCommRegister", "leave it out: buffers work without");
}

ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
    (void)comm, (void)handle;
    return missing("ncclCommDeregister", "nothing can have been registered");
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm)
{
    (void)op, (void)scalar, (void)type, (void)residence, (void)comm;
    return missing("ncclRedOpCreatePreMulSum", "scale in a kernel before, or use ncclAvg");
}

ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
    (void)op, (void)comm;
    return missing("ncclRedOpDestroy", "there are no operations of one's own");
}

static const char pairs[] = "use ncclSend and ncclRecv of all pairs in one group";

ncclResult_t ncclAlltoAll(const void *send, void *recv, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream)
{
    (void)send, (void)recv, (void)count, (void)type, (void)comm, (void)stream;
    return missing("ncclAlltoAll", pairs);
}

ncclResult_t ncclGather(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                        ncclComm_t comm, cudaStream_t stream)
{
    (void)send, (void)recv, (void)count, (void)type, (void)root, (void)comm, (void)stream;
    return missing("ncclGather", pairs);
}

ncclResult_t ncclScatter(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                         ncclComm_t comm, cudaStream_t stream)
{
    (void)send, (void)recv, (void)count, (void)type, (void)root, (void)comm, (void)stream;
    return missing("ncclScatter", pairs);
}
