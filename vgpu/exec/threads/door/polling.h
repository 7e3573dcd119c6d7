/* SPDX-License-Identifier: MIT
 * polling.h: threads that spin on memory.
 */
#ifndef VGPU_EXEC_POLLING_H
#define VGPU_EXEC_POLLING_H

#include "exec.h"

/* The running thread has found `value` at `address`, and left it so. */
void poll_note(uint64_t address, uint64_t value, uint32_t bytes);

/* It looks there once more: it may be waiting for a change. */
bool poll_again(uint64_t address, uint32_t bytes);

void poll_changed(void); /* an atomic has changed memory */

/* A lap begins, or is over. */
void poll_suspect(bool on);
void poll_lap_read(uint64_t address, uint32_t bytes, bool write);

/* The thread has left its kernel. */
void poll_forget(struct thread *thread);

/* It goes on, and its next lap is the first. */
void poll_woken(struct thread *thread);

uint64_t peek(uint64_t address, uint32_t bytes);

#endif
