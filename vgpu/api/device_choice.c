/* SPDX-License-Identifier: MIT
 * device_choice.c: devices by wish instead of by number.
 */
#include "runtime.h"

#include <string.h>

/* How many of the wishes (what is not 0 in `wish`) the device fulfils. */
static int fulfils(const struct cudaDeviceProp *wish, const struct vgpu_device_info *d)
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

/* The first of those that fulfil most. */
cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    int most = -1;
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && (!device || !prop))
        error = cudaErrorInvalidValue;
    for (int i = 0; error == cudaSuccess && i < vgpu__process.device_count; i++) {
        int met = fulfils(prop, vgpu__device_info(i));
        if (met > most)
            *device = i;
        most = met > most ? met : most;
    }
    return vgpu__record(error);
}

/* A thread that has used no device yet gets the list's first: all devices work here, so none of
 * the others is ever tried. Holds for the calling thread. */
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
            return vgpu__refuse(cudaErrorInvalidDevice, call, "there is no device %d",
                                device_arr[i]);
    if (!vgpu__self.bound)
        vgpu__self.device = len ? device_arr[0] : 0;
    return cudaSuccess;
}

/* Nothing persists: there is no cache. */
cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return vgpu__begin("cudaCtxResetPersistingL2Cache", VGPU_OP_CONTEXT) ? cudaSuccess
                                                                         : vgpu__failed();
}
