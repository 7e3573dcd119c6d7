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
    (void)base, (void)offset, (void)bytes, (void)wire;
    TODO(1);
}

int ipc_import(const struct wire *wire, struct remote *remote)
{
    // TODO(2): open it, and find the part.  (about 10 lines)
    //   before: *remote holds anything
    //   after:  remote->ptr is what the exporter meant; remote->base is what must be closed
    //   use:    cudaIpcOpenMemHandle with cudaIpcMemLazyEnablePeerAccess, ipc_result
    (void)wire, (void)remote;
    TODO(2);
}

int ipc_events(struct events *events)
{
    // TODO(3): two events for other processes.  (about 16 lines)
    //   before: *events holds anything
    //   after:  both events exist and have handles; or none does
    //   use:    cudaEventCreateWithFlags with both flags (Interprocess wants DisableTiming),
    //           cudaIpcGetEventHandle, cudaEventDestroy
    (void)events;
    TODO(3);
}

int ring_put(struct ring *ring, const void *src, size_t bytes)
{
    // TODO(4): into the next rank's inbox.  (about 20 lines)
    //   before: the inbox may still hold what the put before left there
    //   after:  copy and event are queued, and next knows that the event is recorded
    //   use:    peer_hear (PEERS_WAIT_MS), cudaStreamWaitEvent(next_drained), cudaMemcpyAsync,
    //           cudaEventRecord(mine.event[FILLED]), peer_tell; ring_result for CUDA's errors
    (void)ring, (void)src, (void)bytes;
    TODO(4);
}

int ring_take(struct ring *ring, void *dst, size_t room, size_t *bytes)
{
    // TODO(5): out of my inbox.  (about 16 lines)
    //   before: the previous rank's copy may not have run yet
    //   after:  wait, copy and event are queued, and the previous rank knows that it is recorded
    //   use:    peer_hear, cudaStreamWaitEvent(prev_filled), cudaMemcpyAsync,
    //           cudaEventRecord(mine.event[DRAINED]), peer_tell; ring_result for CUDA's errors
    (void)ring, (void)dst, (void)room, (void)bytes;
    TODO(5);
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
    (void)ring;
    TODO(6);
}

int peer_hear(int fd, int wait_ms, size_t *number)
{
    // TODO(7): one message, or the news that none will come.  (about 14 lines)
    //   before: the other side may be busy, or dead
    //   after:  *number is what it sent; LAB_EPEER if it is gone or silent
    //   use:    poll, recv (0 bytes: the other side has closed), EINTR
    (void)fd, (void)wait_ms, (void)number;
    TODO(7);
}
