/* SPDX-License-Identifier: MIT
 * lab03.h: moving bytes from one GPU to another. The contract of the functions in p2p_copy.c, and
 * what comes with the lab (given.c).
 *
 * Rules for every function here:
 * - The result is LAB_OK (0) or one of the LAB_E... of lab.h. On an error the outputs keep what
 *   they held (a copy that failed half-way may have written part of its destination).
 * - The calling thread's current device is the same after the call as before it, and CUDA's last
 *   error has been cleared: p2p_result turns an error into a result and clears it.
 * - LAB_ENOGPU: a device number that no GPU here has, negative ones too. LAB_EINVAL: a null pointer
 *   where one is needed.
 * - "Asynchronous" means that the function queues work and returns: it never waits for a GPU.
 *   All work is ordered in the caller's stream: it starts when the work that is already there has
 *   finished, and work that the caller queues there later waits until it has finished.
 */
#ifndef LAB03_H
#define LAB03_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "lab.h"

/* How bytes travel. */
enum path {
    PATH_LOCAL = 1, /* inside one GPU's memory */
    PATH_PEER,      /* the sender writes into the receiver's memory */
    PATH_STAGED,    /* down to pinned host memory, and up again */
};

/* 1. The best path from GPU src_dev to GPU dst_dev: PATH_LOCAL for the same GPU, PATH_PEER when
 * src_dev can reach dst_dev's memory (the other direction is another question), else PATH_STAGED.
 * Asks only; turns nothing on. LAB_EINVAL, LAB_ENOGPU, LAB_ECUDA. */
int copy_path(int dst_dev, int src_dev, enum path *path);

/* 2. Queues one copy of `bytes` bytes in `stream` and returns. Both pointers must lie on the
 * GPUs that are named: LAB_EINVAL otherwise (CUDA itself uses the addresses and ignores the two
 * numbers). bytes = 0 copies nothing and looks at no pointer. Does not care whether peer
 * access is on: without it the driver takes a slow way and says nothing, which is why p2p_copy
 * exists. LAB_EINVAL, LAB_ENOGPU, LAB_ECUDA. */
int copy_peer_async(void *dst, int dst_dev, const void *src, int src_dev, size_t bytes,
                    cudaStream_t stream);

/* A way through the host with two buffers: while one is filled from the sender, the other is
 * emptied into the receiver. Everything in here belongs to the stage; all zero is "no stage". */
struct stage {
    int dst_dev, src_dev;
    size_t chunk_bytes;     /* of each buffer */
    void *host[2];          /* pinned */
    cudaStream_t down;      /* of src_dev: GPU to host */
    cudaStream_t up;        /* of dst_dev: host to GPU */
    cudaEvent_t begin;      /* of src_dev: recorded in the caller's stream */
    cudaEvent_t filled[2];  /* of src_dev: host[i] holds a chunk */
    cudaEvent_t drained[2]; /* of dst_dev: host[i] has been copied on */
};

/* 3. Makes a stage: two pinned buffers of chunk_bytes, two non-blocking streams, the events
 * (without timing). All or nothing. LAB_EINVAL: stage is null or chunk_bytes 0. LAB_ENOGPU.
 * LAB_ENOMEM: the host has not that much to pin. LAB_ECUDA. */
int stage_create(struct stage *stage, int dst_dev, int src_dev, size_t chunk_bytes);

/* Waits for what is under way in the stage, gives everything back and sets *stage to zero. A stage
 * that is all zero already is fine. LAB_EINVAL: stage is null. */
int stage_destroy(struct stage *stage);

/* 4. Queues a copy of `bytes` bytes from src (on the stage's src_dev) to dst (on its dst_dev),
 * chunk by chunk, both hops at work at the same time. Asynchronous. `stream` is one of src_dev's.
 * Calls follow each other without a wait, from several streams too. bytes = 0 does nothing and
 * looks at no pointer. LAB_EINVAL: no stage, or a pointer that lies elsewhere. LAB_ECUDA. */
int stage_copy_async(struct stage *stage, void *dst, const void *src, size_t bytes,
                     cudaStream_t stream);

