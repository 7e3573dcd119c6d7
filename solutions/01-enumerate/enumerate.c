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
    // BEGIN SOLUTION
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        count = 0; // a fact about the machine
    else if (inv_result(error) != LAB_OK)
        return LAB_ECUDA; // CUDA cannot say: that is not the same as "none"
    *n = count;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(1);
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
    // BEGIN SOLUTION
    struct gpu_info found;
    struct cudaDeviceProp prop;
    int clock_khz, l2_bytes, rc;
    memset(&found, 0, sizeof found);
    // The clock is an attribute: the field of the properties is gone since CUDA 13.
    if ((rc = inv_result(cudaGetDeviceProperties(&prop, device))) ||
        (rc = inv_result(cudaDeviceGetPCIBusId(found.bus_id, sizeof found.bus_id, device))) ||
        (rc = inv_result(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device))) ||
        (rc = inv_result(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device))))
        return rc;
    snprintf(found.name, sizeof found.name, "%s", prop.name);
    memcpy(found.uuid, prop.uuid.bytes, sizeof found.uuid); // bytes, not text: may contain zeros
    found.major = prop.major;
    found.minor = prop.minor;
    found.sms = prop.multiProcessorCount;
    found.copy_engines = prop.asyncEngineCount;
    found.clock_mhz = clock_khz / 1000;
    found.memory_bytes = prop.totalGlobalMem;
    found.l2_bytes = (size_t)l2_bytes;
    *info = found;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)device;
    // STUB: TODO(2);
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
    // BEGIN SOLUTION
    size_t free_now = 0, total_now = 0;
    int before, rc;
    if ((rc = inv_result(cudaGetDevice(&before))))
        return rc;
    if (!(rc = inv_result(cudaSetDevice(device))))
        rc = inv_result(cudaMemGetInfo(&free_now, &total_now));
    // Also when the switch failed: a GPU that cannot be used may be current all the same.
    (void)inv_result(cudaSetDevice(before));
    if (rc)
        return rc;
    *free_bytes = free_now;
    *total_bytes = total_now;
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)device;
    // STUB: TODO(3);
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
    // BEGIN SOLUTION
    void *made[INV_MAX_GPUS];
    int gpus, before, rc, i = 0;
    if ((rc = inv_count(&gpus)))
        return rc;
    if (n > gpus || n > INV_MAX_GPUS)
        return LAB_ENOGPU;
    if ((rc = inv_result(cudaGetDevice(&before))))
        return rc;
    for (; i < n; i++) {
        if ((rc = inv_result(cudaSetDevice(i))) || (rc = inv_result(cudaMalloc(&made[i], bytes))))
            break;
    }
    while (rc && i > 0)
        (void)inv_result(cudaFree(made[--i]));
    (void)inv_result(cudaSetDevice(before));
    if (!rc)
        memcpy(buffers, made, (size_t)n * sizeof *buffers);
    return rc;
    // END SOLUTION
    // STUB: (void)bytes;
    // STUB: TODO(4);
}

int inv_by_bus(const char *bus_id, int *device)
{
    if (!bus_id || !device)
        return LAB_EINVAL;
    // TODO(5): which number CUDA gives the GPU at this address.  (about 5 lines)
    //   before: *device holds anything
    //   after:  *device is its number; LAB_ENOGPU and *device untouched when no GPU is there
    //   use:    cudaDeviceGetByPCIBusId, inv_result
    // BEGIN SOLUTION
    int found;
    if (inv_result(cudaDeviceGetByPCIBusId(&found, bus_id)) != LAB_OK)
        return LAB_ENOGPU;
    *device = found;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(5);
}
