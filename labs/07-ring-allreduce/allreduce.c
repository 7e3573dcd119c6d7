/* SPDX-License-Identifier: MIT
 * allreduce.c: times the all-reduces of lab 07 on this machine. The program of the lab.
 *
 *     allreduce [ranks [log2 of the most bytes]]     all GPUs, 26 (64 MiB) by default
 *
 * "calls": every call by this one thread; all others are graphs, launched by one call. The rates
 * are nccl-tests' busbw: 2(N-1)/N times the bytes of a rank, over the time. The best of three
 * counts.
 */
#include <stdio.h>
#include <stdlib.h>

#include "collectives.h"

#define SLICES 2
#define RUNS 4 /* the first one warms up */

enum way { NAIVE, CALLS, STEPS, PIPELINED, SHOT, WAYS };
static const char *const way_names[WAYS] = {"naive", "ring, calls", "ring", "pipelined",
                                            "one shot"};

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
    case CALLS:
    case STEPS:
        return ring_all_reduce(ring, buf, buf, count, RING_FLOAT32, RING_SUM);
    case PIPELINED:
        return ring_pipelined(ring, buf, buf, count, RING_FLOAT32, RING_SUM, SLICES);
    default:
        return ring_one_shot(ring, buf, buf, count, RING_FLOAT32, RING_SUM);
    }
}

/* Without a graph: all ranks begin after `from`, and `to` comes after all of them. */
static int queue_calls(struct table *t, enum way way, size_t count)
{
    struct ring_rank *first = &t->ring.rank[0];
    int rc = LAB_OK;

    for (int r = 1; r < t->ring.n && rc == LAB_OK; r++)
        rc = ring_result(cudaStreamWaitEvent(t->ring.rank[r].stream, t->from, 0));
    if (rc == LAB_OK)
        rc = queue(t, way, count);
    for (int r = 1; r < t->ring.n && rc == LAB_OK; r++) {
        rc = ring_result(cudaEventRecord(t->ring.rank[r].ready, t->ring.rank[r].stream));
        if (rc == LAB_OK)
            rc = ring_result(cudaStreamWaitEvent(first->stream, t->ring.rank[r].ready, 0));
    }
    return rc;
}

/* One run between two events of rank 0; `graph` NULL: by calls. */
static int time_run(struct table *t, enum way way, size_t count, cudaGraphExec_t graph, double *us)
{
    cudaStream_t stream = t->ring.rank[0].stream;
    float ms = 0.0f;
    int rc = ring_result(cudaEventRecord(t->from, stream));

    if (rc == LAB_OK)
        rc = graph != NULL ? ring_result(cudaGraphLaunch(graph, stream))
                           : queue_calls(t, way, count);
    if (rc == LAB_OK)
        rc = ring_result(cudaEventRecord(t->to, stream));
    if (rc == LAB_OK)
        rc = ring_wait(&t->ring);
    if (rc == LAB_OK)
        rc = ring_result(cudaEventElapsedTime(&ms, t->from, t->to));
    *us = ms * 1e3;
    return rc;
}

static int capture(struct table *t, enum way way, size_t count, cudaGraphExec_t *graph)
{
    int rc = ring_capture_begin(&t->ring);

    if (rc == LAB_OK)
        rc = queue(t, way, count);
    int ended = ring_capture_end(&t->ring, graph);
    return rc == LAB_OK ? ended : rc;
}

static int time_way(struct table *t, enum way way, size_t count, double *best)
{
    cudaGraphExec_t graph = NULL;
    double us = 0.0;
    int rc = way == CALLS ? LAB_OK : capture(t, way, count, &graph);

    for (int run = 0; run < RUNS && rc == LAB_OK; run++) {
        rc = time_run(t, way, count, graph, &us);
        *best = run <= 1 || us < *best ? us : *best;
    }
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
            printf("  %8.1f %7.1f", us, moved / us / 1e3);
        else if (rc == LAB_ERANGE || rc == LAB_ENOPEER)
            printf("  %16s", rc == LAB_ERANGE ? "too large" : "no peer access");
        else
            return rc;
    }
    printf("\n");
    return LAB_OK;
}

static int open_table(struct table *t, int n, size_t most)
{
    uint8_t links[RING_RANKS * RING_RANKS];
    int gpu[RING_RANKS] = {0}, rc = ring_links(n, links);

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

static int print_table(int n, size_t most)
{
    static struct table table;
    int rc = open_table(&table, n, most);

    printf("%10s", "bytes");
    for (int way = 0; way < WAYS; way++)
        printf("  %16s", way_names[way]);
    printf("\n%10s", "");
    for (int way = 0; way < WAYS; way++)
        printf("  %8s %7s", "us", "GB/s");
    printf("\n");
    for (size_t bytes = 1 << 10; bytes <= most && rc == LAB_OK; bytes *= 4)
        rc = print_row(&table, bytes);
    close_table(&table);
    return rc;
}

int main(int argc, char **argv)
{
    int gpus = 0;

    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus < 1) {
        fprintf(stderr, "%s: there is no GPU\n", argv[0]);
        return 1;
    }
    int highest = gpus < RING_RANKS ? gpus : RING_RANKS;
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : highest;
    long bits = argc > 2 ? strtol(argv[2], NULL, 10) : 26;
    if (argc > 3 || n < 1 || n > highest || bits < 10 || bits > 32) {
        fprintf(stderr,
                "usage: %s [ranks, 1 to %d [log2 of the most bytes, 10 to 32]]\nPrints how long an "
                "all-reduce takes, by its size.\n",
                argv[0], highest);
        return 2;
    }
    int rc = print_table((int)n, (size_t)1 << bits);
    if (rc != LAB_OK)
        fprintf(stderr, "%s: stopped with result %d (see enum lab_error in lab.h)\n", argv[0], rc);
    return rc == LAB_OK ? 0 : 1;
}
