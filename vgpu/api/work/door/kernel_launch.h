/* SPDX-License-Identifier: MIT
 * kernel_launch.h: a kernel launch: checked, with packed arguments, and sent as often as needed.
 */
#ifndef VGPU_KERNEL_LAUNCH_H
#define VGPU_KERNEL_LAUNCH_H

#include "core.h"

struct vgpu__launch {
    const char *call;
    const struct vgpu_host_kernel *kernel;
    struct vgpu_host_module *module;
    dim3 grid, block;
    dim3 cluster; /* 0, 0, 0: not given */
    size_t shared;
    bool cooperative;
    struct vgpu_collective collective;
    unsigned char *args; /* packed arguments; freed by vgpu__launch_drop */
    uint32_t args_bytes;
};

/* Finds the kernel of the stub `func` and checks the configuration. An error is recorded. */
cudaError_t vgpu__launch_check(struct vgpu__launch *launch, const void *func, void **args);

/* Copies the arguments, so that those at `args` may change afterwards. */
cudaError_t vgpu__launch_pack(struct vgpu__launch *launch, void **args);
/* Sends a launch with packed arguments; a whole call. */
cudaError_t vgpu__launch_send(const struct vgpu__launch *launch, cudaStream_t stream);
/* Sends the launch with the arguments at `args`, which vgpu__launch_pack has not copied; part of a
 * call that vgpu__admit has let pass. */
cudaError_t vgpu__launch_now(const struct vgpu__launch *launch, void **args, cudaStream_t stream);
void vgpu__launch_drop(struct vgpu__launch *launch);

#endif
