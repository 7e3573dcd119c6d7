/* SPDX-License-Identifier: MIT
 * check.h: the checks that a program has switched on (VGPU_CHECK), and the codes of diagnoses. The
 * program reads the variable once and sends it to the node in its hello; the node sends it to its
 * contexts with every launch.
 */
#ifndef VGPU_CHECK_H
#define VGPU_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits. The words of VGPU_CHECK are their names in lower case. */
enum vgpu_check {
    VGPU_CHECK_ORDER = 1,
    VGPU_CHECK_API = 2,
    VGPU_CHECK_LEAKS = 4,
    VGPU_CHECK_ADVICE = 8,
    VGPU_CHECK_KERNELS = 16,
    VGPU_CHECK_ALL = 31
};

/* The checks if VGPU_CHECK is not set: those that cost next to nothing and report only certain
 * mistakes. */
#define VGPU_CHECK_DEFAULT ((uint32_t)VGPU_CHECK_API)

/* Stores the bits for words separated by commas ("order,api", "all", "none"); NULL or "": the
 * default. False: a word is unknown and is stored in `bad`, cut to `room` bytes; *checks is the
 * default then. */
bool vgpu_check_parse(const char *text, uint32_t *checks, char *bad, size_t room);

enum vgpu_diagnosis {
#define DIAGNOSIS(group, name, code, title) VGPU_DIAGNOSIS_##group##_##name,
#include "diagnoses.def"
#undef DIAGNOSIS
    VGPU_DIAGNOSES
};

const char *vgpu_diagnosis_code(enum vgpu_diagnosis diagnosis); /* "order.streams" */
bool vgpu_diagnosis_is_advice(enum vgpu_diagnosis diagnosis);
/* The bit of enum vgpu_check that switches it on. */
uint32_t vgpu_diagnosis_check(enum vgpu_diagnosis diagnosis);

/* Appends " [order.streams; ./lab explain order.streams]" to `text`. If there is not enough room,
 * the text is cut, never the code. */
void vgpu_diagnosis_sign(enum vgpu_diagnosis diagnosis, char *text, size_t room);

#endif
