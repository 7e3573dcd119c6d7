/* SPDX-License-Identifier: MIT
 * target_requests.c: libFuzzer's entry to the whole node: two programs say hello and send what the
 * bytes make of requests. Every request is answered in time, whatever was asked before; both leave.
 *
 * With TARGET_HANDLES set in the environment: only requests about memory and events that leave
 * their process, and all of a handle's 64 bytes, some of them changed on the way.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "connection.h"
#include "context.h"
#include "device_memory.h"
#include "node.h"
#include "topology.h"
#include "wire.h"

enum { PROGRAMS = 2, KNOWN = 16, MOST = 48, HANDLE = 64, ANSWER_MS = 60000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of the input; 0 when it is used up. */
static struct {
    const uint8_t *at;
    size_t left;
} input;

static struct {
    int socket[PROGRAMS];
    uint64_t known[KNOWN]; /* addresses, handles, streams: what answers gave */
    uint32_t known_count;
    uint8_t handle[4][HANDLE];
    uint32_t handles;
    union reply reply;
} state;

static uint8_t byte(void)
{
    if (input.left == 0)
        return 0;
    input.left--;
    return *input.at++;
}

static uint64_t some_value(void)
{
    uint8_t how = byte();
    if (how < 160 && state.known_count)
        return state.known[how % state.known_count % KNOWN] + (how % 16 ? 0 : 8);
    if (how < 200)
        return how % 8;
    return how < 230 ? ~0ull - how % 3 : (uint64_t)how << (how % 48);
}

static uint64_t some_bytes(void)
{
    static const uint64_t choices[] = {
        0, 1, 3, 64, 512, 4096, 2 << 20, 4 << 20, (2 << 20) + 1, 1ull << 41, ~0ull};
    return choices[byte() % (sizeof choices / sizeof *choices)];
}

static uint32_t op_of_handles(void)
{
    static const uint32_t ops[] = {
        VGPU_OP_MALLOC,          VGPU_OP_FREE,         VGPU_OP_EVENT_CREATE,
        VGPU_OP_EVENT_DESTROY,   VGPU_OP_EVENT_RECORD, VGPU_OP_IPC_EXPORT,
        VGPU_OP_IPC_OPEN,        VGPU_OP_IPC_CLOSE,    VGPU_OP_IPC_EVENT,
        VGPU_OP_IPC_EVENT_OPEN,  VGPU_OP_POOL_CREATE,  VGPU_OP_POOL_DESTROY,
        VGPU_OP_POOL_MALLOC,     VGPU_OP_POOL_FREE,    VGPU_OP_POOL_EXPORT_PTR,
        VGPU_OP_POOL_IMPORT_PTR, VGPU_OP_COPY,         VGPU_OP_MEMSET};
    return ops[byte() % (sizeof ops / sizeof *ops)];
}

/* Nobody is here to call host functions or to speak for another thread. */
static uint32_t any_op(void)
{
    uint32_t op = byte() % (VGPU_OP_OBSERVE + 2);
    bool ours = op == VGPU_OP_HELLO || op == VGPU_OP_THREAD || op == VGPU_OP_HOST_FUNC ||
                op == VGPU_OP_HOST_NEXT || op == VGPU_OP_BYE;
    return ours ? VGPU_OP_STREAM_CREATE : op;
}

static void fill_copy(struct vgpu_copy *copy)
{
    *copy = (struct vgpu_copy){.dst = some_value(), .src = some_value(), .bytes = some_bytes()};
    copy->rows = byte() % 4;
    copy->pitch_dst = copy->pitch_src = some_bytes();
    copy->api = byte() % 2;
    copy->dst_device = byte() % 7 - 1;
    copy->src_device = byte() % 7 - 1;
    copy->sync = byte() % 2;
}

static void fill_memset(struct vgpu_memset *set)
{
    *set = (struct vgpu_memset){.dst = some_value(), .bytes = some_bytes()};
    set->width = byte() % 5;
    set->rows = byte() % 3;
    set->pitch = some_bytes();
    set->sync = byte() % 2;
}

/* One of the handles that answers gave, perhaps with one byte changed. */
static uint32_t fill_handle(uint8_t *out)
{
    uint8_t how = byte();
    memcpy(out, state.handle[how % 4], HANDLE);
    if (how >= 200)
        out[how % HANDLE] ^= (uint8_t)(byte() | 1);
    return how == 199 ? HANDLE / 2 : HANDLE;
}

