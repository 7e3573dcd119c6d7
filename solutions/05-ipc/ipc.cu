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
    // TODO(1): a handle, and where in its allocation.  (about 10 lines)
    //   before: *wire holds anything
    //   after:  *wire is complete, or as it was
    //   use:    cudaIpcGetMemHandle, ipc_result
    // BEGIN SOLUTION
    struct wire made;
    int rc;
    if (!base || bytes == 0 || !wire)
        return LAB_EINVAL;
    memset(&made, 0, sizeof made);
    if ((rc = ipc_result(cudaIpcGetMemHandle(&made.handle, base))))
        return rc;
    made.offset = offset;
    made.bytes = bytes;
    *wire = made;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)base, (void)offset, (void)bytes, (void)wire;
    // STUB: TODO(1);
}

int ipc_import(const struct wire *wire, struct remote *remote)
{
    // TODO(2): open it, and find the part.  (about 10 lines)
    //   before: *remote holds anything
    //   after:  remote->ptr is what the exporter meant; remote->base is what must be closed
    //   use:    cudaIpcOpenMemHandle with cudaIpcMemLazyEnablePeerAccess, ipc_result
    // BEGIN SOLUTION
    void *base;
    int rc;
    if (!wire || wire->bytes == 0 || !remote)
        return LAB_EINVAL;
    if ((rc =
             ipc_result(cudaIpcOpenMemHandle(&base, wire->handle, cudaIpcMemLazyEnablePeerAccess))))
        return rc;
    remote->base = base;
    remote->ptr = (char *)base + wire->offset;
    remote->bytes = wire->bytes;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)wire, (void)remote;
    // STUB: TODO(2);
}

int ipc_events(struct events *events)
{
    // TODO(3): two events for other processes.  (about 16 lines)
    //   before: *events holds anything
    //   after:  both events exist and have handles; or none does
    //   use:    cudaEventCreateWithFlags with both flags (Interprocess wants DisableTiming),
    //           cudaIpcGetEventHandle, cudaEventDestroy
    // BEGIN SOLUTION
    const unsigned flags = cudaEventInterprocess | cudaEventDisableTiming;
    struct events made;
    int rc = LAB_OK;
    if (!events)
        return LAB_EINVAL;
    memset(&made, 0, sizeof made);
    for (int i = 0; i < 2 && !rc; i++) {
        rc = ipc_result(cudaEventCreateWithFlags(&made.event[i], flags));
        if (!rc)
            rc = ipc_result(cudaIpcGetEventHandle(&made.handle[i], made.event[i]));
    }
    for (int i = 0; i < 2 && rc; i++)
        if (made.event[i])
            (void)cudaEventDestroy(made.event[i]);
    if (!rc)
        *events = made;
    return rc;
    // END SOLUTION
    // STUB: (void)events;
    // STUB: TODO(3);
}

int ring_put(struct ring *ring, const void *src, size_t bytes)
{
    // TODO(4): into the next rank's inbox.  (about 20 lines)
    //   before: the inbox may still hold what the put before left there
    //   after:  copy and event are queued, and next knows that the event is recorded
    //   use:    peer_hear (PEERS_WAIT_MS), cudaStreamWaitEvent(next_drained), cudaMemcpyAsync,
    //           cudaEventRecord(mine.event[FILLED]), peer_tell; ring_result for CUDA's errors
    // BEGIN SOLUTION
    size_t unused;
    int rc = LAB_OK;
    if (!ring || !ring->next.ptr || !src || bytes == 0 || bytes > ring->next.bytes)
        return LAB_EINVAL;
    if (ring->puts > 0) {
        // The message first: a wait for an event that is not recorded yet is no wait.
        if ((rc = peer_hear(ring->peers->to_next, PEERS_WAIT_MS, &unused)))
            return rc;
        rc = ring_result(ring, cudaStreamWaitEvent(ring->stream, ring->next_drained, 0));
    }
    if (!rc)
        rc = ring_result(
            ring, cudaMemcpyAsync(ring->next.ptr, src, bytes, cudaMemcpyDefault, ring->stream));
    if (!rc)
        rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream));
    if (!rc)
        rc = peer_tell(ring->peers->to_next, bytes);
    if (!rc)
        ring->puts++;
    return rc;
    // END SOLUTION
    // STUB: (void)ring, (void)src, (void)bytes;
    // STUB: TODO(4);
}

