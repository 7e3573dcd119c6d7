// SPDX-License-Identifier: MIT
// ring.cu: lab 07's all-reduce, plain and pipelined, replayed from a graph.
#include "rows.h"

#include "lab07.h"

static struct ring ring;
static void *buffer[RING_RANKS];
static const size_t MOST = 64 * MIB;

static int queue(bool pipelined, size_t count)
{
    return pipelined ? ring_pipelined(&ring, buffer, buffer, count, RING_FLOAT32, RING_SUM, 2)
                     : ring_all_reduce(&ring, buffer, buffer, count, RING_FLOAT32, RING_SUM);
}

static double replay_us(cudaGraphExec_t graph, cudaEvent_t began, cudaEvent_t ended)
{
    float ms;
    CHECK(cudaEventRecord(began, ring.rank[0].stream));
    CHECK(cudaGraphLaunch(graph, ring.rank[0].stream));
    CHECK(cudaEventRecord(ended, ring.rank[0].stream));
    LAB(ring_wait(&ring));
    CHECK(cudaEventElapsedTime(&ms, began, ended));
    return ms * 1e3;
}

static double all_reduce_us(bool pipelined, size_t bytes)
{
    cudaGraphExec_t graph;
    cudaEvent_t began, ended;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreate(&began));
    CHECK(cudaEventCreate(&ended));
    LAB(ring_capture_begin(&ring));
    LAB(queue(pipelined, bytes / sizeof(float)));
    LAB(ring_capture_end(&ring, &graph));
    double us = median([=] { return replay_us(graph, began, ended); });
    CHECK(cudaGraphExecDestroy(graph));
    CHECK(cudaEventDestroy(began));
    CHECK(cudaEventDestroy(ended));
    return us;
}

int main()
{
    int gpus, all[RING_RANKS];
    CHECK(cudaGetDeviceCount(&gpus));
    for (int g = 0; g < RING_RANKS; g++)
        all[g] = g;
    for (int n = 2; n <= gpus && n <= 4; n += 2) {
        LAB(ring_open(&ring, all, n, MOST));
        for (int g = 0; g < n; g++) {
            CHECK(cudaSetDevice(g));
            CHECK(cudaMalloc(&buffer[g], MOST));
            CHECK(cudaMemset(buffer[g], 0, MOST));
            CHECK(cudaDeviceSynchronize());
        }
        for (size_t bytes = 64 * KIB; bytes <= MOST; bytes *= 4)
            for (int pipelined = 0; pipelined < 2; pipelined++)
                row(all_reduce_us(pipelined, bytes), "lab07.%s.%s.%d_gpus.us",
                    pipelined ? "pipelined" : "ring", size_name(bytes), n);
        ring_close(&ring);
        for (int g = 0; g < n; g++)
            CHECK(cudaFree(buffer[g]));
    }
    return 0;
}
