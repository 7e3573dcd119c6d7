/* SPDX-License-Identifier: MIT
 * node.h: the node of one run, and the witness's connection to it. Real GPUs have neither:
 * cases/nonode.c implements this interface for them.
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

/* Starts a node, which runs until its witness ends the connection. NULL: see `error`. */
struct lab_node *lab__node_start(const char *description, char *error, size_t room);
/* Registers sealed memory, before the runner starts (VGPU_OP_SEAL). False: `error` has the
 * reason. */
bool lab__node_seal(struct lab_node *node, int fd, size_t readable, char *error, size_t room);
/* Has the node look for at least what `checks` names, a value of VGPU_CHECK, or NULL for what is
 * looked for without it, in every program, before the runner starts. False: `error` has the reason.
 */
bool lab__node_look_for(struct lab_node *node, const char *checks, char *error, size_t room);
const char *lab__node_id(const struct lab_node *node);
pid_t lab__node_pid(const struct lab_node *node);
int lab__node_gpus(const struct lab_node *node);
struct vgpu_node_info;
const struct vgpu_node_info *lab__node_info(const struct lab_node *node);
/* Reads the node's progress counter and its account of which operations wait for which. 0 if it did
 * not reply within `seconds`; the next call continues to wait for the same reply. */
int lab__node_progress(struct lab_node *node, double seconds, uint64_t *progress, char *waiting,
                       size_t room);
/* Everything that the node recorded, after the runner has ended. NULL: `error` has the reason.
 * Caller frees. */
struct lab_witness *lab__node_witness(struct lab_node *node, char *error, size_t room);
/* The explanation of the last fault, "" without one. Valid after lab__node_witness. */
const char *lab__node_fault(const struct lab_node *node);
/* Records whether the node has ended, while it can still be waited for. */
void lab__node_note(struct lab_node *node);
/* Describes how a node failed that did not return its records, with the last line that it printed:
 * "was ended by signal 11". */
void lab__node_failure(const struct lab_node *node, char *text, size_t room);
/* The program's requests until then, as a clause after a semicolon: "it had sent 215 requests
 * without reading a reply". */
void lab__node_usage(const struct lab_node *node, char *text, size_t room);
/* Closes the connection and ends the node; NULL is allowed. */
void lab__node_stop(struct lab_node *node);
bool lab__node_virtual(void);

#endif
