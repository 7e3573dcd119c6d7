/* SPDX-License-Identifier: MIT
 * lab04.h: the contract of lab 04, one sum over many GPUs.
 *
 * For every function here:
 *   - it returns LAB_OK or a negative LAB_E...; on an error its outputs keep what they held;
 *   - the calling thread's current device is the same afterwards as before;
 *   - no error is left behind: cudaGetLastError() says cudaSuccess afterwards.
 *
 * The shape of the sum is fixed, so that it gives the same bits in every run: element i belongs to
 * block (i / SUM_THREADS) % blocks, every block adds its elements in float, and the blocks' results
 * ("partials") are then added in double. Kernels read each element and each partial once, and one
 * thread writes each result, once.
 */
#ifndef LAB04_H
#define LAB04_H

#include <stddef.h>

#include <cuda_runtime_api.h>

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SUM_THREADS 256     /* threads a block */
#define SUM_MAX_BLOCKS 1024 /* blocks of one GPU, and so its partials */
#define SUM_MAX_PARTS 16

/* One GPU's part of the sum. Its maker owns it (sum_open below); all memory is the GPU's. */
struct sum_part {
    int gpu;
    const float *data; /* `count` floats; may be NULL when count is 0 */
    size_t count;
    float *partials;     /* `blocks` floats, sum_start's result */
    int blocks;          /* 1 to SUM_MAX_BLOCKS */
    double *total;       /* one double, for sum_peer when this part is the root; else may be NULL */
    cudaStream_t stream; /* non-blocking: the default stream does not wait for it */
    cudaEvent_t done;    /* recorded on `stream` when the partials are there */
};

/* ---- what you write, in reduction.cu ---- */

/* The elements [*first, *first + *count) of part i when n elements are shared out to `parts`: in
 * order, each element once, no part more than one element longer than another. Right for every n,
 * also when there are fewer elements than parts and when n is close to SIZE_MAX. LAB_EINVAL for
 * parts < 1, i outside 0 .. parts - 1 or a missing output. */
int split(size_t n, int parts, int i, size_t *first, size_t *count);

/* Both queue one kernel on `stream` and return at once: afterwards partials[b] is the sum of block
 * b's elements of data[0 .. n - 1], 0 when it has none. `stream`, `data` and `partials` belong to
 * the current device; data need not be aligned to more than a float. sum_shared combines a block's
 * threads in shared memory, sum_warp with shuffles. LAB_EINVAL for blocks outside 1 ..
 * SUM_MAX_BLOCKS, missing partials, or missing data with n > 0; LAB_ENOGPU without a GPU; what a
 * launch that fails says, as sum_result puts it. */
int sum_shared(const float *data, size_t n, float *partials, int blocks, cudaStream_t stream);
int sum_warp(const float *data, size_t n, float *partials, int blocks, cudaStream_t stream);

/* Starts every part on its GPU: sum_warp on its stream, then its `done` event. Returns while the
 * GPUs are still at work, and never waits between two launches. LAB_EINVAL or LAB_ENOGPU as
 * sum_check says, before anything is launched. When a later launch fails, what was queued before is
 * waited for, so that the caller may free its memory. */
int sum_start(const struct sum_part *part, int parts);

/* After sum_start: waits for each part, brings its partials to the host and adds them there, part
 * by part and block by block, in double. LAB_EINVAL for a missing sum, else as sum_check. A wait or
 * a copy that fails is an error. */
int sum_host(const struct sum_part *part, int parts, double *sum);

/* After sum_start: a kernel on part[root].gpu reads all partials where they lie, adds them
 * in double in an order that is the same in every run, and only the result comes to the host. The
 * root's stream waits for the others' events, the host only for the result. Peer access from the
 * root's GPU to the others was switched on by the caller (lab 02). LAB_EINVAL for a root outside
 * 0 .. parts - 1 or without a total, or a missing sum, else as sum_check; LAB_ENOPEER when the root
 * cannot access the memory of one of the others; nothing is launched then. A call of CUDA that
 * fails is an error, and nothing is launched after it. */
int sum_peer(const struct sum_part *part, int parts, int root, double *sum);

enum sum_kind {
    SUM_STRONG, /* the same n elements on one GPU and on G */
    SUM_WEAK,   /* n elements on one GPU, n for each of G */
};

struct sum_scaling {
    int gpus;          /* G */
    double t1_ms;      /* time of one GPU */
    double tg_ms;      /* time of G GPUs */
    double speedup;    /* how much more is done in the same time, compared with one GPU */
    double efficiency; /* speedup / G: 1 is perfect */
};

/* Measures with sum_time how well the sum scales from one GPU to `gpus`. Strong: T1 and TG of the
 * same n, speedup T1 / TG. Weak: TG is of n * gpus elements, so gpus times the work was done:
 * speedup gpus * T1 / TG. LAB_EINVAL, before anything is measured, for n == 0, gpus < 1, an unknown
 * kind, a missing output, or a weak n * gpus that is no size_t; else what sum_time returns. */
int sum_scale(size_t n, int gpus, enum sum_kind kind, struct sum_scaling *out);

/* ---- given, in given.c ---- */

/* LAB_EINVAL unless 1 <= parts <= SUM_MAX_PARTS and every part makes sense, LAB_ENOGPU when one of
 * their GPUs is not there. Launches nothing. */
int sum_check(const struct sum_part *part, int parts);

/* A CUDA result as a LAB_... one, taken out of cudaGetLastError(). */
int sum_result(cudaError_t error);

/* Parts on GPUs 0 to `gpus` - 1 with memory, stream and event each, part i with count[i] floats of
 * uninitialised memory; sum_close frees what is there (a part of zeros is fine). */
int sum_open(struct sum_part *part, int gpus, const size_t *count, int blocks);
void sum_close(struct sum_part *part, int gpus);

/* Milliseconds from the first launch until the sum of n elements is on the host: n is split over
 * `gpus` GPUs and filled in, a little of it is run to warm up, then sum_start and sum_peer (with
 * sum_host in its place where the root cannot reach the others) are timed with events of GPU 0; of
 * short runs the best of three counts. */
int sum_time(size_t n, int gpus, double *ms);

#ifdef __cplusplus
}
#endif
#endif
