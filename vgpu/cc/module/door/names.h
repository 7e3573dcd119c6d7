/* SPDX-License-Identifier: MIT
 * names.h: what symbols of device code are called, and which of them vgpu-exec has.
 */
#ifndef VGPU_CC_NAMES_H
#define VGPU_CC_NAMES_H

#include <stdbool.h>

/* offered.c: does vgpu-exec, or the image's own compiler library, define it? */
bool cc_is_offered(const char *symbol);
/* Is it vgpu-exec's alone? (A program may have its own libm.) */
bool cc_is_reserved(const char *symbol);

/* demangle.c: the name of a function or variable without scopes, arguments and template arguments;
 * the symbol itself where it is not that simple. *qualified: with scopes. */
const char *cc_plain_name(const char *symbol, const char **qualified);

/* Does the symbol belong to one file: static, or of an unnamed namespace, or named after such? */
bool cc_is_local(const char *symbol);

#endif
