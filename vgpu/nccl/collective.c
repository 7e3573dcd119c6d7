/* SPDX-License-Identifier: MIT
 * collective.c: NCCL's communication calls: their arguments are checked and turned into a job.
 */
#include "comm.h"

size_t nccl_type_bytes(ncclDataType_t type)
{
    static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return (unsigned)type < sizeof bytes / sizeof *bytes ? bytes[type] : 0;
}

struct ask {
    const char *call;
    const void *send;
    void *recv;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int rank; /* the root or the peer */
    const char *rank_name;
    bool reduces;
    ncclComm_t comm;
};

static ncclResult_t check_collective(const struct ask *ask)
{
    if (!ask->comm)
        return nccl_fail(ncclInvalidArgument, ask->call, "comm is null");
    if (nccl_type_bytes(ask->type) == 0)
        return nccl_fail(ncclInvalidArgument, ask->call, "type %d is not a value of ncclDataType_t",
                         (int)ask->type);
    const struct nccl_operation *own = nccl_find_operation(ask->comm, ask->op);
    if ((unsigned)ask->op >= ncclNumOps && !own)
        return nccl_fail(ncclInvalidArgument, ask->call,
                         "operation %d is not a value of ncclRedOp_t, nor was it made for comm",
                         (int)ask->op);
    if (own && own->type != ask->type)
        return nccl_fail(ncclInvalidArgument, ask->call,
                         "operation %d was made for type %d and is used with type %d", (int)ask->op,
                         (int)own->type, (int)ask->type);
    if (ask->rank < 0 || ask->rank >= ask->comm->ranks)
        return nccl_fail(ncclInvalidArgument, ask->call, "%s is %d, expected 0 to %d",
                         ask->rank_name, ask->rank, ask->comm->ranks - 1);
    if (ask->count > 0 && (!ask->send || !ask->recv))
        return nccl_fail(ncclInvalidArgument, ask->call, "a buffer is null (send %p, recv %p)",
                         ask->send, ask->recv);
    return ncclSuccess;
}

/* If nothing is reduced, data is copied in the widest words that fit; `type` becomes a type of that
 * size. */
static void widen_copy(struct nccl_ring *ring, size_t bytes)
{
    bool wide = ((uintptr_t)ring->send | (uintptr_t)ring->recv | bytes) % 8 == 0;
    ring->type = wide ? ncclUint64 : ncclUint8;
    ring->count = wide ? bytes / 8 : bytes;
}

static ncclResult_t issue_collective(enum nccl_kind kind, const struct ask *ask,
                                     cudaStream_t stream)
{
    ncclResult_t result = nccl_group_result(check_collective(ask));
    if (result != ncclSuccess || ask->count == 0)
        return result;
    struct nccl_job job = {.comm = ask->comm, .stream = stream};
    job.ring = (struct nccl_ring){.kind = kind,
                                  .type = (int)ask->type,
                                  .op = (int)ask->op,
                                  .root = ask->rank,
                                  .count = ask->count,
                                  .send = ask->send,
                                  .recv = ask->recv};
    const struct nccl_operation *own = nccl_find_operation(ask->comm, ask->op);
    if (own) {
        job.ring.op = NCCL_SCALED_SUM;
        job.ring.scalar = own->scalar;
        job.ring.scalar_at = own->scalar_at;
    }
    if (!ask->reduces)
        widen_copy(&job.ring, ask->count * nccl_type_bytes(ask->type));
    return nccl_issue(&job, ask->call);
}

ncclResult_t ncclAllReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    const struct ask ask = {"ncclAllReduce", send, recv, count, type, op, 0, "", true, comm};
    return issue_collective(NCCL_ALL_REDUCE, &ask, stream);
}

/* `recv` is used at the root only and may be NULL elsewhere. */
ncclResult_t ncclReduce(const void *send, void *recv, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
    void *to = recv || (comm && comm->rank == root) ? recv : (void *)(uintptr_t)send;
    const struct ask ask = {"ncclReduce", send, to, count, type, op, root, "root", true, comm};
    return issue_collective(NCCL_REDUCE, &ask, stream);
}

/* `send` is used at the root only. */
ncclResult_t ncclBroadcast(const void *send, void *recv, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream)
{
    const void *from = send || (comm && comm->rank == root) ? send : recv;
    const struct ask ask = {"ncclBroadcast", from, recv,   count, type,
                            ncclSum,         root, "root", false, comm};
    return issue_collective(NCCL_BROADCAST, &ask, stream);
}

