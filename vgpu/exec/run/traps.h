/* SPDX-License-Identifier: MIT
 * traps.h: signals from the processor and the node.
 */
#ifndef VGPU_EXEC_TRAPS_H
#define VGPU_EXEC_TRAPS_H

void traps_setup(void);

/* Raises VGPU_FAULT_HANG if the node has requested it (VGPU_EXEC_HANG_SIGNAL). */
void traps_check_hang(void);

#endif
