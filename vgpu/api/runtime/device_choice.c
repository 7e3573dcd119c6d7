/* SPDX-License-Identifier: MIT
 * device_choice.c: cudaChooseDevice and cudaSetValidDevices, which choose a device by its
 * properties or from a list.
 */
#include "runtime.h"

#include <string.h>

/* The number of requirements (fields of `wish` that are not 0) that the device meets. */
static int requirements_met(const struct cudaDeviceProp *wish, const struct vgpu_device_info *d)
{
    int met = 0;
    met += wish->name[0] && strncmp(wish->name, d->name, sizeof wish->name) == 0;
    met += wish->major && (d->cc_major > wish->major ||
                           (d->cc_major == wish->major && d->cc_minor >= wish->minor));
    met += wish->totalGlobalMem && d->total_bytes >= wish->totalGlobalMem;
    met += wish->multiProcessorCount && d->sm_count >= wish->multiProcessorCount;
    met += wish->sharedMemPerBlock && d->shared_per_block >= wish->sharedMemPerBlock;
    met += wish->cooperativeLaunch && d->cooperative;
    return met;
}

/* Chooses the device that meets most requirements; of several, the first. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    int most = -1;
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && (!device || !prop))
        error = cudaErrorInvalidValue;
    for (int i = 0; error == cudaSuccess && i < vgpu__process.device_count; i++) {
        int met = requirements_met(prop, vgpu__device_info(i));
        if (met > most)
            *device = i;
        most = met > most ? met : most;
    }
    return vgpu__record(error);
}

/* Sets the current device of a calling thread that has not called cudaSetDevice to the first of the
 * list, even if the thread has used another one (recorded). All devices work here, so the rest of
 * the list is never tried. */
cudaError_t cudaSetValidDevices(int *device_arr, int len)
{
    static const char call[] = "cudaSetValidDevices";
    cudaError_t error = vgpu__enter();
    if (error != cudaSuccess)
        return vgpu__record(error);
    if (len < 0 || len > vgpu__process.device_count || (len && !device_arr))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "a list of %d devices; this process sees %d", len,
                            vgpu__process.device_count);
    for (int i = 0; i < len; i++)
        if (device_arr[i] < 0 || device_arr[i] >= vgpu__process.device_count)
            return vgpu__refuse(cudaErrorInvalidDevice, call,
                                "there is no device %d; this process sees %d", device_arr[i],
                                vgpu__process.device_count);
    if (!vgpu__self.has_chosen && vgpu__self.context_count == 0)
        vgpu__self.device = vgpu__self.chosen = len ? device_arr[0] : 0;
    return cudaSuccess;
}

/* There is no L2 cache to reset. Unlike most calls it does not make a context (recorded). */
cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    static const char call[] = "cudaCtxResetPersistingL2Cache";
    cudaError_t error = vgpu__enter();
    if (error != cudaSuccess)
        return vgpu__record(error);
    if (!vgpu__has_context(vgpu__process.physical[vgpu__self.device]))
        return vgpu__refuse(cudaErrorDeviceUninitialized, call,
                            "device %d has no context yet: cudaSetDevice(%d) makes one",
                            vgpu__self.device, vgpu__self.device);
    return vgpu__begin(call, VGPU_OP_CONTEXT) ? cudaSuccess : vgpu__failed();
}
