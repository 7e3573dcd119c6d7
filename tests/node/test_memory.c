/* SPDX-License-Identifier: MIT
 * test_memory.c: allocation as recorded on hardware ([malloc], [small_spacing]), limits, witness
 * counts, and requests that make no sense.
 */
#include "client.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "wire.h"

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

/* A copy as it comes from a program that wants to see sealed memory: the node's answer. */
static int copied(struct client *c, uint64_t dst, uint64_t src, uint64_t bytes)
{
    struct vgpu_request q = {.op = VGPU_OP_COPY, .stream = VGPU_STREAM_LEGACY};
    q.u.copy = (struct vgpu_copy){
        .dst = dst, .src = src, .bytes = bytes, .rows = 1, .sync = 1, .dst_device = -1};
    q.u.copy.src_device = -1;
    return client_ask(c, &q);
}

static int seal(struct client *w, int fd, uint64_t readable)
{
    struct vgpu_request q = {.op = VGPU_OP_SEAL, .bytes = readable, .clock_ps = w->clock_ps};
    CHECK(vgpu_send(w->fd, &q, sizeof q, &fd, 1) == 0 &&
              vgpu_receive(w->fd, &w->reply, sizeof w->reply, NULL, NULL, 0) > 0,
          "no answer to sealing");
    return w->reply.r.error;
}

static int sealed_file(void)
{
    uint8_t page[4096];
    int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    for (int i = 0; i < 2; i++) {
        memset(page, i ? 0xA5 : 7, sizeof page);
        CHECK(fd >= 0 && write(fd, page, sizeof page) == sizeof page, "no memory file");
    }
    CHECK(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0, "it cannot be sealed");
    return fd;
}

/* A witness's memory goes to GPUs and comes from GPUs; no program sees it on any way. */
static void sealed(void)
{
    const uint64_t in = VGPU_SEALED_VA, out = VGPU_SEALED_VA + 4096;
    struct client c, w, other;
    uint8_t byte = 0;
    int fd = sealed_file();
    client_start_quiet(&w, "hgx-h200-4", "memory");
    client_witness(&other, "memory");
    CHECK(seal(&other, fd, 4096) == 1, "by another witness: %d", other.reply.r.error);
    client_end(&other);
    CHECK(seal(&w, fd, 4096) == 0, "%s", w.reply.r.explain);
    CHECK(seal(&w, fd, 4096) == 1, "sealed twice: %d", w.reply.r.error);
    client_join(&c, "memory");
    uint64_t gpu = client_malloc(&c, 1, 4096), host = client_host(&c, 4096);
    CHECK(copied(&c, gpu, in, 4096) == 0, "to a GPU: %s", c.reply.r.explain);
    CHECK(copied(&c, out + 9, gpu, 1) == 0, "from a GPU: %s", c.reply.r.explain);
    CHECK(pread(fd, &byte, 1, 4096 + 9) == 1 && byte == 7, "byte 9 is %d", byte);
    CHECK(pread(fd, &byte, 1, 4096 + 10) == 1 && byte == 0xA5, "byte 10 is %d", byte);
    CHECK(copied(&c, host, in, 64) == 1, "to the program: %d", c.reply.r.error);
    CHECK(copied(&c, out, host, 64) == 1, "from the program: %d", c.reply.r.error);
    CHECK(copied(&c, out, in, 64) == 1, "from input to output: %d", c.reply.r.error);
    CHECK(copied(&c, in, gpu, 64) == 1, "over the input: %d", c.reply.r.error);
    CHECK(copied(&c, gpu, out, 64) == 1, "the output: %d", c.reply.r.error);
    CHECK(copied(&c, gpu, in + 4095, 2) == 1, "behind the input: %d", c.reply.r.error);
    struct vgpu_request fill = {.op = VGPU_OP_MEMSET, .stream = VGPU_STREAM_LEGACY};
    fill.u.memset = (struct vgpu_memset){.dst = out, .bytes = 64, .rows = 1, .width = 1};
    CHECK(client_ask(&c, &fill) == 1, "a fill: %d", c.reply.r.error);
    CHECK(seal(&c, fd, 4096) != 0, "a program seals");
    struct vgpu_summary s = summary(&w);
    CHECK(s.copies == 2 && s.copied[VGPU_MAX_DEVICES][1] == 0 && s.copied[1][VGPU_MAX_DEVICES] == 0,
          "%u copies, and sealed bytes are nobody's", s.copies);
    close(fd);
    client_end(&c);
    client_end(&w);
}

/* What is looked for in every program: only the first witness says so, before the first program,
 * and no program switches it off. */
static void least_checks(void)
{
    struct client c, w, other;
    struct vgpu_request q = {.op = VGPU_OP_LEAST_CHECKS, .value = VGPU_CHECK_ORDER};
    client_start_quiet(&w, "hgx-h200-4", "checks");
    client_witness(&other, "checks");
    CHECK(client_ask(&other, &q) == 1, "by another witness: %d", other.reply.r.error);
    client_end(&other);
    CHECK(client_ask(&w, &q) == 0, "%s", w.reply.r.explain);
    client_join(&c, "checks");
    CHECK(c.reply.r.u.hello.checks == VGPU_CHECK_ORDER, "%x", c.reply.r.u.hello.checks);
    CHECK(client_ask(&w, &q) == 1, "after the first program: %d", w.reply.r.error);
    client_end(&c);
    client_end(&w);
}

/* Takes a connection from `from`; -1: none is left there. */
static int take_connection(struct client *from)
{
    const struct vgpu_request q = {.op = VGPU_OP_PROGRAM};
    int fd = -1, count = 1;
    CHECK(vgpu_send(from->fd, &q, sizeof q, NULL, 0) == 0, "the node is gone");
    CHECK(vgpu_receive(from->fd, &from->reply, sizeof from->reply, &fd, &count, 0) > 0, "no reply");
    CHECK((count == 1) == (from->reply.r.error == 0), "%d descriptors", count);
    return count == 1 ? fd : -1;
}

/* The processes of a sandbox take connections from the one that all have: a limited number, and
 * none from those. */
static void sandboxed(void)
{
    static struct client c, all, taken[VGPU_PROGRAMS_MAX];
    client_start(&c, "pcie-4090-2", "memory");
    client_knock(&all, "memory");
    for (int i = 0; i < VGPU_PROGRAMS_MAX; i++) {
        taken[i] = (struct client){.fd = take_connection(&all)};
        CHECK(taken[i].fd >= 0, "only %d", i);
    }
    CHECK(take_connection(&all) < 0, "one more");
    CHECK(take_connection(&taken[0]) < 0, "another one's");
    CHECK(take_connection(&c) < 0, "of a program that has said hello");
    for (int i = 0; i < VGPU_PROGRAMS_MAX; i++) {
        struct vgpu_request q = {.op = VGPU_OP_HELLO};
        q.u.hello.protocol = VGPU_PROTOCOL;
        q.u.hello.pid = i + 1;
        CHECK(client_ask(&taken[i], &q) == 0, "%s", taken[i].reply.r.explain);
        close(taken[i].fd);
    }
    close(all.fd);
    client_end(&c);
}

/* Nothing a client sends may take the node down. */
static void nonsense(void)
{
    struct client c;
    client_start(&c, "pcie-4090-2", "memory");
    for (uint32_t op = 0; op <= VGPU_OP_OBSERVE + 2; op++) {
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
    sealed();
    least_checks();
    sandboxed();
    nonsense();
    puts("memory: as recorded");
    return 0;
}
