/* SPDX-License-Identifier: MIT
 * checks.h: what looks for mistakes: data races (race.h), what kernels do (hazard.h, finding.h),
 * calls that do not do what they seem to (misuse.h), advice (call_advice.h, kernel_advice.h), leaks
 * (leaks.h). It observes operations and memory, and changes nothing.
 */
#ifndef VGPU_CHECKS_H
#define VGPU_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "op.h"
#include "protocol.h"

/* Its state: clocks of operations, and the accesses that are kept. */
struct checks;

struct checks *checks_new(void); /* NULL: out of memory */
void checks_end(struct checks *checks);

/* Registers it as an observer, once: of operations, and of memory that is given back. */
void checks_observe(struct checks *checks);

/* From now on operations have clocks: a program wants to know of races. Never off again. */
void checks_start_races(struct checks *checks);

/* Host code has used `byte` of its memory: `op`, a new one of OP_TOUCH, stands for that. */
void checks_host_touched(struct checks *checks, struct op *op, const struct vgpu_span *byte);

/* Pinned memory at `address` is given back. */
void checks_host_released(struct checks *checks, const struct process *process, uint64_t address);

/* The program has been still for a while, and may have watched memory: it knows of everything. */
void checks_host_knows_all(struct checks *checks);

/* Does the host know that this is over? Other than before: it may know of more. */
bool checks_known_step(const struct checks *checks, struct vgpu_step step);
uint32_t checks_learned(const struct checks *checks);

/* The stalled kernel `op` will never go on: are there blocks that the others keep from beginning?
 */
void checks_stalled(const struct op *op);

/* What the program's own side of a call has found. */
void checks_program_found(struct process *process, enum vgpu_diagnosis diagnosis, uint64_t caller,
                          const char *text, int length);

/* The program says goodbye: tells what there is to be told at its end. */
void checks_tell_end(struct process *process);

#endif
