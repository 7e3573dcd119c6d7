// SPDX-License-Identifier: MIT
// host.cu: the stencil on several GPUs. Edge rows go through host memory, one after the other.
#include "stencil.h"

static double *buffer; // a row, in host memory

// book: step
// Row y that GPU g has computed becomes a row of GPU n.
static void send_row(int g, int y, int n, double *to)
{
    CHECK(cudaSetDevice(g));
    CHECK(cudaMemcpy(buffer, next_row(&part[g], y), row_bytes(), cudaMemcpyDeviceToHost));
    CHECK(cudaSetDevice(n));
    CHECK(cudaMemcpy(to, buffer, row_bytes(), cudaMemcpyHostToDevice));
}

static void step(void)
{
    for (int g = 0; g < gpus; g++) { // all start
        CHECK(cudaSetDevice(g));
        relax<<<grid(part[g].rows), THREADS>>>(part[g].now, part[g].next, width, 1, part[g].rows);
        CHECK(cudaGetLastError());
    }
    for (int g = 0; g < gpus; g++) { // a copy waits for the kernel before it
        if (g > 0)
            send_row(g, 1, g - 1, above(g));
        if (g < gpus - 1)
            send_row(g, part[g].rows, g + 1, below(g));
    }
    for (int g = 0; g < gpus; g++)
        swap(&part[g]);
}
// book: end

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    open_plate();
    CHECK(cudaMallocHost((void **)&buffer, row_bytes()));
    finish(timed(step, steps));
    CHECK(cudaFreeHost(buffer));
    return 0;
}
