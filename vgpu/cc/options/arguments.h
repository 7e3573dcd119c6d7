/* SPDX-License-Identifier: MIT
 * arguments.h: splits texts into words, as nvcc and a shell do.
 */
#ifndef VGPU_CC_ARGUMENTS_H
#define VGPU_CC_ARGUMENTS_H

#include "mem.h"

/* Splits `text` at blanks; '...', "..." and \ quote them as in a shell. */
void cc_split_words(const char *text, struct cc_list *words);

/* Each part of "a,b,c" that is not empty. "..." and \, keep a comma; the quotes stay. */
void cc_split_commas(const char *text, struct cc_list *parts);

#endif
