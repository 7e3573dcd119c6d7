// SPDX-License-Identifier: MIT
// A GPU a rank: MPI passes the id on, NCCL moves the data; a ring by send and receive, then a sum.
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>
#include <mpi.h>
#include <nccl.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        int status = static_cast<int>(call);                                                       \
        if (status != 0) {                                                                         \
            std::printf("%s:%d %s gave %d\n", __FILE__, __LINE__, #call, status);                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

__global__ void fill(int *data, int n, int rank)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = rank * 1000 + i;
}

int main(int argc, char **argv)
{
    const int n = 70001;
    int rank, ranks, gpus;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    OK(cudaGetDeviceCount(&gpus));
    OK(cudaSetDevice(rank % gpus));

    ncclUniqueId id;
    ncclComm_t comm;
    if (rank == 0)
        OK(ncclGetUniqueId(&id));
    OK(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD));
    OK(ncclCommInitRank(&comm, ranks, id, rank));

    int *mine, *other;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&mine, n * sizeof(int)));
    OK(cudaMalloc(&other, n * sizeof(int)));
    fill<<<(n + 255) / 256, 256, 0, stream>>>(mine, n, rank);
    OK(cudaGetLastError());
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    OK(ncclGroupStart());
    OK(ncclSend(mine, n, ncclInt, next, comm, stream));
    OK(ncclRecv(other, n, ncclInt, before, comm, stream));
    OK(ncclGroupEnd());
    OK(ncclAllReduce(mine, mine, n, ncclInt, ncclSum, comm, stream));
    OK(cudaStreamSynchronize(stream));

    std::vector<int> sum(n), got(n);
    OK(cudaMemcpy(sum.data(), mine, n * sizeof(int), cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(got.data(), other, n * sizeof(int), cudaMemcpyDeviceToHost));
    int wrong = 0, all = 0;
    for (int i = 0; i < n; i++) {
        wrong += got[i] != before * 1000 + i;
        wrong += sum[i] != ranks * i + 1000 * (ranks * (ranks - 1) / 2);
    }
    OK(MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (rank == 0)
        std::printf("%d ranks: %s\n", ranks, all == 0 ? "PASS" : "FAIL");
    OK(ncclCommDestroy(comm));
    OK(MPI_Finalize());
    return all != 0;
}
