/* SPDX-License-Identifier: MIT
 * node.h: the node of one run, and the witness's connection to it. Real GPUs have neither:
 * cases/nonode.c answers in their place.
 */
#ifndef LAB_NODE_H
#define LAB_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "witness.h"

struct vgpu_summary;
struct lab_node;

/* NULL after `error` was filled. The node runs and is held by a witness. */
struct lab_node *lab__node_start(const char *description, char *error, size_t room);
/* Sealed memory, before the runner is there (VGPU_OP_SEAL). False: `error` says why not. */
bool lab__node_seal(struct lab_node *node, int fd, size_t readable, char *error, size_t room);
const char *lab__node_id(const struct lab_node *node);
pid_t lab__node_pid(const struct lab_node *node);
int lab__node_gpus(const struct lab_node *node);
struct vgpu_node_info;
const struct vgpu_node_info *lab__node_info(const struct lab_node *node);
/* The node's counter of progress, and what it says about who waits for whom. 0 when there was no
 * answer within `seconds`; the next call goes on waiting for it. */
int lab__node_progress(struct lab_node *node, double seconds, uint64_t *progress, char *waiting,
                       size_t room);
/* Everything that it saw, when the runner has gone. NULL: `error` says why. Caller frees. */
struct lab_witness *lab__node_witness(struct lab_node *node, char *error, size_t room);
/* The explanation of the last fault, "" without one. Valid after lab__node_witness. */
const char *lab__node_fault(const struct lab_node *node);
/* Notes whether the node has ended, while that can still be asked. */
void lab__node_note(struct lab_node *node);
/* How a node failed that did not say what it saw, with its last words: "was ended by signal 11". */
void lab__node_failure(const struct lab_node *node, char *text, size_t room);
/* What the program had asked of it until then, to follow a semicolon: "it had sent 215 requests
 * without reading a reply". */
void lab__node_usage(const struct lab_node *node, char *text, size_t room);
/* Ends the connection and the node; NULL is fine. */
void lab__node_stop(struct lab_node *node);
bool lab__node_virtual(void);

#endif
