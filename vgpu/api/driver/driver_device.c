/* SPDX-License-Identifier: MIT
 * driver_device.c: devices. A CUdevice equals the runtime's device number.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

#define DEVICES(expression) VGPU_DRIVER_OF(VGPU__NEED_INIT, expression)

static cudaError_t check_device(const void *out, CUdevice device)
{
    if (!out)
        return cudaErrorInvalidValue;
    return vgpu__device_exists(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

CUresult cuDeviceGetCount(int *count)
{
    DEVICES(cudaGetDeviceCount(count));
}

static cudaError_t get_device(CUdevice *device, int ordinal)
{
    cudaError_t error = check_device(device, ordinal);
    if (error == cudaSuccess)
        *device = ordinal;
    return error;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    DEVICES(get_device(device, ordinal));
}

static cudaError_t get_device_name(char *name, int room, CUdevice device)
{
    cudaError_t error = room > 0 ? check_device(name, device) : cudaErrorInvalidValue;
    if (error == cudaSuccess)
        snprintf(name, (size_t)room, "%s", vgpu__device_info(device)->name);
    return error;
}

CUresult cuDeviceGetName(char *name, int room, CUdevice device)
{
    DEVICES(get_device_name(name, room, device));
}

static cudaError_t get_device_uuid(CUuuid *uuid, CUdevice device)
{
    cudaError_t error = check_device(uuid, device);
    if (error == cudaSuccess)
        memcpy(uuid->bytes, vgpu__device_info(device)->uuid, sizeof uuid->bytes);
    return error;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    DEVICES(get_device_uuid(uuid, device));
}

static cudaError_t total_memory(size_t *bytes, CUdevice device)
{
    cudaError_t error = check_device(bytes, device);
    if (error == cudaSuccess)
        *bytes = vgpu__device_info(device)->total_bytes;
    return error;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    DEVICES(total_memory(bytes, device));
}

/* Attributes of the driver API only. Virtual memory management and its descriptors are supported.
 * Fabric handles are those
 * of one node. Not modelled, and reported as absent: multicast, compression, GPUDirect, memory
 * operations of streams. */
static cudaError_t device_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    cudaError_t error = check_device(value, device);
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH:
        *value = 1;
        return cudaSuccess;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
        *value = vgpu__device_info(device)->cc_major >= 9;
        return cudaSuccess;
    default:
        error = cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device);
        if (error != cudaErrorInvalidValue || (int)attribute <= 0 ||
            attribute >= CU_DEVICE_ATTRIBUTE_MAX)
            return error;
        *value = 0;
        return cudaSuccess;
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    DEVICES(device_attribute(value, which, device));
}

static cudaError_t compute_capability(int *major, int *minor, CUdevice device)
{
    cudaError_t error = minor ? check_device(major, device) : cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return error;
    *major = vgpu__device_info(device)->cc_major;
    *minor = vgpu__device_info(device)->cc_minor;
    return cudaSuccess;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    DEVICES(compute_capability(major, minor, device));
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    DEVICES(cudaDeviceCanAccessPeer(can, device, peer));
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
                                 CUdevice to)
{
    DEVICES(cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr)attribute, from, to));
}

CUresult cuDeviceGetPCIBusId(char *text, int room, CUdevice device)
{
    DEVICES(cudaDeviceGetPCIBusId(text, room, device));
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    DEVICES(cudaDeviceGetByPCIBusId(device, text));
}
