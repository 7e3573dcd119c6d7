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
    (void)offset;
    TODO(1);
}

int ipc_import(const struct wire *wire, struct remote *remote)
{
    if (!wire || wire->bytes == 0 || !remote)
        return LAB_EINVAL;
    // TODO(2): open it, and find the part.  (about 9 lines)
    //   before: *remote holds anything
    //   after:  remote->ptr is what the exporter meant; remote->base is what must be closed
    //   use:    cudaIpcOpenMemHandle with cudaIpcMemLazyEnablePeerAccess, ipc_result
    TODO(2);
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
    TODO(3);
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
    TODO(4);
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
    (void)room;
    TODO(5);
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
    TODO(6);
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
    TODO(7);
}
