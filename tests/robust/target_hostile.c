/* SPDX-License-Identifier: MIT
 * target_hostile.c: libFuzzer's entry to the node for a client that was taken over: three
 * connections send every request in every state, out of order and twice, with any number in any
 * field, handles and descriptors of others, and messages of the wrong length; they do not wait for
 * answers, and leave and come again. A fourth program is answered all the while.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "whole_node.h"
#include "wire.h"

enum { CONNECTIONS = 3, KNOWN = 32, MOST = 64, PROBE = 8, HANDLE = 64, FDS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct source input;
static struct {
    int socket[CONNECTIONS];
    uint64_t known[KNOWN]; /* addresses, handles, streams: what answers gave, to whomever */
    uint32_t known_count;
    uint8_t handle[4][HANDLE];
    uint32_t handles;
    int fd[FDS]; /* that came with answers */
} state;
static union request sent;

/* In sealed memory, near its ends, or near where reading ends. */
static uint64_t some_sealed(void)
{
    static const uint64_t near[] = {0, SEALED_BYTES / 2, SEALED_BYTES, SEALED_BYTES};
    uint8_t how = source_byte(&input);
    return VGPU_SEALED_VA + near[how % 4] + how - (how < 128 ? 64 : 192);
}

static uint64_t some_value(void)
{
    uint8_t how = source_byte(&input);
    if (how < 12)
        return some_sealed();
    if (how < 170 && state.known_count)
        return state.known[how % KNOWN] + (how % 16 ? 0 : how);
    return source_number(&input);
}

/* Any 8 bytes of the union, whatever the request takes them for. */
static void fill_union(struct vgpu_request *q)
{
    uint64_t *word = (uint64_t *)(void *)&q->u;
    size_t words = sizeof q->u / sizeof *word;
    for (int i = source_byte(&input) % 8; i > 0; i--)
        word[source_byte(&input) % words] = some_value();
}

/* As the call would be made, but for one thing or another: most requests get behind the checks. */
static void fill_sensibly(struct vgpu_request *q)
{
    if (q->op == VGPU_OP_COPY) {
        q->u.copy = (struct vgpu_copy){.dst = some_value(), .src = some_value(), .rows = 1};
        q->u.copy.bytes = 1 + source_byte(&input);
        q->u.copy.sync = source_byte(&input) % 2;
    } else if (q->op == VGPU_OP_MEMSET) {
        q->u.memset = (struct vgpu_memset){.dst = some_value(), .rows = 1, .width = 1};
        q->u.memset.bytes = 1 + source_byte(&input);
    } else if (q->op == VGPU_OP_LAUNCH) {
        for (int i = 0; i < 3; i++)
            q->u.launch.grid[i] = q->u.launch.block[i] = 1;
    } else if (q->op == VGPU_OP_HELLO) {
        q->u.hello.protocol = VGPU_PROTOCOL;
        q->u.hello.checks = source_byte(&input) % 2 ? ~0u : 0;
    }
}

/* Between sealed memory and what answers gave, most likely a GPU's. */
static void fill_sealed_copy(struct vgpu_request *q)
{
    uint32_t known = state.known_count < KNOWN ? state.known_count : KNOWN;
    uint8_t how = source_byte(&input);
    uint64_t other = known ? state.known[how % known] : 0, sealed = some_sealed();
    q->op = VGPU_OP_COPY;
    q->stream = VGPU_STREAM_LEGACY;
    q->u.copy = (struct vgpu_copy){.dst = how < 128 ? other : sealed,
                                   .src = how < 128 ? sealed : other,
                                   .bytes = 1ull << source_byte(&input) % 33,
                                   .rows = 1 + source_byte(&input) % 4,
                                   .sync = 1};
    q->u.copy.pitch_src = q->u.copy.pitch_dst = q->u.copy.bytes + how % 2;
}

static void fill(void)
{
    struct vgpu_request *q = &sent.q;
    bool again = source_byte(&input) < 40; /* the same once more */
    if (again)
        return;
    memset(q, 0, sizeof *q);
    q->op = source_byte(&input) % (VGPU_OP_OBSERVE + 1);
    q->device = (int32_t)source_byte(&input) % 6 - 1;
    q->peer = (int32_t)source_byte(&input) % 6 - 1;
    q->flags = source_byte(&input) % 5;
    q->stream = source_byte(&input) % 3 ? 1 + source_byte(&input) % 2 : some_value();
    q->event = some_value();
    q->event2 = some_value();
    q->ptr = some_value();
    q->value = some_value();
    q->bytes = source_byte(&input) % 2 ? 4096ull << source_byte(&input) % 12 : some_value();
    q->clock_ps = source_byte(&input) % 4 ? 0 : source_number(&input);
    fill_sensibly(q);
    if (source_byte(&input) < 16)
        fill_sealed_copy(q);
    uint8_t how = source_byte(&input);
    if (how < 60)
        fill_union(q);
    if (how < 20) {
        q->device = (int32_t)source_number(&input);
        q->peer = (int32_t)source_number(&input);
        q->graph = (uint32_t)source_number(&input);
        q->unregistered = source_number(&input);
        q->priority = (int32_t)source_number(&input);
        q->caller = source_number(&input);
        memset(q->call, how, sizeof q->call);
        memset(q->site, how, sizeof q->site);
    }
    memcpy(q->data, state.handle[how % 4], HANDLE);
    q->data_bytes = how < 100 ? HANDLE : how < 130 ? how : 0;
}

