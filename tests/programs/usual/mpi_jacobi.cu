// SPDX-License-Identifier: MIT
// Heat in a plate: a strip of rows for each MPI rank, halo rows through host memory, the largest
// change by MPI_Allreduce; compared with one rank's own calculation on the host.
#include <cmath>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>
#include <mpi.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        int status = static_cast<int>(call);                                                       \
        if (status != 0) {                                                                         \
            std::printf("%s:%d %s gave %d\n", __FILE__, __LINE__, #call, status);                  \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
        }                                                                                          \
    } while (0)

constexpr int COLUMNS = 130, ROWS = 67, STEPS = 12;

__host__ __device__ inline float mean(const float *a, int i)
{
    return 0.25f * (a[i - 1] + a[i + 1] + a[i - COLUMNS] + a[i + COLUMNS]);
}

__global__ void jacobi(const float *from, float *to, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 1 && x < COLUMNS - 1 && y >= 1 && y <= rows)
        to[y * COLUMNS + x] = mean(from, y * COLUMNS + x);
}

static float start_value(int row)
{
    return row == 0 ? 100.0f : 0.0f; // the upper edge is hot
}

static std::vector<float> on_the_host()
{
    std::vector<float> a((ROWS + 2) * COLUMNS);
    for (int y = 0; y < ROWS + 2; y++)
        for (int x = 0; x < COLUMNS; x++)
            a[y * COLUMNS + x] = start_value(y);
    std::vector<float> b = a;
    for (int step = 0; step < STEPS; step++) {
        for (int y = 1; y <= ROWS; y++)
            for (int x = 1; x < COLUMNS - 1; x++)
                b[y * COLUMNS + x] = mean(a.data(), y * COLUMNS + x);
        a.swap(b);
    }
    return a;
}

// Sends `row` of `a` to one neighbour and gets the halo row from the other one.
static void exchange(float *a, int row, int to, int halo, int from)
{
    float out[COLUMNS], in[COLUMNS];
    OK(cudaMemcpy(out, a + row * COLUMNS, sizeof out, cudaMemcpyDeviceToHost));
    OK(MPI_Sendrecv(out, COLUMNS, MPI_FLOAT, to, 0, in, COLUMNS, MPI_FLOAT, from, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    if (from != MPI_PROC_NULL)
        OK(cudaMemcpy(a + halo * COLUMNS, in, sizeof in, cudaMemcpyHostToDevice));
}

int main(int argc, char **argv)
{
    int rank, ranks, gpus;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    OK(cudaGetDeviceCount(&gpus));
    OK(cudaSetDevice(rank % gpus));

    const int rows = ROWS / ranks + (rank < ROWS % ranks);
    const int first = rank * (ROWS / ranks) + (rank < ROWS % ranks ? rank : ROWS % ranks);
    const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    const size_t bytes = (rows + 2) * COLUMNS * sizeof(float);
    std::vector<float> strip((rows + 2) * COLUMNS);
    for (int y = 0; y < rows + 2; y++)
        for (int x = 0; x < COLUMNS; x++)
            strip[y * COLUMNS + x] = start_value(first + y);

    float *a, *b;
    OK(cudaMalloc(&a, bytes));
    OK(cudaMalloc(&b, bytes));
    OK(cudaMemcpy(a, strip.data(), bytes, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(b, strip.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 block(32, 8), grid((COLUMNS + 31) / 32, (rows + 2 + 7) / 8);
    for (int step = 0; step < STEPS; step++) {
        jacobi<<<grid, block>>>(a, b, rows);
        OK(cudaGetLastError());
        std::swap(a, b);
        exchange(a, 1, above, rows + 1, below);
        exchange(a, rows, below, 0, above);
    }
    OK(cudaMemcpy(strip.data(), a, bytes, cudaMemcpyDeviceToHost));

    const std::vector<float> expected = on_the_host();
    float worst = 0.0f, worst_of_all;
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < COLUMNS; x++)
            worst = std::fmax(
                worst, std::fabs(strip[y * COLUMNS + x] - expected[(first + y) * COLUMNS + x]));
    OK(MPI_Allreduce(&worst, &worst_of_all, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD));
    if (rank == 0)
        std::printf("%d ranks, off by %g: %s\n", ranks, worst_of_all,
                    worst_of_all <= 1e-4f ? "PASS" : "FAIL");
    OK(MPI_Finalize());
    return worst_of_all <= 1e-4f ? 0 : 1;
}
