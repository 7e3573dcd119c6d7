/* SPDX-License-Identifier: MIT
 * print.h: output of a run's threads that is still to be sent to the node.
 */
#ifndef VGPU_EXEC_PRINT_H
#define VGPU_EXEC_PRINT_H

#include "exec.h"

uint64_t print_waiting(const struct run *run); /* bytes */

/* Moves pending output, at most `room` bytes, to `to`; returns how many. */
uint32_t print_take(struct run *run, char *to, uint32_t room);

void print_free(struct run *run);

#endif
