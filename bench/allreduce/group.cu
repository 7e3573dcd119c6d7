/* SPDX-License-Identifier: MIT
 * group.cu: the ranks of an all-reduce, their boards and flags, and the choice of the way.
 */
#include <stdlib.h>

#include "kernels.h"
#include "words.h"

#define TILE 4096 /* most vectors of a part that a block of two-shot handles at a time */

#define LINE 64 /* vectors: 1 KiB */

struct ar_group {
    int n, gpu[AR_RANKS];
    size_t most;
    bool early;        /* launches may overlap: compute capability 9.0 and up */
    unsigned resident; /* blocks that fit on every GPU at once, at most AR_BLOCKS */
    struct ar_device device[AR_RANKS];
    struct ar_engines engines[AR_RANKS];
    float *recv[AR_RANKS];
    void *memory[AR_RANKS]; /* boards, flags and counters of a rank, one allocation */
};

const char *ar_way_name(enum ar_way way)
{
    static const char *const name[AR_WAYS] = {"one-shot", "two-shot", "engines"};
    return way < AR_WAYS ? name[way] : "?";
}

size_t ar_one_shot_most(int n)
{
    /* a hop costs as much as sending 300 KiB, which one-shot sends in addition; with two ranks it
     * sends no more */
    return n <= 2 ? (size_t)2 << 20 : ((size_t)300 << 10) * n / ((n - 1) * (n - 2));
}

enum ar_way ar_choice(int n, size_t bytes)
{
    if (bytes <= ar_one_shot_most(n))
        return AR_ONE_SHOT;
    return bytes <= AR_TWO_SHOT_MOST ? AR_TWO_SHOT : AR_ENGINES;
}

/* ---- opening ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The quotient, rounded up. */
static size_t share(size_t all, size_t parts)
{
    return (all + parts - 1) / parts;
}

/* Vectors that a source may send into one area: a part of two-shot, all of one-shot. Whole lines,
 * since a warp's stores that straddle one more line cost a fifth of the link's bandwidth. */
static size_t slot_vectors(int n, size_t most)
{
    size_t part = (least(most, AR_TWO_SHOT_MOST) / sizeof(uint4)) / n + 1;
    size_t all = least(most, ar_one_shot_most(n)) / sizeof(uint4) + 1;
    return share(part > all ? part : all, LINE) * LINE;
}

static cudaError_t enable_peers(const int *gpu, int n, int r)
{
    for (int p = 0; p < n; p++) {
        int can = 0;
        if (p == r)
            continue;
        cudaError_t error = cudaDeviceCanAccessPeer(&can, gpu[r], gpu[p]);
        if (error != cudaSuccess || !can)
            return error != cudaSuccess ? error : cudaErrorPeerAccessUnsupported;
        error = cudaDeviceEnablePeerAccess(gpu[p], 0);
        if (error == cudaErrorPeerAccessAlreadyEnabled)
            cudaGetLastError(); /* already enabled: clear the error */
        else if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

/* Fills the boards with AR_NOTHING, flags and counters with zero. */
static cudaError_t open_board(struct ar_group *g, int r)
{
    const size_t slot = slot_vectors(g->n, g->most), board = 4 * slot * g->n * sizeof(uint4);
    const size_t flags = (AR_SLICES + 1) * AR_RANKS * sizeof(unsigned);
    const size_t counters = AR_BLOCKS * sizeof(unsigned);
    cudaError_t error = cudaMalloc(&g->memory[r], board + flags + counters);

    if (error == cudaSuccess)
        error = cudaMemset(g->memory[r], 0xff, board);
    if (error == cudaSuccess)
        error = cudaMemset((char *)g->memory[r] + board, 0, flags + counters);
    for (int of = 0; of < g->n; of++) {
        g->device[of].board[r] = (uint4 *)g->memory[r];
        g->device[of].flag[r] = (unsigned *)((char *)g->memory[r] + board);
    }
    g->device[r].me = r;
    g->device[r].n = g->n;
    g->device[r].slot = slot;
    g->device[r].call = (unsigned *)((char *)g->memory[r] + board + flags);
    return error;
}

/* How many of two-shot's largest blocks run at once on this GPU: a block waits for the
 * corresponding ones on other GPUs, so a grid must never have more. Also whether launches may
 * overlap. */
static cudaError_t ask_gpu(struct ar_group *g, int r)
{
    int blocks = 0, sms = 0, major = 0;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, ar_two_shot_kernel(g->n), AR_TWO_SHOT_THREADS, 0);

    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, g->gpu[r]);
    if (error == cudaSuccess)
        error = ar_load_kernel(ar_one_shot_kernel(g->n));
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, g->gpu[r]);
    g->early = (r == 0 || g->early) && major >= 9;
    g->resident = (unsigned)least(g->resident, (size_t)blocks * sms);
    return error;
}

