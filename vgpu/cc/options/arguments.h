/* SPDX-License-Identifier: MIT
 * arguments.h: the words of the command line, before they are options.
 */
#ifndef VGPU_CC_ARGUMENTS_H
#define VGPU_CC_ARGUMENTS_H

#include "mem.h"

/* The words as nvcc reads them: $NVCC_PREPEND_FLAGS, the command line, $NVCC_APPEND_FLAGS, where
 * `--options-file FILE`, `-optf FILE` and `@FILE` stand for the words in the file. The first word
 * is the program. False: a file cannot be read or names itself, which was told. */
bool cc_read_arguments(int argc, char **argv, struct cc_list *words);

#endif
