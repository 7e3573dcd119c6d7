/* SPDX-License-Identifier: MIT
 * timed.h: the adapter of the timed task (part of runner.c): sealed numbers are loaded to all GPUs,
 * and their sum comes to the host. Its time is the node's: timed.c.
 */
#ifndef LAB04_TIMED_H
#define LAB04_TIMED_H

static int sum_one_by_one(const struct sum_part *part, int parts, double *sum)
{
    int rc = LAB_OK;
    *sum = 0;
    for (int i = 0; i < parts && rc == LAB_OK; i++) {
        double one = 0;
        rc = sum_start(&part[i], 1);
        rc = rc == LAB_OK ? sum_host(&part[i], 1, &one) : rc;
        *sum += one;
    }
    return rc;
}

static int sum_timed(const struct timed_in *in, const struct sum_part *part, double *sum)
{
    if (in->naive)
        return sum_one_by_one(part, in->gpus, sum);
    int rc = sum_start(part, in->gpus);
    if (rc == LAB_OK)
        rc = in->peer ? sum_peer(part, in->gpus, 0, sum) : sum_host(part, in->gpus, sum);
    return rc;
}

LAB_RUN(timed)
{
    const struct timed_in *in = lab_input(io, sizeof *in);
    struct timed_out *out = lab_result(io, sizeof *out);
    struct parts_in shape = {.parts = in->gpus};
    struct sum_part part[SUM_MAX_PARTS];
    const float *data = lab_sealed_input();
    size_t count[SUM_MAX_PARTS];

    memset(out, 0, sizeof *out);
    for (int i = 0; i < in->gpus; i++) {
        shape.gpu[i] = i;
        count[i] = (size_t)in->count;
    }
    out->opened = sum_open(part, in->gpus, count, TIMED_BLOCKS);
    if (out->opened != LAB_OK)
        return;
    if (in->peer)
        reach(&shape, 1);
    for (int i = 0; i < in->gpus; i++) {
        cudaSetDevice(i);
        cudaMemcpyAsync((void *)part[i].data, data + (size_t)i * count[i], count[i] * sizeof *data,
                        cudaMemcpyDefault, part[i].stream);
    }
    wait_for_all(part, in->gpus);
    for (int round = 0; round < lab_timed_rounds(); round++) {
        double began = lab_seconds();
        out->rc = sum_timed(in, part, &out->sum);
        wait_for_all(part, in->gpus);
        out->seconds = lab_seconds() - began;
    }
    if (in->peer)
        reach(&shape, 0);
    sum_close(part, in->gpus);
}

#endif
