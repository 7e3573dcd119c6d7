/* SPDX-License-Identifier: MIT
 * given.c: comes with lab 04. What a sum over GPUs needs besides the sum: checking, memory,
 * streams, events, peer access (lab 02) and a stopwatch.
 */
#include <stdint.h>
#include <string.h>

#include "lab04.h"

/* ---- checking ---- */

static int gpu_count(void)
{
    int n = 0;

    if (cudaGetDeviceCount(&n) != cudaSuccess) {
        cudaGetLastError(); /* no driver and no device are 0 GPUs (lab 01) */
        return 0;
    }
    return n;
}

int sum_result(cudaError_t error)
{
    if (error == cudaSuccess)
        return LAB_OK;
    cudaGetLastError();
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
        return LAB_ENOGPU;
    case cudaErrorMemoryAllocation:
        return LAB_ENOMEM;
    default:
        return LAB_ECUDA;
    }
}

int sum_check(const struct sum_part *part, int parts)
{
    if (part == NULL || parts < 1 || parts > SUM_MAX_PARTS)
        return LAB_EINVAL;
    for (int i = 0; i < parts; i++) {
        const struct sum_part *p = &part[i];
        if (p->gpu < 0 || p->blocks < 1 || p->blocks > SUM_MAX_BLOCKS || p->partials == NULL ||
            (p->data == NULL && p->count > 0) || p->done == NULL)
            return LAB_EINVAL;
    }
    int there = gpu_count();
    for (int i = 0; i < parts; i++)
        if (part[i].gpu >= there)
            return LAB_ENOGPU;
    return LAB_OK;
}

/* ---- memory, stream, event ---- */

static cudaError_t open_part(struct sum_part *p)
{
    void *data = NULL, *partials = NULL, *total = NULL;
    cudaError_t error = cudaSetDevice(p->gpu);

    if (error == cudaSuccess && p->count > 0)
        error = cudaMalloc(&data, p->count * sizeof *p->data);
    p->data = data;
    if (error == cudaSuccess)
        error = cudaMalloc(&partials, (size_t)p->blocks * sizeof *p->partials);
    p->partials = partials;
    if (error == cudaSuccess)
        error = cudaMalloc(&total, sizeof *p->total);
    p->total = total;
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking);
    if (error == cudaSuccess)
        error = cudaEventCreateWithFlags(&p->done, cudaEventDisableTiming);
    return error;
}

int sum_open(struct sum_part *part, int gpus, const size_t *count, int blocks)
{
    int before = 0, rc = LAB_OK;

    if (part == NULL || count == NULL || gpus < 1 || gpus > SUM_MAX_PARTS || blocks < 1 ||
        blocks > SUM_MAX_BLOCKS)
        return LAB_EINVAL;
    if (gpus > gpu_count())
        return LAB_ENOGPU;
    memset(part, 0, (size_t)gpus * sizeof *part);
    if ((rc = sum_result(cudaGetDevice(&before))) != LAB_OK)
        return rc;
    for (int i = 0; i < gpus && rc == LAB_OK; i++) {
        part[i].gpu = i;
        part[i].count = count[i];
        part[i].blocks = blocks;
        rc = count[i] > SIZE_MAX / sizeof(float) ? LAB_ENOMEM : sum_result(open_part(&part[i]));
    }
    if (rc != LAB_OK)
        sum_close(part, gpus);
    sum_result(cudaSetDevice(before));
    return rc;
}

void sum_close(struct sum_part *part, int gpus)
{
    int before = 0;

    cudaGetDevice(&before);
    for (int i = 0; i < gpus; i++) {
        struct sum_part *p = &part[i];
        cudaSetDevice(p->gpu);
        if (p->done != NULL)
            cudaEventDestroy(p->done);
        if (p->stream != NULL)
            cudaStreamDestroy(p->stream);
        cudaFree(p->total);
        cudaFree(p->partials);
        cudaFree((void *)p->data);
    }
    memset(part, 0, (size_t)gpus * sizeof *part);
    cudaSetDevice(before);
    cudaGetLastError();
}

/* ---- peer access, as in lab 02 ---- */

/* Switches GPU 0 -> others on; fresh[i] says which of them were off. Returns whether all are on. */
static int reach_all(int gpus, int *fresh)
{
    int all = 1;

    cudaSetDevice(0);
    for (int i = 1; i < gpus; i++) {
        cudaError_t error = cudaDeviceEnablePeerAccess(i, 0);
        fresh[i] = error == cudaSuccess;
        if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled)
            all = 0;
        if (error != cudaSuccess)
            cudaGetLastError();
    }
    return all;
}

static void reach_no_more(int gpus, const int *fresh)
{
    cudaSetDevice(0);
    for (int i = 1; i < gpus; i++)
        if (fresh[i])
            cudaDeviceDisablePeerAccess(i);
}

/* ---- the stopwatch ---- */

