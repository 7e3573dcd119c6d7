/* SPDX-License-Identifier: MIT
 * checks.h: checks for mistakes: data races (race.h), findings inside kernels (hazard.h,
 * finding.h), misuse of calls (misuse.h), advice (call_advice.h, kernel_advice.h), leaks (leaks.h).
 * Checks observe operations and memory and change neither.
 */
#ifndef VGPU_CHECKS_H
#define VGPU_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "op.h"
#include "protocol.h"

/* The state of the checks: vector clocks of operations, and recorded accesses. */
struct checks;

struct checks *checks_new(void); /* NULL: host memory ran out */
void checks_end(struct checks *checks);

/* Registers the checks as an observer of operations and of freed memory. Call it once. */
void checks_observe(struct checks *checks);

/* Operations get vector clocks from now on, since a program has switched on race detection. It
 * stays on. */
void checks_start_races(struct checks *checks);

/* Host code has accessed `byte` of its memory; `op`, a new OP_TOUCH operation, represents the
 * access. */
void checks_host_touched(struct checks *checks, struct op *op, const struct vgpu_span *byte);

/* Pinned memory at `address` has been freed. */
void checks_host_released(struct checks *checks, const struct process *process, uint64_t address);

/* The program has made no call for a while and may have observed memory: the host counts as having
 * waited for everything. */
void checks_host_knows_all(struct checks *checks);

/* checks_known_step: true if the host has waited for this operation. checks_learned: if the value
 * has changed, the host may have waited for more. */
bool checks_known_step(const struct checks *checks, struct vgpu_step step);
uint32_t checks_learned(const struct checks *checks);

/* The stalled kernel `op` is deadlocked: reports if blocks cannot start because the resident ones
 * wait. */
void checks_stalled(const struct op *op);

/* Reports a finding of the runtime in the program's process. */
void checks_program_found(struct process *process, enum vgpu_diagnosis diagnosis, uint64_t caller,
                          const char *text, int length);

/* The program ends (VGPU_OP_BYE): reports leaks, advice and the like. */
void checks_tell_end(struct process *process);

#endif
