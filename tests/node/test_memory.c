/* SPDX-License-Identifier: MIT
 * test_memory.c: allocation as recorded on hardware ([malloc], [small_spacing]), limits, witness
 * counts, and requests that make no sense.
 */
#include "client.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MIB (1ull << 20)

static uint64_t offset_in_chunk(uint64_t address)
{
    return address % VGPU_CHUNK_BYTES;
}

static int release(struct client *c, uint64_t address)
{
    struct vgpu_request q = {.op = VGPU_OP_FREE, .ptr = address};
    return client_ask(c, &q);
}

static void spacing(void)
{
    static const uint64_t bytes[] = {1, 512, 513, MIB, 2 * MIB + 1, 1};
    static const uint64_t recorded[] = {0, 512, 1024, 2048, 0, 1050624};
    struct client c;
    client_start(&c, "hgx-h200-4", "memory");
    for (int i = 0; i < 6; i++) {
        uint64_t at = offset_in_chunk(client_malloc(&c, 0, bytes[i]));
        CHECK(at == recorded[i], "%llu bytes at %llu, recorded %llu", (unsigned long long)bytes[i],
              (unsigned long long)at, (unsigned long long)recorded[i]);
    }
    client_end(&c);
}

static void giving_back(void)
{
    struct client c;
    client_start(&c, "hgx-h200-4", "memory");
    uint64_t a = client_malloc(&c, 0, 5 * MIB), small = client_malloc(&c, 0, 100);
    CHECK(release(&c, a) == 0, "%s", c.reply.r.explain);
    CHECK(release(&c, a) == 1, "freed twice: %d", c.reply.r.error);
    CHECK(release(&c, small + 4) == 1, "an interior pointer: %d", c.reply.r.error);
    CHECK(client_malloc(&c, 0, 5 * MIB) == a, "the same address comes again");
    struct vgpu_request q = {.op = VGPU_OP_MALLOC, .device = 0, .bytes = 1ull << 50};
    CHECK(client_ask(&c, &q) == 2 && c.reply.r.explain[0], "too much: %d", c.reply.r.error);
    q = (struct vgpu_request){.op = VGPU_OP_MALLOC, .device = 4, .bytes = 4};
    CHECK(client_ask(&c, &q) == 101, "no such GPU: %d", c.reply.r.error);
    client_end(&c);
}

static struct vgpu_summary summary(struct client *w)
{
    struct vgpu_request q = {.op = VGPU_OP_SUMMARY};
    struct vgpu_summary s;
    CHECK(client_ask(w, &q) == 0 && w->reply.r.data_bytes == sizeof s, "%s", w->reply.r.explain);
    memcpy(&s, w->reply.r.data, sizeof s);
    return s;
}

/* What a process leaves behind is counted, and taken back. */
static void witness_counts(void)
{
    struct client c, w;
    client_start(&c, "dgx-a100", "memory");
    client_witness(&w, "memory");
    uint64_t kept = client_malloc(&c, 7, 3 * MIB), freed = client_malloc(&c, 0, 3 * MIB);
    uint64_t host = client_host(&c, 100);
    client_stream(&c, 2, 0);
    client_event(&c, 2);
    client_peer(&c, 3, 5);
    client_copy(&c, VGPU_STREAM_LEGACY, host, freed, 100);
    CHECK(release(&c, freed) == 0, "%s", c.reply.r.explain);
    client_end(&c);
    struct vgpu_summary s = summary(&w);
    CHECK(s.live_allocations == 1 && s.live_host_allocations == 1 && s.live_streams == 1 &&
              s.live_events == 1 && s.live_peers == 1,
          "left: %u allocations, %u pinned, %u streams, %u events, %u peers", s.live_allocations,
          s.live_host_allocations, s.live_streams, s.live_events, s.live_peers);
    CHECK(s.mallocs == 2 && s.copies == 1 && s.copied[0][VGPU_MAX_DEVICES] == 100, "copies: %u",
          s.copies);
    CHECK(s.peak_bytes[7] == 4 * MIB, "peak %llu", (unsigned long long)s.peak_bytes[7]);
    CHECK(s.peak_asked_bytes[7] == 3 * MIB && s.peak_asked_bytes[6] == 0, "peak as asked %llu",
          (unsigned long long)s.peak_asked_bytes[7]);
    struct vgpu_request trace = {.op = VGPU_OP_TRACE};
    CHECK(client_ask(&w, &trace) == 0 && w.reply.r.value == 1, "%d records", (int)w.reply.r.value);
    (void)kept;
    client_end(&w);
}

/* What was asked for at most at one time, in steps of 512 bytes, small and large ones. */
static void witness_peak(void)
{
    struct client c, w;
    client_start(&c, "dgx-a100", "memory");
    client_witness(&w, "memory");
    uint64_t small = client_malloc(&c, 1, 700), large = client_malloc(&c, 1, 3 * MIB + 1);
    CHECK(release(&c, large) == 0, "%s", c.reply.r.explain);
    client_malloc(&c, 1, 1);
    CHECK(release(&c, small) == 0, "%s", c.reply.r.explain);
    client_malloc(&c, 1, 2 * MIB);
    client_end(&c);
    struct vgpu_summary s = summary(&w);
    CHECK(s.peak_asked_bytes[1] == 3 * MIB + 1536, "peak as asked %llu",
          (unsigned long long)s.peak_asked_bytes[1]);
    client_end(&w);
}

/* Nothing a client sends may take the node down. */
static void nonsense(void)
{
    struct client c;
    client_start(&c, "pcie-4090-2", "memory");
    for (uint32_t op = 0; op <= VGPU_OP_TRACE + 2; op++) {
        if (op == VGPU_OP_BYE || op == VGPU_OP_HOST_NEXT) /* the latter waits for a function */
            continue;
        struct vgpu_request q = {.op = op, .device = -5, .peer = 77, .stream = 99, .event = ~0ull};
        q.ptr = q.bytes = q.value = ~0ull;
        client_ask(&c, &q);
    }
    CHECK(client_malloc(&c, 1, 64) != 0, "the node still answers");
    client_end(&c);
}

int main(void)
{
    spacing();
    witness_peak();
    giving_back();
    witness_counts();
    nonsense();
    puts("memory: as recorded");
    return 0;
}
