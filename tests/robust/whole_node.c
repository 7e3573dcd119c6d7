/* SPDX-License-Identifier: MIT
 * whole_node.c: see whole_node.h.
 */
#include "whole_node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "codes.h"
#include "connection.h"
#include "context.h"
#include "device_memory.h"
#include "node.h"
#include "spawner.h"
#include "topology.h"
#include "wire.h"

enum { ANSWER_MS = 60000, CONTEXTS = 64, FIRST_PID = 1 << 23 /* nobody's */, MOST_LIES = 6 };
enum { SEALED_INPUT = 0x5c, ANYTHING = -1 };

static struct source answers;
static struct topology topology;
static int listener = -1, probe = -1;
static struct sockaddr_un address;
static socklen_t address_bytes;
static pthread_t node;
static uint8_t *sealed;

/* ---- input ---- */

uint8_t source_byte(struct source *s)
{
    if (s->left == 0)
        return 0;
    s->left--;
    return *s->at++;
}

uint64_t source_number(struct source *s)
{
    uint8_t how = source_byte(s);
    uint64_t number = 0;
    if (how < 96)
        return how % 16;
    if (how < 128)
        return ~0ull - how % 8;
    if (how < 192)
        return (1ull << (how % 64)) - how % 2;
    for (int i = 0; i < 8; i++)
        number = number << 8 | source_byte(s);
    return number;
}

/* ---- contexts, in place of spawner.c ---- */

static struct {
    pthread_t thread;
    int socket;
    bool used;
} contexts[CONTEXTS];

union message {
    struct vgpu_exec_request q;
    struct vgpu_exec_reply r;
    uint8_t room[VGPU_MSG_MAX];
};

/* What a context of ours may answer. */
static void tell_truth(const struct vgpu_exec_request *q, struct vgpu_exec_reply *r)
{
    memset(r, 0, sizeof *r);
    r->run = q->run;
    if (q->op == VGPU_EXEC_MODULE)
        r->kernel_count = 1;
    if (q->op != VGPU_EXEC_RUN && q->op != VGPU_EXEC_RESUME)
        return;
    uint8_t how = source_byte(&answers);
    r->status = how < 200 ? VGPU_RAN : how < 240 ? VGPU_FAULTED : VGPU_STALLED;
    r->moved = how % 4 != 0;
    r->fault.kind = how % (VGPU_FAULT_HANG + 1);
    r->fault.address = source_number(&answers);
    r->stray_count = how % 3;
    r->stray[0].address = r->stray[1].address = source_number(&answers);
    r->hazard_count = how % 2;
    r->hazards[0].address = source_number(&answers);
    r->signals.polled_count = r->signals.stored_count = how % 3;
    for (int i = 0; i < 2; i++) {
        r->signals.polled[i] = VGPU_HOST_VA + source_byte(&answers) * 8ull;
        r->signals.stored[i] = VGPU_DEVICE_VA(i) + source_byte(&answers) * 8ull;
        r->signals.bytes[i] = how % 9;
        r->counts.read_moved[i] = source_byte(&answers);
    }
}

static void send_spans(const struct vgpu_exec_request *q, union message *m)
{
    struct vgpu_span span[4];
    for (int i = 0; i < 4; i++)
        span[i] = (struct vgpu_span){source_number(&answers), source_number(&answers),
                                     source_number(&answers), source_number(&answers),
                                     source_byte(&answers) % (VGPU_USES + 1)};
    memset(&m->r, 0, sizeof m->r);
    m->r.run = q->run;
    m->r.span_count = 4;
    m->r.data_bytes = sizeof span;
    memcpy(m->r.data, span, sizeof span);
}

