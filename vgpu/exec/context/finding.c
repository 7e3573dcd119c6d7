/* SPDX-License-Identifier: MIT
 * finding.c: see finding.h.
 */
#include "finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

bool run_has_finding(enum finding finding)
{
    return now.run->findings.set >> finding & 1;
}

static const enum vgpu_diagnosis diagnosis_of[] = {
    [FINDING_SITES] = VGPU_DIAGNOSIS_kernels_barrier,
    [FINDING_EARLY_EXIT] = VGPU_DIAGNOSIS_kernels_barrier,
    [FINDING_TWICE] = VGPU_DIAGNOSIS_kernels_barrier,
    [FINDING_MASK] = VGPU_DIAGNOSIS_kernels_mask,
    [FINDING_OPERATION] = VGPU_DIAGNOSIS_kernels_mask,
    [FINDING_LANE] = VGPU_DIAGNOSIS_kernels_mask,
    [FINDING_PRINT] = VGPU_DIAGNOSES,
    [FINDING_DIVISION] = VGPU_DIAGNOSES,
};

void findings_clear_text(struct run *run)
{
    run->findings.text[0] = '\0';
}

void findings_merge(struct run *run, uint32_t set, const char *text)
{
    size_t at = strlen(run->findings.text);
    if (!text[0] || (set & ~run->findings.set) == 0)
        return;
    snprintf(run->findings.text + at, sizeof run->findings.text - at, "%s%s", at ? "\n" : "", text);
    run->findings.set |= set;
}

void run_finding(enum finding finding, const char *format, ...)
{
    struct run *run = now.run;
    if (run_has_finding(finding))
        return;
    run->findings.set |= 1u << finding;
    size_t at = strlen(run->findings.text), room = sizeof run->findings.text - at;
    va_list arguments;
    int head = snprintf(run->findings.text + at, room, "%s%s: ", at ? "\n" : "", run->kernel->name);
    if (head < 0 || (size_t)head >= room)
        return;
    va_start(arguments, format);
    vsnprintf(run->findings.text + at + head, room - (size_t)head, format, arguments);
    va_end(arguments);
    if (diagnosis_of[finding] != VGPU_DIAGNOSES)
        vgpu_diagnosis_sign(diagnosis_of[finding], run->findings.text + at, room);
}
