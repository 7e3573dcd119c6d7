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
    // BEGIN SOLUTION
    int reaches = 0, rc;
    if (!path)
        return LAB_EINVAL;
    if (!gpu_exists(dst_dev) || !gpu_exists(src_dev))
        return LAB_ENOGPU;
    // The sender's copy engine writes: it is the sender that must reach the receiver.
    if ((rc = p2p_result(cudaDeviceCanAccessPeer(&reaches, src_dev, dst_dev))))
        return rc;
    *path = dst_dev == src_dev ? PATH_LOCAL : reaches ? PATH_PEER : PATH_STAGED;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)dst_dev, (void)src_dev, (void)path;
    // STUB: TODO(1);
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
    // BEGIN SOLUTION
    // CUDA would copy by address, whatever the numbers say: a mix-up would go unnoticed.
    if (gpu_of(dst) != dst_dev || gpu_of(src) != src_dev)
        return LAB_EINVAL;
    return p2p_result(cudaMemcpyPeerAsync(dst, dst_dev, src, src_dev, bytes, stream));
    // END SOLUTION
    // STUB: (void)dst, (void)src, (void)stream;
    // STUB: TODO(2);
}

// BEGIN SOLUTION
/* The sender's half of a stage. A stream and the events recorded in it must be of one device. */
static cudaError_t create_down(struct stage *s)
{
    cudaError_t e;
    if ((e = cudaSetDevice(s->src_dev)) ||
        (e = cudaStreamCreateWithFlags(&s->down, cudaStreamNonBlocking)) ||
        (e = cudaEventCreateWithFlags(&s->begin, cudaEventDisableTiming)))
        return e;
    for (int i = 0; i < 2; i++) {
        if ((e = cudaEventCreateWithFlags(&s->filled[i], cudaEventDisableTiming)) ||
            (e = cudaHostAlloc(&s->host[i], s->chunk_bytes, cudaHostAllocPortable)))
            return e;
    }
    return cudaSuccess;
}

/* The receiver's half. Both buffers count as drained from the start: the first chunks need no rule
 * of their own. */
static cudaError_t create_up(struct stage *s)
{
    cudaError_t e;
    if ((e = cudaSetDevice(s->dst_dev)) ||
        (e = cudaStreamCreateWithFlags(&s->up, cudaStreamNonBlocking)))
        return e;
    for (int i = 0; i < 2; i++) {
        if ((e = cudaEventCreateWithFlags(&s->drained[i], cudaEventDisableTiming)) ||
            (e = cudaEventRecord(s->drained[i], s->up)))
            return e;
    }
    return cudaSuccess;
}

// END SOLUTION
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
    // BEGIN SOLUTION
    struct stage made = {.dst_dev = dst_dev, .src_dev = src_dev, .chunk_bytes = chunk_bytes};
    int before, rc;
    if ((rc = p2p_result(cudaGetDevice(&before))))
        return rc;
    if (!(rc = p2p_result(create_down(&made))))
        rc = p2p_result(create_up(&made));
    (void)p2p_result(cudaSetDevice(before));
    if (rc)
        (void)stage_destroy(&made);
    else
        *stage = made;
    return rc;
    // END SOLUTION
    // STUB: TODO(3);
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
    // BEGIN SOLUTION
    for (int i = 0; i < 2; i++) {
        if (streams[i])
            (void)p2p_result(cudaStreamSynchronize(streams[i]));
    }
    // END SOLUTION
    // STUB: TODO(3);
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

// BEGIN SOLUTION
/* One chunk through buffer i: down when the buffer is empty, up when it is full. */
static cudaError_t stage_chunk(struct stage *s, int i, void *dst, const void *src, size_t bytes)
{
    cudaError_t e;
    if ((e = cudaStreamWaitEvent(s->down, s->drained[i], 0)) ||
        (e = cudaMemcpyAsync(s->host[i], src, bytes, cudaMemcpyDeviceToHost, s->down)) ||
        (e = cudaEventRecord(s->filled[i], s->down)) ||
        (e = cudaStreamWaitEvent(s->up, s->filled[i], 0)) ||
        (e = cudaMemcpyAsync(dst, s->host[i], bytes, cudaMemcpyHostToDevice, s->up)))
        return e;
    return cudaEventRecord(s->drained[i], s->up);
}

