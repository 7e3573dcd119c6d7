/* SPDX-License-Identifier: MIT
 * test_doors.c: doors for replies (door.h). The reply to a thread that waits at its door lies there
 * and costs no message; whatever a program writes into its door harms only itself.
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
    hostile_owner(&program, &other);
    more_threads_than_doors(&program, &other);
    client_end(&program);
    client_end(&other);
    return 0;
}
