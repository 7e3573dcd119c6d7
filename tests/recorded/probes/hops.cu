// SPDX-License-Identifier: MIT
// hops.cu: chains of copies between the host and one GPU, or two GPUs that wait for each other,
// all from the host, all to the host, or alternately: what a copy more costs.
//     nvcc -o hops hops.cu && ./hops
#include <cstdio>
#include <cuda_runtime.h>

enum { EVENTS = 200, BYTES = 64 << 20 };
static char *device[2], *host[2];
static cudaStream_t stream[2];
static cudaEvent_t hop[EVENTS], begin, end;

static void copy(int gpu, bool up, size_t bytes)
{
    cudaSetDevice(gpu);
    if (up)
        cudaMemcpyAsync(device[gpu], host[0], bytes, cudaMemcpyHostToDevice, stream[gpu]);
    else
        cudaMemcpyAsync(host[1], device[gpu], bytes, cudaMemcpyDeviceToHost, stream[gpu]);
}

static void pass(int from, int to, cudaEvent_t event)
{
    cudaSetDevice(from);
    cudaEventRecord(event, stream[from]);
    cudaSetDevice(to);
    cudaStreamWaitEvent(stream[to], event, 0);
}

// Microseconds of a chain behind copies that take longer than the calls do, the best of six.
static float chain(bool far, int mode, size_t bytes, int hops)
{
    float best = 1e9f, ms;
    for (int round = 0; round < 6; round++) {
        int last = 0;
        copy(0, true, BYTES);
        copy(0, true, BYTES);
        cudaEventRecord(begin, stream[0]);
        for (int i = 0; i < hops; i++) {
            int gpu = far ? i & 1 : 0;
            if (gpu != last)
                pass(last, gpu, hop[i]);
            copy(gpu, mode == 2 ? !(i & 1) : mode == 0, bytes);
            last = gpu;
        }
        if (last != 0)
            pass(last, 0, hop[EVENTS - 1]);
        cudaSetDevice(0);
        cudaEventRecord(end, stream[0]);
        cudaStreamSynchronize(stream[0]);
        cudaEventElapsedTime(&ms, begin, end);
        best = ms < best ? ms : best;
    }
    return best * 1000;
}

int main()
{
    static const char *const modes[] = {"up", "down", "alternately"};
    for (int gpu = 0; gpu < 2; gpu++) {
        cudaSetDevice(gpu);
        cudaMalloc(&device[gpu], BYTES);
        cudaStreamCreate(&stream[gpu]);
        cudaHostAlloc(&host[gpu], BYTES, cudaHostAllocPortable);
    }
    for (int i = 0; i < EVENTS; i++) {
        cudaSetDevice(i == EVENTS - 1 ? 1 : (i & 1) ^ 1);
        cudaEventCreateWithFlags(&hop[i], cudaEventDisableTiming);
    }
    cudaSetDevice(0);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (size_t bytes : {16384ul, 65536ul, 2097152ul})
        for (bool far : {false, true})
            for (int mode = 0; mode < 3; mode++)
                printf("%zu bytes, %s, %s: %.2f us a hop\n", bytes, far ? "two GPUs" : "one GPU",
                       modes[mode],
                       (chain(far, mode, bytes, 100) - chain(far, mode, bytes, 20)) / 80);
    return 0;
}
