/* SPDX-License-Identifier: MIT
 * fake_node.h: a node of two devices that answers what a test tells it to, for what a real one
 * cannot be made to do. It runs in a child and is reached by VGPU_NODE_FD.
 */
#ifndef FAKE_NODE_H
#define FAKE_NODE_H

#include <stdbool.h>

#include "protocol.h"

union fake_reply {
    struct vgpu_reply r;
    unsigned char room[VGPU_MSG_MAX];
};

/* Fills the zeroed reply to a request (fd: what came with it, or -1). False: hangs up. */
typedef bool (*fake_handler)(const struct vgpu_request *request, int fd, union fake_reply *reply);

/* Starts it; hello, connections and goodbye are answered without asking the handler. */
void fake_node_start(fake_handler handler);

#endif
