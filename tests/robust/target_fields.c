/* SPDX-License-Identifier: MIT
 * target_fields.c: every request as a call would make it, with one word of it after the other at
 * the limits of its type, and every number of what a context answers likewise. It draws nothing: a
 * bound that is missing in a table is met in seconds, where a fuzzer finds it by luck. With
 * TARGET_CONTEXTS in the environment: the answers.
 */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codes.h"
#include "connection.h"
#include "whole_node.h"
#include "wire.h"

enum { WAIT_MS = 2000, PAGE = 4096 };

static const uint64_t limits[] = {0,         1,          17,         65,         1u << 20,
                                  INT32_MAX, 1u << 31,   UINT32_MAX, 1ull << 32, 1ull << 47,
                                  INT64_MAX, 1ull << 63, UINT64_MAX};
enum { LIMITS = sizeof limits / sizeof *limits, LIMITS_OF_32 = 8 };

static int program = -1;
static bool is_busy; /* a request has had no answer yet */
static uint64_t memory, pinned, stream, event;
static union request asked;
static union reply answer;

static bool take_answer(int ms)
{
    struct pollfd p = {.fd = program, .events = POLLIN};
    is_busy = poll(&p, 1, ms) <= 0;
    return !is_busy && vgpu_receive(program, &answer, sizeof answer, NULL, NULL, 0) > 0;
}

static uint64_t ask(struct vgpu_request q, int fd)
{
    if (vgpu_send(program, &q, sizeof q, &fd, fd >= 0) != 0 || !take_answer(WAIT_MS))
        return 0;
    return answer.r.value;
}

