// SPDX-License-Identifier: MIT
// limit.cu: what limits a step of chapter 4's stencil: the host's calls, or the GPUs.
//
//     ./limit [GPUs [width [height [steps]]]]     the heights are height, 4 and 8 times height
#include "../stencil/stencil.h"

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
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaEventRecord(part[g].done, part[g].stream));
        swap(&part[g]);
    }
}

// book: limit
// Microseconds of a step, without the wait at the end of a run, which both runs contain.
static double step_us(void)
{
    double once = timed(step, steps), twice = timed(step, 2 * steps);
    return (twice - once) / steps;
}
// book: end

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    const int least = height, times[] = {1, 4, 8};
    for (int plate = 0; plate < 3; plate++) {
        height = times[plate] * least;
        open_plate();
        if (plate == 0)
            enable_peer_access();
        double us = step_us();
        printf("%d GPUs, %d x %5d: %5.1f us a step, %4.1f us for each GPU\n", gpus, width, height,
               us, us / gpus);
        for (int g = 0; g < gpus; g++)
            close_part(g);
    }
    return 0;
}
