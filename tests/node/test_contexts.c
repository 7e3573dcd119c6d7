/* SPDX-License-Identifier: MIT
 * test_contexts.c: device code that has taken over its vgpu-exec tells the node what cannot be,
 * without an end, or nothing at all: the node neither crashes nor hangs, the program hears what it
 * was, and another program on the same node goes on.
 *
 *     test_node_contexts HOW [WORDS | - | limit WORDS]      (liar.c says what HOW may be)
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "wire.h"

enum { WAIT_MS = 50000, FILLED_BYTES = 768 << 20 };

static int device; /* where the liar's kernels run */

static void send_module(struct client *c)
{
    struct vgpu_request q = {.op = VGPU_OP_MODULE};
    int fd = memfd_create("image", MFD_ALLOW_SEALING);
    CHECK(fd >= 0 &&
              fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0,
          "no sealed image");
    CHECK(vgpu_send(c->fd, &q, sizeof q, &fd, 1) == 0 &&
              vgpu_receive(c->fd, &c->reply, sizeof c->reply, NULL, NULL, 0) > 0 &&
              c->reply.r.error == 0,
          "the image was not taken: %s", c->reply.r.explain);
    close(fd);
}

/* In a stream of its own: nothing orders two of them. */
static void launch(struct client *c)
{
    struct vgpu_request q = {.op = VGPU_OP_LAUNCH, .call = "liar"};
    q.stream = client_stream(c, device, 1);
    for (int i = 0; i < 3; i++)
        q.u.launch.grid[i] = q.u.launch.block[i] = 1;
    CHECK(client_ask(c, &q) == 0, "the launch: %s", c->reply.r.explain);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Sends `q` and waits for its answer, for so long and no longer. */
static int ask_in_time(struct client *c, struct vgpu_request *q, const char *who)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    q->clock_ps = c->clock_ps;
    CHECK(vgpu_send(c->fd, q, sizeof *q, NULL, 0) == 0, "%s: the node is gone", who);
    CHECK(poll(&p, 1, WAIT_MS) == 1, "%s: no answer within %d s", who, WAIT_MS / 1000);
    CHECK(vgpu_receive(c->fd, &c->reply, sizeof c->reply, NULL, NULL, 0) > 0,
          "%s: the node has crashed", who);
    c->clock_ps = c->reply.r.clock_ps;
    return c->reply.r.error;
}

/* The machine's memory: a limit of 64 MiB, and a fill of a part of the GPU's. False: refused. */
static bool fill(struct client *c, uint64_t at, uint64_t bytes)
{
    struct vgpu_request q = {.op = VGPU_OP_MEMSET, .stream = VGPU_STREAM_LEGACY, .call = "fill"};
    struct vgpu_request sync = {.op = VGPU_OP_DEVICE_SYNC};
    q.u.memset = (struct vgpu_memset){.dst = at, .bytes = bytes, .rows = 1, .width = 1};
    return client_ask(c, &q) == 0 && ask_in_time(c, &sync, "the fill") == 0;
}

/* Whatever device code does to the pages that it shares with the node: the limit holds, and what
 * was taken comes back with its end. */
static void test_limit(struct client *liar, struct client *other, const char *words)
{
    struct vgpu_request sync = {.op = VGPU_OP_DEVICE_SYNC};
    uint64_t at = client_malloc(liar, 0, FILLED_BYTES);
    send_module(liar);
    launch(liar);
    bool ran = ask_in_time(liar, &sync, "the liar") == 0;
    usleep(300000); /* looks are TICK_MS apart */
    bool filled = ran && fill(liar, at, FILLED_BYTES);
    printf("%s: %s\n", filled ? "filled" : "refused", liar->reply.r.explain);
    CHECK(!filled && strstr(liar->reply.r.explain, words), "past the limit");
    client_end(liar);
    usleep(300000);
    at = client_malloc(other, 0, 32 << 20);
    CHECK(fill(other, at, 32 << 20), "%s", other->reply.r.explain);
}

/* Kernels that say they get further are no error; they must not keep others from going on. */
static void leave(struct client *c)
{
    struct vgpu_request sync = {.op = VGPU_OP_DEVICE_SYNC};
    CHECK(vgpu_send(c->fd, &sync, sizeof sync, NULL, 0) == 0, "the node is gone");
    usleep(300000);
    client_end(c);
}

static int ask_for_variable(struct client *c)
{
    union {
        struct vgpu_request q;
        char room[sizeof(struct vgpu_request) + 1];
    } ask = {.q = {.op = VGPU_OP_VAR, .data_bytes = 1}};
    ask.q.data[0] = 'x';
    return client_ask(c, &ask.q);
}

/* A context that did not map what it was to is replaced by one that is told of all of it. */
static void test_refused(struct client *liar)
{
    struct vgpu_request sync = {.op = VGPU_OP_DEVICE_SYNC};
    int error = ask_for_variable(liar);
    CHECK(error != 0 && strstr(liar->reply.r.explain, "GPU 0 refused"), "%d: %s", error,
          liar->reply.r.explain);
    CHECK(ask_for_variable(liar) == 0 && liar->reply.r.value >= VGPU_DEVICE_VA(0) &&
              liar->reply.r.value2 == 4,
          "asked again: %d, %s", liar->reply.r.error, liar->reply.r.explain);
    launch(liar);
    CHECK(ask_in_time(liar, &sync, "the new context") == 0, "%s", liar->reply.r.explain);
}

/* A name that no file has. */
static void make_name(char *name)
{
    int fd = mkstemp(name);
    CHECK(fd >= 0 && unlink(name) == 0, "no name");
    close(fd);
    setenv("LIAR_ONCE", name, 1);
}

int main(int argc, char **argv)
{
    char launcher[512], once[] = "/tmp/test-contexts-XXXXXX";
    const char *how = argc > 1 ? argv[1] : "counts", *words = argc > 2 ? argv[2] : "";
    device = strcmp(how, "deaf") == 0 || strcmp(how, "mute") == 0; /* its number is told */
    struct vgpu_request sync = {.op = VGPU_OP_DEVICE_SYNC, .device = device};
    struct vgpu_request info = {.op = VGPU_OP_MEM_INFO};
    struct client liar, other;
    make_name(once);
    snprintf(launcher, sizeof launcher, "%s\n%s", LIAR_PROGRAM, how);
    setenv("VGPU_EXEC_LAUNCHER", launcher, 1);
    setenv("VGPU_KERNEL_SECONDS", "1", 1);
    bool limited = argc > 3 && strcmp(words, "limit") == 0;
    if (limited)
        setenv("VGPU_MEMORY_LIMIT", "64M", 1);
    client_start_checked(&liar, "hgx-h200-4", "liar", ~0u);
    client_join(&other, "liar");
    if (limited) {
        test_limit(&liar, &other, argv[3]);
        return 0;
    }
    client_malloc(&liar, 0, 4 << 20);
    send_module(&liar);
    if (strcmp(how, "refuses-map") == 0) {
        test_refused(&liar);
        unlink(once);
        return 0;
    }
    launch(&liar);
    launch(&liar);
    double began = seconds();
    if (words[0] == '-') {
        leave(&liar);
    } else {
        int error = ask_in_time(&liar, &sync, "the liar");
        printf("%d after %.1f s: %s\n", error, seconds() - began, liar.reply.r.explain);
        CHECK(!words[0] || (error != 0 && strstr(liar.reply.r.explain, words)), "not said: %s",
              words);
    }
    CHECK(ask_in_time(&other, &info, "another program") == 0, "%s", other.reply.r.explain);
    printf("another program was answered after %.1f s\n", seconds() - began);
    return 0;
}
