// SPDX-License-Identifier: MIT
// nccl.cu: NCCL's collectives as nccl-tests sweeps them (collectives.h), in us per call.
//     truth-nccl [GPUS [MOST]] [SIZE ...]
// MOST: the greatest size in bytes (default 1 GiB). SIZE: these, instead of all powers of two
// from 8.
#include "collectives.h"

static void measure(size_t bytes)
{
    for (const collective &c : COLLECTIVES) {
        bool divided = c.call == all_gather || c.call == reduce_scatter || c.call == all_to_all;
        if (divided && bytes < 4u * gpus)
            continue;
        row(calls(c, bytes), "nccl.%s.%d.calls.%zu.us", c.name, gpus, bytes);
        row(graph(c, bytes), "nccl.%s.%d.graph.%zu.us", c.name, gpus, bytes);
    }
}

int main(int count, char **words)
{
    gpus = count > 1 ? atoi(words[1]) : 2;
    room = count > 2 ? strtoull(words[2], nullptr, 10) : 1024 * MIB;
    begin();
    for (int i = 3; i < count; i++)
        measure(strtoull(words[i], nullptr, 10));
    for (size_t bytes = 8; count <= 3 && bytes <= room; bytes *= 2)
        measure(bytes);
    end();
    return 0;
}
