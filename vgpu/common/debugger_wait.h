/* SPDX-License-Identifier: MIT
 * debugger_wait.h: a process that waits for a debugger, because VGPU_HALT asks it to (./lab debug).
 */
#ifndef VGPU_DEBUGGER_WAIT_H
#define VGPU_DEBUGGER_WAIT_H

/* VGPU_HALT=WHO:FILE, and `who` is that WHO ("0": the context of GPU 0; "host": the program):
 * writes the process's number into FILE and waits until a debugger is attached, two minutes at
 * most. Where FILE is there already, another one has been asked: this one goes on. */
void vgpu_wait_for_debugger(const char *who);

#endif
