/* SPDX-License-Identifier: MIT
 * test_threads.c: two host threads of a program make any two requests about the same objects at the
 * same time, in either order. One of them may end what the other has asked about and waits for. The
 * node answers both and goes on; of two that end the same object one succeeds. With the preset asan
 * the node's lifetimes are looked at meanwhile.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "threads_world.h"
#include "wire.h"

#define TAG "threads"
#define OPS (VGPU_OP_TRACE + 1)
#define WAIT_MS 30000
#define NOT_READY 600

/* What a thread asks. Each request about its usual object, then these. */
struct question {
    uint32_t op;
    enum object object;
};

static const struct question others[] = {
    {VGPU_OP_FREE, POOLED},
    {VGPU_OP_FREE, TAKEN},
    {VGPU_OP_POOL_FREE, TAKEN},
    {VGPU_OP_IPC_CLOSE, TAKEN},
    {VGPU_OP_COPY, OPENED},
    {VGPU_OP_COPY, TAKEN},
    {VGPU_OP_COPY, POOLED},
    {VGPU_OP_COPY, STAGE},
    {VGPU_OP_COPY, RANGE},
    {VGPU_OP_EVENT_SYNC, OPENED_EVENT},
    {VGPU_OP_EVENT_DESTROY, OPENED_EVENT},
};

enum { QUESTIONS = OPS - 1 + sizeof others / sizeof *others };

static struct question question(int number)
{
    uint32_t op = (uint32_t)number + 1;
    if (op >= OPS)
        return others[op - OPS];
    return (struct question){op, world_usual_object(op)};
}

/* ---- two threads, one that calls functions of the program, one that waits for all ---- */

enum { FIRST, SECOND, CALLER, LAST, THREADS };

struct thread {
    struct question asks;
    int error;
    struct client client;
};

static struct world world;
static bool succeeded[QUESTIONS];
static struct thread threads[THREADS];

static bool takes(uint32_t op)
{
    return op == VGPU_OP_HOST_NEXT;
}

static void ask(struct thread *t, struct question asks)
{
    world_start_thread(&world, &t->client);
    struct message m = world_request(&world, asks.op, asks.object);
    t->asks = asks;
    message_send(&t->client, &m);
}

/* The function that is to be called has returned; the next one is asked for. */
static void call_function(struct thread *t)
{
    struct message m = MESSAGE(.op = VGPU_OP_HOST_NEXT, .value = t->client.reply.r.value);
    message_send(&t->client, &m);
}

static void hear(struct thread *t)
{
    struct client *c = &t->client;
    int fds[2], count = 2;
    CHECK(vgpu_receive(c->fd, &c->reply, sizeof c->reply, fds, &count, 0) > 0,
          "request %u, of %u and %u by two threads: the node is gone", t->asks.op,
          threads[FIRST].asks.op, threads[SECOND].asks.op);
    for (int i = 0; i < count; i++)
        close(fds[i]);
    c->clock_ps = c->reply.r.clock_ps;
    t->error = c->reply.r.error;
    if (takes(t->asks.op))
        call_function(t);
    else
        world_end_thread(&world, c);
}

/* Until all have their answers. Those that call functions go on. */
static void hear_all(void)
{
    for (;;) {
        struct pollfd p[THREADS];
        int missing = 0;
        for (int i = 0; i < THREADS; i++) {
            p[i] = (struct pollfd){threads[i].client.fd, POLLIN, 0};
            missing += threads[i].client.fd >= 0 && !takes(threads[i].asks.op);
        }
        if (!missing)
            return;
        CHECK(poll(p, THREADS, WAIT_MS) > 0, "requests %u and %u by two threads: no answer",
              threads[FIRST].asks.op, threads[SECOND].asks.op);
        for (int i = 0; i < THREADS; i++)
            if (p[i].revents)
                hear(&threads[i]);
    }
}

static void end_callers(void)
{
    for (int i = 0; i < THREADS; i++)
        if (threads[i].client.fd >= 0)
            world_end_thread(&world, &threads[i].client);
}

/* ---- pairs ---- */

static bool is_either(struct question first, struct question second, uint32_t op)
{
    return first.op == op || second.op == op;
}

static bool is_answer(int error)
{
    return error == 0 || error == NOT_READY;
}

static void check_ends(struct question first, struct question second)
{
    bool same = world_ends(first.op) && world_ends(second.op) && first.object == second.object;
    int a = threads[FIRST].error, b = threads[SECOND].error;
    CHECK(!same || (a == 0) != (b == 0),
          "both threads end the same object, by requests %u and %u: %d and %d", first.op, second.op,
          a, b);
}

/* What was ended is made again, so that both find everything; and there is work under way. */
static void prepare(struct question first, struct question second)
{
    if (is_either(first, second, VGPU_OP_BYE)) {
        world_end(&world);
        world_begin(&world, TAG);
    }
    world_start_thread(&world, world.maker);
    world_put_to_work(&world);
    if (is_either(first, second, VGPU_OP_HOST_NEXT))
        world_add_function(&world);
    world_end_thread(&world, world.maker);
}

static void mend(struct question first, struct question second)
{
    world_start_thread(&world, world.maker);
    world_mend(&world, first.op, first.object);
    world_mend(&world, second.op, second.object);
    world_end_thread(&world, world.maker);
}

static void make_both(int one, int two)
{
    struct question first = question(one), second = question(two);
    bool taken = is_either(first, second, VGPU_OP_HOST_NEXT);
    bool calls = taken || is_either(first, second, VGPU_OP_HOST_FUNC);
    prepare(first, second);
    ask(&threads[FIRST], first);
    ask(&threads[SECOND], second);
    if (calls && !taken)
        ask(&threads[CALLER], (struct question){VGPU_OP_HOST_NEXT, NOTHING});
    hear_all();
    if (calls) {
        ask(&threads[LAST], (struct question){VGPU_OP_DEVICE_SYNC, NOTHING});
        hear_all();
        end_callers();
    }
    check_ends(first, second);
    succeeded[one] |= is_answer(threads[FIRST].error);
    succeeded[two] |= is_answer(threads[SECOND].error);
    mend(first, second);
}

/* A request that is refused whenever it is made tries nothing. Those of newcomers and witnesses
 * are.
 */
static void check_successes(void)
{
    for (int i = 0; i < QUESTIONS; i++) {
        uint32_t op = question(i).op;
        bool refused = op == VGPU_OP_HELLO || op == VGPU_OP_WITNESS || op >= VGPU_OP_SUMMARY;
        CHECK(succeeded[i] != refused, "question %d, request %u: %s", i, op,
              refused ? "answered" : "refused every time");
    }
}

/* Contexts answer what is true, without a kernel: liar.c. */
static void start_node(struct client *witness)
{
    char launcher[512];
    snprintf(launcher, sizeof launcher, "%s\nhonest", LIAR_PROGRAM);
    setenv("VGPU_EXEC_LAUNCHER", launcher, 1);
    client_start_quiet(witness, "hgx-h200-4", TAG);
    for (int i = 0; i < THREADS; i++)
        threads[i].client.fd = -1;
}

int main(void)
{
    struct client witness = {0};
    int pairs = 0;
    start_node(&witness);
    world_start_exporter(TAG);
    for (int first = 0; first < QUESTIONS; first++) {
        world_begin(&world, TAG);
        for (int second = 0; second < QUESTIONS; second++, pairs++)
            make_both(first, second);
        world_end(&world);
    }
    check_successes();
    printf("%d pairs of requests\n", pairs);
    client_end(&witness);
    return 0;
}
