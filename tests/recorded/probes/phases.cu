// SPDX-License-Identifier: MIT
// phases.cu: lab 07's all-reduce by its parts, as graphs, with solutions/07-ring-allreduce/*.c and
// ring.cu. Each row: one launch between two events, each of ten launches in a row, and what the
// launching call takes the host.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lab07.h"

enum part { SCATTER, GATHER, RING, SLICES_2, SLICES_4, SLICES_8, PARTS };
static const char *const part_names[] = {"reduce-scatter", "all-gather", "ring",
                                         "2 slices",       "4 slices",   "8 slices"};

static struct ring ring;
static void *buf[RING_RANKS];
static cudaEvent_t from, to;

static void must(int ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "phases: %s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}

static double now_us()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int queue(enum part part, size_t count)
{
    switch (part) {
    case SCATTER:
        return ring_reduce_scatter(&ring, buf, count, RING_FLOAT32, RING_SUM);
    case GATHER:
        return ring_all_gather(&ring, buf, count, RING_FLOAT32);
    case RING:
        return ring_all_reduce(&ring, buf, buf, count, RING_FLOAT32, RING_SUM);
    default:
        return ring_pipelined(&ring, buf, buf, count, RING_FLOAT32, RING_SUM,
                              2 << (part - SLICES_2));
    }
}

static double launches(cudaGraphExec_t graph, int many, double *call)
{
    cudaStream_t stream = ring.rank[0].stream;
    float ms;
    must(cudaEventRecord(from, stream) == cudaSuccess, "cudaEventRecord");
    double start = now_us();
    for (int i = 0; i < many; i++)
        must(cudaGraphLaunch(graph, stream) == cudaSuccess, "cudaGraphLaunch");
    double took = (now_us() - start) / many;
    *call = took < *call ? took : *call;
    must(cudaEventRecord(to, stream) == cudaSuccess, "cudaEventRecord");
    must(ring_wait(&ring) == LAB_OK, "waiting");
    must(cudaEventElapsedTime(&ms, from, to) == cudaSuccess, "cudaEventElapsedTime");
    return ms * 1e3 / many;
}

static void print_row(enum part part, size_t bytes)
{
    cudaGraphExec_t graph = NULL;
    double once = 1e9, again = 1e9, call = 1e9, many_call = 1e9;
    must(ring_capture_begin(&ring) == LAB_OK, "the capture");
    must(queue(part, bytes / 4) == LAB_OK, "the call");
    must(ring_capture_end(&ring, &graph) == LAB_OK, "the graph");
    for (int run = 0; run < 8; run++) {
        double us = launches(graph, 1, &call);
        once = us < once ? us : once;
    }
    for (int run = 0; run < 3; run++) {
        double us = launches(graph, 10, &many_call);
        again = us < again ? us : again;
    }
    printf("%d GPUs %9zu bytes  %-14s  once %7.1f us, again %7.1f us, call %6.1f us\n", ring.n,
           bytes, part_names[part], once, again, call);
    fflush(stdout);
    cudaGraphExecDestroy(graph);
}

int main(int argc, char **argv)
{
    const size_t most = (size_t)256 << 20;
    int n = argc > 1 ? atoi(argv[1]) : 4, gpu[RING_RANKS];
    for (int r = 0; r < n; r++)
        gpu[r] = r;
    must(ring_open(&ring, gpu, n, most) == LAB_OK, "ring_open");
    for (int r = 0; r < n; r++) {
        cudaSetDevice(r);
        must(cudaMalloc(&buf[r], most) == cudaSuccess, "cudaMalloc");
        must(cudaMemset(buf[r], 0, most) == cudaSuccess, "cudaMemset");
    }
    cudaSetDevice(0);
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    for (int part = 0; part < PARTS; part++)
        for (size_t bytes = 1 << 10; bytes <= most; bytes *= bytes == 1 << 10 ? 256 : 4)
            print_row((enum part)part, bytes);
    ring_close(&ring);
    return 0;
}
