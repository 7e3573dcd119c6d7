// SPDX-License-Identifier: MIT
// graph_width.cu: what the streams of many GPUs do at the same time, their captured graph does,
// too, whichever device is current while it is captured.
#include "check.h"

enum { ROUNDS = 4, BYTES = 1 << 20, PAIRS = 16 };

static int gpus;
static char *device[PAIRS], *up_from, *down_to;
static cudaStream_t up[PAIRS], down[PAIRS];
static cudaEvent_t ready, met[2 * PAIRS], from, to;

// Copies to the GPUs and from them, in more streams than a device runs branches of a graph.
static void make()
{
    MUST(cudaHostAlloc((void **)&up_from, BYTES, cudaHostAllocPortable));
    MUST(cudaHostAlloc((void **)&down_to, PAIRS * BYTES, cudaHostAllocPortable));
    for (int i = 0; i < PAIRS; i++) {
        MUST(cudaSetDevice(i % gpus));
        MUST(cudaMalloc((void **)&device[i], 2 * BYTES));
        MUST(cudaStreamCreateWithFlags(&up[i], cudaStreamNonBlocking));
        MUST(cudaStreamCreateWithFlags(&down[i], cudaStreamNonBlocking));
        MUST(cudaEventCreateWithFlags(&met[2 * i], cudaEventDisableTiming));
        MUST(cudaEventCreateWithFlags(&met[2 * i + 1], cudaEventDisableTiming));
    }
    MUST(cudaSetDevice(0));
    MUST(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    MUST(cudaEventCreate(&from));
    MUST(cudaEventCreate(&to));
}

static void queue_rounds()
{
    for (int round = 0; round < ROUNDS; round++) {
        MUST(cudaEventRecord(ready, up[0]));
        for (int i = 0; i < PAIRS; i++) {
            MUST(cudaStreamWaitEvent(up[i], ready, 0));
            MUST(cudaStreamWaitEvent(down[i], ready, 0));
            MUST(cudaMemcpyAsync(device[i], up_from, BYTES, cudaMemcpyDefault, up[i]));
            MUST(cudaMemcpyAsync(down_to + i * BYTES, device[i] + BYTES, BYTES, cudaMemcpyDefault,
                                 down[i]));
            MUST(cudaEventRecord(met[2 * i], up[i]));
            MUST(cudaEventRecord(met[2 * i + 1], down[i]));
        }
        for (int i = 0; i < 2 * PAIRS; i++)
            MUST(cudaStreamWaitEvent(up[0], met[i], 0));
    }
}

static float measured()
{
    float ms;
    MUST(cudaEventRecord(to, up[0]));
    MUST(cudaEventSynchronize(to));
    MUST(cudaEventElapsedTime(&ms, from, to));
    return ms;
}

int main(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    MUST(cudaGetDeviceCount(&gpus));
    make();
    MUST(cudaEventRecord(from, up[0]));
    queue_rounds();
    float by_streams = measured();
    MUST(cudaStreamBeginCapture(up[0], cudaStreamCaptureModeGlobal));
    queue_rounds();
    MUST(cudaStreamEndCapture(up[0], &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaEventRecord(from, up[0]));
    MUST(cudaGraphLaunch(exec, up[0]));
    float by_graph = measured();
    HOLDS(by_graph < 1.05f * by_streams, "%.3f ms in streams, %.3f ms as a graph", by_streams,
          by_graph);
    printf("graph as wide as its streams\n");
    return 0;
}
