/* SPDX-License-Identifier: MIT
 * connection.c: see connection.h.
 */
#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"
#include "wire.h"

static double answer_seconds(void)
{
    const char *text = getenv("LAB_ANSWER_SECONDS");
    double seconds = text ? strtod(text, NULL) : 0;
    return seconds > 0 && seconds < ANSWER_SECONDS ? seconds : ANSWER_SECONDS;
}

int lab__node_error(char *error, size_t room, const char *what, const char *why)
{
    snprintf(error, room, "%s: %s", what, why);
    return -1;
}

int lab__node_ask(struct lab_node *node, enum vgpu_op op, uint64_t value)
{
    struct vgpu_request request = {.op = op, .value = value};
    snprintf(request.call, sizeof request.call, "witness");
    return vgpu_send(node->socket, &request, sizeof request, NULL, 0);
}

/* Checks the type and size of a reply: the node handles requests of hostile code, and a compromised
 * node must not compromise the verifier. */
static bool is_whole(const union node_answer *to, ssize_t bytes)
{
    return bytes >= (ssize_t)sizeof to->reply &&
           to->reply.data_bytes == (size_t)bytes - sizeof to->reply;
}

/* Receives a reply within `seconds`, LAB_ANSWER_SECONDS at most. 0: received; 1: not yet; -1: the
 * node has closed the connection, or its reply is invalid. */
int lab__node_answer(struct lab_node *node, union node_answer *to, double seconds)
{
    struct pollfd wait = {.fd = node->socket, .events = POLLIN};
    double most = answer_seconds();
    int n = poll(&wait, 1, (int)((seconds < most ? seconds : most) * 1000));
    if (n == 0 || (n < 0 && errno == EINTR))
        return 1;
    ssize_t bytes = vgpu_receive(node->socket, to, sizeof *to, NULL, NULL, 0);
    node->nonsense |= bytes != 0 && !is_whole(to, bytes);
    return is_whole(to, bytes) ? 0 : -1;
}

/* Reads the node's description, which its first reply carries. */
static int read_node_info(struct lab_node *node, union node_answer *to)
{
    int fd = -1, count = 1;
    struct pollfd wait = {.fd = node->socket, .events = POLLIN};
    if (poll(&wait, 1, ANSWER_SECONDS * 1000) <= 0)
        return -1;
    ssize_t bytes = vgpu_receive(node->socket, to, sizeof *to, &fd, &count, 0);
    bool whole = is_whole(to, bytes) && count == 1 &&
                 pread(fd, &node->info, sizeof node->info, 0) == sizeof node->info &&
                 node->info.device_count >= 0 && node->info.device_count <= VGPU_MAX_GPUS &&
                 (to->reply.error || to->reply.value == (uint64_t)node->info.device_count);
    if (count == 1)
        close(fd);
    return whole ? 0 : -1;
}

int lab__node_connect(struct lab_node *node, char *error, size_t room)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t bytes = sizeof peer;
    union node_answer to;
    memcpy(address.sun_path, node->path, sizeof node->path);
    node->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (node->socket < 0 || connect(node->socket, (struct sockaddr *)&address, sizeof address) != 0)
        return lab__node_error(error, room, node->path, strerror(errno));
    if (getsockopt(node->socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0)
        node->pid = peer.pid;
    if (lab__node_ask(node, VGPU_OP_WITNESS, 0) != 0 || read_node_info(node, &to) != 0)
        return lab__node_error(error, room, node->path, "the node did not answer its witness");
    if (to.reply.error != 0)
        return lab__node_error(error, room, "the node refused its witness", to.reply.explain);
    node->gpus = (int)to.reply.value;
    return 0;
}

/* Whether the node has done what it was asked; `sent` is what sending it returned. */
static bool has_agreed(struct lab_node *node, int sent, char *error, size_t room)
{
    union node_answer to;
    if (sent != 0 || lab__node_answer(node, &to, ANSWER_SECONDS) != 0)
        snprintf(error, room, "no answer");
    else if (to.reply.error != 0)
        snprintf(error, room, "%.*s", (int)sizeof to.reply.explain, to.reply.explain);
    else
        return true;
    return false;
}

bool lab__node_seal(struct lab_node *node, int fd, size_t readable, char *error, size_t room)
{
    struct vgpu_request request = {.op = VGPU_OP_SEAL, .bytes = readable};
    snprintf(request.call, sizeof request.call, "witness");
    int sent = vgpu_send(node->socket, &request, sizeof request, &fd, 1);
    return has_agreed(node, sent, error, room);
}

bool lab__node_look_for(struct lab_node *node, const char *checks, char *error, size_t room)
{
    uint32_t mask = VGPU_CHECK_DEFAULT;
    char bad[32];
    if (checks)
        vgpu_check_parse(checks, &mask, bad, sizeof bad);
    return has_agreed(node, lab__node_ask(node, VGPU_OP_LEAST_CHECKS, mask), error, room);
}
