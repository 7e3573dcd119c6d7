// SPDX-License-Identifier: MIT
// pays.cu: from how many elements on several GPUs are faster than one, for the work of small.cu:
// the data lies in GPU 0's memory, and the others' parts go out and come back.
#include "../check.h"

enum { MOST = 16, PASSES = 16, STEP = 12 * 1024 }; // STEP: a multiple of 2, 3 and 4

static int present, gpus; // that there are, that work
static float *part[MOST];
static cudaStream_t stream[MOST];

__global__ void work(float *x, size_t n)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
            x[i] = x[i] / 2 + 1;
}

static void queue_work(size_t n)
{
    size_t each = n / gpus, bytes = each * sizeof(float);
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        if (g > 0)
            CHECK(
                cudaMemcpyAsync(part[g], part[0] + g * each, bytes, cudaMemcpyDefault, stream[g]));
        work<<<64, 256, 0, stream[g]>>>(part[g], each);
        if (g > 0)
            CHECK(
                cudaMemcpyAsync(part[0] + g * each, part[g], bytes, cudaMemcpyDefault, stream[g]));
    }
}

// Microseconds of n elements on that many GPUs.
static float timed(int on, size_t n)
{
    cudaEvent_t start, stop;
    float ms;
    gpus = on;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream[0]));
    queue_work(n);
    for (int g = on - 1; g >= 0; g--) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamSynchronize(stream[g]));
    }
    CHECK(cudaEventRecord(stop, stream[0]));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return ms * 1000;
}

// book: pays
// The least multiple of STEP, up to `most`, for which `on` GPUs are faster than one: bisection.
static size_t break_even(int on, size_t most)
{
    size_t slower = 0, faster = most / STEP;
    while (faster - slower > 1) {
        size_t middle = (slower + faster) / 2;
        if (timed(on, middle * STEP) < timed(1, middle * STEP))
            faster = middle;
        else
            slower = middle;
    }
    return faster * STEP;
}
// book: end

static void open_gpu(int g, size_t most)
{
    CHECK(cudaSetDevice(g));
    CHECK(cudaMalloc((void **)&part[g], most * sizeof(float)));
    CHECK(cudaMemset(part[g], 0, most * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
    for (int other = 0; other < present; other++)
        if (other != g)
            CHECK(cudaDeviceEnablePeerAccess(other, 0));
}

int main(void)
{
    const size_t most = (size_t)1 << 20;
    CHECK(cudaGetDeviceCount(&present));
    for (int g = present - 1; g >= 0; g--)
        open_gpu(g, most);
    for (int on = 2; on <= present && on <= 4; on++) {
        size_t n = break_even(on, most);
        printf("%d GPUs are faster from %6zu elements on: %.1f us, one GPU %.1f us\n", on, n,
               timed(on, n), timed(1, n));
    }
    return 0;
}
