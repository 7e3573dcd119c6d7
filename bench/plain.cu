/* SPDX-License-Identifier: MIT
 * plain.cu: the reduction again, compiled without callbacks (not_counted): shows the cost of
 * counting.
 */
#include "bench.h"
#include "reduce.h"

void launch_reduce_plain(const float *in, float *out, unsigned blocks)
{
    reduce<<<blocks, BLOCK>>>(in, out);
}
