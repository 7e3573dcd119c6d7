/* SPDX-License-Identifier: MIT
 * connection.h: the witness's connection to a node: requests and replies.
 */
#ifndef LAB_CONNECTION_H
#define LAB_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#include "node.h"
#include "protocol.h"

#define ANSWER_SECONDS 60 /* or LAB_ANSWER_SECONDS */

struct lab_node {
    char id[65], fault[512];
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    int socket, gpus;
    pid_t pid;
    int words;         /* memory file for what the node prints */
    int status;        /* as wait() returned it, once the node has ended */
    bool ended, asked; /* asked: a request is not yet answered */
    bool nonsense;     /* a reply was invalid */
    struct vgpu_node_info info;
    struct vgpu_usage_page *usage; /* written by the node */
};

union node_answer {
    struct vgpu_reply reply;
    uint64_t align;
    uint8_t room[VGPU_MSG_MAX];
};

/* Writes "WHAT: WHY" to `error`. Returns -1. */
int lab__node_error(char *error, size_t room, const char *what, const char *why);

/* Connects, and reads the node's description. 0, or -1 with `error`. */
int lab__node_connect(struct lab_node *node, char *error, size_t room);

/* Sends a request of the witness. 0 or -1. */
int lab__node_ask(struct lab_node *node, enum vgpu_op op, uint64_t value);

/* Receives a reply within `seconds`, LAB_ANSWER_SECONDS at most. 0, 1 if none has arrived yet, -1
 * if the node has closed the connection or its reply is invalid. */
int lab__node_answer(struct lab_node *node, union node_answer *to, double seconds);

#endif
