/* SPDX-License-Identifier: MIT
 * operation.c: operations that a program defines. There is one kind: a sum of scaled inputs. Their
 * numbers follow the built-in ones.
 */
#include "comm.h"
#include "own.h"

#include <string.h>

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t type,
                                      ncclScalarResidence_t residence, ncclComm_t comm)
{
    static const char call[] = "ncclRedOpCreatePreMulSum";
    const size_t bytes = nccl_type_bytes(type);
    size_t i = 0;

    if (!op || !scalar || !comm || bytes == 0)
        return nccl_fail(ncclInvalidArgument, call, "op %p, scalar %p, comm %p, type %d",
                         (void *)op, scalar, (void *)comm, (int)type);
    while (i < NCCL_OPERATIONS && comm->operation[i].used)
        i++;
    if (i == NCCL_OPERATIONS)
        return nccl_fail(ncclInvalidUsage, call, "the communicator has %d already",
                         NCCL_OPERATIONS);
    struct nccl_operation *made = &comm->operation[i];
    *made = (struct nccl_operation){.used = true, .type = type};
    if (residence == ncclScalarDevice)
        made->scalar_at = scalar;
    else
        memcpy(&made->scalar, scalar, bytes);
    *op = (ncclRedOp_t)(ncclNumOps + i);
    return ncclSuccess;
}

const struct nccl_operation *nccl_find_operation(const struct ncclComm *comm, ncclRedOp_t op)
{
    const size_t i = (size_t)op - ncclNumOps;
    bool known = (int)op >= ncclNumOps && i < NCCL_OPERATIONS && comm->operation[i].used;

    return known ? &comm->operation[i] : NULL;
}

/* What was issued with it has a copy. */
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
    if (!comm || !nccl_find_operation(comm, op))
        return nccl_fail(ncclInvalidArgument, "ncclRedOpDestroy", "operation %d%s", (int)op,
                         comm ? " was not made for this communicator" : ": comm is null");
    comm->operation[op - ncclNumOps].used = false;
    return ncclSuccess;
}
