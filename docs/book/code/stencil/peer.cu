// SPDX-License-Identifier: MIT
// peer.cu: the stencil on several GPUs. Kernels store their edge rows into the neighbours' halos.
#include "stencil.h"

// book: step
static void step(void)
{
    for (int g = 0; g < gpus; g++) {
        struct part *p = &part[g];
        CHECK(cudaSetDevice(g));
        wait_for_neighbours(g, p->stream);
        relax_and_send<<<grid(p->rows), THREADS, 0, p->stream>>>(p->now, p->next, width, p->rows,
                                                                 above(g), below(g));
        CHECK(cudaGetLastError());
    }
    for (int g = 0; g < gpus; g++) { // only now: above, all wait for the step before
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
