/* SPDX-License-Identifier: MIT
 * finding.h: findings: behaviour that hardware accepts but the user should know, once per kind and
 * run.
 */
#ifndef VGPU_EXEC_FINDING_H
#define VGPU_EXEC_FINDING_H

#include "exec.h"

enum finding {
    FINDING_SITES,
    FINDING_EARLY_EXIT,
    FINDING_TWICE,
    FINDING_MASK,
    FINDING_OPERATION,
    FINDING_LANE,
    FINDING_PRINT,
    FINDING_DIVISION
};

bool run_has_finding(enum finding finding);

/* Adds a finding to the running kernel, unless it has one of that kind. */
void run_finding(enum finding finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* In a new worker process: clears the text; kinds that the run has reported stay excluded. */
void findings_clear_text(struct run *run);
/* Adds a worker process's findings (kinds: `set`), if one of the kinds is new. */
void findings_merge(struct run *run, uint32_t set, const char *text);

#endif
