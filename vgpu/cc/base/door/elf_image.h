/* SPDX-License-Identifier: MIT
 * elf_image.h: the symbols of ELF files.
 */
#ifndef VGPU_CC_ELF_IMAGE_H
#define VGPU_CC_ELF_IMAGE_H

#include "mem.h"

/* All named symbols of the file, or those of functions that are defined in it; none if it is no
 * readable ELF file. */
struct cc_list cc_symbols_of(const char *path, bool functions);

#endif