static void fill(struct vgpu_request *q, size_t *data_bytes)
{
    memset(q, 0, sizeof *q);
    q->op = getenv("TARGET_HANDLES") ? op_of_handles() : any_op();
    q->device = byte() % 7 - 1;
    q->peer = byte() % 7 - 1;
    q->flags = byte() % 9;
    q->stream = byte() % 2 ? byte() % 4 : some_value();
    q->event = some_value();
    q->event2 = some_value();
    q->ptr = some_value();
    q->value = some_value();
    q->bytes = some_bytes();
    if (q->op == VGPU_OP_COPY)
        fill_copy(&q->u.copy);
    else if (q->op == VGPU_OP_MEMSET)
        fill_memset(&q->u.memset);
    else if (q->op == VGPU_OP_LAUNCH)
        q->u.launch.grid[0] = q->u.launch.block[0] = byte() % 3;
    if (q->op == VGPU_OP_IPC_OPEN || q->op == VGPU_OP_IPC_EVENT_OPEN ||
        q->op == VGPU_OP_POOL_IMPORT_PTR)
        *data_bytes = fill_handle(q->data);
    q->data_bytes = (uint32_t)*data_bytes;
}

/* False: no answer. Descriptors that came with it are closed. */
static bool answered(int socket)
{
    int fds[MAX_REPLY_FDS], count = MAX_REPLY_FDS;
    struct pollfd p = {.fd = socket, .events = POLLIN};
    int ready;
    do
        ready = poll(&p, 1, ANSWER_MS);
    while (ready < 0 && errno == EINTR); /* libFuzzer looks at its watch by SIGALRM */
    if (ready <= 0)
        return false;
    if (vgpu_receive(socket, &state.reply, sizeof state.reply, fds, &count, 0) <= 0)
        return false;
    for (int i = 0; i < count; i++)
        close(fds[i]);
    return true;
}

static void learn(void)
{
    const struct vgpu_reply *r = &state.reply.r;
    if (r->value)
        state.known[state.known_count++ % KNOWN] = r->value;
    if (r->data_bytes == HANDLE)
        memcpy(state.handle[state.handles++ % 4], r->data, HANDLE);
}

static void ask(int program)
{
    static union request request;
    size_t data_bytes = 0;
    fill(&request.q, &data_bytes);
    if (vgpu_send(state.socket[program], &request, sizeof request.q + data_bytes, NULL, 0) != 0)
        return;
    if (!answered(state.socket[program])) {
        fprintf(stderr, "request %u got no answer within %d ms\n", request.q.op, ANSWER_MS);
        abort();
    }
    learn();
}

static void hello(int program)
{
    struct vgpu_request q = {.op = VGPU_OP_HELLO};
    q.u.hello.protocol = VGPU_PROTOCOL;
    q.u.hello.pid = getpid() + program;
    if (vgpu_send(state.socket[program], &q, sizeof q, NULL, 0) != 0 ||
        !answered(state.socket[program])) {
        fprintf(stderr, "program %d's hello got no answer: %s\n", program, strerror(errno));
        abort();
    }
}

static void *serve(void *unused)
{
    server_loop(-1);
    return unused;
}

/* Once: what main.c does before it listens. */
static void start_node(void)
{
    static struct topology topology;
    static bool started;
    char error[512];
    if (started)
        return;
    started = true;
    int info = memfd_create("info", MFD_CLOEXEC);
    if (topology_load(&topology, VGPU_NODES, "hgx-h200-4", error, sizeof error) != 0 ||
        memory_start(&topology.info, error, sizeof error) != 0 || info < 0 ||
        write(info, &topology.info, sizeof topology.info) != sizeof topology.info)
        abort();
    signal(SIGPIPE, SIG_IGN);
    context_start("/dev/null", 1); /* no kernel is ever loaded */
    if (!node_start(&topology, info, -1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pthread_t node;
    start_node();
    memset(&state, 0, sizeof state);
    input.at = data;
    input.left = size;
    for (int i = 0; i < PROGRAMS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
            !server_add(pair[0]))
            abort();
        state.socket[i] = pair[1];
    }
    if (pthread_create(&node, NULL, serve, NULL) != 0)
        abort();
    for (int i = 0; i < PROGRAMS; i++)
        hello(i);
    for (int i = 0; i < MOST && input.left; i++)
        ask(byte() % PROGRAMS);
    for (int i = 0; i < PROGRAMS; i++)
        close(state.socket[i]);
    pthread_join(node, NULL);
    return 0;
}