static void send_image(void)
{
    int fd = memfd_create("image", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    ask((struct vgpu_request){.op = VGPU_OP_MODULE}, fd);
    close(fd);
}

static void start_program(void)
{
    struct vgpu_request hello = {.op = VGPU_OP_HELLO};
    hello.u.hello.protocol = VGPU_PROTOCOL;
    hello.u.hello.checks = ~0u;
    if (program >= 0)
        close(program);
    program = node_connect();
    ask(hello, -1);
    send_image();
    memory = ask((struct vgpu_request){.op = VGPU_OP_MALLOC, .bytes = 1 << 16}, -1);
    pinned = ask((struct vgpu_request){.op = VGPU_OP_HOST_ALLOC, .bytes = 1 << 16}, -1);
    stream = ask((struct vgpu_request){.op = VGPU_OP_STREAM_CREATE}, -1);
    event = ask((struct vgpu_request){.op = VGPU_OP_EVENT_CREATE}, -1);
}

/* ---- requests ---- */

/* As a call of this kind would be, as far as one form fits all of them. */
static void form_request(uint32_t op)
{
    struct vgpu_request *q = &asked.q;
    memset(&asked, 0, sizeof asked);
    *q = (struct vgpu_request){.op = op, .peer = 1, .stream = stream, .event = event};
    q->event2 = event;
    q->ptr = op == VGPU_OP_HOST_FREE || op == VGPU_OP_HOST_TOUCH ? pinned : memory;
    q->bytes = PAGE;
    q->value = 1;
    if (op == VGPU_OP_COPY) {
        q->u.copy = (struct vgpu_copy){.dst = memory, .src = pinned, .bytes = 64, .rows = 2};
        q->u.copy.pitch_dst = q->u.copy.pitch_src = 128;
    } else if (op == VGPU_OP_MEMSET) {
        q->u.memset = (struct vgpu_memset){.dst = memory, .bytes = 64, .rows = 1, .width = 1};
    } else if (op == VGPU_OP_LAUNCH) {
        for (int i = 0; i < 3; i++)
            q->u.launch.grid[i] = q->u.launch.block[i] = 1;
    } else if (op == VGPU_OP_HELLO) {
        q->u.hello.protocol = VGPU_PROTOCOL;
    }
}

static void start_witness(void)
{
    close(program);
    program = node_connect();
    ask((struct vgpu_request){.op = VGPU_OP_WITNESS}, -1);
}

/* Who asks this: a program, or a witness. */
static void start_asker(uint32_t op)
{
    start_program();
    if (op >= VGPU_OP_SUMMARY)
        start_witness();
}

/* Where a request has no answer yet, only another connection can send one. */
static void send_request(void)
{
    if (vgpu_send(program, &asked, sizeof asked.q, NULL, 0) != 0) {
        start_asker(asked.q.op);
        return;
    }
    node_probe();
    if (!take_answer(0) || answer.r.error != VGPU_SUCCESS)
        return;
    if (asked.q.op == VGPU_OP_DEVICE_RESET || asked.q.op == VGPU_OP_BYE)
        start_asker(asked.q.op);
}

static void bend_request(uint32_t op, size_t at, size_t bytes, uint64_t number)
{
    if (is_busy)
        start_asker(op);
    form_request(op);
    memcpy((char *)&asked + at, &number, bytes);
    send_request();
}

static void bend_word(uint32_t op, size_t at)
{
    for (int i = 0; i < LIMITS_OF_32; i++)
        bend_request(op, at, 4, limits[i]);
    for (int i = LIMITS_OF_32; i < LIMITS && at % 8 == 0; i++)
        bend_request(op, at, 8, limits[i]);
}

/* Fields that all requests have are looked at before their kinds are told apart. */
static bool is_common(size_t at)
{
    return at == offsetof(struct vgpu_request, graph) ||
           at == offsetof(struct vgpu_request, free) ||
           (at >= offsetof(struct vgpu_request, unregistered) &&
            at < offsetof(struct vgpu_request, stream)) ||
           at >= offsetof(struct vgpu_request, caller);
}

static void bend_requests(void)
{
    const size_t own = offsetof(struct vgpu_request, u);
    for (uint32_t op = 0; op <= VGPU_OP_OBSERVE + 1; op++) {
        bool has_more = op == VGPU_OP_COPY || op == VGPU_OP_MEMSET || op == VGPU_OP_LAUNCH;
        start_asker(op);
        for (size_t at = 4; at < offsetof(struct vgpu_request, site); at += 4)
            if (op == VGPU_OP_MALLOC || !is_common(at))
                bend_word(op, at);
        start_asker(op);
        for (size_t at = 0; has_more && at < sizeof(struct vgpu_copy); at += 4)
            bend_word(op, own + at);
    }
}

/* ---- answers ---- */

struct part { /* of an answer: numbers, no text */
    size_t from, to;
};

#define REPLY(field) offsetof(struct vgpu_exec_reply, field)
static const struct part parts[] = {
    {REPLY(counts.read_bytes[0]), REPLY(counts.read_bytes[1])}, /* the tables' ends */
    {REPLY(counts.write_moved[VGPU_MAX_DEVICES]), REPLY(counts.conflict_where)},
    {REPLY(counts.cycles), REPLY(fault.where)},
    {REPLY(stray_count), REPLY(stray[0].where)},
    {REPLY(hazard_count), REPLY(hazards[0].first.where)},
    {REPLY(hazards[0].first.known), REPLY(hazards[0].second.where)},
    {REPLY(hazards[0].second.known), REPLY(hazards[1])},
    {REPLY(blocks_left), REPLY(text)},
    {REPLY(kernel_count), REPLY(data)},
    {REPLY(status), REPLY(counts)},
};

static void launch(void)
{
    form_request(VGPU_OP_LAUNCH);
    if (vgpu_send(program, &asked, sizeof asked.q, NULL, 0) == 0)
        take_answer(WAIT_MS);
    ask((struct vgpu_request){.op = VGPU_OP_DEVICE_SYNC}, -1);
}

static void bend_answer(int32_t status, size_t at, size_t bytes, uint64_t number)
{
    node_answer(&(struct node_answer){status, at, bytes, number});
    launch();
    if (is_busy || answer.r.error != VGPU_SUCCESS)
        start_program();
}

static void bend_part(int32_t status, const struct part *part)
{
    static const uint32_t numbers[] = {65, INT32_MAX, UINT32_MAX};
    for (size_t at = part->from; at < part->to; at += 4) {
        for (int i = 0; i < 3; i++)
            bend_answer(status, at, 4, numbers[i]);
        if (at % 8 == 0)
            bend_answer(status, at, 8, UINT64_MAX);
    }
}

/* A kernel that waits for pinned memory: before it goes on, the node looks at what it polled there,
 * as many bytes as it said. */
static void bend_polled(void)
{
    static const uint32_t numbers[] = {9, 65, UINT32_MAX};
    for (int i = 0; i < 3; i++) {
        node_answer(
            &(struct node_answer){VGPU_STALLED, REPLY(signals.bytes), 4, numbers[i], pinned});
        launch();
        start_program();
    }
}

static void bend_answers(void)
{
    start_program();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bend_part(VGPU_RAN, &parts[i]);
    bend_part(VGPU_FAULTED, &(struct part){REPLY(fault), REPLY(fault.where)});
    bend_polled();
}

int main(void)
{
    node_begin((struct source){NULL, 0});
    node_answer(&(struct node_answer){.status = VGPU_RAN});
    if (getenv("TARGET_CONTEXTS"))
        bend_answers();
    else
        bend_requests();
    close(program);
    node_probe();
    node_end();
    return 0;
}
