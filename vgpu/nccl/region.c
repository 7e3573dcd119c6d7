/* SPDX-License-Identifier: MIT
 * region.c: mailboxes that all ranks can access: by peer access in one process, by IPC between
 * processes. If a pair of GPUs has no peer access, they are in pinned host memory, which only ranks
 * of one process can share.
 */
#include "comm.h"
#include "own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char init_call[] = "ncclCommInitRank";

struct who {
    int pid, device;
    char bus[32];
};

struct where {
    bool ok;
    char *region; /* valid in the same process */
    cudaIpcMemHandle_t handle;
};

/* ---- processes and GPUs of the ranks ---- */

/* NCCL permits at most one rank on each GPU. */
static ncclResult_t check_rank_devices(const struct ncclComm *comm, const struct who *who)
{
    for (int a = 0; a < comm->ranks; a++)
        for (int b = 0; b < a; b++)
            if (strcmp(who[a].bus, who[b].bus) == 0)
                return nccl_fail(
                    ncclInvalidUsage, init_call,
                    "ranks %d and %d are both on the GPU at %s: cudaSetDevice to a GPU "
                    "of its own before each rank",
                    b, a, who[a].bus);
    return ncclSuccess;
}

/* True if this rank's GPU can access those of all others. A GPU that is not visible to this process
 * is assumed to be accessible; opening its region shows whether it is. */
static bool can_access_all(const struct ncclComm *comm, const struct who *who)
{
    for (int r = 0; r < comm->ranks; r++) {
        int device, can = 1;
        if (r == comm->rank)
            continue;
        if (cudaDeviceGetByPCIBusId(&device, who[r].bus) == cudaSuccess)
            cudaDeviceCanAccessPeer(&can, comm->device, device);
        if (!can)
            return false;
    }
    return true;
}

static ncclResult_t choose_memory(struct ncclComm *comm, const struct nccl_connection *connection,
                                  const struct who *who)
{
    bool mine = can_access_all(comm, who), all[NCCL_MAX_RANKS], one_process = true;
    ncclResult_t result = nccl_exchange(connection, &mine, all, sizeof mine);
    for (int r = 0; r < comm->ranks && result == ncclSuccess; r++) {
        comm->host |= !all[r];
        one_process &= who[r].pid == who[0].pid;
    }
    if (result == ncclSuccess && comm->host && !one_process)
        return nccl_fail(
            ncclSystemError, init_call,
            "GPUs without peer access in different processes: NCCL goes through shared "
            "host memory there, which is not modelled; use threads, or a node with "
            "peer access");
    return result;
}

/* ---- the regions ---- */

static ncclResult_t allocate_region(struct ncclComm *comm)
{
    const size_t bytes = sizeof(struct nccl_region), counters = offsetof(struct nccl_region, slot);
    void *region = NULL;
    ncclResult_t result =
        nccl_cuda(comm->host ? cudaHostAlloc(&region, bytes, cudaHostAllocPortable)
                             : cudaMalloc(&region, bytes),
                  init_call, "allocating the mailboxes");
    comm->region = region;
    if (result == ncclSuccess && comm->host)
        memset(region, 0, counters);
    else if (result == ncclSuccess)
        result = nccl_cuda(cudaMemset(region, 0, counters), init_call, "clearing the mailboxes");
    /* cudaMemset may return before device memory is cleared, so wait before others can see the
     * region. */
    if (result == ncclSuccess)
        result = nccl_cuda(cudaDeviceSynchronize(), init_call, "clearing the mailboxes");
    return result;
}

/* Peer access that the library has enabled. It stays enabled, as with NCCL, and is disabled at
 * exit, since the program does not know of it. */
static bool peers_enabled[NCCL_MAX_RANKS][NCCL_MAX_RANKS];

static void disable_peers(void)
{
    NCCL_OWN_CALLS;
    for (int from = 0; from < NCCL_MAX_RANKS; from++)
        for (int to = 0; to < NCCL_MAX_RANKS; to++)
            if (peers_enabled[from][to] && cudaSetDevice(from) == cudaSuccess)
                cudaDeviceDisablePeerAccess(to); /* fails if the program has disabled it */
}

static void record_peer_enabled(int from, int to)
{
    static bool registered;
    if (from >= NCCL_MAX_RANKS || to >= NCCL_MAX_RANKS)
        return;
    if (!__atomic_exchange_n(&registered, true, __ATOMIC_SEQ_CST))
        atexit(disable_peers);
    peers_enabled[from][to] = true;
}

