// SPDX-License-Identifier: MIT
// Data-parallel gradient descent: a line is fitted, each GPU has a part of the points, the
// gradients are averaged by NCCL. One thread for all GPUs, calls in groups.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>
#include <nccl.h>

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            std::printf("%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e));                  \
            std::exit(EXIT_FAILURE);                                                               \
        }                                                                                          \
    } while (0)
#define NCCL(call)                                                                                 \
    do {                                                                                           \
        ncclResult_t r = (call);                                                                   \
        if (r != ncclSuccess) {                                                                    \
            std::printf("%s:%d %s\n", __FILE__, __LINE__, ncclGetErrorString(r));                  \
            std::exit(EXIT_FAILURE);                                                               \
        }                                                                                          \
    } while (0)

constexpr int POINTS = 4096, STEPS = 20;
constexpr float SLOPE = 3.0f, OFFSET = -1.0f;

struct Gpu {
    cudaStream_t stream;
    float *x, *y, *weights, *gradient;
    int points;
};

__global__ void gradients(const float *x, const float *y, int n, const float *weights,
                          float *gradient)
{
    __shared__ float slope[256], offset[256];
    slope[threadIdx.x] = offset[threadIdx.x] = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float error = weights[0] * x[i] + weights[1] - y[i];
        slope[threadIdx.x] += 2.0f * error * x[i] / n;
        offset[threadIdx.x] += 2.0f * error / n;
    }
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            slope[threadIdx.x] += slope[threadIdx.x + half];
            offset[threadIdx.x] += offset[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        gradient[0] = slope[0];
        gradient[1] = offset[0];
    }
}

__global__ void descend(float *weights, const float *gradient)
{
    weights[threadIdx.x] -= 0.4f * gradient[threadIdx.x];
}

static float x_of(int i)
{
    return static_cast<float>(i % 97) / 97.0f;
}

// The same descent over all points at once.
static void on_the_host(int points, double weights[2])
{
    weights[0] = weights[1] = 0.0;
    for (int step = 0; step < STEPS; step++) {
        double slope = 0.0, offset = 0.0;
        for (int i = 0; i < points; i++) {
            const double x = x_of(i), error = weights[0] * x + weights[1] - (SLOPE * x + OFFSET);
            slope += 2.0 * error * x / points;
            offset += 2.0 * error / points;
        }
        weights[0] -= 0.4 * slope;
        weights[1] -= 0.4 * offset;
    }
}

int main()
{
    int count;
    CUDA(cudaGetDeviceCount(&count));
    std::vector<Gpu> gpus(count);
    std::vector<ncclComm_t> comms(count);
    NCCL(ncclCommInitAll(comms.data(), count, nullptr));
    const int share = POINTS / count;
    for (int g = 0; g < count; g++) {
        std::vector<float> x(share), y(share);
        for (int i = 0; i < share; i++) {
            x[i] = x_of(g * share + i);
            y[i] = SLOPE * x[i] + OFFSET;
        }
        CUDA(cudaSetDevice(g));
        CUDA(cudaStreamCreate(&gpus[g].stream));
        CUDA(cudaMalloc(&gpus[g].x, share * sizeof(float)));
        CUDA(cudaMalloc(&gpus[g].y, share * sizeof(float)));
        CUDA(cudaMalloc(&gpus[g].weights, 2 * sizeof(float)));
        CUDA(cudaMalloc(&gpus[g].gradient, 2 * sizeof(float)));
        CUDA(cudaMemcpy(gpus[g].x, x.data(), share * sizeof(float), cudaMemcpyHostToDevice));
        CUDA(cudaMemcpy(gpus[g].y, y.data(), share * sizeof(float), cudaMemcpyHostToDevice));
        CUDA(cudaMemset(gpus[g].weights, 0, 2 * sizeof(float)));
    }
    for (int step = 0; step < STEPS; step++) {
        for (int g = 0; g < count; g++) {
            CUDA(cudaSetDevice(g));
            gradients<<<1, 256, 0, gpus[g].stream>>>(gpus[g].x, gpus[g].y, share, gpus[g].weights,
                                                     gpus[g].gradient);
        }
        NCCL(ncclGroupStart());
        for (int g = 0; g < count; g++)
            NCCL(ncclAllReduce(gpus[g].gradient, gpus[g].gradient, 2, ncclFloat, ncclAvg, comms[g],
                               gpus[g].stream));
        NCCL(ncclGroupEnd());
        for (int g = 0; g < count; g++) {
            CUDA(cudaSetDevice(g));
            descend<<<1, 2, 0, gpus[g].stream>>>(gpus[g].weights, gpus[g].gradient);
        }
    }
    bool pass = true;
    float first[2] = {0, 0};
    double expected[2];
    on_the_host(share * count, expected);
    for (int g = 0; g < count; g++) {
        float weights[2];
        CUDA(cudaSetDevice(g));
        CUDA(cudaStreamSynchronize(gpus[g].stream));
        CUDA(cudaMemcpy(weights, gpus[g].weights, sizeof weights, cudaMemcpyDeviceToHost));
        if (g == 0)
            first[0] = weights[0], first[1] = weights[1];
        pass &= weights[0] == first[0] && weights[1] == first[1]; // the same bits everywhere
        pass &= std::fabs(weights[0] - expected[0]) < 1e-3 &&
                std::fabs(weights[1] - expected[1]) < 1e-3;
        NCCL(ncclCommDestroy(comms[g]));
    }
    std::printf("%d GPUs: y = %.2f x %+.2f: %s\n", count, first[0], first[1],
                pass ? "PASS" : "FAIL");
    return pass ? 0 : 1;
}
