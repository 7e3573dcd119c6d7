/* SPDX-License-Identifier: MIT
 * bench.c: what a context costs in processor time: a launch, a thread, a thread's barrier, a
 * callback. Prints; never judges.
 */
#include "rig.h"

#include <stdio.h>
#include <time.h>

static clockid_t context_clock;

/* The context's own time on its processor: others on the machine do not count. */
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(context_clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The best of a few runs, in ns. */
static double best(struct rig *rig, enum kernel_number kernel, struct shape shape, uint64_t a,
                   uint64_t b, uint64_t c)
{
    double least = 1e18;
    for (int i = 0; i < 5; i++) {
        double start = now_ns();
        rig_run(rig, kernel, shape, a, b, c);
        double took = now_ns() - start;
        if (rig->reply.status != VGPU_RAN)
            printf("status %d: %s\n", rig->reply.status, rig->reply.text);
        least = took < least ? took : least;
    }
    return least;
}

int main(void)
{
    struct rig rig = {0};
    const uint64_t n = 4 << 20;
    rig_start(&rig);
    clock_getcpuclockid(rig.pid, &context_clock);
    rig_map(&rig, 0, RIG_MEMORY, true);
    double empty = best(&rig, K_empty, (struct shape){{1}, {1}, 0}, 0, 0, 0);
    double start = now_ns();
    for (uint64_t i = 0; i < 8 * n / VGPU_CHUNK_BYTES; i++)
        rig_run(&rig, K_store, (struct shape){{1}, {1}, 0}, OWN + i * VGPU_CHUNK_BYTES, 1, 0);
    printf("first touch, 2 MiB        %8.0f ns\n",
           (now_ns() - start) / (double)(8 * n / VGPU_CHUNK_BYTES) - empty);
    printf("launch and reply          %8.0f ns\n", empty);
    printf("thread, blocks of 256     %8.2f ns\n",
           best(&rig, K_empty, (struct shape){{4096}, {256}, 0}, 0, 0, 0) / (4096 * 256));
    for (uint32_t threads = 32; threads <= 1024; threads *= 2)
        printf("barrier, %4u threads     %8.2f ns a thread\n", threads,
               best(&rig, K_barriers, (struct shape){{1}, {threads}, 0}, 4096, 0, 0) / 4096 /
                   threads);
    printf("store with its callback   %8.2f ns\n",
           best(&rig, K_endless, (struct shape){{1}, {1}, 0}, OWN, 20000000, 0) / 1e7);
    printf(
        "add in place, 3 accesses  %8.2f ns an element\n",
        best(&rig, K_stream, (struct shape){{(uint32_t)(n / 256)}, {256}, 0}, OWN, OWN + 4 * n, n) /
            (double)n);
    printf("the same, grid strides    %8.2f ns an element\n",
           best(&rig, K_stream, (struct shape){{16}, {256}, 0}, OWN, OWN + 4 * n, n) / (double)n);
    printf(
        "reduction                 %8.2f ns an element\n",
        best(&rig, K_reduce, (struct shape){{(uint32_t)(n / 256)}, {256}, 0}, OWN, OWN + 8 * n, n) /
            (double)n);
    printf("shuffles, votes           %8.2f ns each\n",
           best(&rig, K_shuffles, (struct shape){{1024}, {64}, 0}, OWN, 0, 0) / (1024 * 64 * 9));
    rig_stop(&rig);
    return 0;
}
