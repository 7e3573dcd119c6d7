/* SPDX-License-Identifier: MIT
 * polling.h: threads that spin on memory.
 */
#ifndef VGPU_EXEC_POLLING_H
#define VGPU_EXEC_POLLING_H

#include "exec.h"

/* The running thread has read `value` at `address` without changing it. */
void poll_note(uint64_t address, uint64_t value, uint32_t bytes);

/* Whether the running thread reads its polled address again. */
bool poll_again(uint64_t address, uint32_t bytes);

void poll_changed(void); /* an atomic has changed memory */

/* A lap begins or ends (polling.c). */
void poll_suspect(bool on);
void poll_lap_read(uint64_t address, uint32_t bytes, bool write);

/* Suspends the running thread before it loads, as if it polled: others may store there first, also
 * those of other kernels: poll.late until this run has stalled (poll_ends_late, true once). */
void poll_late(uint64_t address, uint32_t bytes);
bool poll_ends_late(struct thread *thread);

/* The thread has left its kernel. */
void poll_forget(struct thread *thread);

/* The thread is woken; its next lap is its first. */
void poll_woken(struct thread *thread);

uint64_t peek(uint64_t address, uint32_t bytes);

#endif
