/* SPDX-License-Identifier: MIT
 * leaks.h: what a program has not given back when it says goodbye.
 */
#ifndef VGPU_LEAKS_H
#define VGPU_LEAKS_H

struct process;

/* One sentence a kind: how many, and where the first was made. A program in error is left alone. */
void leaks_tell(struct process *process);

#endif