/* 5. Copies along the best path and says which one it was: *taken. Asynchronous; `stream` is one of
 * src_dev's. On PATH_PEER it turns peer access from src_dev to dst_dev on and leaves it on: the
 * caller turns it off (peer_off) when it has no more to send. On PATH_STAGED it uses `stage`, which
 * may be null as long as it is not needed. bytes = 0 copies nothing and looks at no pointer.
 * LAB_ENOPEER: no peer access and no stage either, or it cannot be turned on. LAB_EINVAL: taken is
 * null, the stage is of other GPUs, or a pointer lies elsewhere than named; nothing was turned on
 * then. LAB_ENOGPU, LAB_ECUDA. */
int p2p_copy(struct stage *stage, void *dst, int dst_dev, const void *src, int src_dev,
             size_t bytes, cudaStream_t stream, enum path *taken);

struct bw {
    size_t bytes;   /* moved in one repetition, both directions together */
    double seconds; /* one repetition */
    double gbs;     /* 1e9 bytes a second */
    enum path path;
};

/* 6. How fast `bytes` bytes go from one GPU to another (from == to: inside its memory), one way or
 * both ways at the same time, along the path p2p_copy takes. Timed by events, after a warm-up, over
 * P2P_REPEATS repetitions: the clock runs while both directions are timed, and not while either
 * warms up. Leaves nothing behind, peer access as it was, on errors too. LAB_EINVAL: result is
 * null, bytes is 0, or both ways inside one GPU. LAB_ENOGPU, LAB_ENOMEM, LAB_ECUDA. LAB_ERANGE: so
 * few bytes that the clock shows no time. */
#define P2P_REPEATS 5
int p2p_measure(int from, int to, size_t bytes, int both, struct bw *result);

/* 7. gbs[from * n + to] for all pairs of the first n GPUs, one way, the diagonal included. The
 * pairs are measured one after the other. All or nothing, and nothing is left allocated. n = 0 does
 * nothing, and gbs may be null then. LAB_EINVAL: n is negative, bytes is 0 or gbs is null.
 * LAB_ENOGPU: fewer than n GPUs. LAB_ENOMEM: the host has no memory for a matrix of your own. Else
 * what p2p_measure says. */
int p2p_matrix(int n, size_t bytes, double *gbs);

/* 8. The half-bandwidth size of a curve: the smallest size that reaches half of the curve's best
 * rate, to the nearest byte. Between two measured sizes, time grows along a straight line. The
 * points are in order of size; of each, bytes and seconds count. LAB_EINVAL: a null pointer, fewer
 * than two points, sizes that do not rise, a point that took no time.
 * LAB_ERANGE: the first point is there already, so that the size lies left of the curve. */
int p2p_half(const struct bw *curve, int points, size_t *half);

/* ---- comes with the lab (given.c) ---- */

/* The lab's result for a CUDA result. Clears the error: cudaGetLastError() is called for you.
 */
static inline int p2p_result(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    switch (error) {
    case cudaSuccess:
        return LAB_OK;
    case cudaErrorInvalidDevice:
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
        return LAB_ENOGPU;
    case cudaErrorMemoryAllocation:
        return LAB_ENOMEM;
    default:
        return LAB_ECUDA;
    }
}

/* 1 when there is a GPU of that number, else 0. */
int gpu_exists(int device);

/* The GPU whose memory the pointer points into; -1 for host memory and for null. */
int gpu_of(const void *pointer);

/* Lets `from` reach the memory of `to`. That it could already is fine; *mine (may be null) says
 * whether this call turned it on. LAB_ENOPEER: these two cannot. */
int peer_on(int from, int to, int *mine);
int peer_off(int from, int to);

/* One direction of traffic, ready to send: buffers on both GPUs, a stream and two timing events of
 * the sender, peer access or a stage, whichever the path needs. lane_open is all or nothing. */
struct lane {
    int from, to;
    size_t bytes;
    void *src, *dst;
    cudaStream_t stream;
    cudaEvent_t start, stop;
    enum path path;
    int peer_is_mine;
    struct stage stage;
};
int lane_open(struct lane *lane, int from, int to, size_t bytes);
int lane_send(struct lane *lane); /* all its bytes, once, along lane->path; asynchronous */
void lane_close(struct lane *lane);

/* The simple way through the host: all bytes down, then all bytes up, through
 * `host` (pinned or not), the host waiting for both. For comparison. */
int copy_serially(void *dst, const void *src, size_t bytes, void *host);

const char *path_name(enum path path);
const char *p2p_sentence(int result);

#endif
