// SPDX-License-Identifier: MIT
// nccl.cu: the stencil on several GPUs. NCCL sends the edge rows.
#include <nccl.h>

#include "stencil.h"

#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t nccl_error = (call);                                                          \
        if (nccl_error != ncclSuccess) {                                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, ncclGetErrorString(nccl_error));    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static ncclComm_t comm[MOST];

// book: step
// GPU g sends its row y to neighbour n, and receives n's row into its halo.
static void exchange(int g, int n, int y, int halo)
{
    const struct part *p = &part[g];
    if (n < 0 || n >= gpus)
        return;
    NCCL(ncclSend(next_row(p, y), width, ncclDouble, n, comm[g], p->stream));
    NCCL(ncclRecv(next_row(p, halo), width, ncclDouble, n, comm[g], p->stream));
}

static void step(void)
{
    for (int g = 0; g < gpus; g++) {
        struct part *p = &part[g];
        CHECK(cudaSetDevice(g));
        relax<<<grid(p->rows), THREADS, 0, p->stream>>>(p->now, p->next, width, 1, p->rows);
        CHECK(cudaGetLastError());
    }
    NCCL(ncclGroupStart());
    for (int g = 0; g < gpus; g++) {
        exchange(g, g - 1, 1, 0);
        exchange(g, g + 1, part[g].rows, part[g].rows + 1);
    }
    NCCL(ncclGroupEnd());
    for (int g = 0; g < gpus; g++)
        swap(&part[g]);
}
// book: end

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    open_plate();
    NCCL(ncclCommInitAll(comm, gpus, NULL));
    finish(timed(step, steps));
    for (int g = 0; g < gpus; g++)
        NCCL(ncclCommDestroy(comm[g]));
    return 0;
}
