/* SPDX-License-Identifier: MIT
 * test_fuzz.c: random requests, half sensible and half not: the node answers every one and goes on.
 *
 *     test_node_fuzz [REQUESTS [SEED]]
 */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN 64

/* Addresses and handles that were given out, some of them dead by now. */
static uint64_t known[KNOWN];
static int known_count;

static uint64_t some_value(void)
{
    switch (rand() % 8) {
    case 0:
        return (uint64_t)rand();
    case 1:
        return UINT64_MAX - (unsigned)rand() % 3;
    case 2:
        return 0;
    default:
        return known_count ? known[rand() % known_count] + (rand() % 4 ? 0 : 8) : 1;
    }
}

static uint64_t some_bytes(void)
{
    static const uint64_t choices[] = {0,          1,    3, 512, 4096, 1 << 20, (2 << 20) + 1,
                                       1ull << 41, ~0ull};
    return choices[rand() % 9];
}

static void fill(struct vgpu_request *q)
{
    memset(q, 0, sizeof *q);
    do /* nobody is here to call host functions: streams would wait for them for ever */
        q->op = (uint32_t)(rand() % (VGPU_OP_BYE + 2));
    while (q->op == VGPU_OP_BYE || q->op == VGPU_OP_THREAD || q->op == VGPU_OP_HOST_FUNC ||
           q->op == VGPU_OP_HOST_NEXT);
    q->device = rand() % 7 - 1;
    q->peer = rand() % 7 - 1;
    q->flags = rand() % 3 ? 0 : (uint32_t)rand() % 9;
    q->stream = rand() % 2 ? (uint64_t)(rand() % 4) : some_value();
    q->event = some_value();
    q->event2 = some_value();
    q->ptr = some_value();
    q->bytes = some_bytes();
    if (q->op == VGPU_OP_COPY) {
        q->u.copy =
            (struct vgpu_copy){.dst = some_value(), .src = some_value(), .bytes = some_bytes()};
        q->u.copy.rows = (uint64_t)(rand() % 4);
        q->u.copy.pitch_dst = q->u.copy.pitch_src = some_bytes();
        q->u.copy.api = rand() % 2;
        q->u.copy.dst_device = rand() % 7 - 1;
        q->u.copy.sync = rand() % 2;
    } else if (q->op == VGPU_OP_MEMSET) {
        q->u.memset = (struct vgpu_memset){.dst = some_value(), .bytes = some_bytes()};
        q->u.memset.width = (uint32_t)(rand() % 5);
        q->u.memset.rows = (uint64_t)(rand() % 3);
        q->u.memset.pitch = some_bytes();
    } else if (q->op == VGPU_OP_LAUNCH) {
        q->u.launch.grid[0] = q->u.launch.block[0] = (uint32_t)rand() % 3;
        q->u.launch.module = (uint32_t)rand() % 3;
    }
}

int main(int argc, char **argv)
{
    int requests = argc > 1 ? atoi(argv[1]) : 20000, good = 0;
    struct client c;
    srand(argc > 2 ? (unsigned)atoi(argv[2]) : 7);
    client_start(&c, "hgx-h200-4", "fuzz");
    for (int i = 0; i < requests; i++) {
        struct vgpu_request q;
        fill(&q);
        if (client_ask(&c, &q) != 0)
            continue;
        good++;
        if (c.reply.r.value)
            known[known_count < KNOWN ? known_count++ : rand() % KNOWN] = c.reply.r.value;
    }
    CHECK(good > requests / 10, "only %d of %d requests made sense", good, requests);
    client_end(&c);
    printf("fuzz: %d requests, %d of them granted\n", requests, good);
    return 0;
}
