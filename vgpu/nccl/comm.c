/* SPDX-License-Identifier: MIT
 * comm.c: communicators, from ncclCommInitRank to ncclCommDestroy.
 */
#include "comm.h"
#include "own.h"

#include <stdlib.h>

ncclResult_t nccl_make_comm(ncclComm_t *made, int ranks, const ncclUniqueId *id, int rank,
                            int device)
{
    struct ncclComm *comm = calloc(1, sizeof *comm);
    if (!comm)
        return nccl_fail(ncclSystemError, "ncclCommInitRank", "no memory");
    *comm = (struct ncclComm){.rank = rank, .ranks = ranks, .device = device, .id = *id};
    ncclResult_t result = nccl_rendezvous(id, rank, ranks, &comm->connection);
    if (result == ncclSuccess) {
        result = nccl_cuda(cudaSetDevice(device), "ncclCommInitRank", "cudaSetDevice");
        if (result == ncclSuccess)
            result = nccl_cuda(cudaEventCreateWithFlags(&comm->last, cudaEventDisableTiming),
                               "ncclCommInitRank", "an event");
        if (result == ncclSuccess)
            result = nccl_open_regions(comm, &comm->connection);
        if (result != ncclSuccess || comm->here == ranks)
            nccl_disconnect(&comm->connection);
    }
    if (result == ncclSuccess) {
        *made = comm;
        return ncclSuccess;
    }
    if (comm->last)
        cudaEventDestroy(comm->last);
    free(comm);
    return result;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank)
{
    return nccl_issue_init(comm, nranks, &id, rank, "ncclCommInitRank");
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    if (config && (config->magic != 0xcafebeef || config->size < sizeof *config))
        return nccl_fail(ncclInvalidArgument, "ncclCommInitRankConfig",
                         "config was not initialised: ncclConfig_t config = "
                         "NCCL_CONFIG_INITIALIZER;");
    if (config && config->blocking == 0)
        return nccl_fail(ncclInvalidUsage, "ncclCommInitRankConfig",
                         "non-blocking communicators are not modelled: leave blocking at 1");
    return nccl_issue_init(comm, nranks, &id, rank, "ncclCommInitRankConfig");
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int ndev, const int *devices)
{
    NCCL_OWN_CALLS;
    ncclUniqueId id;
    int before = 0;
    if (!comms || ndev < 1)
        return nccl_fail(ncclInvalidArgument, "ncclCommInitAll", "comms is %s, ndev is %d",
                         comms ? "given" : "null", ndev);
    ncclResult_t result = ncclGetUniqueId(&id);
    if (result != ncclSuccess)
        return result;
    cudaGetDevice(&before);
    result = ncclGroupStart();
    for (int r = 0; r < ndev && result == ncclSuccess; r++) {
        result =
            nccl_cuda(cudaSetDevice(devices ? devices[r] : r), "ncclCommInitAll", "cudaSetDevice");
        if (result == ncclSuccess)
            result = ncclCommInitRank(&comms[r], ndev, id, r);
    }
    ncclResult_t end = ncclGroupEnd();
    cudaSetDevice(before);
    return result != ncclSuccess ? result : end;
}

static ncclResult_t release_comm(struct ncclComm *comm, const char *call, bool wait)
{
    NCCL_OWN_CALLS;
    int before = 0;
    ncclResult_t result = ncclSuccess;
    if (!comm)
        return nccl_fail(ncclInvalidArgument, call, "comm is null");
    cudaGetDevice(&before);
    cudaSetDevice(comm->device);
    if (wait && comm->launched)
        result = nccl_cuda(cudaEventSynchronize(comm->last), call, "waiting for its work");
    cudaEventDestroy(comm->last); /* if this fails, the GPU has failed, which was reported above */
    nccl_close_peers(comm);
    /* An abort does not wait for other ranks, nor they for it. */
    if (!wait)
        nccl_disconnect(&comm->connection);
    ncclResult_t left = nccl_leave(comm, call);
    cudaSetDevice(before);
    return result != ncclSuccess ? result : left;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    return release_comm(comm, "ncclCommDestroy", true);
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    return release_comm(comm, "ncclCommAbort", false);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm)
{
    NCCL_OWN_CALLS;
    if (!comm)
        return nccl_fail(ncclInvalidArgument, "ncclCommFinalize", "comm is null");
    if (!comm->launched)
        return ncclSuccess;
    return nccl_cuda(cudaEventSynchronize(comm->last), "ncclCommFinalize", "waiting for its work");
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    NCCL_OWN_CALLS;
    if (!comm || !error)
        return nccl_fail(ncclInvalidArgument, "ncclCommGetAsyncError", "%s is null",
                         comm ? "error" : "comm");
    cudaError_t state = comm->launched ? cudaEventQuery(comm->last) : cudaSuccess;
    *error =
        state == cudaSuccess || state == cudaErrorNotReady ? ncclSuccess : ncclUnhandledCudaError;
    return ncclSuccess;
}

static ncclResult_t return_value(const struct ncclComm *comm, int *to, int value, const char *call)
{
    if (!comm || !to)
        return nccl_fail(ncclInvalidArgument, call, "%s is null", comm ? "the result" : "comm");
    *to = value;
    return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *count)
{
    return return_value(comm, count, comm ? comm->ranks : 0, "ncclCommCount");
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device)
{
    return return_value(comm, device, comm ? comm->device : 0, "ncclCommCuDevice");
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    return return_value(comm, rank, comm ? comm->rank : 0, "ncclCommUserRank");
}

ncclResult_t ncclMemAlloc(void **pointer, size_t bytes)
{
    NCCL_OWN_CALLS;
    return nccl_cuda(cudaMalloc(pointer, bytes), "ncclMemAlloc", "cudaMalloc");
}

ncclResult_t ncclMemFree(void *pointer)
{
    NCCL_OWN_CALLS;
    return nccl_cuda(cudaFree(pointer), "ncclMemFree", "cudaFree");
}
