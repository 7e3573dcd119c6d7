/* SPDX-License-Identifier: MIT
 * connection.h: the witness's connection to a node: questions and answers.
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
    int words;         /* what it prints goes here, a file in memory */
    int status;        /* as wait() gave it, once it has ended */
    bool ended, asked; /* a question whose answer has not come yet */
    bool nonsense;     /* it has answered what no node answers */
    struct vgpu_node_info info;
    struct vgpu_usage_page *usage; /* the node writes there */
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

/* Receives an answer within `seconds`, LAB_ANSWER_SECONDS at most. 0, 1 if none has come yet, -1 if
 * the node is gone or has answered what no node answers. */
int lab__node_answer(struct lab_node *node, union node_answer *to, double seconds);

#endif
