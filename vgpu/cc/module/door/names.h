/* SPDX-License-Identifier: MIT
 * names.h: the names of symbols of device code, and which of them vgpu-exec defines.
 */
#ifndef VGPU_CC_NAMES_H
#define VGPU_CC_NAMES_H

#include <stdbool.h>

/* offered.c: whether vgpu-exec, or the image's own compiler library, defines it. */
bool cc_is_offered(const char *symbol);
/* Whether only vgpu-exec may define it. (A program may have its own libm.) */
bool cc_is_reserved(const char *symbol);

/* demangle.c: the name of a function or variable without scopes, arguments and template arguments;
 * the symbol itself where it is not that simple. *qualified: with scopes. */
const char *cc_plain_name(const char *symbol, const char **qualified);

/* Whether the symbol is local to a file: static, in an unnamed namespace, or nested in such a
 * name. */
bool cc_is_local(const char *symbol);

#endif
