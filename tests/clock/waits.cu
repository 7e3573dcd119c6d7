// SPDX-License-Identifier: MIT
// waits.cu: kernels on two GPUs that wait for each other through memory: waits CASE. Prints
// microseconds from a common start to the end of what each GPU was given.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

static const int N = 8 << 20, THREADS = 256;

// Writes `n` floats, and then sets the flag. One block sets it when all have written.
__global__ void produce(float *to, int n, unsigned *arrived, volatile int *flag)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = 1;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(arrived, 1u) == gridDim.x - 1)
        *flag = 1;
}

// Waits for the flag, and then reads `n` floats.
__global__ void consume(volatile int *flag, const float *from, int n, float *to)
{
    if (threadIdx.x == 0)
        while (*flag == 0)
            ;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

// Sends a number to and fro `rounds` times, with `n` floats of work before each throw.
__global__ void play(volatile int *mine, volatile int *other, int rounds, int first, float *work,
                     int n)
{
    for (int round = 1; round <= rounds; round++) {
        if (threadIdx.x == 0 && !first)
            while (*mine < round)
                ;
        __syncthreads();
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            work[i] += 1;
        __threadfence_system();
        __syncthreads();
        if (threadIdx.x == 0)
            *other = round;
        if (threadIdx.x == 0 && first)
            while (*mine < round)
                ;
        __syncthreads();
    }
}

__global__ void count(unsigned *counter, float *to, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = 1;
    if (threadIdx.x == 0)
        atomicAdd(counter, 1u);
}

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
#define CHECK(call) check(call, #call)

struct Gpu {
    float *data, *out;
    int *flag;
    unsigned *counter;
    cudaStream_t stream;
    cudaEvent_t begin, end;
};

static Gpu gpu[2];

static void make(int device)
{
    Gpu &g = gpu[device];
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceEnablePeerAccess(1 - device, 0));
    CHECK(cudaMalloc(&g.data, N * sizeof(float)));
    CHECK(cudaMalloc(&g.out, N * sizeof(float)));
    CHECK(cudaMalloc(&g.flag, 256));
    CHECK(cudaMalloc(&g.counter, 256));
    CHECK(cudaMemset(g.flag, 0, 256));
    CHECK(cudaMemset(g.counter, 0, 256));
    CHECK(cudaStreamCreateWithFlags(&g.stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&g.begin));
    CHECK(cudaEventCreate(&g.end));
}

static void producer(int n)
{
    CHECK(cudaSetDevice(1));
    produce<<<64, THREADS, 0, gpu[1].stream>>>(gpu[1].data, n, gpu[1].counter, gpu[0].flag);
    CHECK(cudaEventRecord(gpu[1].end, gpu[1].stream));
}

static void consumer(int n)
{
    CHECK(cudaSetDevice(0));
    consume<<<64, THREADS, 0, gpu[0].stream>>>(gpu[0].flag, gpu[0].data, n, gpu[0].out);
    CHECK(cudaEventRecord(gpu[0].end, gpu[0].stream));
}

static void players(int rounds, int n)
{
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        play<<<1, THREADS, 0, gpu[d].stream>>>(gpu[d].flag, gpu[1 - d].flag, rounds, d == 0,
                                               gpu[d].data, n);
        CHECK(cudaEventRecord(gpu[d].end, gpu[d].stream));
    }
}

static void counters(int n)
{
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        count<<<64, THREADS, 0, gpu[d].stream>>>(gpu[0].counter, gpu[d].out, n);
        CHECK(cudaEventRecord(gpu[d].end, gpu[d].stream));
    }
}

__global__ void delay(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

// One on GPU 0, nine on GPU 1.
static void delays(int cycles)
{
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        for (int i = 0; i < 1 + 8 * d; i++)
            delay<<<1, 1, 0, gpu[d].stream>>>(cycles);
        CHECK(cudaEventRecord(gpu[d].end, gpu[d].stream));
    }
}

static void launch(const char *name, int n, int rounds)
{
    if (strcmp(name, "producer_first") == 0) {
        producer(N);
        consumer(n);
    } else if (strcmp(name, "consumer_first") == 0) {
        consumer(n);
        producer(N);
    } else if (strcmp(name, "play") == 0) {
        players(rounds, n);
    } else if (strcmp(name, "delay") == 0) {
        delays(n);
    } else {
        counters(n);
    }
}

int main(int argc, char **argv)
{
    int n = argc > 2 ? atoi(argv[2]) : 0, rounds = argc > 3 ? atoi(argv[3]) : 0;
    make(0);
    make(1);
    CHECK(cudaDeviceSynchronize());
    for (int d = 0; d < 2; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventRecord(gpu[d].begin, gpu[d].stream));
    }
    launch(argv[1], n, rounds);
    for (int d = 0; d < 2; d++) {
        float ms = 0;
        CHECK(cudaSetDevice(d));
        CHECK(cudaEventSynchronize(gpu[d].end));
        CHECK(cudaEventElapsedTime(&ms, gpu[d].begin, gpu[d].end));
        printf("%.3f\n", static_cast<double>(ms) * 1e3);
    }
    return 0;
}
