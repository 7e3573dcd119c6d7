// SPDX-License-Identifier: MIT
// Such a function would be asked in vgpu-exec's place.
extern "C" __device__ void vgpu_fence(int) //!1 the name of a function of the virtual node
{
}

__global__ void kernel()
{
    vgpu_fence(0);
}
