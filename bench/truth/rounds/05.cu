// SPDX-License-Identifier: MIT
// 05.cu: nccl-tests' sweep of six of NCCL's collectives, 8 B to 256 MiB, on two and on four GPUs,
// replayed from graphs. On H200s none of them was asked before; what hgx-h200-4 has was fitted to
// H100s. rounds.py predicts and measures.
#include "../collectives.h"

static const size_t MOST = 256 * MIB;

static void sweep(int number)
{
    gpus = number;
    room = MOST;
    begin();
    for (size_t bytes = 8; bytes <= MOST; bytes *= bytes < 16 * MIB ? 2 : 4)
        for (const collective &c : COLLECTIVES) {
            bool divided = c.call == all_gather || c.call == reduce_scatter || c.call == all_to_all;
            if (c.call != reduce && !(divided && bytes < 4u * gpus))
                row(graph(c, bytes), "nccl.%s.%d.%zu.us", c.name, gpus, bytes);
        }
    end();
}

int main()
{
    sweep(2);
    sweep(4);
    return 0;
}