static ncclResult_t reach_in_process(struct ncclComm *comm, int rank, const struct who *who,
                                     const struct where *where)
{
    comm->peer[rank] = where->region;
    if (comm->host || rank == comm->rank)
        return ncclSuccess;
    cudaError_t error = cudaDeviceEnablePeerAccess(who->device, 0);
    if (error == cudaSuccess)
        record_peer_enabled(comm->device, who->device);
    if (error == cudaErrorPeerAccessAlreadyEnabled)
        return ncclSuccess; /* enabled by the program */
    return nccl_cuda(error, init_call, "enabling peer access");
}

static ncclResult_t reach_other_process(struct ncclComm *comm, int rank, const struct where *where)
{
    void *region = NULL;
    cudaError_t error =
        cudaIpcOpenMemHandle(&region, where->handle, cudaIpcMemLazyEnablePeerAccess);
    comm->peer[rank] = region;
    comm->opened[rank] = error == cudaSuccess;
    return nccl_cuda(error, init_call, "opening another process's mailboxes");
}

static ncclResult_t reach_all(struct ncclComm *comm, const struct who *who,
                              const struct where *where)
{
    ncclResult_t result = ncclSuccess;
    for (int r = 0; r < comm->ranks && result == ncclSuccess; r++)
        result = who[r].pid == (int)getpid() ? reach_in_process(comm, r, &who[r], &where[r])
                                             : reach_other_process(comm, r, &where[r]);
    return result;
}

/* Exchanges the ranks' results, so that a communicator is made on all ranks or on none. */
static ncclResult_t exchange_results(const struct ncclComm *comm,
                                     const struct nccl_connection *connection, ncclResult_t mine)
{
    ncclResult_t all[NCCL_MAX_RANKS];
    ncclResult_t result = nccl_exchange(connection, &mine, all, sizeof mine);
    for (int r = 0; r < comm->ranks && result == ncclSuccess && mine == ncclSuccess; r++)
        if (all[r] != ncclSuccess)
            result = nccl_fail(ncclRemoteError, init_call, "rank %d failed: %s", r,
                               ncclGetErrorString(all[r]));
    return mine != ncclSuccess ? mine : result;
}

static ncclResult_t swap_regions(struct ncclComm *comm, const struct nccl_connection *connection,
                                 const struct who *who)
{
    struct where mine = {0}, all[NCCL_MAX_RANKS];
    ncclResult_t result = allocate_region(comm);
    mine.region = comm->region;
    if (result == ncclSuccess && !comm->host)
        result = nccl_cuda(cudaIpcGetMemHandle(&mine.handle, comm->region), init_call,
                           "a handle of the mailboxes");
    mine.ok = result == ncclSuccess;
    ncclResult_t swapped = nccl_exchange(connection, &mine, all, sizeof mine);
    for (int r = 0; r < comm->ranks && swapped == ncclSuccess && result == ncclSuccess; r++)
        if (!all[r].ok)
            result = nccl_fail(ncclRemoteError, init_call, "rank %d could not allocate", r);
    if (result == ncclSuccess && swapped == ncclSuccess)
        result = reach_all(comm, who, all);
    return swapped != ncclSuccess ? swapped : exchange_results(comm, connection, result);
}

ncclResult_t nccl_open_regions(struct ncclComm *comm, const struct nccl_connection *connection)
{
    struct who mine = {.pid = (int)getpid(), .device = comm->device}, all[NCCL_MAX_RANKS];
    ncclResult_t result = nccl_cuda(cudaDeviceGetPCIBusId(mine.bus, sizeof mine.bus, comm->device),
                                    init_call, "the GPU");
    ncclResult_t swapped = nccl_exchange(connection, &mine, all, sizeof mine);
    if (result == ncclSuccess)
        result = swapped;
    if (result == ncclSuccess)
        result = check_rank_devices(comm, all);
    if (result == ncclSuccess)
        result = choose_memory(comm, connection, all);
    if (result == ncclSuccess)
        result = swap_regions(comm, connection, all);
    comm->here = 0;
    for (int r = 0; r < comm->ranks && result == ncclSuccess; r++)
        comm->here += all[r].pid == mine.pid;
    if (result != ncclSuccess) {
        nccl_close_peers(comm);
        nccl_free_region(comm);
    }
    return result;
}

void nccl_close_peers(struct ncclComm *comm)
{
    for (int r = 0; r < comm->ranks; r++)
        if (comm->opened[r])
            cudaIpcCloseMemHandle(comm->peer[r]);
    memset(comm->opened, 0, sizeof comm->opened);
}

void nccl_free_region(struct ncclComm *comm)
{
    if (comm->region && comm->host)
        cudaFreeHost(comm->region);
    else if (comm->region)
        cudaFree(comm->region);
    comm->region = NULL;
}
