/* SPDX-License-Identifier: MIT */
#include "runner.h"

#include "io.h"
#include "lab91.h"

LAB_RUN(relay)
{
    const int *in = lab_input(io, sizeof *in);
    struct relay_out *out = lab_result(io, sizeof *out);
    out->rc = gpu_relay(*in, &out->gpus);
}

LAB_RUNS = {LAB_ENTRY(relay), LAB_END};
