/* SPDX-License-Identifier: MIT
 * jail.h: a node that serves a submission gives up, before it hears the first word of it, whatever
 * it does not need: VGPU_NODE_JAIL holds the rules, one a line.
 *
 *     cpu-seconds N       processor time, then it is killed
 *     data-bytes N        its own memory
 *     descriptors N
 *     cgroup FOLDER       joined: what it holds is the submission's
 *     uid N               where it starts as root
 *
 * From then on it has no file but what is open, no network, no process and no program; its sockets
 * are pairs. It dies with the process that started it.
 */
#ifndef VGPU_NODE_JAIL_H
#define VGPU_NODE_JAIL_H

#include <stdbool.h>
#include <stddef.h>

/* Whether rules are set. */
bool jail_wanted(void);

/* Joins the groups; nothing else yet. False: a rule cannot be kept, and `error` says which. */
bool jail_prepare(char *error, size_t room);

/* Closes the door. False: it does not close, and `error` says why. */
bool jail_close(char *error, size_t room);

#endif
