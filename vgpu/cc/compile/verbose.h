/* SPDX-License-Identifier: MIT
 * verbose.h: what --dryrun and -v show besides the commands, in nvcc's form.
 */
#ifndef VGPU_CC_VERBOSE_H
#define VGPU_CC_VERBOSE_H

#include "compile.h"

/* Where this toolkit lies: lines `#$ TOP=folder`, PATH, INCLUDES, LIBRARIES. CMake reads them. */
void cc_show_places(const struct cc_places *places);

/* The link that follows, as a command that a user (or CMake) can give to link the same objects. */
void cc_show_link(const struct cc_job *job, const struct cc_list *objects);

#endif
