/* SPDX-License-Identifier: MIT
 * test_links.c: copies share links as recorded on 4 H200s (tests/recorded/hgx-h200-4/timing.txt),
 * and take the same picoseconds in every run.
 */
#include "client.h"

#include <math.h>
#include <stdio.h>

#define GIB (1ull << 30)

struct pattern {
    const char *name;
    int flows;
    int from[8], to[8];
    double recorded_us;
};

static const struct pattern patterns[] = {
    {"one flow", 1, {0}, {1}, 2716.4},
    {"both ways", 2, {0, 1}, {1, 0}, 2751.7},
    {"two streams, same way", 2, {0, 0}, {1, 1}, 5424.9},
    {"disjoint pairs", 2, {0, 2}, {1, 3}, 2718.0},
    {"fan-out", 2, {0, 0}, {1, 2}, 5425.4},
    {"fan-in", 2, {0, 2}, {1, 1}, 5395.1},
    {"fan-out to three", 3, {0, 0, 0}, {1, 2, 3}, 8130.5},
    {"ring", 4, {0, 1, 2, 3}, {1, 2, 3, 0}, 2749.2},
    {"ring, both ways", 8, {0, 1, 2, 3, 1, 2, 3, 0}, {1, 2, 3, 0, 0, 1, 2, 3}, 5500.2},
};

/* Nothing is ever written to these gibibytes, so no memory of this computer is used. */
static uint64_t run(const struct pattern *p, const char *tag)
{
    struct client c;
    client_start(&c, "hgx-h200-4", tag);
    uint64_t buffer[4][4], streams[8];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            buffer[i][j] = client_malloc(&c, i, GIB);
            if (i != j)
                client_peer(&c, i, j);
        }
    for (int i = 0; i < p->flows; i++)
        streams[i] = client_stream(&c, p->from[i], 1);
    uint64_t begin = c.clock_ps;
    for (int i = 0; i < p->flows; i++)
        client_copy(&c, streams[i], buffer[p->to[i]][p->from[i]], buffer[p->from[i]][p->to[i]],
                    GIB);
    for (int i = 0; i < p->flows; i++)
        client_sync(&c, streams[i]);
    uint64_t took = c.clock_ps - begin;
    client_end(&c);
    return took;
}

int main(void)
{
    for (unsigned i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        const struct pattern *p = &patterns[i];
        uint64_t first = run(p, "a"), second = run(p, "b");
        double us = (double)first * 1e-6, off = us / p->recorded_us - 1;
        printf("%-22s %8.1f us, recorded %8.1f (%+.1f %%)\n", p->name, us, p->recorded_us,
               100 * off);
        CHECK(first == second, "%s: %llu ps in one run, %llu in the next", p->name,
              (unsigned long long)first, (unsigned long long)second);
        CHECK(fabs(off) < 0.03, "%s: %.1f us, recorded %.1f", p->name, us, p->recorded_us);
    }
    return 0;
}
