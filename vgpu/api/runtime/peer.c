/* SPDX-License-Identifier: MIT
 * peer.c: peer access. Which pairs of GPUs support it is part of the node's description. Which
 * pairs have it enabled is the node's state, since the node maps memory into contexts; a copy is
 * kept here for cudaPointerGetAttributes.
 */
#include "runtime.h"

static const struct vgpu_pair_info *pair_info(int from, int to)
{
    return &vgpu__process.info->pair[vgpu__process.physical[from]][vgpu__process.physical[to]];
}

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !canAccessPeer)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && (!vgpu__device_exists(device) || !vgpu__device_exists(peerDevice)))
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess)
        *canAccessPeer = device != peerDevice && pair_info(device, peerDevice)->access;
    return vgpu__record(error);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                      int dstDevice)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !value)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && (!vgpu__device_exists(srcDevice) ||
                                 !vgpu__device_exists(dstDevice) || srcDevice == dstDevice))
        error = cudaErrorInvalidDevice;
    if (error != cudaSuccess)
        return vgpu__record(error);
    const struct vgpu_pair_info *p = pair_info(srcDevice, dstDevice);
    switch (attr) {
    case cudaDevP2PAttrPerformanceRank:
        *value = p->performance_rank;
        return cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
        *value = p->access;
        return cudaSuccess;
    case cudaDevP2PAttrNativeAtomicSupported:
        *value = p->native_atomics;
        return cudaSuccess;
    case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = p->array_access;
        return cudaSuccess;
    case cudaDevP2PAttrOnlyPartialNativeAtomicSupported:
        *value = 0;
        return cudaSuccess;
    }
    return vgpu__record(cudaErrorInvalidValue);
}

/* Enables or disables access from the current device to `peer`, which exists. */
static cudaError_t set_peer_access(const char *call, uint32_t op, int peer, bool enable)
{
    struct vgpu_request *request = vgpu__begin(call, op);
    if (!request)
        return vgpu__failed();
    int from = request->device, to = vgpu__process.physical[peer];
    request->peer = to;
    cudaError_t error = vgpu__end(NULL);
    if (error == cudaSuccess)
        atomic_store(&vgpu__process.peer_enabled[from][to], enable);
    return error;
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    static const char call[] = "cudaDeviceEnablePeerAccess";
    cudaError_t error = vgpu__enter();
    if (error != cudaSuccess)
        return vgpu__record(error);
    if (!vgpu__device_exists(peerDevice))
        return vgpu__refuse(cudaErrorInvalidDevice, call,
                            "there is no device %d; this process sees %d", peerDevice,
                            vgpu__process.device_count);
    if (flags != 0)
        return vgpu__refuse(cudaErrorInvalidValue, call, "flags are %u and must be 0", flags);
    if (peerDevice == vgpu__self.device)
        return vgpu__refuse(cudaErrorPeerAccessUnsupported, call,
                            "device %d is the current device and needs no peer access to itself",
                            peerDevice);
    return set_peer_access(call, VGPU_OP_PEER_ENABLE, peerDevice, true);
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    cudaError_t error = vgpu__enter();
    if (error == cudaSuccess && !vgpu__device_exists(peerDevice))
        error = cudaErrorInvalidDevice;
    if (error == cudaSuccess && peerDevice == vgpu__self.device)
        error = cudaErrorPeerAccessNotEnabled;
    if (error != cudaSuccess)
        return vgpu__record(error);
    return set_peer_access("cudaDeviceDisablePeerAccess", VGPU_OP_PEER_DISABLE, peerDevice, false);
}
