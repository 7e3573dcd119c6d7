// SPDX-License-Identifier: MIT
// Jacobi whose kernels store the halo rows straight into the neighbours' memory.
#include "jacobi.h"

__global__ void jacobi_p2p(float *out, const float *in, int rows, float *above, float *below)
{
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (y > rows || x >= NX - 1)
        return;
    const float now = 0.25f * (in[y * NX + x + 1] + in[y * NX + x - 1] + in[(y + 1) * NX + x] +
                               in[(y - 1) * NX + x]);
    out[y * NX + x] = now;
    if (y == 1 && above != nullptr)
        above[x] = now;
    if (y == rows && below != nullptr)
        below[x] = now;
}

int main()
{
    int num = 0;
    CUDA_RT_CALL(cudaGetDeviceCount(&num));
    for (int d = 0; d + 1 < num; d++) {
        int up = 0, down = 0;
        CUDA_RT_CALL(cudaDeviceCanAccessPeer(&up, d, d + 1));
        CUDA_RT_CALL(cudaDeviceCanAccessPeer(&down, d + 1, d));
        if (!up || !down) {
            std::printf("no peer access between %d and %d; one GPU is used\n", d, d + 1);
            num = 1;
        }
    }
    std::vector<float> host(NX * NY);
    std::vector<float *> a(num), b(num);
    std::vector<int> first(num), rows(num);
    std::vector<cudaEvent_t> done(2 * num);
    std::vector<cudaStream_t> stream(num);
    for (int i = 0; i < NX * NY; i++)
        host[i] = initial(i / NX, i % NX);
    for (int d = 0; d < num; d++) {
        rows_of(d, num, &first[d], &rows[d]);
        CUDA_RT_CALL(cudaSetDevice(d));
        const size_t bytes = sizeof(float) * NX * (rows[d] + 2);
        const float *from = &host[(first[d] - 1) * NX];
        CUDA_RT_CALL(cudaMalloc(&a[d], bytes));
        CUDA_RT_CALL(cudaMalloc(&b[d], bytes));
        CUDA_RT_CALL(cudaMemcpy(a[d], from, bytes, cudaMemcpyHostToDevice));
        CUDA_RT_CALL(cudaMemcpy(b[d], from, bytes, cudaMemcpyHostToDevice));
        CUDA_RT_CALL(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
        for (int e = 0; e < 2; e++)
            CUDA_RT_CALL(cudaEventCreateWithFlags(&done[2 * d + e], cudaEventDisableTiming));
        if (d > 0)
            CUDA_RT_CALL(cudaDeviceEnablePeerAccess(d - 1, 0));
        if (d + 1 < num)
            CUDA_RT_CALL(cudaDeviceEnablePeerAccess(d + 1, 0));
    }
    for (int it = 0; it < ITERATIONS; it++) {
        for (int d = 0; d < num; d++) {
            CUDA_RT_CALL(cudaSetDevice(d));
            for (int p = d - 1; it > 0 && p <= d + 1; p += 2)
                if (p >= 0 && p < num)
                    CUDA_RT_CALL(cudaStreamWaitEvent(stream[d], done[2 * p + (it - 1) % 2], 0));
            const dim3 block(32, 4), grid((NX + 31) / 32, (rows[d] + 3) / 4);
            jacobi_p2p<<<grid, block, 0, stream[d]>>>(
                b[d], a[d], rows[d], d > 0 ? b[d - 1] + (rows[d - 1] + 1) * NX : nullptr,
                d + 1 < num ? b[d + 1] : nullptr);
            CUDA_RT_CALL(cudaGetLastError());
            CUDA_RT_CALL(cudaEventRecord(done[2 * d + it % 2], stream[d]));
        }
        std::swap(a, b);
    }
    for (int d = 0; d < num; d++) {
        CUDA_RT_CALL(cudaSetDevice(d));
        CUDA_RT_CALL(cudaDeviceSynchronize());
    }
    for (int d = 0; d < num; d++) {
        CUDA_RT_CALL(cudaSetDevice(d));
        CUDA_RT_CALL(cudaMemcpy(&host[first[d] * NX], a[d] + NX, sizeof(float) * NX * rows[d],
                                cudaMemcpyDeviceToHost));
    }
    return compare(host);
}
