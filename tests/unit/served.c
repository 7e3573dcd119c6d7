/* SPDX-License-Identifier: MIT
 * served.c: see served.h.
 */
#include "served.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "context.h"
#include "device_memory.h"
#include "node.h"
#include "topology.h"
#include "unit.h"
#include "wire.h"

enum { ANSWER_MS = 20000 };

static struct topology topology;

/* What main.c does before it listens. */
static bool start_node(void)
{
    char error[512];
    int info = memfd_create("info", MFD_CLOEXEC);
    if (memory_start(&topology.info, error, sizeof error) != 0 || info < 0 ||
        write(info, &topology.info, sizeof topology.info) != sizeof topology.info)
        return false;
    signal(SIGPIPE, SIG_IGN);
    context_start("/dev/null", 1); /* no kernel is ever loaded */
    return node_start(&topology, info, -1);
}

/* Bound to a name that the kernel has chosen. */
static int listen_somewhere(struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof *address;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    EXPECT(fd >= 0 && bind(fd, (struct sockaddr *)address, sizeof(sa_family_t)) == 0 &&
               listen(fd, SERVED_PROGRAMS) == 0 &&
               getsockname(fd, (struct sockaddr *)address, &length) == 0,
           "%s", "no listener");
    return fd;
}

static void serve(const int *sockets, int listener)
{
    bool good = start_node();
    for (int i = 0; i < SERVED_PROGRAMS; i++)
        good = good && server_add(sockets[i]);
    if (!good)
        _exit(3);
    server_loop(listener);
    _exit(0);
}

void served_start(struct served *s)
{
    char error[512];
    int theirs[SERVED_PROGRAMS];
    if (topology.resource_count == 0 &&
        topology_load(&topology, UNIT_ROOT "/vgpu/nodes", "hgx-h200-4", error, sizeof error) != 0)
        EXPECT(false, "%s", error);
    memset(s, 0, sizeof *s);
    s->fd = -1;
    int listener = listen_somewhere(&s->listener);
    for (int i = 0; i < SERVED_PROGRAMS; i++) {
        int pair[2];
        EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0, "%s",
               "no sockets");
        s->socket[i] = pair[0];
        theirs[i] = pair[1];
    }
    s->node = fork();
    if (s->node == 0) {
        for (int i = 0; i < SERVED_PROGRAMS; i++)
            close(s->socket[i]);
        serve(theirs, listener);
    }
    for (int i = 0; i < SERVED_PROGRAMS; i++)
        close(theirs[i]);
    close(listener);
}

void served_join(struct served *s, int program)
{
    const struct sockaddr *address = (const struct sockaddr *)&s->listener;
    socklen_t length = (socklen_t)(sizeof(sa_family_t) + 1 + strlen(s->listener.sun_path + 1));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    EXPECT(fd >= 0 && connect(fd, address, length) == 0, "%s", "no node listens");
    close(s->socket[program]);
    s->socket[program] = fd;
}

int served_send(struct served *s, int program, const void *q, size_t bytes)
{
    int fds[8], count = 8;
    struct pollfd p = {.fd = s->socket[program], .events = POLLIN};
    int sent = vgpu_send(s->socket[program], q, bytes, &s->fd, s->fd >= 0);
    s->fd = -1;
    if (sent != 0 && errno != EPIPE) /* else it may have said why it closes the connection */
        return -1;
    EXPECT(poll(&p, 1, ANSWER_MS) == 1, "request %u: no answer within %d ms",
           ((const struct vgpu_request *)q)->op, ANSWER_MS);
    if (vgpu_receive(s->socket[program], &s->reply, sizeof s->reply, fds, &count, 0) <= 0)
        return -1;
    for (int i = 0; i < count; i++)
        close(fds[i]);
    s->clock_ps[program] = s->reply.r.clock_ps;
    return s->reply.r.error;
}

int served_ask(struct served *s, int program, struct vgpu_request *q)
{
    q->clock_ps = s->clock_ps[program];
    return served_send(s, program, q, sizeof *q + q->data_bytes);
}

int served_hello(struct served *s, int program)
{
    struct vgpu_request q = {.op = VGPU_OP_HELLO};
    q.u.hello.protocol = VGPU_PROTOCOL;
    q.u.hello.pid = getpid() + program;
    q.u.hello.checks = 0xff;
    return served_ask(s, program, &q);
}

const char *served_end(struct served *s)
{
    int status = -1;
    for (int i = 0; i < SERVED_PROGRAMS; i++)
        close(s->socket[i]);
    waitpid(s->node, &status, 0);
    if (WIFSIGNALED(status))
        return unit_says("the node ended by signal %d", WTERMSIG(status));
    return status == 0 ? NULL : unit_says("the node ended with status %d", WEXITSTATUS(status));
}
