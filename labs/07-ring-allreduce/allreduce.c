/* SPDX-License-Identifier: MIT
 * allreduce.c: times the all-reduces of lab 07 on this machine, as graphs. The program of the lab.
 * The rates are nccl-tests' busbw: 2(N-1)/N times the bytes of a rank, over the time.
 *
 *     allreduce [ranks]     all GPUs by default, 8 at most
 */
#include <stdio.h>
#include <stdlib.h>

#include "collectives.h"

#define SLICES 2

enum way { NAIVE, STEPS, PIPELINED, SHOT, WAYS };
static const char *const way_names[WAYS] = {"naive", "ring", "pipelined", "one shot"};

struct table {
    struct ring ring;
    void *buf[RING_RANKS];
    cudaEvent_t from, to;
};

static int queue(struct table *t, enum way way, size_t count)
{
    struct ring *ring = &t->ring;
    void *const *buf = t->buf;

    switch (way) {
    case NAIVE:
        return coll_naive_all_reduce(ring, buf, count, RING_FLOAT32, RING_SUM, ring_reduce);
    case STEPS:
        return ring_all_reduce(ring, buf, buf, count, RING_FLOAT32, RING_SUM);
    case PIPELINED:
        return ring_pipelined(ring, buf, buf, count, RING_FLOAT32, RING_SUM, SLICES);
    default:
        return ring_one_shot(ring, buf, buf, count, RING_FLOAT32, RING_SUM);
    }
}

/* One launch of the captured graph, the second, between two events of rank 0. */
static int time_graph(struct table *t, cudaGraphExec_t graph, double *us)
{
    cudaStream_t stream = t->ring.rank[0].stream;
    float ms = 0.0f;
    int rc = LAB_OK;

    for (int run = 0; run < 2 && rc == LAB_OK; run++) {
        rc = ring_result(cudaEventRecord(t->from, stream));
        if (rc == LAB_OK)
            rc = ring_result(cudaGraphLaunch(graph, stream));
        if (rc == LAB_OK)
            rc = ring_result(cudaEventRecord(t->to, stream));
        if (rc == LAB_OK)
            rc = ring_wait(&t->ring);
    }
    if (rc == LAB_OK)
        rc = ring_result(cudaEventElapsedTime(&ms, t->from, t->to));
    *us = ms * 1e3;
    return rc;
}

static int time_way(struct table *t, enum way way, size_t count, double *us)
{
    cudaGraphExec_t graph = NULL;
    int rc = ring_capture_begin(&t->ring);

    if (rc == LAB_OK)
        rc = queue(t, way, count);
    int ended = ring_capture_end(&t->ring, &graph);
    rc = rc == LAB_OK ? ended : rc;
    if (rc == LAB_OK)
        rc = time_graph(t, graph, us);
    if (graph != NULL)
        cudaGraphExecDestroy(graph);
    return rc;
}

static int print_row(struct table *t, size_t bytes)
{
    double moved = 2.0 * (t->ring.n - 1) / t->ring.n * (double)bytes;

    printf("%10zu", bytes);
    for (enum way way = NAIVE; way < WAYS; way++) {
        double us = 0.0;
        int rc = time_way(t, way, bytes / 4, &us);
        if (rc == LAB_OK)
            printf("  %7.1f us %5.1f GB/s", us, moved / us / 1e3);
        else if (rc == LAB_ERANGE || rc == LAB_ENOPEER)
            printf("  %21s", rc == LAB_ERANGE ? "too large" : "no peer access");
        else
            return rc;
    }
    printf("\n");
    return LAB_OK;
}

static int open_table(struct table *t, int n, size_t most)
{
    uint8_t links[RING_RANKS * RING_RANKS];
    int gpu[RING_RANKS], rc = ring_links(n, links);

    if (rc == LAB_OK && ring_order(n, links, gpu) != LAB_OK)
        for (int r = 0; r < n; r++) /* no ring of links: through the host */
            gpu[r] = r;
    if (rc == LAB_OK)
        rc = ring_open(&t->ring, gpu, n, most);
    for (int r = 0; r < n && rc == LAB_OK; r++) {
        cudaSetDevice(gpu[r]);
        rc = ring_result(cudaMalloc(&t->buf[r], most));
        if (rc == LAB_OK)
            rc = ring_result(cudaMemset(t->buf[r], 0, most));
        if (rc == LAB_OK)
            rc = ring_result(cudaDeviceSynchronize());
    }
    cudaSetDevice(gpu[0]);
    if (rc == LAB_OK)
        rc = ring_result(cudaEventCreate(&t->from));
    return rc == LAB_OK ? ring_result(cudaEventCreate(&t->to)) : rc;
}

static void close_table(struct table *t)
{
    ring_close(&t->ring);
    for (int r = 0; r < RING_RANKS; r++)
        cudaFree(t->buf[r]);
    if (t->from != NULL)
        cudaEventDestroy(t->from);
    if (t->to != NULL)
        cudaEventDestroy(t->to);
}

int main(int argc, char **argv)
{
    static struct table table;
    int gpus = 0;

    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus < 1) {
        fprintf(stderr, "%s: there is no GPU\n", argv[0]);
        return 1;
    }
    long n = argc == 2 ? strtol(argv[1], NULL, 10) : gpus < RING_RANKS ? gpus : RING_RANKS;
    if (argc > 2 || n < 1 || n > RING_RANKS || n > gpus) {
        fprintf(stderr, "usage: %s [ranks, 1 to %d]\n", argv[0],
                gpus < RING_RANKS ? gpus : RING_RANKS);
        return 2;
    }
    size_t most = (size_t)64 << 20;
    int rc = open_table(&table, (int)n, most);
    printf("%10s", "bytes");
    for (int way = 0; way < WAYS; way++)
        printf("  %21s", way_names[way]);
    printf("\n");
    for (size_t bytes = 1 << 10; bytes <= most && rc == LAB_OK; bytes *= 4)
        rc = print_row(&table, bytes);
    close_table(&table);
    if (rc != LAB_OK)
        fprintf(stderr, "%s: stopped with result %d (see enum lab_error in lab.h)\n", argv[0], rc);
    return rc == LAB_OK ? 0 : 1;
}
