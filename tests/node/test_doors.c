/* SPDX-License-Identifier: MIT
 * test_doors.c: doors of threads (door.h). The reply to a thread that waits at its door lies there
 * and costs no message, and so does the next request of one that watches it; whatever a program
 * writes into its doors harms only itself.
 */
#include "client.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "door.h"
#include "wire.h"

enum { THREADS = VGPU_DOORS_THREADS + 6, PATIENCE_MS = 20000 };

/* A further thread of `main`, and its door; NULL: it has none. */
static struct vgpu_door *new_thread(struct client *main, struct client *thread)
{
    struct vgpu_request q = {.op = VGPU_OP_THREAD};
    int count = 1;
    *thread = (struct client){.fd = -1};
    CHECK(vgpu_send(main->fd, &q, sizeof q, NULL, 0) == 0, "the node is gone");
    CHECK(vgpu_receive(main->fd, &main->reply, sizeof main->reply, &thread->fd, &count, 0) > 0 &&
              count == 1 && main->reply.r.error == 0,
          "no connection: %s", main->reply.r.explain);
    return main->reply.r.value ? client_view(main, main->reply.r.value) : NULL;
}

static void send_request(struct client *c)
{
    const struct vgpu_request q = {.op = VGPU_OP_MEM_INFO, .call = "cudaMemGetInfo"};
    CHECK(vgpu_send(c->fd, &q, sizeof q, NULL, 0) == 0, "the node is gone");
}

static bool answered_by_socket(struct client *c)
{
    ssize_t got = vgpu_receive(c->fd, &c->reply, sizeof c->reply, NULL, NULL, MSG_DONTWAIT);
    return got > 0 && c->reply.r.error == 0;
}

static void reply_lies_at_the_door(struct client *main)
{
    struct client c;
    struct vgpu_door *door = new_thread(main, &c);
    CHECK(door, "the first thread has no door");
    for (int i = 0; i < 1000; i++) {
        vgpu_door_open(door);
        send_request(&c);
        ssize_t got = vgpu_door_take(door, &c.reply, sizeof c.reply, PATIENCE_MS);
        CHECK(got == sizeof c.reply.r && c.reply.r.error == 0 && c.reply.r.value2 > 0,
              "%zd bytes lie at the door", got);
        CHECK(!answered_by_socket(&c), "the reply came by the socket, too");
    }
    /* closed: by the socket, as ever */
    send_request(&c);
    CHECK(vgpu_receive(c.fd, &c.reply, sizeof c.reply, NULL, NULL, 0) > 0, "no reply");
    client_end(&c);
}

/* States that no door has; and an open one that its owner never looks at. */
static void hostile_owner(struct client *main, struct client *other)
{
    struct client c;
    struct vgpu_door *door = new_thread(main, &c);
    struct vgpu_request q = {.op = VGPU_OP_MEM_INFO};
    for (uint32_t state = 3; state < 40; state++) {
        atomic_store(&door->state, state * 0x10001u);
        atomic_store(&door->bytes, ~0u);
        send_request(&c);
        CHECK(vgpu_receive(c.fd, &c.reply, sizeof c.reply, NULL, NULL, 0) > 0, "no reply");
    }
    for (int i = 0; i < 500; i++) { /* the connection may be closed meanwhile: test_silent.c */
        vgpu_door_open(door);
        vgpu_send_now(c.fd, &q, sizeof q, NULL, 0);
    }
    CHECK(client_ask(other, &q) == 0, "%s", other->reply.r.explain);
    client_end(&c);
}

static const struct vgpu_request asked = {.op = VGPU_OP_MEM_INFO, .call = "cudaMemGetInfo"};

static struct vgpu_door *door_of_requests(struct vgpu_door *replies)
{
    return (void *)((char *)replies + VGPU_DOOR_BYTES);
}

