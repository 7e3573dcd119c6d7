/* SPDX-License-Identifier: MIT
 * test_order.c: what an edge orders is fresh, what nothing orders is stale; in every run.
 */
#include "client.h"

#include <stdio.h>
#include <string.h>

#define BYTES 4096
#define POISONED 0xCBCBCBCBu

struct scene {
    uint64_t source, middle, target, back; /* host, GPU 0, GPU 1, host */
    uint64_t first, second, event;         /* streams of GPU 0 and 1 */
    struct client c;
};

static void build(struct scene *s, uint32_t stream_flags)
{
    client_start(&s->c, "hgx-h200-4", "order");
    s->source = client_host(&s->c, BYTES);
    s->back = client_host(&s->c, BYTES);
    s->middle = client_malloc(&s->c, 0, BYTES);
    s->target = client_malloc(&s->c, 1, BYTES);
    s->first = client_stream(&s->c, 0, stream_flags);
    s->second = client_stream(&s->c, 1, stream_flags);
    s->event = client_event(&s->c, 0);
    memset(client_view(&s->c, s->source), 0x11, BYTES);
}

static uint32_t word(struct scene *s, uint64_t address)
{
    uint32_t value;
    memcpy(&value, client_view(&s->c, address), sizeof value);
    return value;
}

/* host -> GPU 0 on one stream, GPU 0 -> GPU 1 -> host on another. */
static uint32_t relay(int wait, int sync_between)
{
    struct scene s;
    build(&s, 1);
    client_copy(&s.c, s.first, s.middle, s.source, BYTES);
    client_record(&s.c, s.event, s.first);
    if (sync_between)
        client_sync(&s.c, s.first);
    if (wait)
        client_wait(&s.c, s.second, s.event);
    client_copy(&s.c, s.second, s.target, s.middle, BYTES);
    client_copy(&s.c, s.second, s.back, s.target, BYTES);
    client_sync(&s.c, s.first); /* a wait for the wrong stream first changes nothing */
    client_sync(&s.c, s.second);
    uint32_t got = word(&s, s.back);
    client_end(&s.c);
    return got;
}

static void reads_stale_without_an_event(void)
{
    CHECK(relay(1, 0) == 0x11111111u, "with the event: %#x", relay(1, 0));
    CHECK(relay(0, 1) == 0x11111111u, "with a host wait: %#x", relay(0, 1));
    for (int i = 0; i < 3; i++)
        CHECK(relay(0, 0) == POISONED, "nothing orders the reader, yet it read %#x", relay(0, 0));
}

/* A root that waits for its own GPU's part only: the others' parts must be stale, whichever GPU is
 * the root and whichever part was issued first. */
static void every_missing_edge_shows(void)
{
    for (int root = 0; root < 4; root++) {
        struct scene s;
        uint64_t part[4], stream[4], gathered[4];
        build(&s, 1);
        for (int g = 0; g < 4; g++) {
            part[g] = client_malloc(&s.c, g, BYTES);
            gathered[g] = client_malloc(&s.c, root, BYTES);
            stream[g] = client_stream(&s.c, g, 1);
        }
        for (int g = 0; g < 4; g++)
            client_copy(&s.c, stream[g], part[g], s.source, BYTES);
        for (int g = 0; g < 4; g++)
            client_copy(&s.c, stream[root], gathered[g], part[g], BYTES);
        for (int g = 0; g < 4; g++)
            client_sync(&s.c, stream[g]);
        for (int g = 0; g < 4; g++) {
            uint32_t want = g == root ? 0x11111111u : POISONED;
            client_copy(&s.c, stream[root], s.back, gathered[g], BYTES);
            client_sync(&s.c, stream[root]);
            CHECK(word(&s, s.back) == want, "root %d, part %d: %#x, expected %#x", root, g,
                  word(&s, s.back), want);
        }
        client_end(&s.c);
    }
}

/* A copy to pinned memory is there after a wait for it, not before, not after another wait. */
static void host_sees_nothing_unasked(void)
{
    struct scene s;
    build(&s, 1);
    memset(client_view(&s.c, s.back), 0x22, BYTES);
    client_copy(&s.c, s.first, s.middle, s.source, BYTES);
    client_copy(&s.c, s.first, s.back, s.middle, BYTES);
    CHECK(word(&s, s.back) == 0x22222222u, "before any wait: %#x", word(&s, s.back));
    client_sync(&s.c, s.second);
    CHECK(word(&s, s.back) == 0x22222222u, "after the wrong wait: %#x", word(&s, s.back));
    client_sync(&s.c, s.first);
    CHECK(word(&s, s.back) == 0x11111111u, "after the right wait: %#x", word(&s, s.back));
    client_end(&s.c);
}

/* The source of an asynchronous copy changes before the wait: the copy may see the change. */
static void source_overwritten_too_early(void)
{
    struct scene s;
    build(&s, 1);
    client_copy(&s.c, s.first, s.middle, s.source, BYTES);
    memset(client_view(&s.c, s.source), 0x33, BYTES);
    client_copy(&s.c, s.first, s.back, s.middle, BYTES);
    client_sync(&s.c, s.first);
    CHECK(word(&s, s.back) == 0x33333333u, "the copy had no reason to be early: %#x",
          word(&s, s.back));
    client_end(&s.c);
}

/* The legacy stream of a GPU comes after its blocking streams, and they after it. */
static void legacy_stream_orders_blocking_ones(void)
{
    for (uint32_t flags = 0; flags <= 1; flags++) {
        struct scene s;
        build(&s, flags);
        uint64_t other = client_malloc(&s.c, 0, BYTES);
        client_copy(&s.c, s.first, s.middle, s.source, BYTES);
        client_copy(&s.c, VGPU_STREAM_LEGACY, other, s.middle, BYTES);
        client_copy(&s.c, VGPU_STREAM_LEGACY, s.back, other, BYTES);
        client_sync(&s.c, VGPU_STREAM_LEGACY);
        uint32_t want = flags ? POISONED : 0x11111111u;
        CHECK(word(&s, s.back) == want, "flags %u: %#x, expected %#x", flags, word(&s, s.back),
              want);
        client_end(&s.c);
    }
}

static void query_tells_the_time(void)
{
    struct scene s;
    build(&s, 1);
    uint64_t big = client_malloc(&s.c, 0, 64 << 20), host = client_host(&s.c, 64 << 20);
    client_copy(&s.c, s.first, big, host, 64 << 20);
    struct vgpu_request q = {.op = VGPU_OP_STREAM_QUERY, .stream = s.first};
    CHECK(client_ask(&s.c, &q) == 600, "right after the copy: %d", s.c.reply.r.error);
    int polls = 1;
    while (client_ask(&s.c, &q) == 600)
        polls++;
    CHECK(s.c.reply.r.error == 0 && polls > 100, "%d after %d polls", s.c.reply.r.error, polls);
    client_end(&s.c);
}

int main(void)
{
    reads_stale_without_an_event();
    every_missing_edge_shows();
    host_sees_nothing_unasked();
    source_overwritten_too_early();
    legacy_stream_orders_blocking_ones();
    query_tells_the_time();
    puts("order: what is ordered is fresh, what is not is stale");
    return 0;
}
