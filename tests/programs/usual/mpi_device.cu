// SPDX-License-Identifier: MIT
// mpi_device.cu: MPI with buffers in device memory: a ring of halos, a message that fills a part of
// the buffer, a column with a stride, a sum, a broadcast, what all ranks have, and a part for each
// rank by every call that has one.
#include "../check.h"

#include <mpi.h>
#include <stdlib.h>
#include <vector>

enum { COUNT = 1000 };

__global__ void fill(double *data, double value)
{
    for (int i = threadIdx.x; i < COUNT; i += blockDim.x)
        data[i] = value + i;
}

static double *device_data(double value)
{
    double *data;
    MUST(cudaMalloc(&data, COUNT * sizeof *data));
    fill<<<1, 128>>>(data, value);
    MUST(cudaDeviceSynchronize());
    return data;
}

static std::vector<double> on_host(const double *data)
{
    std::vector<double> copy(COUNT);
    MUST(cudaMemcpy(copy.data(), data, COUNT * sizeof *data, cudaMemcpyDeviceToHost));
    return copy;
}

// One value of each rank r for each rank s: 100 * r + s, in the order of the receivers.
static void set_parts(int rank, int ranks, double *mine, double *other)
{
    fill<<<1, 128>>>(mine, 100.0 * rank);
    fill<<<1, 128>>>(other, -1);
    MUST(cudaDeviceSynchronize());
    HOLDS(on_host(mine)[ranks - 1] == 100.0 * rank + ranks - 1, "not set");
}

static void parts(int rank, int ranks, double *mine, double *other)
{
    std::vector<int> counts(ranks, 1), firsts(ranks);
    double of_all = 50.0 * ranks * (ranks - 1) + ranks * rank, before = 0;
    for (int i = 0; i < ranks; i++)
        firsts[i] = ranks - 1 - i; // backwards
    for (int i = 0; i < rank; i++)
        before += 100.0 * i;
    set_parts(rank, ranks, mine, other);
    MPI_Alltoall(mine, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    HOLDS(on_host(other)[ranks - 1] == 100.0 * (ranks - 1) + rank, "Alltoall");
    set_parts(rank, ranks, mine, other);
    MPI_Alltoallv(mine, counts.data(), firsts.data(), MPI_DOUBLE, other, counts.data(),
                  firsts.data(), MPI_DOUBLE, MPI_COMM_WORLD);
    HOLDS(on_host(other)[0] == 100.0 * (ranks - 1) + firsts[rank], "Alltoallv");
    set_parts(rank, ranks, mine, other);
    MPI_Gather(mine, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    HOLDS(on_host(other)[ranks - 1] == (rank ? ranks - 2 : 100.0 * (ranks - 1)), "Gather");
    MPI_Gatherv(mine + 1, 1, MPI_DOUBLE, other, counts.data(), firsts.data(), MPI_DOUBLE, 0,
                MPI_COMM_WORLD);
    HOLDS(on_host(other)[0] == (rank ? -1 : 100.0 * (ranks - 1) + 1), "Gatherv");
    MPI_Scatter(mine, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    HOLDS(on_host(other)[0] == 100.0 * (ranks - 1) + rank, "Scatter");
    MPI_Scatterv(mine, counts.data(), firsts.data(), MPI_DOUBLE, other, 1, MPI_DOUBLE, ranks - 1,
                 MPI_COMM_WORLD);
    HOLDS(on_host(other)[0] == 100.0 * (ranks - 1) + firsts[rank], "Scatterv");
    MPI_Allgatherv(mine, 1, MPI_DOUBLE, other, counts.data(), firsts.data(), MPI_DOUBLE,
                   MPI_COMM_WORLD);
    HOLDS(on_host(other)[firsts[ranks - 1]] == 100.0 * (ranks - 1), "Allgatherv");
    MPI_Reduce_scatter_block(mine, other, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    HOLDS(on_host(other)[0] == of_all, "Reduce_scatter_block");
    MPI_Reduce_scatter(mine, other, counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    HOLDS(on_host(other)[0] == of_all, "Reduce_scatter");
    MPI_Scan(mine, other, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    HOLDS(on_host(other)[0] == before + 100.0 * rank, "Scan");
    MPI_Exscan(mine, other, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    HOLDS(rank == 0 || on_host(other)[0] == before, "Exscan");
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    MPI_Sendrecv_replace(mine, COUNT, MPI_DOUBLE, next, 3, last, 3, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    HOLDS(on_host(mine)[999] == 100.0 * last + 999, "Sendrecv_replace");
}

int main(int argc, char **argv)
{
    int rank, ranks, gpus;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MUST(cudaGetDeviceCount(&gpus));
    MUST(cudaSetDevice(rank % gpus));
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;

    double *mine = device_data(rank * 10000.0), *other = device_data(-1);
    MPI_Sendrecv(mine, COUNT, MPI_DOUBLE, next, 0, other, COUNT, MPI_DOUBLE, last, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    HOLDS(on_host(other)[999] == last * 10000.0 + 999, "the halo is %g", on_host(other)[999]);

    fill<<<1, 128>>>(other, -1);
    MUST(cudaDeviceSynchronize());
    MPI_Datatype column;
    MPI_Type_vector(10, 1, 100, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(mine + 1, 1, column, next, 1, other + 1, 1, column, last, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    HOLDS(on_host(other)[901] == last * 10000.0 + 901 && on_host(other)[902] == 901,
          "the column is %g, beside it %g", on_host(other)[901], on_host(other)[902]);
    MPI_Sendrecv(mine, 3, MPI_DOUBLE, next, 2, other, COUNT, MPI_DOUBLE, last, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    HOLDS(on_host(other)[2] == last * 10000.0 + 2 && on_host(other)[3] == 2,
          "the short message is %g, behind it %g", on_host(other)[2], on_host(other)[3]);

    MPI_Allreduce(mine, other, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    double sum = 5000.0 * ranks * (ranks - 1) + 999.0 * ranks;
    HOLDS(on_host(other)[999] == sum, "the sum is %g", on_host(other)[999]);
    MPI_Bcast(mine, COUNT, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD);
    HOLDS(on_host(mine)[5] == (ranks - 1) * 10000.0 + 5, "the broadcast is %g", on_host(mine)[5]);
    fill<<<1, 128>>>(mine, rank);
    MUST(cudaDeviceSynchronize());
    MPI_Allgather(mine, 1, MPI_DOUBLE, other, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    HOLDS(on_host(other)[ranks - 1] == ranks - 1, "gathered: %g", on_host(other)[ranks - 1]);

    parts(rank, ranks, mine, other);

    MUST(cudaFree(mine));
    MUST(cudaFree(other));
    MPI_Type_free(&column);
    MPI_Finalize();
    if (rank == 0)
        printf("Test PASSED\n");
    return 0;
}
