/* SPDX-License-Identifier: MIT
 * ipc.cu: memory of one process, used by another. Lab 05; the contract of each function is in
 * lab05.h.
 *
 * Every process has a context and addresses of its own, so a pointer means nothing elsewhere. What
 * travels are handles of memory and of events. And because no stream reaches into another process,
 * every step of the order is an event and a message that says: it is recorded now.
 */
#include "lab05.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

int ipc_export(void *base, size_t offset, size_t bytes, struct wire *wire)
{
    if (!base || bytes == 0 || !wire)
        return LAB_EINVAL;
    // TODO(1): a handle, and where in its allocation.  (about 8 lines)
    //   before: *wire holds anything
    //   after:  *wire is complete, or as it was
    //   use:    cudaIpcGetMemHandle, ipc_result
    // BEGIN SOLUTION
    struct wire made;
    int rc;
    memset(&made, 0, sizeof made);
    if ((rc = ipc_result(cudaIpcGetMemHandle(&made.handle, base))))
        return rc;
    made.offset = offset;
    made.bytes = bytes;
    *wire = made;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)offset;
    // STUB: TODO(1);
}

int ipc_import(const struct wire *wire, struct remote *remote)
{
    if (!wire || wire->bytes == 0 || !remote)
        return LAB_EINVAL;
    // TODO(2): open it, and find the part.  (about 9 lines)
    //   before: *remote holds anything
    //   after:  remote->ptr is what the exporter meant; remote->base is what must be closed
    //   use:    cudaIpcOpenMemHandle with cudaIpcMemLazyEnablePeerAccess, ipc_result
    // BEGIN SOLUTION
    void *base;
    int rc;
    if ((rc =
             ipc_result(cudaIpcOpenMemHandle(&base, wire->handle, cudaIpcMemLazyEnablePeerAccess))))
        return rc;
    remote->base = base;
    remote->ptr = (char *)base + wire->offset;
    remote->bytes = wire->bytes;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(2);
}

int ipc_events(struct events *events)
{
    if (!events)
        return LAB_EINVAL;
    // TODO(3): two events for other processes.  (about 13 lines)
    //   before: *events holds anything
    //   after:  both events exist and have handles; or none does
    //   use:    cudaEventCreateWithFlags with both flags (Interprocess wants DisableTiming),
    //           cudaIpcGetEventHandle, event_drop
    // BEGIN SOLUTION
    const unsigned flags = cudaEventInterprocess | cudaEventDisableTiming;
    struct events made;
    int rc = LAB_OK;
    memset(&made, 0, sizeof made);
    for (int i = 0; i < 2 && !rc; i++) {
        rc = ipc_result(cudaEventCreateWithFlags(&made.event[i], flags));
        if (!rc)
            rc = ipc_result(cudaIpcGetEventHandle(&made.handle[i], made.event[i]));
    }
    for (int i = 0; i < 2 && rc; i++)
        event_drop(made.event[i]);
    if (!rc)
        *events = made;
    return rc;
    // END SOLUTION
    // STUB: TODO(3);
}

int ring_put(struct ring *ring, const void *src, size_t bytes)
{
    if (!ring || !ring->next.ptr || !src || bytes == 0 || bytes > ring->next.bytes)
        return LAB_EINVAL;
    // TODO(4): into the next rank's inbox.  (about 15 lines)
    //   before: the inbox may still hold what the put before left there
    //   after:  copy and event are queued, and next knows that the event is recorded
    //   use:    peer_hear (PEERS_WAIT_MS), cudaStreamWaitEvent(next_drained), cudaMemcpyAsync,
    //           cudaEventRecord(mine.event[FILLED]), peer_tell; ring_result for CUDA's errors
    // BEGIN SOLUTION
    size_t unused;
    int rc = LAB_OK;
    // The message first: a wait for an event that is not recorded yet is no wait.
    if (ring->puts > 0 &&
        ((rc = peer_hear(ring->peers->to_next, PEERS_WAIT_MS, &unused)) ||
         (rc = ring_result(ring, cudaStreamWaitEvent(ring->stream, ring->next_drained, 0)))))
        return rc;
    if ((rc = ring_result(
             ring, cudaMemcpyAsync(ring->next.ptr, src, bytes, cudaMemcpyDefault, ring->stream))) ||
        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream))) ||
        (rc = peer_tell(ring->peers->to_next, bytes)))
        return rc;
    ring->puts++;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(4);
}

