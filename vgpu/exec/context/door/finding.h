/* SPDX-License-Identifier: MIT
 * finding.h: what hardware accepts and a person should know, once a kind and run.
 */
#ifndef VGPU_EXEC_FINDING_H
#define VGPU_EXEC_FINDING_H

#include "exec.h"

enum finding {
    FINDING_SITES,
    FINDING_EARLY_EXIT,
    FINDING_MASK,
    FINDING_OPERATION,
    FINDING_LANE,
    FINDING_PRINT,
    FINDING_DIVISION
};

bool run_has_finding(enum finding finding);

/* Adds it to the running kernel's findings, unless it has one of its kind. */
void run_finding(enum finding finding, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A worker begins: it tells no kind that the run has told. */
void findings_clear_text(struct run *run);
/* Adds what a worker told (kinds: `set`), if one kind of it is new. */
void findings_merge(struct run *run, uint32_t set, const char *text);

#endif
