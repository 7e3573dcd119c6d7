/* SPDX-License-Identifier: MIT */
#include "runner.h"

#include "io.h"
#include "lab92.h"

#include <string.h>

LAB_RUN(twice)
{
    const int *in = lab_input(io, NUMBERS * sizeof *in);
    struct double_out *out = lab_result(io, sizeof *out);
    memcpy(out->data, in, sizeof out->data);
    out->rc = kernel_double(out->data, NUMBERS);
}

LAB_RUNS = {LAB_ENTRY(twice), LAB_END};
