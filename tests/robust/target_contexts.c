/* SPDX-License-Identifier: MIT
 * target_contexts.c: the other half of target_hostile.c, for what contexts answer: an ordinary
 * program launches kernels whose contexts say what the bytes make of answers. The node does not
 * crash, and others go on.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "connection.h"
#include "whole_node.h"
#include "wire.h"

enum { MOST = 24, STREAMS = 4, WAIT_MS = 400 };

static struct source input;
static int program;
static uint64_t clock_ps, memory[2], pinned, streams[STREAMS], events[2];
static bool waits; /* for an answer that has not come */

static uint64_t take_answer(int ms)
{
    static union reply reply;
    struct pollfd p = {.fd = program, .events = POLLIN};
    waits = poll(&p, 1, ms) <= 0;
    if (waits || vgpu_receive(program, &reply, sizeof reply, NULL, NULL, 0) <= 0)
        return 0;
    clock_ps = reply.r.clock_ps;
    return reply.r.value;
}

static uint64_t ask(struct vgpu_request *q, int fd)
{
    if (waits)
        take_answer(WAIT_MS);
    if (waits)
        return 0;
    q->clock_ps = clock_ps;
    if (vgpu_send(program, q, sizeof *q + q->data_bytes, &fd, fd >= 0) != 0)
        return 0;
    return take_answer(WAIT_MS);
}

static void send_image(void)
{
    struct vgpu_request q = {.op = VGPU_OP_MODULE};
    int fd = memfd_create("image", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    ask(&q, fd);
    close(fd);
}

static void begin(void)
{
    struct vgpu_request q = {.op = VGPU_OP_HELLO};
    q.u.hello.protocol = VGPU_PROTOCOL;
    q.u.hello.checks = source_byte(&input) % 2 ? ~0u : 0;
    q.u.hello.strict = source_byte(&input) % 4 == 0;
    clock_ps = 0;
    waits = false;
    program = node_connect();
    ask(&q, -1);
    send_image();
    for (int i = 0; i < 2; i++) {
        q = (struct vgpu_request){.op = VGPU_OP_MALLOC, .device = i, .bytes = 1 << (12 + 10 * i)};
        memory[i] = ask(&q, -1);
        q = (struct vgpu_request){.op = VGPU_OP_EVENT_CREATE, .device = i};
        events[i] = ask(&q, -1);
    }
    q = (struct vgpu_request){.op = VGPU_OP_HOST_ALLOC, .bytes = 65536};
    pinned = ask(&q, -1);
    for (int i = 0; i < STREAMS; i++) {
        q = (struct vgpu_request){.op = VGPU_OP_STREAM_CREATE, .device = i % 2, .flags = i / 2};
        streams[i] = ask(&q, -1);
    }
}

static void launch(uint8_t how)
{
    static union request r;
    memset(&r.q, 0, sizeof r.q);
    r.q.op = VGPU_OP_LAUNCH;
    r.q.stream = streams[how % STREAMS];
    for (int i = 0; i < 3; i++)
        r.q.u.launch.grid[i] = r.q.u.launch.block[i] = 1 + (i == 0 ? how % 3 : 0);
    r.q.u.launch.args_bytes = r.q.data_bytes = sizeof memory;
    memcpy(r.q.data, memory, sizeof memory);
    r.q.caller = 1 + how % 3;
    ask(&r.q, -1);
}

static void copy(uint8_t how)
{
    struct vgpu_request q = {.op = VGPU_OP_COPY, .stream = streams[how % STREAMS]};
    q.u.copy = (struct vgpu_copy){.dst = how & 8 ? pinned : memory[how >> 4 & 1],
                                  .src = how & 4 ? pinned : memory[how >> 5 & 1],
                                  .bytes = 64,
                                  .rows = 1,
                                  .dst_device = -1,
                                  .src_device = -1};
    ask(&q, -1);
}

static void step(void)
{
    static const uint32_t ops[] = {
        VGPU_OP_STREAM_SYNC, VGPU_OP_DEVICE_SYNC, VGPU_OP_STREAM_QUERY,  VGPU_OP_EVENT_RECORD,
        VGPU_OP_STREAM_WAIT, VGPU_OP_EVENT_QUERY, VGPU_OP_EVENT_ELAPSED, VGPU_OP_VAR,
        VGPU_OP_PRINTF,      VGPU_OP_PEER_ENABLE, VGPU_OP_DEVICE_RESET,  VGPU_OP_MODULE,
        VGPU_OP_BYE,         VGPU_OP_FREE,        VGPU_OP_HOST_TOUCH,    VGPU_OP_STREAM_DESTROY};
    uint8_t what = source_byte(&input), how = source_byte(&input);
    struct vgpu_request q = {.op = ops[what % (sizeof ops / sizeof *ops)],
                             .device = how % 2,
                             .peer = 1 - how % 2,
                             .stream = streams[how % STREAMS],
                             .event = events[how >> 2 & 1],
                             .event2 = events[1],
                             .ptr = how & 8 ? pinned + how : memory[how & 1]};
    if (what < 100)
        launch(how);
    else if (what < 130)
        copy(how);
    else if (q.op == VGPU_OP_MODULE)
        send_image();
    else
        ask(&q, -1);
}

void contexts_input(const uint8_t *data, size_t size)
{
    size_t own = size / 4;
    input = (struct source){data, own};
    node_begin((struct source){data + own, size - own});
    begin();
    for (int i = 0; i < MOST && input.left; i++)
        step();
    node_probe();
    close(program);
    node_probe();
    node_end();
}