static cudaError_t open_rank(struct ar_group *g, int r)
{
    cudaError_t error = cudaSetDevice(g->gpu[r]);

    if (error == cudaSuccess)
        error = enable_peers(g->gpu, g->n, r);
    if (error == cudaSuccess)
        error = open_board(g, r);
    if (error == cudaSuccess && g->n > 1)
        error = ask_gpu(g, r);
    if (error == cudaSuccess && g->n > 1)
        error = ar_engines_open(&g->engines[r], g->n, g->most);
    return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

cudaError_t ar_open(struct ar_group **group, const int *gpu, int n, size_t most)
{
    int device = 0;
    cudaError_t error = cudaSuccess;

    *group = NULL;
    if (n < 1 || n > AR_RANKS || !gpu)
        return cudaErrorInvalidValue;
    struct ar_group *g = (struct ar_group *)calloc(1, sizeof *g);
    if (!g || (error = cudaGetDevice(&device)) != cudaSuccess) {
        free(g);
        return g ? error : cudaErrorMemoryAllocation;
    }
    g->n = n;
    g->most = most;
    g->resident = AR_BLOCKS;
    for (int r = 0; r < n; r++)
        g->gpu[r] = gpu[r];
    for (int r = 0; r < n && error == cudaSuccess; r++)
        error = open_rank(g, r);
    cudaSetDevice(device);
    if (error != cudaSuccess)
        ar_close(g);
    else
        *group = g;
    return error;
}

void ar_close(struct ar_group *group)
{
    int device = 0;

    if (!group)
        return;
    cudaGetDevice(&device);
    for (int r = 0; r < group->n; r++) {
        cudaSetDevice(group->gpu[r]);
        ar_engines_close(&group->engines[r]);
        cudaFree(group->memory[r]);
    }
    cudaSetDevice(device);
    free(group);
}

cudaError_t ar_register(struct ar_group *group, int rank, float *recv)
{
    if (rank < 0 || rank >= group->n || !recv || (size_t)recv % sizeof(uint4))
        return cudaErrorInvalidValue;
    group->recv[rank] = recv;
    return cudaSuccess;
}

/* ---- calling ---- */

static cudaError_t launch(const struct ar_group *g, const void *kernel, size_t blocks,
                          unsigned threads, unsigned tile, const struct ar_call_for *c)
{
    cudaLaunchAttribute early;
    cudaLaunchConfig_t config = {};
    void *args[] = {(void *)&c->device, (void *)&c->send, (void *)&c->recv[c->device.me],
                    (void *)&c->count, &tile};

    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(threads);
    config.stream = c->stream;
    config.attrs = &early;
    config.numAttrs = g->early;
    return cudaLaunchKernelExC(&config, kernel, args);
}

/* Few vectors per thread, so that the first hop begins at once. */
static cudaError_t one_shot(const struct ar_group *g, const struct ar_call_for *c)
{
    const size_t vectors = share(c->count, 4);
    const size_t blocks = least(share(vectors, 64), least(g->resident, 132));
    const unsigned tile = (unsigned)share(vectors, blocks);

    return launch(g, ar_one_shot_kernel(g->n), blocks, tile > 128 ? 512 : 128, tile, c);
}

static cudaError_t two_shot(const struct ar_group *g, const struct ar_call_for *c)
{
    const size_t part = ar_length(ar_cut(c->count, g->n), 0);
    const void *kernel = ar_two_shot_kernel(g->n);
    const bool small = part <= 64 * 256;
    const size_t blocks = least(share(part, 64), least(g->resident, small ? 64 : g->resident));
    const size_t tiles = share(part, blocks * TILE);

    return launch(g, kernel, blocks, small ? 256 : AR_TWO_SHOT_THREADS,
                  (unsigned)share(part, blocks * tiles), c);
}

/* The way that `count` floats can use: the requested one, or a later one. */
static enum ar_way possible(const struct ar_group *g, enum ar_way way, size_t count)
{
    if (way == AR_ONE_SHOT && count * sizeof(float) > ar_one_shot_most(g->n))
        way = AR_TWO_SHOT;
    if (way == AR_TWO_SHOT &&
        (count * sizeof(float) > AR_TWO_SHOT_MOST || count <= 4 * (size_t)(g->n - 1)))
        way = AR_ENGINES;
    return way;
}

cudaError_t ar_all_reduce_by(struct ar_group *group, enum ar_way way, int rank, const float *send,
                             size_t count, cudaStream_t stream)
{
    if (!group || rank < 0 || rank >= group->n || !group->recv[rank] || way >= AR_WAYS)
        return cudaErrorInvalidValue;
    if (count == 0)
        return cudaSuccess;
    if (!send || (size_t)send % sizeof(uint4) || count > group->most / sizeof(float))
        return cudaErrorInvalidValue;
    if (group->n == 1)
        return send == group->recv[0] ? cudaSuccess
                                      : cudaMemcpyAsync(group->recv[0], send, count * sizeof(float),
                                                        cudaMemcpyDeviceToDevice, stream);
    const struct ar_call_for call = {
        group->device[rank], group->engines, group->recv, send, count, stream};
    way = possible(group, way, count);
    return way == AR_ONE_SHOT   ? one_shot(group, &call)
           : way == AR_TWO_SHOT ? two_shot(group, &call)
                                : ar_engines_call(&call);
}

cudaError_t ar_all_reduce(struct ar_group *group, int rank, const float *send, size_t count,
                          cudaStream_t stream)
{
    enum ar_way way = group ? ar_choice(group->n, count * sizeof(float)) : AR_ONE_SHOT;
    return ar_all_reduce_by(group, way, rank, send, count, stream);
}
