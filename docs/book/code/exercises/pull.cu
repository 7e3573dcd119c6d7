// SPDX-License-Identifier: MIT
// pull.cu: the stencil on several GPUs. There are no halos: kernels load the neighbours' edge rows.
#include "../stencil/stencil.h"

// book: pull
// `up` and `down` are the neighbours' rows next to this part, in their own memory.
__global__ void relax_and_load(const double *now, double *next, int width, int rows,
                               const double *up, const double *down)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y;
    if (x < 1 || x >= width - 1)
        return;
    const double *at = now + (size_t)y * width + x;
    double over = y == 1 ? up[x] : at[-width], under = y == rows ? down[x] : at[width];
    next[(size_t)y * width + x] = 0.25 * (at[-1] + at[1] + over + under);
}

static const double *now_row(int g, int y)
{
    return part[g].now + (size_t)y * width;
}

static void step(void)
{
    for (int g = 0; g < gpus; g++) {
        struct part *p = &part[g];
        const double *up = g > 0 ? now_row(g - 1, part[g - 1].rows) : now_row(g, 0);
        const double *down = g < gpus - 1 ? now_row(g + 1, 1) : now_row(g, p->rows + 1);
        CHECK(cudaSetDevice(g));
        wait_for_neighbours(g, p->stream);
        relax_and_load<<<grid(p->rows), THREADS, 0, p->stream>>>(p->now, p->next, width, p->rows,
                                                                 up, down);
        CHECK(cudaGetLastError());
    }
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaEventRecord(part[g].done, part[g].stream));
        swap(&part[g]);
    }
}
// book: end

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    open_plate();
    enable_peer_access();
    finish(timed(step, steps));
    return 0;
}
