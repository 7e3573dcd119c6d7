/* SPDX-License-Identifier: MIT
 * verbose.h: additional output of --dryrun and -v, in nvcc's form.
 */
#ifndef VGPU_CC_VERBOSE_H
#define VGPU_CC_VERBOSE_H

#include "compile.h"

/* Prints the toolkit's folders: lines `#$ TOP=folder`, PATH, INCLUDES, LIBRARIES. CMake reads
 * them. */
void cc_show_places(const struct cc_places *places);

/* Prints the link that follows, as a command with which a user (or CMake) can link the same
 * objects. */
void cc_show_link(const struct cc_job *job, const struct cc_list *objects);

#endif
