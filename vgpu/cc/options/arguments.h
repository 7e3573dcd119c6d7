/* SPDX-License-Identifier: MIT
 * arguments.h: splits the command line into words, before options are read.
 */
#ifndef VGPU_CC_ARGUMENTS_H
#define VGPU_CC_ARGUMENTS_H

#include "mem.h"

/* The words as nvcc reads them: $NVCC_PREPEND_FLAGS, the command line, $NVCC_APPEND_FLAGS, where
 * `--options-file FILE`, `-optf FILE` and `@FILE` are replaced by the words in the file. The first
 * word is the program. False: a file cannot be read or includes itself, which was reported. */
bool cc_read_arguments(int argc, char **argv, struct cc_list *words);

/* Splits `text` at blanks; '...', "..." and \ quote them as in a shell. */
void cc_split_words(const char *text, struct cc_list *words);

/* Each part of "a,b,c" that is not empty. "..." and \, keep a comma; the quotes stay. */
void cc_split_commas(const char *text, struct cc_list *parts);

#endif
