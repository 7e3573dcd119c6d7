/* SPDX-License-Identifier: MIT
 * test_work.c: what a program can make the node itself do is limited: copies and fills of very many
 * rows, queued before it says goodbye and ends. Another program is answered soon.
 *
 *     test_node_work [queue | twice | drained]    very many operations; a request before the last
 * one's answer; connections that end while the node hears all others for a witness
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "wire.h"

enum { OPERATIONS = 6, SOON_MS = 15000, MOST_QUEUED = 1 << 18 };
static const uint64_t rows = 1 << 26; /* of one byte each, 2^29 in all */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void queue_copy(struct client *c, uint64_t at)
{
    struct vgpu_request q = {.op = VGPU_OP_COPY, .stream = VGPU_STREAM_LEGACY, .call = "copy"};
    q.u.copy = (struct vgpu_copy){
        .dst = at, .src = at, .bytes = 1, .rows = rows, .pitch_dst = 1, .pitch_src = 1};
    CHECK(client_ask(c, &q) == 0, "%s", c->reply.r.explain);
}

static void queue_fill(struct client *c, uint64_t at)
{
    struct vgpu_request q = {.op = VGPU_OP_MEMSET, .stream = VGPU_STREAM_LEGACY, .call = "fill"};
    q.u.memset = (struct vgpu_memset){
        .dst = at, .bytes = 1, .rows = rows, .pitch = 1, .width = 1, .value = 7};
    CHECK(client_ask(c, &q) == 0, "%s", c->reply.r.explain);
}

/* Says goodbye and ends without hearing the answer. */
static void leave(struct client *c)
{
    struct vgpu_request q = {.op = VGPU_OP_BYE, .clock_ps = c->clock_ps};
    CHECK(vgpu_send(c->fd, &q, sizeof q, NULL, 0) == 0, "the node is gone");
    usleep(100000);
    client_end(c);
}

/* As many operations as the node keeps, and one more: it is refused with a sentence, and what is
 * queued can be waited for. */
static void test_queue(void)
{
    struct client c;
    struct vgpu_request fill = {.op = VGPU_OP_MEMSET, .stream = VGPU_STREAM_LEGACY};
    struct vgpu_request sync = {.op = VGPU_OP_DEVICE_SYNC};
    int queued = 0;
    client_start(&c, "single", "queue");
    fill.u.memset =
        (struct vgpu_memset){.dst = client_malloc(&c, 0, 64), .bytes = 4, .rows = 1, .width = 4};
    while (queued <= MOST_QUEUED && client_ask(&c, &fill) == 0)
        queued++;
    printf("%d operations were queued, then: %s\n", queued, c.reply.r.explain);
    CHECK(queued <= MOST_QUEUED && strstr(c.reply.r.explain, "cudaDeviceSynchronize"), "no limit");
    CHECK(client_ask(&c, &sync) == 0 && client_ask(&c, &fill) == 0, "%s", c.reply.r.explain);
    client_end(&c);
}

static void test_rows(void)
{
    struct client busy, other;
    struct vgpu_request info = {.op = VGPU_OP_MEM_INFO};
    client_start_checked(&busy, "hgx-h200-4", "work", ~0u);
    client_join(&other, "work");
    uint64_t at = client_malloc(&busy, 0, rows);
    for (int i = 0; i < OPERATIONS; i++) {
        queue_copy(&busy, at);
        queue_fill(&busy, at);
    }
    leave(&busy);
    double began = seconds();
    struct pollfd p = {.fd = other.fd, .events = POLLIN};
    CHECK(vgpu_send(other.fd, &info, sizeof info, NULL, 0) == 0, "the node is gone");
    CHECK(poll(&p, 1, SOON_MS) == 1, "no answer within %d s", SOON_MS / 1000);
    printf("another program was answered after %.1f s\n", seconds() - began);
}

static uint64_t free_bytes(struct client *c)
{
    struct vgpu_request info = {.op = VGPU_OP_MEM_INFO};
    CHECK(client_ask(c, &info) == 0, "%s", c->reply.r.explain);
    return c->reply.r.value;
}

/* A second request before the first was answered, and in it the other end of its own connection:
 * left unread, that connection never closes, and what its program has stays for ever. */
static void test_twice(void)
{
    struct client c, other;
    struct vgpu_request next = {.op = VGPU_OP_HOST_NEXT}, any = {.op = VGPU_OP_MODULE};
    client_start(&c, "single", "twice");
    client_join(&other, "twice");
    uint64_t before = free_bytes(&other);
    client_malloc(&c, 0, 1 << 30);
    CHECK(vgpu_send(c.fd, &next, sizeof next, NULL, 0) == 0 &&
              vgpu_send(c.fd, &any, sizeof any, &c.fd, 1) == 0,
          "the node is gone");
    client_end(&c);
    for (int i = 0; i < 50 && free_bytes(&other) < before; i++)
        usleep(100000);
    CHECK(free_bytes(&other) >= before, "what it had is still taken after 5 s");
    printf("the connection was closed, and what it had is free\n");
}

static void say(const struct client *c, uint32_t op, size_t bytes)
{
    const struct vgpu_request q = {.op = op};
    CHECK(vgpu_send(c->fd, &q, bytes, NULL, 0) == 0, "the node is gone");
}

static struct client newcomer(struct client *witness)
{
    struct vgpu_request q = {.op = VGPU_OP_SUMMARY};
    struct client c;
    client_knock(&c, "drained");
    for (int i = 0; i < 4; i++) /* rounds, in which it is let in */
        client_ask(witness, &q);
    return c;
}

/* While the node hears the others for one witness, a newcomer becomes a witness, too, for whom it
 * would hear them again; meanwhile one of them ends, and then the newcomer. */
static void test_drained(void)
{
    const struct vgpu_request q = {.op = VGPU_OP_SUMMARY};
    struct client program, witness;
    struct ucred node = {0};
    socklen_t room = sizeof node;
    client_start(&program, "single", "drained");
    client_witness(&witness, "drained");
    struct client ends = newcomer(&witness), second = newcomer(&witness);
    CHECK(getsockopt(program.fd, SOL_SOCKET, SO_PEERCRED, &node, &room) == 0 && node.pid > 1,
          "whose is the socket?");
    kill(node.pid, SIGSTOP); /* all of this comes at once */
    say(&witness, VGPU_OP_SUMMARY, sizeof q);
    say(&ends, VGPU_OP_SUMMARY, 1);
    say(&second, VGPU_OP_WITNESS, sizeof q);
    say(&second, VGPU_OP_SUMMARY, sizeof q);
    say(&second, VGPU_OP_SUMMARY, 1);
    kill(node.pid, SIGCONT);
    CHECK(vgpu_receive(witness.fd, &witness.reply, sizeof witness.reply, NULL, NULL, 0) > 0,
          "the node is gone");
    free_bytes(&program);
    printf("the witness is answered, and so is the program\n");
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "drained") == 0)
        test_drained();
    else if (argc > 1 && strcmp(argv[1], "queue") == 0)
        test_queue();
    else if (argc > 1)
        test_twice();
    else
        test_rows();
    return 0;
}
