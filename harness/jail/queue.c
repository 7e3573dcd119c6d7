/* SPDX-License-Identifier: MIT
 * queue.c: connections to the node for a program that cannot make any.
 *
 * A submission may not create sockets at all: a Unix socket reaches any listener on the machine.
 * Each of its processes that uses the GPUs needs a connection, and their number is not known in
 * advance. So a socket pair holds messages with one connected descriptor each, and each process
 * takes the next (vgpu/api/core/node_start.c, VGPU_NODE_QUEUE).
 */
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "run_directory.h"
#include "wire.h"

static int connect_once(const struct jail_policy *policy, const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) != 0)
        jail_broken(policy, address->sun_path);
    return fd;
}

void jail_queue_node(struct jail_policy *policy)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char error[300];
    int pair[2];
    const char *id = getenv("VGPU_NODE_ID");
    if (policy->queue == 0 || !id || getenv("VGPU_NODE_QUEUE"))
        return; /* a case without a node, or one that sets a queue on which nobody answers */
    errno = 0;
    if (vgpu_socket_path(id, address.sun_path, sizeof address.sun_path, error, sizeof error) != 0)
        jail_broken(policy, error);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        jail_broken(policy, "the queue of connections");
    for (int i = 0; i < policy->queue; i++) {
        int fd = connect_once(policy, &address);
        if (vgpu_send(pair[0], "node", 4, &fd, 1) != 0)
            jail_broken(policy, "queueing a connection");
        close(fd);
    }
    close(pair[0]);
    if (dup2(pair[1], policy->keep) < 0)
        jail_broken(policy, "the queue of connections");
    close(pair[1]);
    char *text;
    if (asprintf(&text, "VGPU_NODE_QUEUE=%d", policy->keep) < 0)
        jail_broken(policy, "memory");
    policy->environment[policy->environment_count++] = text;
    policy->keep++;
}
