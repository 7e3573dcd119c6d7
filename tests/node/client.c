/* SPDX-License-Identifier: MIT
 * client.c: see client.h.
 */
#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_directory.h"
#include "wire.h"

void check_failed(const char *file, int line, const char *what, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s:%d: %s: ", file, line, what);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(1);
}

static int nodes_started; /* a node of its own each time: the last one may still be going */

static void id_of(const char *tag, char *id, size_t room)
{
    snprintf(id, room, "test-%d-%d-%s", (int)getpid(), nodes_started, tag);
}

/* Runs vgpu-node until it says that it listens. */
static void start_node(const char *node, const char *id)
{
    int ready[2];
    char number[16], line[512] = "";
    CHECK(pipe(ready) == 0, "no pipe");
    pid_t child = fork();
    if (child == 0) {
        snprintf(number, sizeof number, "%d", ready[1]);
        setenv("VGPU_NODE", node, 1);
        execl(VGPU_NODE_PROGRAM, "vgpu-node", "--id", id, "--ready-fd", number, (char *)NULL);
        _exit(127);
    }
    close(ready[1]);
    ssize_t got = read(ready[0], line, sizeof line - 1);
    close(ready[0]);
    waitpid(child, NULL, 0);
    CHECK(got > 0 && strcmp(line, "ok\n") == 0, "the node said: %s", line);
}

static int join(const char *id)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char error[256];
    CHECK(vgpu_socket_path(id, address.sun_path, sizeof address.sun_path, error, sizeof error) == 0,
          "%s", error);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "no node at %s",
          address.sun_path);
    return fd;
}

static void hello(struct client *c, uint32_t checks)
{
    struct vgpu_request q = {.op = VGPU_OP_HELLO};
    int fds[2], count = 2;
    q.u.hello.protocol = VGPU_PROTOCOL;
    q.u.hello.pid = getpid();
    q.u.hello.checks = checks;
    CHECK(vgpu_send(c->fd, &q, sizeof q, NULL, 0) == 0, "cannot say hello");
    CHECK(vgpu_receive(c->fd, &c->reply, sizeof c->reply, fds, &count, 0) > 0 && count == 2,
          "no answer to hello");
    c->host =
        mmap(NULL, VGPU_HOST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fds[1], 0);
    CHECK(c->host != MAP_FAILED, "cannot map host memory");
    close(fds[0]);
    close(fds[1]);
}

void client_start(struct client *c, const char *node, const char *tag)
{
    client_start_checked(c, node, tag, 0);
}

void client_start_checked(struct client *c, const char *node, const char *tag, uint32_t checks)
{
    char id[64];
    memset(c, 0, sizeof *c);
    nodes_started++;
    id_of(tag, id, sizeof id);
    start_node(node, id);
    c->fd = join(id);
    hello(c, checks);
}

void client_start_quiet(struct client *w, const char *node, const char *tag)
{
    char id[64];
    nodes_started++;
    id_of(tag, id, sizeof id);
    start_node(node, id);
    client_witness(w, tag);
}

void client_join(struct client *c, const char *tag)
{
    char id[64];
    memset(c, 0, sizeof *c);
    id_of(tag, id, sizeof id);
    c->fd = join(id);
    hello(c, 0);
}

void client_knock(struct client *c, const char *tag)
{
    char id[64];
    memset(c, 0, sizeof *c);
    id_of(tag, id, sizeof id);
    c->fd = join(id);
}

void client_witness(struct client *c, const char *tag)
{
    struct vgpu_request q = {.op = VGPU_OP_WITNESS};
    client_knock(c, tag);
    CHECK(client_ask(c, &q) == 0, "%s", c->reply.r.explain);
}

void client_end(struct client *c)
{
    close(c->fd);
    if (c->host)
        munmap(c->host, VGPU_HOST_BYTES);
}

int client_ask(struct client *c, struct vgpu_request *q)
{
    q->clock_ps = c->clock_ps;
    CHECK(vgpu_send(c->fd, q, sizeof *q + q->data_bytes, NULL, 0) == 0, "the node is gone");
    CHECK(vgpu_receive(c->fd, &c->reply, sizeof c->reply, NULL, NULL, 0) > 0, "the node is gone");
    c->clock_ps = c->reply.r.clock_ps;
    return c->reply.r.error;
}

static void must(struct client *c, struct vgpu_request *q)
{
    int error = client_ask(c, q);
    CHECK(error == 0, "request %u answered %d: %s", q->op, error, c->reply.r.explain);
}

uint64_t client_malloc(struct client *c, int device, uint64_t bytes)
{
    struct vgpu_request q = {.op = VGPU_OP_MALLOC, .device = device, .bytes = bytes};
    must(c, &q);
    return c->reply.r.value;
}

uint64_t client_host(struct client *c, uint64_t bytes)
{
    struct vgpu_request q = {.op = VGPU_OP_HOST_ALLOC, .bytes = bytes};
    must(c, &q);
    return c->reply.r.value;
}

uint64_t client_stream(struct client *c, int device, uint32_t flags)
{
    struct vgpu_request q = {.op = VGPU_OP_STREAM_CREATE, .device = device, .flags = flags};
    must(c, &q);
    return c->reply.r.value;
}

uint64_t client_event(struct client *c, int device)
{
    struct vgpu_request q = {.op = VGPU_OP_EVENT_CREATE, .device = device};
    must(c, &q);
    return c->reply.r.value;
}

void client_copy(struct client *c, uint64_t stream, uint64_t dst, uint64_t src, uint64_t bytes)
{
    struct vgpu_request q = {.op = VGPU_OP_COPY, .stream = stream, .call = "copy"};
    q.u.copy = (struct vgpu_copy){.dst = dst, .src = src, .bytes = bytes};
    must(c, &q);
}

void client_record(struct client *c, uint64_t event, uint64_t stream)
{
    struct vgpu_request q = {.op = VGPU_OP_EVENT_RECORD, .event = event, .stream = stream};
    must(c, &q);
}

void client_wait(struct client *c, uint64_t stream, uint64_t event)
{
    struct vgpu_request q = {.op = VGPU_OP_STREAM_WAIT, .event = event, .stream = stream};
    must(c, &q);
}

void client_sync(struct client *c, uint64_t stream)
{
    struct vgpu_request q = {.op = VGPU_OP_STREAM_SYNC, .stream = stream};
    must(c, &q);
}

void client_peer(struct client *c, int device, int peer)
{
    struct vgpu_request q = {.op = VGPU_OP_PEER_ENABLE, .device = device, .peer = peer};
    must(c, &q);
}

double client_elapsed_us(struct client *c, uint64_t start, uint64_t stop)
{
    struct vgpu_request q = {.op = VGPU_OP_EVENT_ELAPSED, .event = start, .event2 = stop};
    must(c, &q);
    return (double)c->reply.r.value * 1e-6;
}
