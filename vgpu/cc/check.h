/* SPDX-License-Identifier: MIT
 * check.h: a linked image holds device code and nothing else.
 */
#ifndef VGPU_CC_CHECK_H
#define VGPU_CC_CHECK_H

#include "elf_image.h"
#include "marks.h"
#include "names.h"
#include "passes.h"

/* What survived the linker was reached by a kernel. Host functions and variables among it, and
 * symbols that vgpu-exec does not offer, are errors at the place of their use. `relaxed`: functions
 * of the C++ library that were not inlined are let pass (--expt-relaxed-constexpr).
 * `wanted` (-rdc=true, else null): what is declared for the device and defined in no place here is
 * no error but is put there, for cc_check_link. */
void cc_check_image(const struct cc_pass *pass, const struct cc_marks *marks,
                    const struct cc_symbols *symbols, bool relaxed, struct cc_text *wanted);

/* A device link's image: `wanted` is what one of the files needs of others. */
void cc_check_link(const struct cc_symbols *symbols, const char *wanted);

#endif