int ring_take(struct ring *ring, void *dst, size_t room, size_t *bytes)
{
    // TODO(5): out of my inbox.  (about 16 lines)
    //   before: the previous rank's copy may not have run yet
    //   after:  wait, copy and event are queued, and the previous rank knows that it is recorded
    //   use:    peer_hear, cudaStreamWaitEvent(prev_filled), cudaMemcpyAsync,
    //           cudaEventRecord(mine.event[DRAINED]), peer_tell; ring_result for CUDA's errors
    // BEGIN SOLUTION
    size_t there;
    int rc;
    if (!ring || !ring->inbox || !dst || !bytes)
        return LAB_EINVAL;
    if ((rc = peer_hear(ring->peers->from_prev, PEERS_WAIT_MS, &there)))
        return rc;
    if (there > room)
        return LAB_ERANGE;
    if ((rc = ring_result(ring, cudaStreamWaitEvent(ring->stream, ring->prev_filled, 0))))
        return rc;
    if ((rc = ring_result(
             ring, cudaMemcpyAsync(dst, ring->inbox, there, cudaMemcpyDefault, ring->stream))))
        return rc;
    if ((rc = ring_result(ring, cudaEventRecord(ring->mine.event[DRAINED], ring->stream))))
        return rc;
    if ((rc = peer_tell(ring->peers->from_prev, there)))
        return rc;
    *bytes = there;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)ring, (void)dst, (void)room, (void)bytes;
    // STUB: TODO(5);
}

int ipc_close(struct ring *ring)
{
    // TODO(6): close, barrier, free.  (about 26 lines)
    //   before: the stream may be at work; others have my memory and my events open; every put
    //           was taken, and the last "drained" is still unheard
    //   after:  nothing of the ring is left, here or elsewhere, and no message of it either;
    //           *ring is all zero
    //   use:    cudaStreamSynchronize, cudaIpcCloseMemHandle, cudaEventDestroy (the others' events
    //           too), peers_barrier, peer_hear, cudaFree, cudaStreamDestroy
    // BEGIN SOLUTION
    size_t unused;
    int rc = LAB_OK;
    if (!ring)
        return LAB_EINVAL;
    if (ring->stream)
        rc = ipc_result(cudaStreamSynchronize(ring->stream));
    if (ring->next.base)
        (void)ipc_result(cudaIpcCloseMemHandle(ring->next.base));
    if (ring->prev_filled)
        (void)ipc_result(cudaEventDestroy(ring->prev_filled));
    if (ring->next_drained)
        (void)ipc_result(cudaEventDestroy(ring->next_drained));
    // When every rank has come this far, no other rank uses this one's memory.
    int all = ring->peers ? peers_barrier(ring->peers) : LAB_OK;
    // No put was there to hear that the last one is drained. After the barrier that message has
    // come; the next ring over this socket must not take it for its own.
    if (ring->puts > 0)
        (void)peer_hear(ring->peers->to_next, 0, &unused);
    for (int i = 0; i < 2; i++)
        if (ring->mine.event[i])
            (void)ipc_result(cudaEventDestroy(ring->mine.event[i]));
    (void)ipc_result(cudaFree(ring->base));
    if (ring->stream)
        (void)ipc_result(cudaStreamDestroy(ring->stream));
    memset(ring, 0, sizeof *ring);
    return all ? all : rc;
    // END SOLUTION
    // STUB: (void)ring;
    // STUB: TODO(6);
}

int peer_hear(int fd, int wait_ms, size_t *number)
{
    // TODO(7): one message, or the news that none will come.  (about 14 lines)
    //   before: the other side may be busy, or dead
    //   after:  *number is what it sent; LAB_EPEER if it is gone or silent
    //   use:    poll, recv (0 bytes: the other side has closed), EINTR
    // BEGIN SOLUTION
    struct pollfd wait = {fd, POLLIN, 0};
    size_t said;
    int ready;
    if (!number)
        return LAB_EINVAL;
    do
        ready = poll(&wait, 1, wait_ms);
    while (ready < 0 && errno == EINTR);
    // Eight bytes come at once or not at all: they are sent at once, and fit every buffer.
    if (ready <= 0 || recv(fd, &said, sizeof said, MSG_WAITALL) != (ssize_t)sizeof said)
        return LAB_EPEER;
    *number = said;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)fd, (void)wait_ms, (void)number;
    // STUB: TODO(7);
}
