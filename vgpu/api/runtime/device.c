/* SPDX-License-Identifier: MIT
 * device.c: the devices and the current one. Most calls are answered from the description that the
 * node sent at the start; only those that create, synchronize or reset a context send a request.
 */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

#define GREATEST_PRIORITY (-5) /* recorded */

static atomic_uint device_flags = cudaDeviceMapHost;

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version)
        return vgpu__record(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* *version is 0 if there is no driver. A node without devices still has a driver. */
cudaError_t cudaDriverGetVersion(int *version)
{
    if (!version)
        return vgpu__record(cudaErrorInvalidValue);
    if (vgpu__start() == cudaSuccess && !atomic_load(&vgpu__process.forked))
        atomic_store(&vgpu__process.driver_ready, true); /* as cuInit does (recorded) */
    *version = vgpu__process.info ? vgpu__process.info->driver_version : 0;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !count)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *count = vgpu__process.device_count;
    return vgpu__record(error);
}

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !device)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *device = vgpu__self.device;
    return vgpu__record(error);
}

/* ---- contexts ---- */

bool vgpu__has_context(int physical)
{
    struct vgpu_request request = {
        .op = VGPU_OP_CONTEXT_MADE, .call = "context", .device = physical};
    if (atomic_load(&vgpu__process.has_context[physical]))
        return true;
    const struct vgpu_reply *reply = vgpu__aside(&request);
    return reply && reply->error == cudaSuccess && reply->value;
}

/* Makes the device's context if this process has none; otherwise sends nothing. A context with a
 * sticky error counts as made (recorded, [a_failed_device]). */
static cudaError_t need_context(const char *call, int device)
{
    int physical = vgpu__process.physical[device];
    if (atomic_load(&vgpu__process.forked))
        return vgpu__record(cudaErrorInitializationError);
    if (vgpu__has_context(physical)) {
        atomic_store(&vgpu__process.has_context[physical], true);
        return cudaSuccess;
    }
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_CONTEXT);
    if (!request)
        return vgpu__failed();
    request->device = physical;
    cudaError_t error = vgpu__end(NULL);
    if (error == cudaSuccess)
        atomic_store(&vgpu__process.has_context[physical], true);
    return error;
}

/* An existing device becomes current even if its context cannot be made (recorded: after a sticky
 * error the next calls return that device's error). */
cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = vgpu__enter();
    if (error != cudaSuccess)
        return vgpu__record(error);
    if (!vgpu__device_exists(device))
        return vgpu__refuse(cudaErrorInvalidDevice, "cudaSetDevice",
                            "there is no device %d; this process sees %d (0 to %d)", device,
                            vgpu__process.device_count, vgpu__process.device_count - 1);
    vgpu__self.device = vgpu__self.chosen = device;
    vgpu__self.has_chosen = true;
    vgpu__context_chosen();
    return need_context("cudaSetDevice", device);
}

static bool valid_device_flags(unsigned int flags)
{
    unsigned int schedule = flags & cudaDeviceScheduleMask;
    unsigned int rest = flags & ~(unsigned int)cudaDeviceScheduleMask;
    return (schedule & (schedule - 1)) == 0 &&
           (rest & ~(unsigned int)(cudaDeviceMapHost | cudaDeviceLmemResizeToMax |
                                   cudaDeviceSyncMemops)) == 0;
}

cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !vgpu__device_exists(device))
        error = cudaErrorInvalidDevice;
    bool with_flags = flags & cudaInitDeviceFlagsAreValid; /* other bits are ignored (recorded) */
    if (error == cudaSuccess && with_flags && !valid_device_flags(deviceFlags))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return vgpu__record(error);
    if (with_flags)
        atomic_store(&device_flags, deviceFlags | cudaDeviceMapHost);
    return need_context("cudaInitDevice", device);
}

cudaError_t cudaDeviceSynchronize(void)
{
    return vgpu__begin("cudaDeviceSynchronize", VGPU_OP_DEVICE_SYNC) ? vgpu__end(NULL)
                                                                     : vgpu__failed();
}

cudaError_t cudaDeviceReset(void)
{
    struct vgpu_request *request = vgpu__begin("cudaDeviceReset", VGPU_OP_DEVICE_RESET);
    if (!request)
        return vgpu__failed();
    int physical = request->device;
    cudaError_t error = vgpu__end(NULL);
    if (error != cudaSuccess)
        return error;
    atomic_store(&vgpu__process.has_context[physical], false);
    for (int other = 0; other < VGPU_MAX_DEVICES; other++) {
        atomic_store(&vgpu__process.peer_enabled[physical][other], false);
        atomic_store(&vgpu__process.peer_enabled[other][physical], false);
    }
    vgpu__host_forget(physical);
    vgpu__functions_forget(physical);
    vgpu__limits_forget(physical);
    return cudaSuccess;
}

/* ---- flags and priorities ---- */

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !valid_device_flags(flags))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        atomic_store(&device_flags, flags | cudaDeviceMapHost);
    return vgpu__record(error);
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !flags)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *flags = atomic_load(&device_flags);
    return vgpu__record(error);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && leastPriority)
        *leastPriority = 0;
    if (error == cudaSuccess && greatestPriority)
        *greatestPriority = GREATEST_PRIORITY;
    return vgpu__record(error);
}

/* ---- PCI addresses ---- */

cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !vgpu__device_exists(device))
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess && (!pciBusId || len <= 0))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return vgpu__record(error);
    const struct vgpu_device_info *d = vgpu__device_info(device);
    int needed = snprintf(pciBusId, (size_t)len, "%04X:%02X:%02X.0", (unsigned)d->pci_domain,
                          (unsigned)d->pci_bus, (unsigned)d->pci_device);
    return vgpu__record(needed < len ? cudaSuccess : cudaErrorInvalidValue);
}

/* domain:bus:device.function, domain:bus:device or bus:device.function, hexadecimal. */
static bool parse_bus_id(const char *text, unsigned *domain, unsigned *bus, unsigned *device)
{
    unsigned function;
    int end = 0, length = (int)strlen(text);
    if (sscanf(text, "%8x:%2x:%2x.%1x%n", domain, bus, device, &function, &end) == 4 &&
        end == length)
        return true;
    if (sscanf(text, "%8x:%2x:%2x%n", domain, bus, device, &end) == 3 && end == length)
        return true;
    *domain = 0;
    return sscanf(text, "%2x:%2x.%1x%n", bus, device, &function, &end) == 3 && end == length;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
    unsigned domain, bus, slot;
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess &&
        (!device || !pciBusId || !parse_bus_id(pciBusId, &domain, &bus, &slot)))
        error = cudaErrorInvalidValue;
    if (error != cudaSuccess)
        return vgpu__record(error);
    for (int i = 0; i < vgpu__process.device_count; i++) {
        const struct vgpu_device_info *d = vgpu__device_info(i);
        if ((unsigned)d->pci_domain == domain && (unsigned)d->pci_bus == bus &&
            (unsigned)d->pci_device == slot) {
            *device = i;
            return cudaSuccess;
        }
    }
    return vgpu__record(cudaErrorInvalidDevice);
}
