/* SPDX-License-Identifier: MIT
 * queue.c: a connection to the node for a program that cannot make any.
 *
 * A submission may not create sockets at all: a Unix socket reaches any listener on the machine.
 * Each of its processes that uses the GPUs needs a connection, and their number is not known in
 * advance. So all inherit one on which each asks the node for its own
 * (vgpu/api/core/node_start.c, VGPU_NODE_QUEUE).
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

void jail_queue_node(struct jail_policy *policy)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char error[300];
    const char *id = getenv("VGPU_NODE_ID");
    if (policy->queue == 0 || !id || getenv("VGPU_NODE_QUEUE"))
        return; /* a case without a node, or one that sets a queue on which nobody answers */
    errno = 0;
    if (vgpu_socket_path(id, address.sun_path, sizeof address.sun_path, error, sizeof error) != 0)
        jail_broken(policy, error);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        jail_broken(policy, address.sun_path);
    if (fd != policy->keep) {
        if (dup2(fd, policy->keep) < 0)
            jail_broken(policy, "the connection to the node");
        close(fd);
    } else if (fcntl(fd, F_SETFD, 0) != 0)
        jail_broken(policy, "the connection to the node");
    char *text;
    if (asprintf(&text, "VGPU_NODE_QUEUE=%d", policy->keep) < 0)
        jail_broken(policy, "memory");
    policy->environment[policy->environment_count++] = text;
    policy->keep++;
}
