/* SPDX-License-Identifier: MIT
 * runner_cuda.c: what a runner can count on real GPUs: memory in use, and nothing finer.
 *
 * The contexts are made before the first reading, so that what they take is in both.
 */
#include "runner_internal.h"

#include <cuda_runtime.h>

int lab__count_gpus(void)
{
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess)
        count = 0;
    cudaGetLastError();
    return count;
}

static int used_bytes(int64_t *used)
{
    int before = 0;
    if (cudaGetDevice(&before) != cudaSuccess)
        return 0;
    *used = 0;
    for (int gpu = 0, n = lab__count_gpus(); gpu < n; gpu++) {
        size_t free_bytes, total_bytes;
        if (cudaSetDevice(gpu) != cudaSuccess || cudaFree(0) != cudaSuccess ||
            cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess)
            return 0;
        *used += (int64_t)(total_bytes - free_bytes);
    }
    return cudaSetDevice(before) == cudaSuccess;
}

void lab__count_before(struct lab_status *status)
{
    status->leak_known = used_bytes(&status->leaked_bytes);
}

void lab__count_after(struct lab_status *status)
{
    int64_t now;
    status->leak_known = status->leak_known && used_bytes(&now);
    if (status->leak_known)
        status->leaked_bytes = now - status->leaked_bytes;
}
