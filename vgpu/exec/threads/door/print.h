/* SPDX-License-Identifier: MIT
 * print.h: what a run's threads have printed and its messages to the node have not taken yet.
 */
#ifndef VGPU_EXEC_PRINT_H
#define VGPU_EXEC_PRINT_H

#include "exec.h"

uint64_t print_waiting(const struct run *run); /* bytes */

/* Moves what is waiting, at most `room` bytes, to `to`; how many. */
uint32_t print_take(struct run *run, char *to, uint32_t room);

void print_free(struct run *run);

#endif
