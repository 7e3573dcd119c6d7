/* SPDX-License-Identifier: MIT
 * matrix.c: the lab's program. Comes with the lab.
 *
 *     matrix                     all pairs, one way
 *     matrix --pair FROM TO      one way, both ways, the curve by size, and the way through the
 * host
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab03.h"

#define MIB ((size_t)1 << 20)
#define POINTS 12

static int fail(const char *what, int rc)
{
    fprintf(stderr, "matrix: %s: %s (%d)\n", what, p2p_sentence(rc), rc);
    return 1;
}

static int count_gpus(void)
{
    int n = 0;
    while (gpu_exists(n))
        n++;
    return n;
}

/* One row a sender, one column a receiver, and the path's first letter behind each rate. */
static int print_rates(int n, const double *gbs)
{
    printf("    ");
    for (int to = 0; to < n; to++)
        printf("%8d ", to);
    for (int i = 0; i < n * n; i++) {
        enum path path;
        int rc = copy_path(i % n, i / n, &path);
        if (rc)
            return fail("copy_path", rc);
        if (i % n == 0)
            printf("\n%3d ", i / n);
        printf("%8.1f%c", gbs[i], path_name(path)[0]);
    }
    printf("\nl: local, p: peer, s: staged through the host\n");
    return 0;
}

static int print_matrix(size_t bytes)
{
    int n = count_gpus();
    double *gbs = malloc((size_t)n * (size_t)n * sizeof *gbs + 1);
    int rc = gbs ? p2p_matrix(n, bytes, gbs) : LAB_ENOMEM;
    if (rc)
        rc = fail("p2p_matrix", rc);
    else if (n == 0)
        printf("no GPU here\n");
    else
        printf("one way, %zu MiB at a time, GB/s (row: from, column: to)\n", bytes / MIB);
    if (!rc && n > 0)
        rc = print_rates(n, gbs);
    free(gbs);
    return rc;
}

static int print_curve(int from, int to)
{
    struct bw curve[POINTS];
    size_t half;
    int rc;
    printf("   bytes        us     GB/s  both ways\n");
    for (int i = 0; i < POINTS; i++) {
        size_t bytes = (size_t)4 << (2 * i);
        struct bw both = {0};
        if ((rc = p2p_measure(from, to, bytes, 0, &curve[i])) ||
            (from != to && (rc = p2p_measure(from, to, bytes, 1, &both))))
            return fail("p2p_measure", rc);
        printf("%8zu  %8.2f  %7.2f  %9.2f\n", bytes, curve[i].seconds * 1e6, curve[i].gbs,
               both.gbs);
    }
    if ((rc = p2p_half(curve, POINTS, &half)))
        return fail("p2p_half", rc);
    printf("path: %s. Half of the best rate at %zu bytes\n", path_name(curve[0].path), half);
    return 0;
}

/* Milliseconds by events on the sender's default stream, which the host's own copies use. */
static int time_serial(struct lane *lane, void *host, float *ms)
{
    int rc;
    (void)cudaEventRecord(lane->start, NULL);
    rc = copy_serially(lane->dst, lane->src, lane->bytes, host);
    (void)cudaEventRecord(lane->stop, NULL);
    (void)cudaEventSynchronize(lane->stop);
    return rc ? rc : p2p_result(cudaEventElapsedTime(ms, lane->start, lane->stop));
}

static int time_stage(struct lane *lane, size_t chunk, float *ms)
{
    struct stage stage;
    int rc = stage_create(&stage, lane->to, lane->from, chunk);
    if (rc)
        return rc;
    (void)cudaEventRecord(lane->start, lane->stream);
    rc = stage_copy_async(&stage, lane->dst, lane->src, lane->bytes, lane->stream);
    (void)cudaEventRecord(lane->stop, lane->stream);
    (void)cudaEventSynchronize(lane->stop);
    if (!rc)
        rc = p2p_result(cudaEventElapsedTime(ms, lane->start, lane->stop));
    (void)stage_destroy(&stage);
    return rc;
}

/* The same bytes through the host in three ways. */
static int print_staging(int from, int to)
{
    struct lane lane;
    void *pageable = malloc(64 * MIB), *pinned = NULL;
    float ms[3] = {0};
    int rc = cudaSetDevice(from) == cudaSuccess ? lane_open(&lane, from, to, 64 * MIB) : LAB_ENOGPU;
    if (rc || !pageable)
        return free(pageable), fail("lane_open", rc ? rc : LAB_ENOMEM);
    memset(pageable, 0, 64 * MIB);
    rc = p2p_result(cudaHostAlloc(&pinned, 64 * MIB, cudaHostAllocPortable));
    if (!rc && !(rc = time_serial(&lane, pageable, &ms[0])) &&
        !(rc = time_serial(&lane, pinned, &ms[1])))
        rc = time_stage(&lane, 2 * MIB, &ms[2]);
    (void)cudaFreeHost(pinned);
    free(pageable);
    lane_close(&lane);
    if (rc)
        return fail("the way through the host", rc);
    printf("64 MiB through the host: %.2f ms pageable, one hop after the other\n"
           "                         %.2f ms pinned, one hop after the other\n"
           "                         %.2f ms pinned, both hops at once (stage_copy_async)\n",
           ms[0], ms[1], ms[2]);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return print_matrix(16 * MIB);
    if (argc != 4 || strcmp(argv[1], "--pair"))
        return fprintf(stderr, "usage: matrix [--pair FROM TO]\nPrints the rate of copies between "
                               "all GPUs, or, for one pair, for copies of several sizes.\n"),
               2;
    int from = atoi(argv[2]), to = atoi(argv[3]);
    return print_curve(from, to) || print_staging(from, to);
}
