/* SPDX-License-Identifier: MIT
 * lab01.h: what is in this machine. The contract of the functions in enumerate.c, and the printers
 * that come with the lab (print.c).
 *
 * Rules for every function here:
 * - The result is LAB_OK (0) or one of the LAB_E... of lab.h. On an error the outputs keep what
 *   they held.
 * - No GPU at all is an ordinary machine, not a failure: only what needs a GPU says LAB_ENOGPU.
 * - The calling thread's current device is the same after the call as before it.
 * - A CUDA error that became a result here is cleared: cudaPeekAtLastError() says cudaSuccess
 *   afterwards, so that the caller's next check does not trip over it. (Where CUDA cannot start at
 *   all, every call says so again: that one stays.)
 */
#ifndef LAB01_H
#define LAB01_H

#include <stddef.h>
#include <stdio.h>

#include <cuda_runtime_api.h>

#include "lab.h"

#define INV_MAX_GPUS 64 /* more than any machine has */

/* One GPU. Sizes in bytes, the clock in MHz, whatever unit CUDA gives them in. */
struct gpu_info {
    char name[256];
    int major, minor; /* compute capability: 9 and 0 for 9.0 */
    int sms;          /* streaming multiprocessors */
    int copy_engines; /* copies in flight beside kernels */
    int clock_mhz;
    size_t memory_bytes;
    size_t l2_bytes;
    char bus_id[16]; /* "0000:19:00.0": where it is plugged in */
    unsigned char uuid[16];
};

/* 1. How many GPUs CUDA shows this process (CUDA_VISIBLE_DEVICES has its say).
 * No driver and no device are 0 GPUs and LAB_OK.
 * LAB_EINVAL: n is null. LAB_ECUDA: CUDA cannot tell, as for CUDA_VISIBLE_DEVICES=0,0. */
int inv_count(int *n);

/* 2. What CUDA says about GPU `device`. Works before anything was allocated and makes no context.
 * LAB_EINVAL: info is null. LAB_ENOGPU: there is no GPU of that number. LAB_ECUDA: anything else.
 */
int inv_device(int device, struct gpu_info *info);

/* 3. Free and total memory of GPU `device`, in bytes. Only asks: all memory stays allocated.
 * LAB_EINVAL: a pointer is null. LAB_ENOGPU: there is no GPU of that number. LAB_ECUDA: there is
 * one, and CUDA cannot use it. */
int inv_mem(int device, size_t *free_bytes, size_t *total_bytes);

/* 4. Allocates n buffers of `bytes` bytes, buffer i on GPU i. The caller frees each with cudaFree.
 * All or nothing: on an error everything is freed again and buffers[] keeps what it held.
 * LAB_EINVAL: n is negative, or buffers is null while n > 0. LAB_ENOGPU: there are fewer than n
 * GPUs, however many bytes are asked for. LAB_ENOMEM: some GPU has not got that much left. n = 0
 * does nothing and is LAB_OK, without any GPU, too. bytes = 0 is LAB_OK, too: buffers[i] is then
 * what cudaMalloc gives for 0 bytes on GPU i. */
int inv_alloc_each(size_t bytes, void **buffers, int n);

/* 5. The CUDA number of the GPU plugged in at `bus_id` ("0000:19:00.0", hexadecimal in either
 * case). LAB_EINVAL: a pointer is null. LAB_ENOGPU: no visible GPU is there (the same for
 * an address that cannot be read, such as one with other words behind it). */
int inv_by_bus(const char *bus_id, int *device);

/* ---- comes with the lab ---- */

/* The lab's result for a CUDA result. Clears the error: cudaGetLastError() is called for you.
 * 101 becomes LAB_ENOGPU, as do "no device" and "no driver"; 2 becomes LAB_ENOMEM. */
static inline int inv_result(cudaError_t error)
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

/* Print every GPU by way of the functions above: for people, and for programs. They return the
 * first error met; the JSON is then cut off. */
int inv_print_table(FILE *out);
int inv_print_json(FILE *out);

/* "GPU-6969f210-2d27-55a4-07ab-de56b117739d", as nvidia-smi -L and CUDA_VISIBLE_DEVICES have it. */
#define INV_UUID_BYTES 41
void inv_uuid_text(const unsigned char uuid[16], char text[INV_UUID_BYTES]);

/* One sentence for a person about a result. */
const char *inv_sentence(int result);

#endif
