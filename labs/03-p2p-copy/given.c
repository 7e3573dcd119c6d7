/* SPDX-License-Identifier: MIT
 * given.c: what comes with lab 03: questions about GPUs and pointers, peer access that remembers
 * who turned it on, and lanes, which hold everything that a measurement needs.
 */
#include "lab03.h"

#include <string.h>

#define MIB ((size_t)1 << 20)

int gpu_exists(int device)
{
    int n = 0;
    if (p2p_result(cudaGetDeviceCount(&n)) != LAB_OK)
        return 0;
    return device >= 0 && device < n;
}

int gpu_of(const void *pointer)
{
    struct cudaPointerAttributes at;
    if (!pointer || p2p_result(cudaPointerGetAttributes(&at, pointer)) != LAB_OK)
        return -1;
    return at.type == cudaMemoryTypeDevice ? at.device : -1;
}

/* Calls cudaDeviceEnablePeerAccess(to) or its opposite with `from` current. */
static cudaError_t switch_peer(int from, int to, int on)
{
    int before;
    cudaError_t error = cudaGetDevice(&before);
    if (error != cudaSuccess || (error = cudaSetDevice(from)) != cudaSuccess)
        return error;
    error = on ? cudaDeviceEnablePeerAccess(to, 0) : cudaDeviceDisablePeerAccess(to);
    (void)p2p_result(cudaSetDevice(before));
    return error;
}

int peer_on(int from, int to, int *mine)
{
    cudaError_t error;
    if (!gpu_exists(from) || !gpu_exists(to))
        return LAB_ENOGPU;
    error = switch_peer(from, to, 1);
    if (error != cudaSuccess)
        (void)cudaGetLastError(); // "already on" is no error here, but CUDA keeps it as one
    if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled)
        return LAB_ENOPEER;
    if (mine)
        *mine = error == cudaSuccess;
    return LAB_OK;
}

int peer_off(int from, int to)
{
    if (!gpu_exists(from) || !gpu_exists(to))
        return LAB_ENOGPU;
    return p2p_result(switch_peer(from, to, 0));
}

/* Small enough that the first chunk is soon through, large enough that chunks run at full speed. */
static size_t chunk_for(size_t bytes)
{
    size_t chunk = bytes / 16;
    return chunk < MIB / 4 ? MIB / 4 : chunk > 4 * MIB ? 4 * MIB : chunk;
}

/* Everything of the sender's: its buffer, its stream, its events. The sender is current. */
static cudaError_t open_sender(struct lane *lane)
{
    cudaError_t e;
    if ((e = cudaMalloc(&lane->src, lane->bytes)) ||
        (e = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking)) ||
        (e = cudaEventCreate(&lane->start)))
        return e;
    return cudaEventCreate(&lane->stop);
}

static int open_path(struct lane *lane)
{
    int rc = copy_path(lane->to, lane->from, &lane->path);
    if (!rc && lane->path == PATH_PEER)
        rc = peer_on(lane->from, lane->to, &lane->peer_is_mine);
    if (!rc && lane->path == PATH_STAGED)
        rc = stage_create(&lane->stage, lane->to, lane->from, chunk_for(lane->bytes));
    return rc;
}

int lane_open(struct lane *lane, int from, int to, size_t bytes)
{
    struct lane made = {.from = from, .to = to, .bytes = bytes};
    int before, rc;
    if (!lane || bytes == 0)
        return LAB_EINVAL;
    if (!gpu_exists(from) || !gpu_exists(to))
        return LAB_ENOGPU;
    if ((rc = p2p_result(cudaGetDevice(&before))))
        return rc;
    if (!(rc = p2p_result(cudaSetDevice(to))) && !(rc = p2p_result(cudaMalloc(&made.dst, bytes))) &&
        !(rc = p2p_result(cudaSetDevice(from))) && !(rc = p2p_result(open_sender(&made))))
        rc = open_path(&made);
    (void)p2p_result(cudaSetDevice(before));
    if (rc)
        lane_close(&made);
    else
        *lane = made;
    return rc;
}

int lane_send(struct lane *lane)
{
    // Not p2p_copy: finding the path anew would take longer than a small copy.
    if (lane->path == PATH_STAGED)
        return stage_copy_async(&lane->stage, lane->dst, lane->src, lane->bytes, lane->stream);
    return copy_peer_async(lane->dst, lane->to, lane->src, lane->from, lane->bytes, lane->stream);
}

void lane_close(struct lane *lane)
{
    if (lane->stream) {
        (void)p2p_result(cudaStreamSynchronize(lane->stream));
        (void)p2p_result(cudaStreamDestroy(lane->stream));
    }
    if (lane->path == PATH_STAGED)
        (void)stage_destroy(&lane->stage);
    if (lane->peer_is_mine)
        (void)peer_off(lane->from, lane->to);
    if (lane->start)
        (void)p2p_result(cudaEventDestroy(lane->start));
    if (lane->stop)
        (void)p2p_result(cudaEventDestroy(lane->stop));
    (void)p2p_result(cudaFree(lane->src));
    (void)p2p_result(cudaFree(lane->dst));
    memset(lane, 0, sizeof *lane);
}

int copy_serially(void *dst, const void *src, size_t bytes, void *host)
{
    int rc = p2p_result(cudaMemcpy(host, src, bytes, cudaMemcpyDeviceToHost));
    return rc ? rc : p2p_result(cudaMemcpy(dst, host, bytes, cudaMemcpyHostToDevice));
}

const char *path_name(enum path path)
{
    switch (path) {
    case PATH_LOCAL:
        return "local";
    case PATH_PEER:
        return "peer";
    case PATH_STAGED:
        return "staged";
    }
    return "not a path of lab03.h";
}

const char *p2p_sentence(int result)
{
    switch (result) {
    case LAB_OK:
        return "all went well";
    case LAB_EINVAL:
        return "an argument makes no sense: a null pointer, a size of 0, or memory of another GPU";
    case LAB_ENOGPU:
        return "there is no GPU of that number here";
    case LAB_ENOPEER:
        return "the sender cannot reach the receiver, and there is no stage to go through";
    case LAB_ENOMEM:
        return "there is not that much memory left; take fewer bytes";
    case LAB_ECUDA:
        return "a CUDA call failed; is a stream or an event of the wrong GPU?";
    case LAB_ERANGE:
        return "the sizes are too small to be timed; take larger ones";
    default:
        return "a result that is not in lab03.h";
    }
}
