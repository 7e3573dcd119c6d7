// SPDX-License-Identifier: MIT
// conjugate_gradient.cu: solves a 2D Poisson problem by conjugate gradients, the rows shared among
// all GPUs. Halo rows of the search direction are read from the neighbours' memory (managed where
// there is no peer access); dot products go through atomics of the whole system.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace cg = cooperative_groups;

#define CUDA_CHECK(x)                                                                              \
    if (cudaError_t e = (x); e != cudaSuccess) {                                                   \
        std::fprintf(stderr, "%s(%d): %s failed: %s\n", __FILE__, __LINE__, #x,                    \
                     cudaGetErrorString(e));                                                       \
        std::exit(2);                                                                              \
    }

constexpr int NX = 64, NY = 48;

struct Slice {
    int rows, first;
    double *x, *r, *p, *q;
    const double *above, *below; // the neighbours' p, or null at the border
    double *dot;
    cudaStream_t stream;
};

__device__ double block_sum(double v)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    __shared__ double part[32];
    for (int i = tile.size() / 2; i > 0; i /= 2)
        v += tile.shfl_down(v, i);
    if (tile.thread_rank() == 0)
        part[threadIdx.x / 32] = v;
    block.sync();
    v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0;
    if (threadIdx.x < 32)
        for (int i = 16; i > 0; i /= 2)
            v += tile.shfl_down(v, i);
    return v;
}

__global__ void matvec(Slice s) // q = A p, dot += p q
{
    double mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < s.rows * NX;
         i += gridDim.x * blockDim.x) {
        int y = i / NX, x = i % NX;
        double c = s.p[i], sum = 4 * c;
        sum -= x > 0 ? s.p[i - 1] : 0;
        sum -= x < NX - 1 ? s.p[i + 1] : 0;
        sum -= y > 0 ? s.p[i - NX] : s.above ? s.above[x] : 0;
        sum -= y < s.rows - 1 ? s.p[i + NX] : s.below ? s.below[x] : 0;
        s.q[i] = sum;
        mine += c * sum;
    }
    mine = block_sum(mine);
    if (threadIdx.x == 0)
        atomicAdd_system(s.dot, mine);
}

__global__ void advance(Slice s, double alpha) // x += alpha p, r -= alpha q, dot += r r
{
    double mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < s.rows * NX;
         i += gridDim.x * blockDim.x) {
        s.x[i] += alpha * s.p[i];
        double r = s.r[i] - alpha * s.q[i];
        s.r[i] = r;
        mine += r * r;
    }
    mine = block_sum(mine);
    if (threadIdx.x == 0)
        atomicAdd_system(s.dot, mine);
}

__global__ void direct(Slice s, double beta) // p = r + beta p
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < s.rows * NX)
        s.p[i] = s.r[i] + beta * s.p[i];
}

static bool all_peers(int gpus)
{
    for (int a = 0; a < gpus; a++)
        for (int b = 0; b < gpus; b++) {
            int can = 1;
            if (a != b)
                CUDA_CHECK(cudaDeviceCanAccessPeer(&can, a, b));
            if (!can)
                return false;
        }
    return true;
}

int main()
{
    int gpus = 0;
    CUDA_CHECK(cudaGetDeviceCount(&gpus));
    const bool peers = all_peers(gpus);
    double *dot;
    CUDA_CHECK(cudaMallocManaged(&dot, sizeof *dot));
    std::vector<Slice> slice(gpus);
    for (int d = 0; d < gpus; d++) {
        Slice &s = slice[d];
        CUDA_CHECK(cudaSetDevice(d));
        s = Slice{};
        s.rows = NY / gpus;
        s.first = d * s.rows;
        s.dot = dot;
        size_t bytes = sizeof(double) * s.rows * NX;
        for (double **v : {&s.x, &s.r, &s.q})
            CUDA_CHECK(cudaMalloc(v, bytes));
        if (peers) {
            CUDA_CHECK(cudaMalloc(&s.p, bytes));
            for (int o = 0; o < gpus; o++)
                if (o != d)
                    CUDA_CHECK(cudaDeviceEnablePeerAccess(o, 0));
        } else {
            CUDA_CHECK(cudaMallocManaged(&s.p, bytes, cudaMemAttachGlobal));
        }
        std::vector<double> ones(s.rows * NX, 1.0);
        CUDA_CHECK(cudaMemset(s.x, 0, bytes));
        CUDA_CHECK(cudaMemcpy(s.r, ones.data(), bytes, cudaMemcpyHostToDevice));
        CUDA_CHECK(cudaMemcpy(s.p, ones.data(), bytes, cudaMemcpyHostToDevice));
        CUDA_CHECK(cudaStreamCreate(&s.stream));
    }
    for (int d = 0; d < gpus; d++) {
        slice[d].above = d > 0 ? slice[d - 1].p + (slice[d - 1].rows - 1) * NX : nullptr;
        slice[d].below = d + 1 < gpus ? slice[d + 1].p : nullptr;
    }
    auto everywhere = [&](const std::function<void(Slice &)> &work) {
        *dot = 0;
        for (int d = 0; d < gpus; d++) {
            CUDA_CHECK(cudaSetDevice(d));
            work(slice[d]);
            CUDA_CHECK(cudaGetLastError());
        }
        for (int d = 0; d < gpus; d++) {
            CUDA_CHECK(cudaSetDevice(d));
            CUDA_CHECK(cudaStreamSynchronize(slice[d].stream));
        }
        return *dot;
    };
    double rr = NX * NY, first = rr;
    int steps = 0;
    while (rr > 1e-20 * first && steps < 400) {
        double pq = everywhere([](Slice &s) { matvec<<<4, 128, 0, s.stream>>>(s); });
        double alpha = rr / pq;
        double next = everywhere([&](Slice &s) { advance<<<4, 128, 0, s.stream>>>(s, alpha); });
        double beta = next / rr;
        everywhere(
            [&](Slice &s) { direct<<<(s.rows * NX + 127) / 128, 128, 0, s.stream>>>(s, beta); });
        rr = next;
        steps++;
    }
    // The answer, put into the equation on the host.
    std::vector<double> x((NX + 2) * (NY + 2), 0.0);
    for (Slice &s : slice)
        CUDA_CHECK(cudaMemcpy2D(&x[(s.first + 1) * (NX + 2) + 1], (NX + 2) * sizeof(double), s.x,
                                NX * sizeof(double), NX * sizeof(double), s.rows,
                                cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int j = 1; j <= NY; j++)
        for (int i = 1; i <= NX; i++) {
            const double *c = &x[j * (NX + 2) + i];
            worst =
                std::fmax(worst, std::fabs(4 * c[0] - c[-1] - c[1] - c[NX + 2] - c[-NX - 2] - 1));
        }
    bool good = worst < 1e-8 && steps < 400;
    std::printf("%d GPUs%s: %d steps, residual %.1e: %s\n", gpus, peers ? "" : " (no peers)", steps,
                worst, good ? "PASS" : "FAIL");
    return good ? 0 : 1;
}