/* Numbers anywhere in the answer become others. */
static void lie(union message *m)
{
    int lies = source_byte(&answers) % MOST_LIES;
    for (int i = 0; i < lies; i++) {
        size_t at = (source_byte(&answers) << 8 | source_byte(&answers)) % sizeof m->r;
        uint64_t number = source_number(&answers);
        size_t bytes = sizeof m->r - at < 8 ? sizeof m->r - at : source_byte(&answers) % 2 ? 8 : 4;
        memcpy(m->room + at, &number, bytes);
    }
    if (lies == MOST_LIES - 1)
        m->r.data_bytes = source_byte(&answers);
}

static struct node_answer chosen;
static bool is_chosen;

void node_answer(const struct node_answer *answer)
{
    chosen = *answer;
    is_chosen = true;
}

static void tell_chosen(const struct vgpu_exec_request *q, struct vgpu_exec_reply *r)
{
    memset(r, 0, sizeof *r);
    r->run = q->run;
    r->kernel_count = q->op == VGPU_EXEC_MODULE;
    if (q->op != VGPU_EXEC_RUN && q->op != VGPU_EXEC_RESUME)
        return;
    r->status = chosen.status;
    r->stray_count = r->hazard_count = 1;
    r->stray[0].address = r->hazards[0].address = VGPU_DEVICE_VA(0);
    r->signals.polled_count = r->signals.stored_count = 1;
    r->signals.stored[0] = VGPU_DEVICE_VA(0);
    r->signals.polled[0] = chosen.polled ? chosen.polled : VGPU_DEVICE_VA(0);
    memcpy((char *)r + chosen.at, &chosen.number, chosen.bytes);
}

static void *serve_context(void *number)
{
    static __thread union message asked, said;
    int socket = contexts[(intptr_t)number].socket;
    while (vgpu_receive(socket, &asked, sizeof asked, NULL, NULL, 0) >= (ssize_t)sizeof asked.q) {
        uint8_t how = source_byte(&answers);
        if (is_chosen) {
            tell_chosen(&asked.q, &said.r);
            vgpu_send(socket, &said, sizeof said.r, NULL, 0);
            continue;
        }
        if (how == 255)
            break;
        if (how > 240 && asked.q.op == VGPU_EXEC_RUN) {
            send_spans(&asked.q, &said);
            vgpu_send(socket, &said, sizeof said.r + said.r.data_bytes, NULL, 0);
        }
        tell_truth(&asked.q, &said.r);
        if (how % 2)
            lie(&said);
        size_t bytes = sizeof said.r + said.r.data_bytes;
        bytes = bytes > sizeof said ? sizeof said : bytes;
        vgpu_send(socket, &said, how == 254 ? how : bytes, NULL, 0);
        if (how == 253)
            vgpu_send(socket, &said, bytes, NULL, 0);
    }
    shutdown(socket, SHUT_RDWR);
    return NULL;
}

void spawner_set_program(const char *path)
{
    (void)path;
}

bool spawner_leave(const char *leftover)
{
    return leftover != NULL;
}

pid_t spawner_start(int socket)
{
    for (intptr_t i = 0; i < CONTEXTS; i++) {
        if (contexts[i].used)
            continue;
        contexts[i].socket = dup(socket);
        contexts[i].used = pthread_create(&contexts[i].thread, NULL, serve_context, (void *)i) == 0;
        return contexts[i].used ? FIRST_PID + (pid_t)i : -1;
    }
    errno = EAGAIN;
    return -1;
}

void spawner_hang(pid_t context)
{
    shutdown(contexts[context - FIRST_PID].socket, SHUT_RDWR);
}

void spawner_end(pid_t context)
{
    int i = context - FIRST_PID;
    pthread_join(contexts[i].thread, NULL);
    close(contexts[i].socket);
    contexts[i].used = false;
}

enum quiescence spawner_quiescence(const pid_t *pid, int count)
{
    (void)pid, (void)count;
    return QUIESCENT_UNKNOWN;
}

/* ---- the node ---- */

