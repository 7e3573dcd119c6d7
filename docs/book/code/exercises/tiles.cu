// SPDX-License-Identifier: MIT
// tiles.cu: the stencil on one GPU, with blocks of 32 x 8 threads instead of 256 x 1.
#include "../stencil/stencil.h"

// book: tiles
__global__ void relax_tile(const double *now, double *next, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= width - 1 || y < 1 || y >= height - 1)
        return;
    const double *at = now + (size_t)y * width + x;
    next[(size_t)y * width + x] = 0.25 * (at[-1] + at[1] + at[-width] + at[width]);
}

static void step(void)
{
    const dim3 threads(32, 8), blocks((width + 31) / 32, (height + 7) / 8);
    relax_tile<<<blocks, threads>>>(part[0].now, part[0].next, width, height);
    CHECK(cudaGetLastError());
    swap(&part[0]);
}
// book: end

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    gpus = 1;
    open_plate();
    finish(timed(step, steps));
    return 0;
}
