/* SPDX-License-Identifier: MIT
 * overtaken.h: programs whose times depend on the operating system. Each host thread has a clock of
 * its own; where nothing orders two of them, one may wait first and take the node's clock past the
 * other's work, or not, as the operating system has it. Work that comes when the clock has passed
 * it is noted, with its cause; who asked for a trace is told at the end.
 */
#ifndef VGPU_OVERTAKEN_H
#define VGPU_OVERTAKEN_H

#include "server.h"

/* `connection` has just issued work. */
void overtaken_look(const struct connection *connection);

/* The program ends: tells it, in its explanation, when a trace was asked for. */
void overtaken_tell(struct process *process);

#endif