/* Enough threads to keep a large GPU busy, and no more blocks than there is work for. */
static int blocks_for(size_t n)
{
    size_t blocks = n / (32 * SUM_THREADS) + 1;

    return blocks < SUM_MAX_BLOCKS ? (int)blocks : SUM_MAX_BLOCKS;
}

static int run_once(const struct sum_part *part, int gpus, int reaches)
{
    double sum;
    int rc = sum_start(part, gpus);

    if (rc == LAB_OK)
        rc = reaches ? sum_peer(part, gpus, 0, &sum) : sum_host(part, gpus, &sum);
    return rc;
}

/* The first run of a kernel loads it: that is not to be measured. A little data will do. */
static int warm_up(const struct sum_part *part, int gpus, int reaches)
{
    struct sum_part little[SUM_MAX_PARTS];

    memcpy(little, part, (size_t)gpus * sizeof *part);
    for (int i = 0; i < gpus; i++) {
        little[i].blocks = 1;
        if (little[i].count > SUM_THREADS)
            little[i].count = SUM_THREADS;
    }
    return run_once(little, gpus, reaches);
}

/* One run between two events of GPU 0's stream, which is idle at either: the first is recorded when
 * the host comes to it, the second when the host has the sum. */
static int run_between(cudaEvent_t from, cudaEvent_t to, const struct sum_part *part, int gpus,
                       int reaches, double *ms)
{
    float elapsed = 0.0f;
    int rc = sum_result(cudaEventRecord(from, part[0].stream));

    if (rc == LAB_OK)
        rc = run_once(part, gpus, reaches);
    if (rc == LAB_OK)
        rc = sum_result(cudaEventRecord(to, part[0].stream));
    if (rc == LAB_OK)
        rc = sum_result(cudaEventSynchronize(to));
    if (rc == LAB_OK)
        rc = sum_result(cudaEventElapsedTime(&elapsed, from, to));
    if (rc == LAB_OK)
        *ms = elapsed;
    return rc;
}

/* The best of three short runs: GPUs and links that were asleep make the first one slow. A run that
 * takes milliseconds does not notice and is not repeated. */
static int measure(const struct sum_part *part, int gpus, int reaches, double *ms)
{
    cudaEvent_t from = NULL, to = NULL;
    double best = 0.0, now = 0.0, spent = 0.0;
    int rc = sum_result(cudaEventCreate(&from));

    if (rc == LAB_OK)
        rc = sum_result(cudaEventCreate(&to));
    for (int run = 0; run < 3 && spent < 5.0 && rc == LAB_OK; run++) {
        rc = run_between(from, to, part, gpus, reaches, &now);
        best = run == 0 || now < best ? now : best;
        spent += now;
    }
    if (from != NULL)
        cudaEventDestroy(from);
    if (to != NULL)
        cudaEventDestroy(to);
    if (rc == LAB_OK)
        *ms = best;
    return rc;
}

static int fill(const struct sum_part *part, int gpus)
{
    int rc = LAB_OK;

    for (int i = 0; i < gpus && rc == LAB_OK; i++) {
        rc = sum_result(cudaSetDevice(part[i].gpu));
        if (rc == LAB_OK && part[i].count > 0) /* 0x3c3c3c3c is the float 0.0115 */
            rc = sum_result(cudaMemset((void *)part[i].data, 0x3c, part[i].count * sizeof(float)));
        if (rc == LAB_OK)
            rc = sum_result(cudaDeviceSynchronize());
    }
    return rc;
}

static int time_parts(struct sum_part *part, int gpus, double *ms)
{
    int fresh[SUM_MAX_PARTS] = {0};
    int rc = fill(part, gpus);
    int reaches = reach_all(gpus, fresh);

    if (rc == LAB_OK) /* on GPU 0, whose events are the clock */
        rc = sum_result(cudaSetDevice(0));
    if (rc == LAB_OK)
        rc = warm_up(part, gpus, reaches);
    if (rc == LAB_OK)
        rc = measure(part, gpus, reaches, ms);
    reach_no_more(gpus, fresh);
    return rc;
}

int sum_time(size_t n, int gpus, double *ms)
{
    struct sum_part part[SUM_MAX_PARTS];
    size_t first, count[SUM_MAX_PARTS];
    int before = 0, rc = LAB_OK;

    if (gpus < 1 || gpus > SUM_MAX_PARTS || ms == NULL)
        return LAB_EINVAL;
    if (gpus > gpu_count())
        return LAB_ENOGPU;
    for (int i = 0; i < gpus && rc == LAB_OK; i++)
        rc = split(n, gpus, i, &first, &count[i]);
    if (rc == LAB_OK)
        rc = sum_result(cudaGetDevice(&before));
    if (rc == LAB_OK)
        rc = sum_open(part, gpus, count, blocks_for(count[0]));
    if (rc != LAB_OK)
        return rc;
    rc = time_parts(part, gpus, ms);
    sum_close(part, gpus);
    sum_result(cudaSetDevice(before));
    return rc;
}
