/* SPDX-License-Identifier: MIT
 * given.c: comes with lab 02. Counting GPUs is lab 01; checking lists, translating error codes and
 * keeping a list teach nothing about peers.
 */
#include <stddef.h>

#include "lab02.h"

int peer_gpus(void)
{
    int n = 0;

    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return n;
}

int peer_check(const int *gpu, int n)
{
    if (n < 0 || n > PEER_MAX_GPUS || (n > 0 && gpu == NULL))
        return LAB_EINVAL;
    for (int i = 0; i < n; i++) {
        if (gpu[i] < 0)
            return LAB_EINVAL;
        for (int k = 0; k < i; k++)
            if (gpu[k] == gpu[i])
                return LAB_EINVAL;
    }
    int there = n > 0 ? peer_gpus() : 0;
    for (int i = 0; i < n; i++)
        if (gpu[i] >= there)
            return LAB_ENOGPU;
    return LAB_OK;
}

int peer_result(cudaError_t error)
{
    if (error == cudaSuccess)
        return LAB_OK;
    cudaGetLastError();
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
        return LAB_ENOGPU;
    case cudaErrorPeerAccessUnsupported:
    case cudaErrorTooManyPeers:
        return LAB_ENOPEER;
    case cudaErrorMemoryAllocation:
        return LAB_ENOMEM;
    default:
        return LAB_ECUDA;
    }
}

void peer_note(struct peer_undo *undo, int from, int to)
{
    undo->pair[undo->count].from = from;
    undo->pair[undo->count].to = to;
    undo->count++;
}
