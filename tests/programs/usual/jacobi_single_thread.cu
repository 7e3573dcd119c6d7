// SPDX-License-Identifier: MIT
// Jacobi on all GPUs, driven by one host thread; halos go by peer copies, ordered by events.
#include "jacobi.h"

template <int BLOCK_X, int BLOCK_Y>
__global__ void jacobi(float *__restrict__ const out, const float *__restrict__ const in,
                       float *__restrict__ const norm, const int first, const int last,
                       const int nx)
{
    __shared__ float part[BLOCK_X * BLOCK_Y];
    const int iy = blockIdx.y * BLOCK_Y + threadIdx.y + first;
    const int ix = blockIdx.x * BLOCK_X + threadIdx.x + 1;
    float residue = 0.0f;
    if (iy < last && ix < nx - 1) {
        const float now = 0.25f * (in[iy * nx + ix + 1] + in[iy * nx + ix - 1] +
                                   in[(iy + 1) * nx + ix] + in[(iy - 1) * nx + ix]);
        out[iy * nx + ix] = now;
        residue = (now - in[iy * nx + ix]) * (now - in[iy * nx + ix]);
    }
    const int tid = threadIdx.y * BLOCK_X + threadIdx.x;
    part[tid] = residue;
    __syncthreads();
    for (int s = BLOCK_X * BLOCK_Y / 2; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] += part[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        atomicAdd(norm, part[0]);
}

struct Gpu {
    float *a, *a_new, *l2_d, *l2_h;
    int first, rows;
    cudaStream_t compute, top, bottom;
    cudaEvent_t swept, top_done[2], bottom_done[2];
};

int main()
{
    int num = 0;
    CUDA_RT_CALL(cudaGetDeviceCount(&num));
    std::vector<Gpu> g(num);
    std::vector<float> host(NX * NY);
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++)
            host[y * NX + x] = initial(y, x);
    for (int d = 0; d < num; d++) {
        CUDA_RT_CALL(cudaSetDevice(d));
        rows_of(d, num, &g[d].first, &g[d].rows);
        const size_t bytes = sizeof(float) * NX * (g[d].rows + 2);
        for (float **p : {&g[d].a, &g[d].a_new}) {
            CUDA_RT_CALL(cudaMalloc(p, bytes));
            CUDA_RT_CALL(
                cudaMemcpy(*p, &host[(g[d].first - 1) * NX], bytes, cudaMemcpyHostToDevice));
        }
        CUDA_RT_CALL(cudaMalloc(&g[d].l2_d, sizeof(float)));
        CUDA_RT_CALL(cudaMallocHost(&g[d].l2_h, sizeof(float)));
        for (cudaStream_t *s : {&g[d].compute, &g[d].top, &g[d].bottom})
            CUDA_RT_CALL(cudaStreamCreate(s));
        for (cudaEvent_t *e : {&g[d].swept, &g[d].top_done[0], &g[d].top_done[1],
                               &g[d].bottom_done[0], &g[d].bottom_done[1]})
            CUDA_RT_CALL(cudaEventCreateWithFlags(e, cudaEventDisableTiming));
        for (int p : {d - 1, d + 1}) {
            int can = 0;
            if (p < 0 || p >= num)
                continue;
            CUDA_RT_CALL(cudaDeviceCanAccessPeer(&can, d, p));
            if (can)
                CUDA_RT_CALL(cudaDeviceEnablePeerAccess(p, 0));
        }
    }
    for (int d = 0; d < num; d++) {
        CUDA_RT_CALL(cudaSetDevice(d));
        CUDA_RT_CALL(cudaDeviceSynchronize());
    }
    float last_norm = 0.0f, first_norm = 0.0f;
    for (int it = 0; it < ITERATIONS; it++) {
        const int now = it % 2, before = (it + 1) % 2;
        for (int d = 0; d < num; d++) {
            CUDA_RT_CALL(cudaSetDevice(d));
            CUDA_RT_CALL(cudaMemsetAsync(g[d].l2_d, 0, sizeof(float), g[d].compute));
            for (int p : {d - 1, d + 1}) {
                if (p < 0 || p >= num)
                    continue;
                CUDA_RT_CALL(cudaStreamWaitEvent(g[d].compute, g[p].top_done[before], 0));
                CUDA_RT_CALL(cudaStreamWaitEvent(g[d].compute, g[p].bottom_done[before], 0));
            }
            CUDA_RT_CALL(cudaStreamWaitEvent(g[d].compute, g[d].top_done[before], 0));
            CUDA_RT_CALL(cudaStreamWaitEvent(g[d].compute, g[d].bottom_done[before], 0));
            constexpr int bx = 32, by = 8;
            dim3 grid((NX - 2 + bx - 1) / bx, (g[d].rows + by - 1) / by, 1);
            jacobi<bx, by><<<grid, {bx, by, 1}, 0, g[d].compute>>>(g[d].a_new, g[d].a, g[d].l2_d, 1,
                                                                   g[d].rows + 1, NX);
            CUDA_RT_CALL(cudaGetLastError());
            CUDA_RT_CALL(cudaEventRecord(g[d].swept, g[d].compute));
            CUDA_RT_CALL(cudaMemcpyAsync(g[d].l2_h, g[d].l2_d, sizeof(float),
                                         cudaMemcpyDeviceToHost, g[d].compute));
        }
        for (int d = 0; d < num; d++) {
            const size_t row = NX * sizeof(float);
            CUDA_RT_CALL(cudaSetDevice(d));
            CUDA_RT_CALL(cudaStreamWaitEvent(g[d].top, g[d].swept, 0));
            CUDA_RT_CALL(cudaStreamWaitEvent(g[d].bottom, g[d].swept, 0));
            if (d > 0) {
                CUDA_RT_CALL(cudaStreamWaitEvent(g[d].top, g[d - 1].swept, 0));
                CUDA_RT_CALL(cudaMemcpyAsync(g[d - 1].a_new + (g[d - 1].rows + 1) * NX,
                                             g[d].a_new + NX, row, cudaMemcpyDeviceToDevice,
                                             g[d].top));
            }
            CUDA_RT_CALL(cudaEventRecord(g[d].top_done[now], g[d].top));
            if (d + 1 < num) {
                CUDA_RT_CALL(cudaStreamWaitEvent(g[d].bottom, g[d + 1].swept, 0));
                CUDA_RT_CALL(cudaMemcpyAsync(g[d + 1].a_new, g[d].a_new + g[d].rows * NX, row,
                                             cudaMemcpyDeviceToDevice, g[d].bottom));
            }
            CUDA_RT_CALL(cudaEventRecord(g[d].bottom_done[now], g[d].bottom));
        }
        float norm = 0.0f;
        for (int d = 0; d < num; d++) {
            CUDA_RT_CALL(cudaStreamSynchronize(g[d].compute));
            norm += *g[d].l2_h;
            std::swap(g[d].a, g[d].a_new);
        }
        last_norm = std::sqrt(norm);
        first_norm = it == 0 ? last_norm : first_norm;
    }
    for (int d = 0; d < num; d++) {
        CUDA_RT_CALL(cudaSetDevice(d));
        CUDA_RT_CALL(cudaDeviceSynchronize());
        CUDA_RT_CALL(cudaMemcpy(&host[g[d].first * NX], g[d].a + NX, sizeof(float) * NX * g[d].rows,
                                cudaMemcpyDeviceToHost));
    }
    std::printf("%d GPUs: norm %f -> %f\n", num, first_norm, last_norm);
    return last_norm < first_norm ? compare(host) : EXIT_FAILURE;
}
