/* SPDX-License-Identifier: MIT
 * jail.h: restricts a node that serves a submission: before it reads the submission's first
 * message, it gives up everything that it does not need. VGPU_NODE_JAIL contains the rules, one on
 * each line:
 *
 *     cpu-seconds N       limit of processor time, after which it is killed
 *     data-bytes N        limit of its own memory
 *     descriptors N       limit of descriptors
 *     cgroup FOLDER       control group to join: its memory counts as the submission's
 *     uid N               user to become, if it starts as root
 *
 * From then on it cannot open files, use the network, or start processes or programs; its sockets
 * are pairs. It is killed when the process that started it ends.
 */
#ifndef VGPU_NODE_JAIL_H
#define VGPU_NODE_JAIL_H

#include <stdbool.h>
#include <stddef.h>

/* True if rules are set. */
bool jail_wanted(void);

/* Joins the control groups. False: a rule cannot be applied; the reason is in `error`. */
bool jail_prepare(char *error, size_t room);

/* Applies all restrictions. False: failed, with the reason in `error`. */
bool jail_close(char *error, size_t room);

#endif
