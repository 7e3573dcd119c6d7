/* SPDX-License-Identifier: MIT
 * launch.c: turns jobs into kernels. Kernels of one communicator run one after the other, even on
 * different streams, since they share its mailboxes.
 */
#include "comm.h"
#include "core.h"

#include <stdlib.h>
#include <string.h>

static struct nccl_place place_of(const struct ncclComm *comm)
{
    struct nccl_place place = {.rank = comm->rank, .ranks = comm->ranks};
    for (int r = 0; r < comm->ranks; r++)
        place.region[r] = (struct nccl_region *)comm->peer[r];
    return place;
}

/* ---- what the node is told of a kernel ---- */

static _Thread_local bool group_begins;

void nccl_group_begins(void)
{
    group_begins = true;
}

static uint32_t other_ranks(const struct ncclComm *comm, int rank)
{
    return ((1u << comm->ranks) - 1) & ~(1u << rank);
}

static struct vgpu_collective rank_of_collective(const struct ncclComm *comm,
                                                 enum vgpu_collective_kind kind)
{
    uint64_t group = 0xcbf29ce484222325; /* FNV-1a of the id */
    for (size_t i = 0; i < sizeof comm->id.internal; i++)
        group = (group ^ (unsigned char)comm->id.internal[i]) * 0x100000001b3;
    bool begins = group_begins;
    group_begins = false;
    return (struct vgpu_collective){.group = group,
                                    .kind = kind,
                                    .rank = (uint32_t)comm->rank,
                                    .ranks = (uint32_t)comm->ranks,
                                    .begins = begins};
}

/* Does the rank pass data on in a ring, or is it the end of a chain? */
static bool passes_on(const struct ncclComm *comm, const struct nccl_ring *ring)
{
    int next = (comm->rank + 1) % comm->ranks;
    if (ring->kind == NCCL_BROADCAST)
        return next != ring->root;
    return ring->kind != NCCL_REDUCE || comm->rank != ring->root;
}

static void tell_of_ring(const struct ncclComm *comm, const struct nccl_ring *ring)
{
    static const enum vgpu_collective_kind kinds[] = {[NCCL_ALL_REDUCE] = VGPU_ALL_REDUCE,
                                                      [NCCL_REDUCE_SCATTER] = VGPU_REDUCE_SCATTER,
                                                      [NCCL_ALL_GATHER] = VGPU_ALL_GATHER,
                                                      [NCCL_BROADCAST] = VGPU_BROADCAST,
                                                      [NCCL_REDUCE] = VGPU_REDUCE};
    uint64_t bytes = ring->count * nccl_type_bytes((ncclDataType_t)ring->type),
             hops = (uint64_t)comm->ranks - 1;
    struct vgpu_collective part = rank_of_collective(comm, kinds[ring->kind]);
    part.peers = other_ranks(comm, comm->rank);
    part.to = passes_on(comm, ring) ? part.peers & 1u << (comm->rank + 1) % comm->ranks : 0;
    part.bytes = bytes;
    if (ring->kind == NCCL_ALL_REDUCE)
        part.bytes = 2 * hops * bytes / (uint64_t)comm->ranks;
    else if (ring->kind == NCCL_REDUCE_SCATTER || ring->kind == NCCL_ALL_GATHER)
        part.bytes = hops * bytes;
    vgpu__next_is_collective(&part);
}

static void tell_of_transfers(const struct ncclComm *comm, const struct nccl_transfer *transfer,
                              size_t count)
{
    struct vgpu_collective part = rank_of_collective(comm, VGPU_SEND_RECV);
    uint64_t received = 0;
    for (size_t i = 0; i < count; i++) {
        bool sends = transfer[i].send, own = transfer[i].peer == comm->rank;
        part.peers |= 1u << transfer[i].peer;
        part.to |= sends && !own ? 1u << transfer[i].peer : 0;
        part.bytes += sends && !own ? transfer[i].bytes : 0;
        received += sends ? 0 : transfer[i].bytes;
    }
    if ((part.to & (part.to - 1)) || part.peers & 1u << comm->rank)
        part.kind = VGPU_ALL_TO_ALL;
    part.bytes = received > part.bytes ? received : part.bytes;
    vgpu__next_is_collective(&part);
}

/* ---- transfers ---- */

/* Transfers of a rank to itself: the i-th send and the i-th receive of the group become one. They
 * are written to `transfer`; returns their number, or -1. */
static int pair_with_self(const struct nccl_job *job, size_t count, struct nccl_transfer *transfer)
{
    size_t next = 0;
    int used = 0;
    for (size_t i = 0; i < count; i++) {
        const struct nccl_transfer *from = &job[i].transfer;
        if (!job[i].between_two || from->peer != job->comm->rank || !from->send)
            continue;
        while (next < count && (!job[next].between_two || job[next].transfer.send ||
                                job[next].transfer.peer != job->comm->rank))
            next++;
        if (next == count || job[next].transfer.bytes != from->bytes) {
            nccl_fail(ncclInvalidUsage, "ncclSend",
                      "rank %d sends %zu bytes to itself; no receive of that size is in the "
                      "same group",
                      job->comm->rank, from->bytes);
            return -1;
        }
        transfer[used] = *from;
        transfer[used++].recv = job[next++].transfer.recv;
    }
    return used;
}

/* Sorts the transfers into lanes by peer and direction, in their order, those of the rank to itself
 * first. Returns the number of lanes, or -1. */