static int some_descriptor(void)
{
    uint8_t how = source_byte(&input);
    int fd = how < 40 ? memfd_create("file", MFD_ALLOW_SEALING | MFD_CLOEXEC) : -1;
    if (fd >= 0 && how % 4 && ftruncate(fd, how % 4 * 2731) != 0) /* from no byte to two pages */
        abort();
    if (how < 20 && fd >= 0)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    else if (how < 30 && fd >= 0)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    if (how >= 40 && how < 80 && state.fd[how % FDS] >= 0)
        fd = dup(state.fd[how % FDS]);
    if (how >= 80 && how < 90) /* a queue that holds itself */
        fd = dup(state.socket[how % CONNECTIONS]);
    return fd;
}

/* What has come by now: some of it is remembered. */
static void learn(int socket)
{
    static union reply reply;
    int fds[MAX_REPLY_FDS], count = MAX_REPLY_FDS;
    while (vgpu_receive(socket, &reply, sizeof reply, fds, &count, MSG_DONTWAIT) > 0) {
        if (reply.r.value)
            state.known[state.known_count++ % KNOWN] = reply.r.value;
        if (reply.r.data_bytes == HANDLE)
            memcpy(state.handle[state.handles++ % 4], reply.r.data, HANDLE);
        for (int i = 0; i < count; i++) {
            int *place = &state.fd[(reply.r.value + (uint64_t)i) % FDS];
            if (*place >= 0)
                close(*place);
            *place = fds[i];
        }
        count = MAX_REPLY_FDS;
    }
}

static void step(void)
{
    uint8_t who = source_byte(&input) % CONNECTIONS, how = source_byte(&input);
    int *socket = &state.socket[who];
    if (how < 6) { /* leaves, and comes again */
        close(*socket);
        *socket = node_connect();
    }
    fill();
    int fd = some_descriptor();
    size_t bytes = sizeof sent.q + sent.q.data_bytes;
    if (how > 250)
        bytes = bytes * how % sizeof sent;
    struct timeval soon = {.tv_usec = 1000};
    setsockopt(*socket, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
    if (vgpu_send(*socket, &sent, bytes, &fd, fd >= 0) != 0 && how % 2) {
        close(*socket);
        *socket = node_connect();
    }
    if (fd >= 0)
        close(fd);
    if (how % 8 < 6)
        node_probe(); /* by then it has heard us */
    if (how % 8 < 5)
        learn(*socket);
}

/* The first program's memory of a GPU: not every input has to find out how it gets some. */
static void take_memory(void)
{
    sent.q = (struct vgpu_request){.op = VGPU_OP_MALLOC, .bytes = 1 << 16};
    vgpu_send(state.socket[0], &sent, sizeof sent.q, NULL, 0);
    node_probe();
    learn(state.socket[0]);
}

static void client_input(const uint8_t *data, size_t size)
{
    size_t own = size - size / 8;
    input = (struct source){data, own};
    memset(&state, 0, sizeof state);
    memset(state.fd, -1, sizeof state.fd);
    memset(&sent, 0, sizeof sent);
    node_begin((struct source){data + own, size - own});
    for (int i = 0; i < CONNECTIONS; i++)
        state.socket[i] = node_connect();
    sent.q = (struct vgpu_request){.op = VGPU_OP_HELLO, .u.hello.protocol = VGPU_PROTOCOL};
    for (int i = 0; i < CONNECTIONS - 1; i++)
        vgpu_send(state.socket[i], &sent, sizeof sent.q, NULL, 0);
    node_probe();
    learn(state.socket[0]);
    take_memory();
    for (int i = 0; i < MOST && input.left; i++)
        step();
    for (int i = 0; i < CONNECTIONS; i++)
        close(state.socket[i]);
    for (int i = 0; i < FDS; i++)
        if (state.fd[i] >= 0)
            close(state.fd[i]);
    node_probe();
    node_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (getenv("TARGET_CONTEXTS"))
        contexts_input(data, size);
    else
        client_input(data, size);
    return 0;
}
