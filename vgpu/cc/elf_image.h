/* SPDX-License-Identifier: MIT
 * elf_image.h: the symbols of a linked device image; sections of other ELF files.
 */
#ifndef VGPU_CC_ELF_IMAGE_H
#define VGPU_CC_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cc_symbol_kind {
    CC_SYM_UNDEFINED, /* the image asks for it */
    CC_SYM_FUNCTION,
    CC_SYM_RESOLVER, /* a function that is chosen by running code when the image is loaded */
    CC_SYM_WRITABLE, /* an object in writable memory of the image */
    CC_SYM_DEVICE,   /* an object among the __device__ variables */
    CC_SYM_CONSTANT,
    CC_SYM_THREAD_LOCAL,
    CC_SYM_OTHER
};

struct cc_symbol {
    enum cc_symbol_kind kind;
    const char *name;
    uint64_t bytes;
};

struct cc_symbols {
    struct cc_symbol *item;
    size_t count;
};

/* The section's contents in the ELF file `data`, which is aligned for anything; null: it is no such
 * file or has no such section. */
const char *cc_elf_section(const char *data, size_t length, const char *name, size_t *bytes);

/* All named symbols of the image, or false when the file cannot be read as one. */
bool cc_read_image(const char *path, struct cc_symbols *symbols);

#endif