static int make_rank_lanes(const struct nccl_job *job, size_t count, struct nccl_lane *lane,
                           struct nccl_transfer *transfer)
{
    int lanes = 0, used = pair_with_self(job, count, transfer);
    if (used > 0)
        lane[lanes++] = (struct nccl_lane){0, used};
    if (used < 0)
        return -1;
    for (int peer = 0; peer < job->comm->ranks; peer++)
        for (int sends = 0; sends < 2 && peer != job->comm->rank; sends++) {
            int first = used;
            for (size_t i = 0; i < count; i++)
                if (job[i].between_two && job[i].transfer.peer == peer &&
                    (job[i].transfer.send != NULL) == (sends == 1))
                    transfer[used++] = job[i].transfer;
            if (used > first)
                lane[lanes++] = (struct nccl_lane){first, used - first};
        }
    return lanes;
}

/* More than a kernel takes as its arguments: the tables go to device memory in stream order. */
static ncclResult_t launch_many(const struct ncclComm *comm, cudaStream_t stream,
                                const struct nccl_lane *lane, int lanes,
                                const struct nccl_transfer *transfer, size_t transfers)
{
    const size_t first = (size_t)lanes * sizeof *lane, rest = transfers * sizeof *transfer;
    const struct nccl_place place = place_of(comm);
    static const struct nccl_table empty;
    void *table = NULL;
    cudaError_t error = cudaMallocAsync(&table, first + rest, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(table, lane, first, cudaMemcpyHostToDevice, stream);
    char *behind = (char *)table + first;
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(behind, transfer, rest, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = nccl_launch_transfers(table, lanes, (const struct nccl_transfer *)(void *)behind,
                                      &empty, &place, stream);
    if (table) {
        cudaError_t freed = cudaFreeAsync(table, stream);
        error = error == cudaSuccess ? freed : error;
    }
    return nccl_cuda(error, "ncclGroupEnd", "launching sends and receives");
}

static ncclResult_t launch_lanes(const struct ncclComm *comm, cudaStream_t stream,
                                 const struct nccl_lane *lane, int lanes,
                                 const struct nccl_transfer *transfer, size_t transfers)
{
    const struct nccl_place place = place_of(comm);
    struct nccl_table table = {0};
    tell_of_transfers(comm, transfer, transfers);
    if (transfers > NCCL_TABLE_TRANSFERS)
        return launch_many(comm, stream, lane, lanes, transfer, transfers);
    memcpy(table.lane, lane, (size_t)lanes * sizeof *lane);
    memcpy(table.transfer, transfer, transfers * sizeof *transfer);
    return nccl_cuda(nccl_launch_transfers(NULL, lanes, NULL, &table, &place, stream),
                     "ncclGroupEnd", "launching sends and receives");
}

static ncclResult_t launch_transfers(const struct nccl_job *job, size_t count)
{
    struct nccl_lane lane[2 * NCCL_MAX_RANKS];
    ncclResult_t result = ncclSuccess;
    struct nccl_transfer *transfer = calloc(count, sizeof *transfer);
    if (!transfer)
        result = nccl_fail(ncclSystemError, "ncclGroupEnd", "no memory");
    if (result == ncclSuccess) {
        int lanes = make_rank_lanes(job, count, lane, transfer);
        size_t transfers = lanes > 0 ? (size_t)(lane[lanes - 1].first + lane[lanes - 1].count) : 0;
        if (lanes < 0)
            result = ncclInvalidUsage;
        else if (lanes > 0)
            result = launch_lanes(job->comm, job->stream, lane, lanes, transfer, transfers);
    }
    free(transfer);
    return result;
}

/* ---- rings and transfers ---- */

static ncclResult_t launch_rings(const struct nccl_job *job, size_t count, bool *transfers)
{
    const struct nccl_place place = place_of(job->comm);
    ncclResult_t result = ncclSuccess;
    for (size_t i = 0; i < count && result == ncclSuccess; i++) {
        *transfers |= job[i].between_two;
        if (job[i].between_two)
            continue;
        tell_of_ring(job->comm, &job[i].ring);
        result = nccl_cuda(nccl_launch_ring(&job[i].ring, &place, job->stream),
                           "launching a collective", "the kernel");
    }
    return result;
}

/* In a capture the event of earlier work cannot be waited for; kernels are ordered by the graph
 * alone. */
static bool is_capturing(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
           status != cudaStreamCaptureStatusNone;
}

ncclResult_t nccl_launch(const struct nccl_job *job, size_t count)
{
    struct ncclComm *comm = job->comm;
    bool transfers = false, capturing = is_capturing(job->stream);
    int before = 0;
    cudaGetDevice(&before);
    ncclResult_t result = nccl_cuda(cudaSetDevice(comm->device), "launching", "cudaSetDevice");
    if (result == ncclSuccess && comm->launched && !capturing)
        result = nccl_cuda(cudaStreamWaitEvent(job->stream, comm->last, 0), "launching",
                           "behind the communicator's work");
    if (result == ncclSuccess)
        result = launch_rings(job, count, &transfers);
    if (result == ncclSuccess && transfers)
        result = launch_transfers(job, count);
    if (result == ncclSuccess && !capturing) {
        result = nccl_cuda(cudaEventRecord(comm->last, job->stream), "launching", "an event");
        comm->launched = true;
    }
    cudaSetDevice(before);
    return result;
}
