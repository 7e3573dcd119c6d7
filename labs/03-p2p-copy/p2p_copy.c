/* SPDX-License-Identifier: MIT
 * p2p_copy.c: moving bytes between GPUs. Lab 03; the contract of each function is in lab03.h.
 *
 * There are two ways from one GPU to another: straight, when the sender can reach the receiver's
 * memory, and through pinned host memory, when it cannot. CUDA takes either without a word, and
 * they differ by a factor of ten. Here the program chooses, and says what it chose.
 */
#include "lab03.h"

#include <stdlib.h>
#include <string.h>

int copy_path(int dst_dev, int src_dev, enum path *path)
{
    // TODO(1): the best path from src_dev to dst_dev.  (about 8 lines)
    //   before: *path holds anything
    //   after:  *path is PATH_LOCAL, PATH_PEER or PATH_STAGED; nothing was turned on
    //   use:    gpu_exists, cudaDeviceCanAccessPeer (who reaches whom: mind the order), p2p_result
    (void)dst_dev, (void)src_dev, (void)path;
    TODO(1);
}

int copy_peer_async(void *dst, int dst_dev, const void *src, int src_dev, size_t bytes,
                    cudaStream_t stream)
{
    // TODO(2): queue one copy in `stream`.  (about 6 lines)
    //   before: src holds the bytes when the stream gets here
    //   after:  the copy is queued; the host has not waited
    //   use:    gpu_exists, gpu_of (a pointer knows its GPU), cudaMemcpyPeerAsync, p2p_result
    (void)dst, (void)dst_dev, (void)src, (void)src_dev, (void)bytes, (void)stream;
    TODO(2);
}

int stage_create(struct stage *stage, int dst_dev, int src_dev, size_t chunk_bytes)
{
    // TODO(3): make everything struct stage lists.  (about 40 lines: a helper a side)
    //   before: *stage holds anything
    //   after:  *stage is complete, or as it was, and then nothing is left allocated
    //   use:    cudaSetDevice (streams and events belong to the current device),
    //           cudaStreamCreateWithFlags, cudaEventCreateWithFlags, cudaHostAlloc with
    //           cudaHostAllocPortable, stage_destroy on the way out
    (void)stage, (void)dst_dev, (void)src_dev, (void)chunk_bytes;
    TODO(3);
}

int stage_destroy(struct stage *stage)
{
    // TODO(3), second half: wait, then give everything back.  (about 20 lines)
    //   before: copies may be under way in both streams; fields may be null
    //   after:  nothing of the stage is left, *stage is all zero
    //   use:    cudaStreamSynchronize, cudaStreamDestroy, cudaEventDestroy, cudaFreeHost, memset
    (void)stage;
    TODO(3);
}

int stage_copy_async(struct stage *stage, void *dst, const void *src, size_t bytes,
                     cudaStream_t stream)
{
    // TODO(4): chunk by chunk through both buffers.  (about 40 lines: a helper a chunk)
    //   before: the copy of an earlier call may be under way in the same buffers
    //   after:  all chunks are queued: buffer i is filled again only after it was drained, and
    //           drained only after it was filled; the caller's stream waits for the last one
    //   use:    cudaEventRecord, cudaStreamWaitEvent, cudaMemcpyAsync, gpu_of; no call that waits
    (void)stage, (void)dst, (void)src, (void)bytes, (void)stream;
    TODO(4);
}

int p2p_copy(struct stage *stage, void *dst, int dst_dev, const void *src, int src_dev,
             size_t bytes, cudaStream_t stream, enum path *taken)
{
    // TODO(5): take the best path and say which.  (about 20 lines)
    //   before: peer access may be on or off; stage may be null
    //   after:  the copy is queued on the path in *taken; LAB_ENOPEER when there is none. What is
    //           refused has turned nothing on
    //   use:    copy_path, gpu_of, peer_on, copy_peer_async, stage_copy_async
    (void)stage, (void)dst, (void)dst_dev, (void)src, (void)src_dev;
    (void)bytes, (void)stream, (void)taken;
    TODO(5);
}

int p2p_measure(int from, int to, size_t bytes, int both, struct bw *result)
{
    // TODO(6): measure one direction, or two at once.  (about 45 lines, half in a helper)
    //   before: nothing is open
    //   after:  *result tells what one repetition moved and took; everything is closed again
    //   use:    lane_open, lane_send, lane_close, cudaEventRecord, cudaStreamWaitEvent,
    //           cudaEventSynchronize, cudaEventElapsedTime (in milliseconds)
    (void)from, (void)to, (void)bytes, (void)both, (void)result;
    TODO(6);
}

int p2p_matrix(int n, size_t bytes, double *gbs)
{
    // TODO(7): all pairs, one after the other.  (about 20 lines)
    //   before: gbs[0..n*n-1] hold anything
    //   after:  gbs[from * n + to] is the rate from `from` to `to`; on an error all is as it was
    //   use:    gpu_exists, p2p_measure, malloc for a copy of your own
    (void)n, (void)bytes, (void)gbs;
    TODO(7);
}

int p2p_half(const struct bw *curve, int points, size_t *half)
{
    // TODO(8): the size that reaches half of the best rate.  (about 28 lines)
    //   before: curve[] is what p2p_measure said of rising sizes
    //   after:  *half bytes take so long that bytes / time is half of the best rate
    //   use:    the straight line through (bytes, seconds) of the two points around it
    (void)curve, (void)points, (void)half;
    TODO(8);
}
