/* SPDX-License-Identifier: MIT
 * traps.h: signals from the processor and the node.
 */
#ifndef VGPU_EXEC_TRAPS_H
#define VGPU_EXEC_TRAPS_H

void traps_setup(void);

/* The finding that an integer was divided by zero at `where`, "" if that is not known. */
void traps_tell_division(const char *where);

/* Raises VGPU_FAULT_HANG if the node has requested it (VGPU_EXEC_HANG_SIGNAL). */
void traps_check_hang(void);

#endif
