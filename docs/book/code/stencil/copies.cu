// SPDX-License-Identifier: MIT
// copies.cu: the stencil on several GPUs. Edge rows are copied from GPU to GPU. With any fifth
// argument peer access stays off.
#include "stencil.h"

// book: step
static void send_row(const struct part *p, int y, double *to)
{
    CHECK(cudaMemcpyAsync(to, next_row(p, y), row_bytes(), cudaMemcpyDefault, p->stream));
}

static void step(void)
{
    for (int g = 0; g < gpus; g++) {
        struct part *p = &part[g];
        CHECK(cudaSetDevice(g));
        wait_for_neighbours(g, p->stream);
        relax<<<grid(p->rows), THREADS, 0, p->stream>>>(p->now, p->next, width, 1, p->rows);
        CHECK(cudaGetLastError());
        if (above(g))
            send_row(p, 1, above(g));
        if (below(g))
            send_row(p, p->rows, below(g));
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
    if (argc < 6)
        enable_peer_access();
    finish(timed(step, steps));
    return 0;
}
