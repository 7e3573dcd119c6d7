/* SPDX-License-Identifier: MIT
 * test_shapes.c: copies go the way that each node description says: over one NVLink or two, through
 * a switch's or a root port's shared uplink, over the link between two sockets. HOST is the
 * program's memory, at the first socket.
 */
#include "client.h"

#include <stdio.h>

#define BYTES (64ull << 20)
#define HOST (-1)
#define FLOWS 4

struct shape {
    const char *node, *what;
    int from[FLOWS], to[FLOWS], flows;
    double gbs; /* in all */
};

static const struct shape shapes[] = {
    {"dgx1-v100", "two NVLinks", {0}, {3}, 1, 47.9},
    {"dgx1-v100", "one NVLink", {0}, {1}, 1, 23.95},
    {"dgx1-v100", "two and one NVLink, of one GPU", {0, 0}, {3, 1}, 2, 47.9},
    {"dgx1-v100", "no NVLink: through the host", {0}, {7}, 1, 5.8},
    {"rtx3090-nvlink-4", "a bridge of four NVLinks", {0}, {2}, 1, 52.4},
    {"rtx3090-nvlink-4", "both bridges", {0, 3}, {2, 1}, 2, 104.8},
    {"rtx3090-nvlink-4", "no bridge: through the host", {0}, {1}, 1, 11.5},
    {"teaching-4", "the bridge, to three", {0, 0, 0}, {1, 2, 3}, 3, 278.4},
    {"teaching-4", "from the host to both GPUs of the switch", {HOST, HOST}, {0, 1}, 2, 25.5},
    {"teaching-4", "from the host to GPUs 0 and 2", {HOST, HOST}, {0, 2}, 2, 50.0},
    {"pcie-gen3-4", "inside a switch, twice", {0, 2}, {1, 3}, 2, 24.4},
    {"pcie-gen3-4", "one root port", {HOST, HOST, HOST, HOST}, {0, 1, 2, 3}, 4, 12.9},
    {"mixed-3", "to two cards at once", {HOST, HOST}, {0, 2}, 2, 25.4},
    {"mixed-3", "another model: through the host", {0}, {2}, 1, 5.8},
    {"pcie-dual-socket-4", "host memory, same socket", {HOST}, {0}, 1, 25.0},
    {"pcie-dual-socket-4", "host memory, other socket", {HOST}, {2}, 1, 20.0},
};

static uint64_t place(struct client *c, int where)
{
    return where == HOST ? client_host(c, BYTES) : client_malloc(c, where, BYTES);
}

/* A pair without peer access goes through the host. */
static void enable(struct client *c, int device, int peer)
{
    struct vgpu_request q = {.op = VGPU_OP_PEER_ENABLE, .device = device, .peer = peer};
    client_ask(c, &q);
}

static double measure(const struct shape *s)
{
    struct client c;
    uint64_t src[FLOWS], dst[FLOWS], stream[FLOWS];
    client_start(&c, s->node, "shapes");
    for (int i = 0; i < s->flows; i++) {
        src[i] = place(&c, s->from[i]);
        dst[i] = place(&c, s->to[i]);
        stream[i] = client_stream(&c, s->to[i], 1);
        if (s->from[i] != HOST)
            enable(&c, s->from[i], s->to[i]);
    }
    uint64_t begin = c.clock_ps;
    for (int i = 0; i < s->flows; i++)
        client_copy(&c, stream[i], dst[i], src[i], BYTES);
    for (int i = 0; i < s->flows; i++)
        client_sync(&c, stream[i]);
    double seconds = (double)(c.clock_ps - begin) * 1e-12;
    client_end(&c);
    return (double)BYTES * s->flows / seconds / 1e9;
}

int main(void)
{
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct shape *s = &shapes[i];
        double gbs = measure(s), off = gbs / s->gbs - 1;
        printf("%-20s %-42s %6.1f GB/s, described %6.1f\n", s->node, s->what, gbs, s->gbs);
        CHECK(off < 0.001 && off > -0.03, "%s: %s: %.2f GB/s, expected %.2f", s->node, s->what, gbs,
              s->gbs);
    }
    return 0;
}
