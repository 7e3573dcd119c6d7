// SPDX-License-Identifier: MIT
// nccl_sum.cu: NCCL's all-reduce by one thread in a group, in the streams that filled.
#include "correct.h"
#include <nccl.h>

#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t result_ = (call);                                                             \
        if (result_ != ncclSuccess) {                                                              \
            fprintf(stderr, "%s: %s\n", #call, ncclGetErrorString(result_));                       \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

int main()
{
    struct gpu g[GPUS];
    ncclComm_t comm[GPUS];
    int wrong = 0;
    count_gpus();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    NCCL(ncclCommInitAll(comm, gpus, NULL));
    for (int d = 0; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        fill<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, d);
        CHECK(cudaGetLastError());
    }
    NCCL(ncclGroupStart());
    for (int d = 0; d < gpus; d++)
        NCCL(ncclAllReduce(g[d].a, g[d].b, N, ncclInt, ncclSum, comm[d], g[d].stream));
    NCCL(ncclGroupEnd());
    sync_all();
    for (int d = 0; d < gpus; d++)
        wrong += wrong_from(g[d].b, gpus * (gpus - 1) / 2, gpus);
    for (int d = 0; d < gpus; d++) {
        NCCL(ncclCommDestroy(comm[d]));
        free_gpu(d, &g[d]);
    }
    return wrong != 0;
}
