/* SPDX-License-Identifier: MIT
 * overtaken.h: programs whose times depend on the operating system. Time waits for a thread that
 * may still call (passing.h), but not for ever, nor for one that sleeps and wakes by what we cannot
 * see. Work that such a thread issues when time has passed its clock begins late: by how much is
 * the operating system's. That is noted, with its cause, and the program is told at its end.
 */
#ifndef VGPU_OVERTAKEN_H
#define VGPU_OVERTAKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op;
struct process;

/* `op` would have begun `late_ps` before the present, but for work that others waited for. */
void overtaken_note(const struct op *op, uint64_t late_ps);

/* Kernel `op` polls what one of several threads has stored. */
void overtaken_store(const struct op *op);

/* The program ends: tells it, in its explanation, when it has looked at times: asked how long
 * something took between events, or for its own clock (`asked`), or for a trace. True: it was. */
bool overtaken_tell(struct process *process, bool asked);

/* The same about all programs together, for a witness; "" when there is nothing to be told. */
void overtaken_describe(char *text, size_t room);

#endif
