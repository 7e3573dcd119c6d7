// SPDX-License-Identifier: MIT
// tree.cu: 64 MiB from GPU 0 to all others by a tree: the number of GPUs that have them doubles.
#include "../check.h"

enum { MOST = 16 };
#define BYTES ((size_t)64 << 20)

static int gpus;
static unsigned *data[MOST];
static cudaStream_t stream[MOST];
static cudaEvent_t arrived[MOST];

// book: tree
// In the round that begins with `have` GPUs, GPU g of them sends to GPU g + have.
static void tree(void)
{
    for (int have = 1; have < gpus; have *= 2)
        for (int from = 0; from < have && from + have < gpus; from++) {
            int to = from + have, half = have / 2;
            // In the last round `from` either sent to from + half, or received: wait for that copy.
            int last = from < half ? from + half : from;
            if (have > 1)
                CHECK(cudaStreamWaitEvent(stream[to], arrived[last], 0));
            CHECK(cudaMemcpyAsync(data[to], data[from], BYTES, cudaMemcpyDefault, stream[to]));
            CHECK(cudaSetDevice(to));
            CHECK(cudaEventRecord(arrived[to], stream[to]));
        }
}
// book: end

__global__ void fill(unsigned *p, size_t count)
{
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        p[i] = (unsigned)i * 2654435761u;
}

static void open_gpu(int g)
{
    CHECK(cudaSetDevice(g));
    CHECK(cudaMalloc((void **)&data[g], BYTES));
    CHECK(cudaMemset(data[g], 0, BYTES));
    CHECK(cudaStreamCreateWithFlags(&stream[g], cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&arrived[g], cudaEventDisableTiming));
    for (int other = 0; other < gpus; other++)
        if (other != g)
            CHECK(cudaDeviceEnablePeerAccess(other, 0));
    CHECK(cudaDeviceSynchronize());
}

static int has_them(int g)
{
    unsigned at_end = 0;
    const size_t last = BYTES / sizeof at_end - 1;
    CHECK(cudaMemcpy(&at_end, data[g] + last, sizeof at_end, cudaMemcpyDefault));
    return at_end == (unsigned)last * 2654435761u;
}

int main(void)
{
    const size_t count = BYTES / sizeof **data;
    cudaEvent_t start, stop;
    float ms;
    int have = 0;
    CHECK(cudaGetDeviceCount(&gpus));
    for (int g = gpus - 1; g >= 0; g--)
        open_gpu(g);
    fill<<<(unsigned)((count + 255) / 256), 256>>>(data[0], count);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventRecord(start, stream[0]));
    tree();
    CHECK(cudaSetDevice(0));
    for (int g = 1; g < gpus; g++)
        CHECK(cudaStreamWaitEvent(stream[0], arrived[g], 0));
    CHECK(cudaEventRecord(stop, stream[0]));
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaEventElapsedTime(&ms, start, stop));
    for (int g = 0; g < gpus; g++)
        have += has_them(g);
    printf("tree  %.3f ms, %d of %d GPUs have all\n", ms, have, gpus);
    return have != gpus;
}
