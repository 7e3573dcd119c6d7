/* SPDX-License-Identifier: MIT */
#include "runner.h"

#include "io.h"
#include "lab90.h"

LAB_RUN(all)
{
    const struct all_in *in = lab_input(io, sizeof *in);
    struct all_out *out = lab_result(io, sizeof *out);
    out->rc = toy_double_all(in->values, out->values, in->n);
}

LAB_RUN(one)
{
    const int *in = lab_input(io, sizeof *in);
    int *out = lab_result(io, sizeof *out);
    toy_double(*in, out);
}

LAB_RUN(sums)
{
    const struct all_in *in = lab_input(io, sizeof *in);
    struct sum_out *out = lab_result(io, sizeof *out);
    out->rc = toy_sum(in->values, in->n, &out->sum);
    out->rc |= toy_negative_sum(in->values, in->n, &out->negative);
}

LAB_RUN(greedy)
{
    lab_result(io, 1 << 20);
}

LAB_RUNS = {LAB_ENTRY(all), LAB_ENTRY(one), LAB_ENTRY(sums), LAB_ENTRY(greedy), LAB_END};
