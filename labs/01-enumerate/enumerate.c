/* SPDX-License-Identifier: MIT
 * enumerate.c: what is in this machine. Lab 01; the contract of each function is in lab01.h.
 *
 * Everything that a multi-GPU program does starts with these five questions, and most of its
 * first bugs are wrong answers to them: a machine without a GPU taken for a broken one, a size in
 * the wrong unit, the current device left changed without the caller's knowing.
 */
#include "lab01.h"

#include <string.h>

int inv_count(int *n)
{
    if (!n)
        return LAB_EINVAL;
    // TODO(1): the number of GPUs; none is a number too.  (about 8 lines)
    //   before: *n holds anything
    //   after:  *n is the number: 0 where CUDA says "no device" or "no driver". Any other error is
    //           LAB_ECUDA, and *n keeps what it held
    //   use:    cudaGetDeviceCount, cudaErrorNoDevice, cudaErrorInsufficientDriver
    TODO(1);
}

int inv_device(int device, struct gpu_info *info)
{
    if (!info)
        return LAB_EINVAL;
    // TODO(2): everything struct gpu_info asks about GPU `device`.  (about 19 lines)
    //   before: *info holds anything
    //   after:  *info is filled, in the units of lab01.h; on an error it is as it was
    //   use:    cudaGetDeviceProperties, cudaDeviceGetPCIBusId, and cudaDeviceGetAttribute with
    //           cudaDevAttrClockRate (in kHz) and cudaDevAttrL2CacheSize, inv_result
    (void)device;
    TODO(2);
}

int inv_mem(int device, size_t *free_bytes, size_t *total_bytes)
{
    if (!free_bytes || !total_bytes)
        return LAB_EINVAL;
    // TODO(3): free and total memory of GPU `device`.  (about 12 lines)
    //   before: some GPU is current, not always this one and not always 0
    //   after:  both sizes are those of `device`, and the GPU that was current is so again,
    //           on errors too
    //   use:    cudaGetDevice, cudaSetDevice, cudaMemGetInfo (it asks the current device)
    (void)device;
    TODO(3);
}

int inv_alloc_each(size_t bytes, void **buffers, int n)
{
    if (n < 0 || (n > 0 && !buffers))
        return LAB_EINVAL;
    if (n == 0)
        return LAB_OK;
    // TODO(4): one buffer on each of the first n GPUs.  (about 18 lines)
    //   before: buffers[0..n-1] hold anything
    //   after:  buffers[i] lies on GPU i. If any allocation fails, those already made are free
    //           again and buffers[] is as it was. The GPU that was current is so again
    //   use:    inv_count, cudaSetDevice (cudaMalloc allocates on the current device), cudaMalloc,
    //           cudaFree (it finds the device by itself)
    (void)bytes;
    TODO(4);
}

int inv_by_bus(const char *bus_id, int *device)
{
    if (!bus_id || !device)
        return LAB_EINVAL;
    // TODO(5): which number CUDA gives the GPU at this address.  (about 5 lines)
    //   before: *device holds anything
    //   after:  *device is its number; LAB_ENOGPU and *device untouched when no GPU is there
    //   use:    cudaDeviceGetByPCIBusId, inv_result
    TODO(5);
}
