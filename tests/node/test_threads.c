/* SPDX-License-Identifier: MIT
 * test_threads.c: two host threads of a program make any two requests about the same objects at the
 * same time. One of them may end what the other has asked about and waits for. The node answers
 * both and goes on; of two that end the same object one succeeds. With the preset asan the node's
 * lifetimes are looked at meanwhile.
 */
#include "client.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "wire.h"

#define BYTES (1u << 20)
#define GRANULE (2u << 20)
#define OPS (VGPU_OP_TRACE + 1)

/* One of each kind of object, with a copy under way that uses the memory. */
struct world {
    uint64_t device, host, stage, pooled, range, handle, stream, event, pool;
};

/* The program's first connection, which only hands out others, and a thread's that makes and ends
 * worlds. No thread lives longer than it has to: the others' waits would wait for its clock. */
static struct client program, maker;

static void start_thread(struct client *c)
{
    struct vgpu_request q = {.op = VGPU_OP_THREAD, .clock_ps = program.clock_ps};
    const struct timeval patience = {.tv_sec = 30};
    int count = 1;
    CHECK(vgpu_send(program.fd, &q, sizeof q, NULL, 0) == 0, "the node is gone");
    CHECK(vgpu_receive(program.fd, &c->reply, sizeof c->reply, &c->fd, &count, 0) > 0 && count == 1,
          "no thread");
    c->clock_ps = program.clock_ps;
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static void end_thread(struct client *c)
{
    if (c->clock_ps > program.clock_ps)
        program.clock_ps = c->clock_ps;
    close(c->fd);
    c->fd = -1;
}

static void ask(struct vgpu_request q)
{
    client_ask(&maker, &q);
}

static uint64_t value_of(struct vgpu_request q)
{
    CHECK(client_ask(&maker, &q) == 0, "request %u: %d, %s", q.op, maker.reply.r.error,
          maker.reply.r.explain);
    return maker.reply.r.value;
}

static struct world make_world(void)
{
    start_thread(&maker);
    struct world w = {.device = client_malloc(&maker, 0, BYTES),
                      .host = client_host(&maker, BYTES)};
    w.stage = value_of((struct vgpu_request){.op = VGPU_OP_STAGE_ALLOC, .bytes = BYTES});
    w.stream = client_stream(&maker, 0, 0);
    w.event = client_event(&maker, 0);
    w.pool = value_of((struct vgpu_request){.op = VGPU_OP_POOL_CREATE, .device = 0});
    w.pooled = value_of((struct vgpu_request){
        .op = VGPU_OP_POOL_MALLOC, .value = w.pool, .bytes = BYTES, .stream = w.stream});
    w.handle = value_of((struct vgpu_request){.op = VGPU_OP_VMM_CREATE, .bytes = GRANULE});
    w.range = value_of((struct vgpu_request){.op = VGPU_OP_VMM_RESERVE, .bytes = GRANULE});
    value_of((struct vgpu_request){
        .op = VGPU_OP_VMM_MAP, .ptr = w.range, .bytes = GRANULE, .value = w.handle});
    client_copy(&maker, w.stream, w.device, w.host, BYTES);
    client_record(&maker, w.event, w.stream);
    end_thread(&maker);
    return w;
}

/* What the two have left of it. Whether a call succeeds is not asked. */
static void end_world(const struct world *w)
{
    start_thread(&maker);
    ask((struct vgpu_request){.op = VGPU_OP_VMM_UNMAP, .ptr = w->range, .bytes = GRANULE});
    ask((struct vgpu_request){.op = VGPU_OP_VMM_FREE, .ptr = w->range, .bytes = GRANULE});
    ask((struct vgpu_request){.op = VGPU_OP_VMM_RELEASE, .value = w->handle});
    ask((struct vgpu_request){.op = VGPU_OP_POOL_FREE, .ptr = w->pooled, .stream = 1});
    ask((struct vgpu_request){.op = VGPU_OP_DEVICE_SYNC});
    ask((struct vgpu_request){.op = VGPU_OP_POOL_DESTROY, .value = w->pool});
    ask((struct vgpu_request){.op = VGPU_OP_STAGE_FREE, .ptr = w->stage});
    ask((struct vgpu_request){.op = VGPU_OP_HOST_FREE, .ptr = w->host});
    ask((struct vgpu_request){.op = VGPU_OP_PEER_DISABLE, .peer = 1});
    ask((struct vgpu_request){.op = VGPU_OP_DEVICE_RESET});
    end_thread(&maker);
}

/* Request `op` about that world. */
static struct vgpu_request request_about(const struct world *w, uint32_t op)
{
    struct vgpu_request q = {.op = op,
                             .peer = 1,
                             .stream = w->stream,
                             .event = w->event,
                             .event2 = w->event,
                             .ptr = w->device,
                             .bytes = BYTES};
    if (op == VGPU_OP_HOST_FREE || op == VGPU_OP_HOST_TOUCH)
        q.ptr = w->host;
    else if (op == VGPU_OP_STAGE_FREE)
        q.ptr = w->stage;
    else if (op >= VGPU_OP_POOL_CREATE && op <= VGPU_OP_POOL_FREE)
        q.ptr = w->pooled, q.value = w->pool, q.flags = 0;
    else if (op >= VGPU_OP_VMM_CREATE && op <= VGPU_OP_VMM_GET_ACCESS)
        q.ptr = w->range, q.bytes = GRANULE, q.value = w->handle;
    if (op == VGPU_OP_VMM_MAP)
        q.event = 0;
    if (op == VGPU_OP_COPY)
        q.u.copy = (struct vgpu_copy){.dst = w->device, .src = w->host, .bytes = BYTES, .sync = 1};
    if (op == VGPU_OP_MEMSET)
        q.u.memset = (struct vgpu_memset){.dst = w->device, .bytes = BYTES, .width = 1};
    return q;
}

/* Not for threads of one program at a time: they begin or end it, or have no answer of their own.
 */
static bool is_apart(uint32_t op)
{
    return op == VGPU_OP_BYE || op == VGPU_OP_HOST_NEXT || op == VGPU_OP_HOST_FUNC ||
           op == VGPU_OP_THREAD;
}

static bool ends_object(uint32_t op)
{
    return op == VGPU_OP_FREE || op == VGPU_OP_HOST_FREE || op == VGPU_OP_STAGE_FREE ||
           op == VGPU_OP_STREAM_DESTROY || op == VGPU_OP_EVENT_DESTROY || op == VGPU_OP_POOL_FREE ||
           op == VGPU_OP_POOL_DESTROY || op == VGPU_OP_VMM_RELEASE;
}

static void send_to(struct client *c, struct vgpu_request q)
{
    q.clock_ps = c->clock_ps;
    CHECK(vgpu_send(c->fd, &q, sizeof q, NULL, 0) == 0, "request %u: the node is gone", q.op);
}

/* Reads the answer to request `op`, and ends the thread. */
static int answer_to(struct client *c, uint32_t op, uint32_t other)
{
    int fds[2], count = 2;
    CHECK(vgpu_receive(c->fd, &c->reply, sizeof c->reply, fds, &count, 0) > 0,
          "request %u, with %u in another thread: the node is gone, or does not answer", op, other);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    c->clock_ps = c->reply.r.clock_ps;
    end_thread(c);
    return c->reply.r.error;
}

static void make_both(uint32_t first, uint32_t second)
{
    static struct client one, two;
    struct world w = make_world();
    start_thread(&one);
    start_thread(&two);
    send_to(&one, request_about(&w, first));
    send_to(&two, request_about(&w, second));
    struct pollfd both[] = {{one.fd, POLLIN, 0}, {two.fd, POLLIN, 0}};
    poll(both, 2, -1);
    int a, b;
    if (both[0].revents) {
        a = answer_to(&one, first, second);
        b = answer_to(&two, second, first);
    } else {
        b = answer_to(&two, second, first);
        a = answer_to(&one, first, second);
    }
    CHECK(first != second || !ends_object(first) || (a == 0) != (b == 0),
          "both threads end the same object by request %u: %d and %d", first, a, b);
    end_world(&w);
}

int main(void)
{
    int pairs = 0;
    client_start(&program, "hgx-h200-4", "threads");
    for (uint32_t first = VGPU_OP_HELLO; first < OPS; first++)
        for (uint32_t second = first; second < OPS; second++)
            if (!is_apart(first) && !is_apart(second)) {
                make_both(first, second);
                pairs++;
            }
    printf("%d pairs of requests\n", pairs);
    client_end(&program);
    return 0;
}