/* All chunks, between what `stream` holds and what it will hold. */
static cudaError_t stage_chunks(struct stage *s, char *dst, const char *src, size_t bytes,
                                cudaStream_t stream)
{
    int i = 1;
    cudaError_t e;
    if ((e = cudaEventRecord(s->begin, stream)) || (e = cudaStreamWaitEvent(s->down, s->begin, 0)))
        return e;
    for (size_t at = 0; at < bytes; at += s->chunk_bytes) {
        size_t left = bytes - at;
        i = !i;
        e = stage_chunk(s, i, dst + at, src + at, left < s->chunk_bytes ? left : s->chunk_bytes);
        if (e)
            return e;
    }
    // The last chunk is the last of `up`: its event stands for all of them.
    return cudaStreamWaitEvent(stream, s->drained[i], 0);
}

// END SOLUTION
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
    // BEGIN SOLUTION
    int before, rc;
    if ((rc = p2p_result(cudaGetDevice(&before))))
        return rc;
    // A null stream is the current device's: it must be the sender's, like the event `begin`.
    if (!(rc = p2p_result(cudaSetDevice(stage->src_dev))))
        rc = p2p_result(stage_chunks(stage, dst, src, bytes, stream));
    (void)p2p_result(cudaSetDevice(before));
    return rc;
    // END SOLUTION
    // STUB: (void)stream;
    // STUB: TODO(4);
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
    // BEGIN SOLUTION
    enum path path;
    int rc;
    if ((rc = copy_path(dst_dev, src_dev, &path)))
        return rc;
    if (path == PATH_STAGED && !stage)
        return LAB_ENOPEER;
    if (path == PATH_STAGED && (stage->dst_dev != dst_dev || stage->src_dev != src_dev))
        return LAB_EINVAL;
    // Before anything is turned on: who gets an error finds everything as it was.
    if (bytes > 0 && (gpu_of(dst) != dst_dev || gpu_of(src) != src_dev))
        return LAB_EINVAL;
    // Without this, cudaMemcpyPeerAsync works all the same: ten times slower, without a word.
    if (path == PATH_PEER && (rc = peer_on(src_dev, dst_dev, NULL)))
        return rc;
    if (path == PATH_STAGED)
        rc = stage_copy_async(stage, dst, src, bytes, stream);
    else
        rc = copy_peer_async(dst, dst_dev, src, src_dev, bytes, stream);
    if (!rc)
        *taken = path;
    return rc;
    // END SOLUTION
    // STUB: (void)stage, (void)dst, (void)dst_dev, (void)src, (void)src_dev;
    // STUB: (void)bytes, (void)stream;
    // STUB: TODO(5);
}

// BEGIN SOLUTION
/* Each lane's bytes once. */
static int send_all(struct lane *lane, int lanes)
{
    int rc = LAB_OK;
    for (int i = 0; i < lanes && !rc; i++)
        rc = lane_send(&lane[i]);
    return rc;
}

/* Makes stream `behind` wait for what stream `ahead` holds now; event is one of ahead's. */
static cudaError_t follow(cudaStream_t behind, cudaStream_t ahead, cudaEvent_t event)
{
    cudaError_t e = cudaEventRecord(event, ahead);
    return e ? e : cudaStreamWaitEvent(behind, event, 0);
}

/* Milliseconds of P2P_REPEATS repetitions, all lanes at the same time. With one lane, `last` is
 * the first one too, and waiting for itself is nothing. */