ncclResult_t ncclBcast(void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAllGather(const void *send, void *recv, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream)
{
    const struct ask ask = {"ncclAllGather", send, recv, count, type, ncclSum, 0, "", false, comm};
    return issue_collective(NCCL_ALL_GATHER, &ask, stream);
}

ncclResult_t ncclReduceScatter(const void *send, void *recv, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    const struct ask ask = {"ncclReduceScatter", send, recv, count, type, op, 0, "", true, comm};
    return issue_collective(NCCL_REDUCE_SCATTER, &ask, stream);
}

static ncclResult_t issue_transfer(const struct ask *ask, bool sends, cudaStream_t stream)
{
    ncclResult_t result = nccl_group_result(check_collective(ask));
    if (result != ncclSuccess || ask->count == 0)
        return result;
    struct nccl_job job = {.comm = ask->comm, .stream = stream, .between_two = true};
    job.transfer = (struct nccl_transfer){.send = sends ? ask->send : NULL,
                                          .recv = sends ? NULL : ask->recv,
                                          .bytes = ask->count * nccl_type_bytes(ask->type),
                                          .peer = ask->rank};
    return nccl_issue(&job, ask->call);
}

ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    const struct ask ask = {
        "ncclSend", send, (void *)(uintptr_t)send, count, type, ncclSum, peer, "peer", false, comm};
    return issue_transfer(&ask, true, stream);
}

ncclResult_t ncclRecv(void *recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream)
{
    const struct ask ask = {"ncclRecv", recv, recv,   count, type,
                            ncclSum,    peer, "peer", false, comm};
    return issue_transfer(&ask, false, stream);
}

/* ---- made of sends and receives ---- */

enum { EVERY_RANK = -1, NO_RANK = -2 };

/* Sends to rank `to` and receives from rank `from`. With EVERY_RANK, rank r's is block r of the
 * buffer. */
static ncclResult_t exchange_blocks(const struct ask *ask, int to, int from, cudaStream_t stream)
{
    ncclResult_t result = nccl_group_result(check_collective(ask));
    const size_t block = ask->count * nccl_type_bytes(ask->type);
    struct ask one = *ask;

    if (result != ncclSuccess)
        return result;
    result = ncclGroupStart();
    for (int r = 0; r < ask->comm->ranks && result == ncclSuccess; r++) {
        one.rank = r;
        one.send = (const char *)ask->send + (to == EVERY_RANK ? (size_t)r * block : 0);
        one.recv = (char *)ask->recv + (from == EVERY_RANK ? (size_t)r * block : 0);
        if (to == EVERY_RANK || to == r)
            result = issue_transfer(&one, true, stream);
        if (result == ncclSuccess && (from == EVERY_RANK || from == r))
            result = issue_transfer(&one, false, stream);
    }
    ncclResult_t end = ncclGroupEnd();
    return result != ncclSuccess ? result : end;
}

ncclResult_t ncclAlltoAll(const void *send, void *recv, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream)
{
    const struct ask ask = {"ncclAlltoAll", send, recv, count, type, ncclSum, 0, "", false, comm};
    return exchange_blocks(&ask, EVERY_RANK, EVERY_RANK, stream);
}

ncclResult_t ncclGather(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                        ncclComm_t comm, cudaStream_t stream)
{
    bool is_root = comm && comm->rank == root;
    void *to = recv || is_root ? recv : (void *)(uintptr_t)send;
    const struct ask ask = {"ncclGather", send, to,     count, type,
                            ncclSum,      root, "root", false, comm};
    return exchange_blocks(&ask, root, is_root ? EVERY_RANK : NO_RANK, stream);
}

ncclResult_t ncclScatter(const void *send, void *recv, size_t count, ncclDataType_t type, int root,
                         ncclComm_t comm, cudaStream_t stream)
{
    bool is_root = comm && comm->rank == root;
    const void *from = send || is_root ? send : recv;
    const struct ask ask = {"ncclScatter", from, recv,   count, type,
                            ncclSum,       root, "root", false, comm};
    return exchange_blocks(&ask, is_root ? EVERY_RANK : NO_RANK, root, stream);
}