/* Once: what main.c does before it listens. */
static void start_once(void)
{
    static bool started;
    char error[512];
    if (started)
        return;
    started = true;
    setenv("VGPU_KERNEL_SECONDS", "1", 1);
    setenv("VGPU_MEMORY_LIMIT", "256M", 1);
    int info = memfd_create("info", MFD_CLOEXEC);
    if (topology_load(&topology, VGPU_NODES, "hgx-h200-4", error, sizeof error) != 0 ||
        memory_start(&topology.info, error, sizeof error) != 0 || info < 0 ||
        write(info, &topology.info, sizeof topology.info) != sizeof topology.info)
        abort();
    signal(SIGPIPE, SIG_IGN);
    context_start("", 1);
    node_start(&topology, info, -1);
}

static void *serve(void *unused)
{
    server_loop(listener);
    return unused;
}

/* ANYTHING, or the code that the answer must have. */
static void await_answer(int socket, int code)
{
    static union reply reply;
    struct pollfd p = {.fd = socket, .events = POLLIN};
    int ready;
    do
        ready = poll(&p, 1, ANSWER_MS);
    while (ready < 0 && errno == EINTR); /* libFuzzer looks at its watch by SIGALRM */
    bool came = ready > 0 && vgpu_receive(socket, &reply, sizeof reply, NULL, NULL, 0) > 0;
    if (came && (code == ANYTHING || code == reply.r.error))
        return;
    if (came)
        fprintf(stderr, "an answer has error %d: %s\n", reply.r.error, reply.r.explain);
    else
        fprintf(stderr, "another program got no answer within %d ms\n", ANSWER_MS);
    abort();
}

void node_probe(void)
{
    const struct vgpu_request q = {.op = VGPU_OP_CONTEXT_MADE};
    if (vgpu_send(probe, &q, sizeof q, NULL, 0) != 0)
        abort();
    await_answer(probe, ANYTHING);
}

int node_connect(void)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, address_bytes) == 0)
        return fd;
    abort();
}

/* Once, before the first program, by the first witness. */
static void seal(void)
{
    struct vgpu_request q = {.op = VGPU_OP_WITNESS};
    int memory = memfd_create("sealed", MFD_ALLOW_SEALING | MFD_CLOEXEC), witness = node_connect();
    if (memory < 0 || ftruncate(memory, SEALED_BYTES) != 0 ||
        fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        abort();
    sealed = mmap(NULL, SEALED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (sealed == MAP_FAILED || vgpu_send(witness, &q, sizeof q, NULL, 0) != 0)
        abort();
    memset(sealed, SEALED_INPUT, SEALED_BYTES / 2);
    await_answer(witness, VGPU_SUCCESS);
    q = (struct vgpu_request){.op = VGPU_OP_SEAL, .bytes = SEALED_BYTES / 2};
    if (vgpu_send(witness, &q, sizeof q, &memory, 1) != 0)
        abort();
    await_answer(witness, VGPU_SUCCESS);
    close(memory);
    close(witness);
}

static void check_sealed(void)
{
    for (int i = 0; i < SEALED_BYTES / 2; i++)
        if (sealed[i] != SEALED_INPUT) {
            fprintf(stderr, "a program has changed what is sealed for reading, at %d\n", i);
            abort();
        }
}

void node_begin(struct source from)
{
    struct vgpu_request hello = {.op = VGPU_OP_HELLO, .u.hello.protocol = VGPU_PROTOCOL};
    start_once();
    answers = from;
    address = (struct sockaddr_un){.sun_family = AF_UNIX};
    address_bytes = sizeof address;
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 ||
        listen(listener, 64) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &address_bytes) != 0)
        abort();
    probe = node_connect();
    if (pthread_create(&node, NULL, serve, NULL) != 0)
        abort();
    if (!sealed)
        seal();
    if (vgpu_send(probe, &hello, sizeof hello, NULL, 0) != 0)
        abort();
    await_answer(probe, ANYTHING);
}

void node_end(void)
{
    close(probe);
    pthread_join(node, NULL);
    close(listener);
    check_sealed();
}