static int time_lanes(struct lane *lane, int lanes, float *ms)
{
    struct lane *first = &lane[0], *last = &lane[lanes - 1];
    cudaError_t e;
    int rc;
    // The warm-up is not waited for: while it runs, the host queues what is timed.
    if ((rc = send_all(lane, lanes)))
        return rc;
    // No copy starts before all have warmed up, and the clock does not stop before all have ended.
    if ((e = follow(first->stream, last->stream, last->start)) ||
        (e = follow(last->stream, first->stream, first->start)))
        return p2p_result(e);
    for (int i = 0; i < P2P_REPEATS; i++) {
        if ((rc = send_all(lane, lanes)))
            return rc;
    }
    if ((e = follow(first->stream, last->stream, last->stop)) ||
        (e = cudaEventRecord(first->stop, first->stream)) ||
        (e = cudaEventSynchronize(first->stop)))
        return p2p_result(e);
    return p2p_result(cudaEventElapsedTime(ms, first->start, first->stop));
}

// END SOLUTION
int p2p_measure(int from, int to, size_t bytes, int both, struct bw *result)
{
    if (!result || bytes == 0 || (both && from == to))
        return LAB_EINVAL;
    // TODO(6): measure one direction, or two at once.  (about 55 lines, most in helpers)
    //   before: nothing is open
    //   after:  *result tells what one repetition moved and took; everything is closed again
    //   use:    lane_open, lane_send, lane_close, cudaEventRecord, cudaStreamWaitEvent,
    //           cudaEventSynchronize, cudaEventElapsedTime (in milliseconds)
    // BEGIN SOLUTION
    const int ends[2][2] = {{from, to}, {to, from}};
    struct lane lane[2];
    float ms = 0;
    int lanes = both ? 2 : 1, open = 0, rc = LAB_OK;
    while (open < lanes && !(rc = lane_open(&lane[open], ends[open][0], ends[open][1], bytes)))
        open++;
    if (!rc && !(rc = time_lanes(lane, lanes, &ms)) && !(ms > 0))
        rc = LAB_ERANGE;
    if (!rc) {
        size_t moved = bytes * (size_t)lanes;
        double seconds = (double)ms / 1e3 / P2P_REPEATS;
        *result = (struct bw){moved, seconds, (double)moved / seconds / 1e9, lane[0].path};
    }
    while (open > 0)
        lane_close(&lane[--open]);
    return rc;
    // END SOLUTION
    // STUB: TODO(6);
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
    // BEGIN SOLUTION
    int rc = LAB_OK;
    double *rates = malloc((size_t)n * (size_t)n * sizeof *rates);
    if (!rates)
        return LAB_ENOMEM;
    for (int i = 0; i < n * n && !rc; i++) {
        struct bw bw;
        if (!(rc = p2p_measure(i / n, i % n, bytes, 0, &bw)))
            rates[i] = bw.gbs;
    }
    if (!rc)
        memcpy(gbs, rates, (size_t)n * (size_t)n * sizeof *rates);
    free(rates);
    return rc;
    // END SOLUTION
    // STUB: TODO(7);
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

// BEGIN SOLUTION
static double rate_of(const struct bw *point)
{
    return (double)point->bytes / point->seconds;
}

// END SOLUTION
int p2p_half(const struct bw *curve, int points, size_t *half)
{
    if (!curve || !half || !is_curve(curve, points))
        return LAB_EINVAL;
    // TODO(8): the size that reaches half of the best rate.  (about 20 lines)
    //   before: curve[] is what p2p_measure said of rising sizes
    //   after:  *half bytes take so long that bytes / time is half of the best rate
    //   use:    the straight line through (bytes, seconds) of the two points around it
    // BEGIN SOLUTION
    double wanted = 0;
    int q = 0;
    for (int i = 0; i < points; i++) {
        if (rate_of(&curve[i]) / 2 > wanted)
            wanted = rate_of(&curve[i]) / 2;
    }
    while (rate_of(&curve[q]) < wanted)
        q++;
    if (q == 0)
        return LAB_ERANGE;
    // bytes = wanted * t and t = t0 + (bytes - b0) * slope: two lines, one point.
    const struct bw *p = &curve[q - 1];
    double slope = (curve[q].seconds - p->seconds) / (double)(curve[q].bytes - p->bytes);
    double at_zero = p->seconds - (double)p->bytes * slope;
    *half = (size_t)(wanted * at_zero / (1 - wanted * slope) + 0.5);
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(8);
}