/* A call of a thread that watches its door. True: the node found the request at the other one. */
static bool call_watching(struct client *c, struct vgpu_door *door)
{
    vgpu_door_watch(door);
    bool at_door = vgpu_door_put(door_of_requests(door), &asked, sizeof asked);
    if (!at_door)
        send_request(c);
    CHECK(vgpu_door_stare(door, PATIENCE_MS * 1000), "no reply, the request %s",
          at_door ? "lay at the door" : "came by the socket");
    ssize_t got = vgpu_door_look(door, &c->reply, sizeof c->reply, false);
    CHECK(got == sizeof c->reply.r && c->reply.r.error == 0 && c->reply.r.value2 > 0,
          "%zd bytes lie at the door", got);
    return at_door;
}

/* The node looks for the next request of a thread that watches its door, but not for long. */
static void requests_lie_at_the_door(struct client *main)
{
    struct client c;
    struct vgpu_door *door = new_thread(main, &c), *requests = door_of_requests(door);
    const uint64_t end = vgpu_door_clock_ns() + PATIENCE_MS * 1000000ull;
    int found = 0;
    CHECK(!vgpu_door_is_quiet(requests), "the node looks at the door of a thread that is new");
    while (found < 100 && vgpu_door_clock_ns() < end)
        found += call_watching(&c, door);
    CHECK(found > 0, "all requests went by the socket");
    while (vgpu_door_is_quiet(requests))
        CHECK(vgpu_door_clock_ns() < end, "the node still looks for a request");
    CHECK(!answered_by_socket(&c), "a reply came by the socket, too");
    vgpu_door_open(door); /* a thread that sleeps at its door */
    send_request(&c);
    CHECK(vgpu_door_take(door, &c.reply, sizeof c.reply, PATIENCE_MS) > 0, "no reply");
    CHECK(!vgpu_door_is_quiet(requests), "the node looks for requests of a thread that sleeps");
    client_end(&c);
}

/* Bytes that are no request, states that no door has, and a request both at the door and by the
 * socket. */
static void hostile_requests(struct client *main, struct client *other)
{
    struct vgpu_request q = {.op = VGPU_OP_MEM_INFO};
    for (int i = 0; i < 60; i++) {
        struct client c;
        struct vgpu_door *door = new_thread(main, &c), *requests = door_of_requests(door);
        call_watching(&c, door);
        if (i % 3 == 0) {
            memset(requests->message, i, sizeof requests->message);
            atomic_store(&requests->bytes, i % 2 ? ~0u : 5u);
            atomic_store(&requests->state, VGPU_DOOR_FULL);
        } else if (i % 3 == 1) {
            atomic_store(&requests->state, 77u + (uint32_t)i);
        } else {
            vgpu_door_watch(door);
            vgpu_door_put(requests, &asked, sizeof asked);
            vgpu_send_now(c.fd, &asked, sizeof asked, NULL, 0);
        }
        CHECK(client_ask(other, &q) == 0, "%s", other->reply.r.explain);
        client_end(&c);
    }
}

/* The last ones have none; the doors of threads that have ended are given again, closed. */
static void more_threads_than_doors(struct client *main, struct client *other)
{
    static struct client c[THREADS];
    struct vgpu_request q = {.op = VGPU_OP_MEM_INFO};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < THREADS; i++) {
            struct vgpu_door *door = new_thread(main, &c[i]);
            CHECK(!door == (i >= VGPU_DOORS_THREADS), "thread %d: %p", i, (void *)door);
            CHECK(!door || !vgpu_door_is_quiet(door), "the door of thread %d is open", i);
            if (door)
                vgpu_door_open(door);
        }
        send_request(&c[THREADS - 1]);
        CHECK(vgpu_receive(c[THREADS - 1].fd, &c[THREADS - 1].reply, sizeof c->reply, NULL, NULL,
                           0) > 0,
              "a thread without a door gets no reply");
        for (int i = 0; i < THREADS; i++)
            client_end(&c[i]);
        CHECK(client_ask(other, &q) == 0, "%s", other->reply.r.explain);
    }
}

int main(void)
{
    struct client program, other;
    client_start(&program, "single", "doors");
    client_join(&other, "doors");
    reply_lies_at_the_door(&program);
    requests_lie_at_the_door(&program);
    hostile_owner(&program, &other);
    hostile_requests(&program, &other);
    more_threads_than_doors(&program, &other);
    client_end(&program);
    client_end(&other);
    return 0;
}
