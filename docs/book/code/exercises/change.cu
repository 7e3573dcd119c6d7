// SPDX-License-Identifier: MIT
// change.cu: the largest change of any number in a step of the stencil, over all GPUs, by NCCL.
#include <nccl.h>

#include "../stencil/stencil.h"

#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t nccl_error = (call);                                                          \
        if (nccl_error != ncclSuccess) {                                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, ncclGetErrorString(nccl_error));    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static ncclComm_t comm[MOST];
static unsigned long long *largest[MOST]; // of each GPU: the bits of a double

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

// book: change
// After a swap, `next` holds what was before the step. Bits of numbers that are not negative are in
// the order of the numbers.
__global__ void find_largest(const double *now, const double *next, int width,
                             unsigned long long *largest)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    size_t i = (size_t)(1 + blockIdx.y) * width + x;
    if (x < width)
        atomicMax(largest, (unsigned long long)__double_as_longlong(fabs(now[i] - next[i])));
}

static double largest_change(void)
{
    double change;
    for (int g = 0; g < gpus; g++) {
        struct part *p = &part[g];
        CHECK(cudaSetDevice(g));
        CHECK(cudaMemsetAsync(largest[g], 0, sizeof change, p->stream));
        find_largest<<<grid(p->rows), THREADS, 0, p->stream>>>(p->now, p->next, width, largest[g]);
        CHECK(cudaGetLastError());
    }
    NCCL(ncclGroupStart());
    for (int g = 0; g < gpus; g++)
        NCCL(
            ncclAllReduce(largest[g], largest[g], 1, ncclDouble, ncclMax, comm[g], part[g].stream));
    NCCL(ncclGroupEnd());
    wait_for_all();
    CHECK(cudaMemcpy(&change, largest[gpus - 1], sizeof change, cudaMemcpyDefault)); // any has it
    return change;
}
// book: end

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    open_plate();
    enable_peer_access();
    NCCL(ncclCommInitAll(comm, gpus, NULL));
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaMalloc((void **)&largest[g], sizeof(double)));
    }
    for (int i = 0; i < steps; i++)
        step();
    printf("%d GPU%s: the largest change in step %d is %.17g\n", gpus, gpus > 1 ? "s" : "", steps,
           largest_change());
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaFree(largest[g]));
        NCCL(ncclCommDestroy(comm[g]));
        close_part(g);
    }
    return 0;
}
