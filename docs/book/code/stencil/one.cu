// SPDX-License-Identifier: MIT
// one.cu: the stencil on one GPU.
#include "stencil.h"

// book: step
static void step(void)
{
    struct part *p = &part[0];
    relax<<<grid(p->rows), THREADS>>>(p->now, p->next, width, 1, p->rows);
    CHECK(cudaGetLastError());
    swap(p); // what was computed is what the next step reads
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
