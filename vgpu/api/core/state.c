/* SPDX-License-Identifier: MIT
 * state.c: the state that every call reads, of the process and of the thread, and numbers computed
 * from it. process.c and thread.c set it.
 */
#include "core.h"

struct vgpu__process vgpu__process = {.host_fd = -1, .node_cpu = -1};
_Thread_local struct vgpu__thread vgpu__self;

uint64_t vgpu__stream_id(cudaStream_t stream)
{
    if (stream)
        return (uint64_t)(uintptr_t)stream;
    return vgpu__self.own_default_stream ? VGPU_STREAM_PER_THREAD : VGPU_STREAM_LEGACY;
}

const struct vgpu_device_info *vgpu__device_info(int logical)
{
    return &vgpu__process.info->device[vgpu__process.physical[logical]];
}

int vgpu__logical(int physical)
{
    for (int i = 0; i < vgpu__process.device_count; i++)
        if (vgpu__process.physical[i] == physical)
            return i;
    return -1;
}