int ring_take(struct ring *ring, void *dst, size_t room, size_t *bytes)
{
    if (!ring || !ring->inbox || !dst || !bytes)
        return LAB_EINVAL;
    // TODO(5): out of my inbox.  (about 13 lines)
    //   before: the previous rank's copy may not have run yet
    //   after:  wait, copy and event are queued, and the previous rank knows that it is recorded
    //   use:    peer_hear, cudaStreamWaitEvent(prev_filled), cudaMemcpyAsync,
    //           cudaEventRecord(mine.event[DRAINED]), peer_tell; ring_result for CUDA's errors
    // BEGIN SOLUTION
    size_t there;
    int rc;
    if ((rc = peer_hear(ring->peers->from_prev, PEERS_WAIT_MS, &there)))
        return rc;
    if (there > room)
        return LAB_ERANGE;
    if ((rc = ring_result(ring, cudaStreamWaitEvent(ring->stream, ring->prev_filled, 0))) ||
        (rc = ring_result(
             ring, cudaMemcpyAsync(dst, ring->inbox, there, cudaMemcpyDefault, ring->stream))) ||
        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[DRAINED], ring->stream))) ||
        (rc = peer_tell(ring->peers->from_prev, there)))
        return rc;
    *bytes = there;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)room;
    // STUB: TODO(5);
}

int ipc_close(struct ring *ring)
{
    if (!ring)
        return LAB_EINVAL;
    // TODO(6): close, barrier, free.  (about 20 lines)
    //   before: the stream may be at work; others have my memory and my events open; every put
    //           was taken, and the last "drained" has not been received
    //   after:  nothing of the ring is left, here or elsewhere, and no message of it either;
    //           *ring is all zero
    //   use:    cudaStreamSynchronize, cudaIpcCloseMemHandle, event_drop (the others' events too),
    //           peers_barrier, peer_hear, cudaFree, cudaStreamDestroy
    // BEGIN SOLUTION
    size_t unused;
    int rc = LAB_OK;
    if (ring->stream)
        rc = ipc_result(cudaStreamSynchronize(ring->stream));
    if (ring->next.base)
        (void)ipc_result(cudaIpcCloseMemHandle(ring->next.base));
    event_drop(ring->prev_filled);
    event_drop(ring->next_drained);
    // When every rank has come this far, no other rank uses this one's memory.
    int all = ring->peers ? peers_barrier(ring->peers) : LAB_OK;
    // No put was there to hear that the last one is drained. After the barrier that message has
    // come; the next ring over this socket must not take it for its own.
    if (ring->puts > 0)
        (void)peer_hear(ring->peers->to_next, 0, &unused);
    event_drop(ring->mine.event[FILLED]);
    event_drop(ring->mine.event[DRAINED]);
    (void)ipc_result(cudaFree(ring->base));
    if (ring->stream)
        (void)ipc_result(cudaStreamDestroy(ring->stream));
    memset(ring, 0, sizeof *ring);
    return all ? all : rc;
    // END SOLUTION
    // STUB: TODO(6);
}

int peer_hear(int fd, int wait_ms, size_t *number)
{
    struct pollfd wait = {fd, POLLIN, 0};
    int ready;
    if (!number)
        return LAB_EINVAL;
    do // a signal ends poll early
        ready = poll(&wait, 1, wait_ms);
    while (ready < 0 && errno == EINTR);
    // TODO(7): one message, or the news that none will come.  (about 5 lines)
    //   before: ready is 0 if nothing came in time; else there is a message, or the other side is
    //           gone, or both
    //   after:  *number is what it sent; LAB_EPEER if it is gone or silent
    //   use:    recv with MSG_WAITALL (0 bytes: the other side has closed)
    // BEGIN SOLUTION
    size_t said;
    // Eight bytes come at once or not at all: they are sent at once, and fit every buffer.
    if (ready <= 0 || recv(fd, &said, sizeof said, MSG_WAITALL) != (ssize_t)sizeof said)
        return LAB_EPEER;
    *number = said;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(7);
}
