/* SPDX-License-Identifier: MIT
 * elf_image.h: the symbols of ELF files.
 */
#ifndef VGPU_CC_ELF_IMAGE_H
#define VGPU_CC_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

struct cc_symbol {
    const char *name;
    bool is_function; /* that is defined in the file */
};

struct cc_symbols {
    struct cc_symbol *item;
    size_t count;
};

/* All named symbols of the file, or false if it is no readable ELF file. */
bool cc_read_image(const char *path, struct cc_symbols *symbols);

#endif
