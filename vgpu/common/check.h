/* SPDX-License-Identifier: MIT
 * check.h: which mistakes a program wants to be told about (VGPU_CHECK), and their names. The
 * program reads its environment once and tells the node with its first words; the node tells its
 * contexts with every launch.
 */
#ifndef VGPU_CHECK_H
#define VGPU_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vgpu_check { /* bits; the words of VGPU_CHECK are their names in lower case */
                  VGPU_CHECK_ORDER = 1,
                  VGPU_CHECK_API = 2,
                  VGPU_CHECK_LEAKS = 4,
                  VGPU_CHECK_ADVICE = 8,
                  VGPU_CHECK_KERNELS = 16,
                  VGPU_CHECK_ALL = 31
};

/* Where VGPU_CHECK is not set: what costs next to nothing and is never a matter of taste. */
#define VGPU_CHECK_DEFAULT ((uint32_t)VGPU_CHECK_API)

/* The bits for words with commas between ("order,api", "all", "none"); NULL or "": the default.
 * False: a word that is none, in `bad` (cut to its room); *checks is the default then. */
bool vgpu_check_parse(const char *text, uint32_t *checks, char *bad, size_t room);

enum vgpu_diagnosis {
#define DIAGNOSIS(group, name, code, title) VGPU_DIAGNOSIS_##group##_##name,
#include "diagnoses.def"
#undef DIAGNOSIS
    VGPU_DIAGNOSES
};

const char *vgpu_diagnosis_code(enum vgpu_diagnosis diagnosis); /* "order.streams" */
bool vgpu_diagnosis_is_advice(enum vgpu_diagnosis diagnosis);
uint32_t vgpu_diagnosis_check(enum vgpu_diagnosis diagnosis); /* the enum vgpu_check it needs */

/* Puts " [order.streams; ./lab explain order.streams]" behind a sentence, cut where there is no
 * room: the code stays whole. */
void vgpu_diagnosis_sign(enum vgpu_diagnosis diagnosis, char *text, size_t room);

#endif
