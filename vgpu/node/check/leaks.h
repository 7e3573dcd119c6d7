/* SPDX-License-Identifier: MIT
 * leaks.h: resources that a program has not freed when it ends (VGPU_OP_BYE).
 */
#ifndef VGPU_LEAKS_H
#define VGPU_LEAKS_H

struct process;

/* Reports each kind of resource in one message: how many are left, and where the first was made.
 * Does nothing if the program has a sticky error. */
void leaks_tell(struct process *process);

#endif
