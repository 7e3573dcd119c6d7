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
    //   use:    gpu_exists, cudaDeviceCanAccessPeer (mind the order of the two GPUs), p2p_result
    (void)dst_dev, (void)src_dev, (void)path;
    TODO(1);
}

int copy_peer_async(void *dst, int dst_dev, const void *src, int src_dev, size_t bytes,
                    cudaStream_t stream)
{
    if (!gpu_exists(dst_dev) || !gpu_exists(src_dev))
        return LAB_ENOGPU;
    if (bytes == 0)
        return LAB_OK;
    // TODO(2): queue one copy in `stream`.  (about 3 lines)
    //   before: src holds the bytes when the stream gets here
    //   after:  the copy is queued; the host has not waited
    //   use:    gpu_of (the GPU of a pointer), cudaMemcpyPeerAsync, p2p_result
    (void)dst, (void)src, (void)stream;
    TODO(2);
}

int stage_create(struct stage *stage, int dst_dev, int src_dev, size_t chunk_bytes)
{
    if (!stage || chunk_bytes == 0)
        return LAB_EINVAL;
    if (!gpu_exists(dst_dev) || !gpu_exists(src_dev))
        return LAB_ENOGPU;
    // TODO(3): make everything that struct stage lists.  (about 41 lines: one helper for each GPU)
    //   before: *stage holds anything
    //   after:  *stage is complete, or as it was, and then nothing is left allocated
    //   use:    cudaSetDevice (streams and events belong to the current device),
    //           cudaStreamCreateWithFlags, cudaEventCreateWithFlags, cudaHostAlloc with
    //           cudaHostAllocPortable, stage_destroy on the way out
    TODO(3);
}

int stage_destroy(struct stage *stage)
{
    if (!stage)
        return LAB_EINVAL;
    cudaStream_t streams[] = {stage->down, stage->up};
    // TODO(3), second half: wait for both hops.  (about 4 lines)
    //   before: copies may be under way in both streams; a stream may be null
    //   after:  no copy uses the buffers any more, so the lines below may free them
    //   use:    cudaStreamSynchronize, p2p_result
    TODO(3);
    for (int i = 0; i < 2; i++) {
        if (streams[i])
            (void)p2p_result(cudaStreamDestroy(streams[i]));
        if (stage->filled[i])
            (void)p2p_result(cudaEventDestroy(stage->filled[i]));
        if (stage->drained[i])
            (void)p2p_result(cudaEventDestroy(stage->drained[i]));
        if (stage->host[i])
            (void)p2p_result(cudaFreeHost(stage->host[i]));
    }
    if (stage->begin)
        (void)p2p_result(cudaEventDestroy(stage->begin));
    memset(stage, 0, sizeof *stage);
    return LAB_OK;
}

int stage_copy_async(struct stage *stage, void *dst, const void *src, size_t bytes,
                     cudaStream_t stream)
{
    if (!stage || stage->chunk_bytes == 0)
        return LAB_EINVAL;
    if (bytes == 0)
        return LAB_OK;
    if (gpu_of(dst) != stage->dst_dev || gpu_of(src) != stage->src_dev)
        return LAB_EINVAL;
    // TODO(4): chunk by chunk through both buffers.  (about 38 lines: a helper for one chunk)
    //   before: the copy of an earlier call may be under way in the same buffers
    //   after:  all chunks are queued: buffer i is filled again only after it has been drained, and
    //           drained only after it has been filled; the caller's stream waits for the last one
    //   use:    cudaEventRecord, cudaStreamWaitEvent, cudaMemcpyAsync; no call that waits
    (void)stream;
    TODO(4);
}

int p2p_copy(struct stage *stage, void *dst, int dst_dev, const void *src, int src_dev,
             size_t bytes, cudaStream_t stream, enum path *taken)
{
    if (!taken)
        return LAB_EINVAL;
    // TODO(5): take the best path and report it.  (about 20 lines)
    //   before: peer access may be on or off; stage may be null
    //   after:  the copy is queued on the path in *taken; without a path the result is LAB_ENOPEER.
    //           After an error no peer access was switched on
    //   use:    copy_path, gpu_of, peer_on, copy_peer_async, stage_copy_async
    (void)stage, (void)dst, (void)dst_dev, (void)src, (void)src_dev;
    (void)bytes, (void)stream;
    TODO(5);
}

int p2p_measure(int from, int to, size_t bytes, int both, struct bw *result)
{
    if (!result || bytes == 0 || (both && from == to))
        return LAB_EINVAL;
    // TODO(6): measure one direction, or two at once.  (about 55 lines, most in helpers)
    //   before: nothing is open
    //   after:  *result tells what one repetition moved and took; everything is closed again
    //   use:    lane_open, lane_send, lane_close, cudaEventRecord, cudaStreamWaitEvent,
    //           cudaEventSynchronize, cudaEventElapsedTime (in milliseconds)
    TODO(6);
}

int p2p_matrix(int n, size_t bytes, double *gbs)
{
    if (n < 0 || bytes == 0 || (n > 0 && !gbs))
        return LAB_EINVAL;
    if (n == 0)
        return LAB_OK;
    if (!gpu_exists(n - 1))
        return LAB_ENOGPU;
    // TODO(7): all pairs, one after the other.  (about 13 lines)
    //   before: gbs[0..n*n-1] hold anything
    //   after:  gbs[from * n + to] is the rate from `from` to `to`; on an error all is as it was
    //   use:    p2p_measure, malloc for an array of your own
    TODO(7);
}

/* At least two points, of rising sizes, each with a time. */
static int is_curve(const struct bw *curve, int points)
{
    for (int i = 0; i < points; i++) {
        if (!(curve[i].seconds > 0) || (i > 0 && curve[i].bytes <= curve[i - 1].bytes))
            return 0;
    }
    return points >= 2;
}

int p2p_half(const struct bw *curve, int points, size_t *half)
{
    if (!curve || !half || !is_curve(curve, points))
        return LAB_EINVAL;
    // TODO(8): the size that reaches half of the best rate.  (about 20 lines)
    //   before: curve[] is what p2p_measure said of rising sizes
    //   after:  *half bytes take so long that bytes / time is half of the best rate
    //   use:    the straight line through (bytes, seconds) of the two points around it
    TODO(8);
}
