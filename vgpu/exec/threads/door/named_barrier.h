/* SPDX-License-Identifier: MIT
 * named_barrier.h: PTX's barriers with a number and a count of threads.
 */
#ifndef VGPU_EXEC_NAMED_BARRIER_H
#define VGPU_EXEC_NAMED_BARRIER_H

#include "exec.h"

/* No thread of the block has arrived at any. */
void named_start(struct block *block);
void named_free(struct block *block);

/* A thread of a block with such barriers has left the kernel. */
void named_left(struct block *block);

/* Threads have arrived at barrier 0 with a count, and __syncthreads is barrier 0, too. */
bool named_has_zero(const struct block *block);

/* The running thread arrives; then the barrier may be complete. check: it ends the kernel if there
 * is no such barrier. */
enum named_arrival { NAMED_ARRIVES, NAMED_WAITS, NAMED_VOTES };
void named_check(uint32_t number, uint32_t count, const char *site);
void named_arrive(uint32_t number, uint32_t count, enum named_arrival how, const char *site);
void named_complete(struct block *block, uint32_t number);

/* A finding: the block meets at `site` without threads that have left the kernel. */
void named_note_exit(const struct block *block, const char *site);

/* "at barrier 1 (32 of 64 have arrived) in FILE:LINE", of a thread that waits there. */
int named_text(const struct thread *thread, char *text, uint64_t room);

#endif
