/* SPDX-License-Identifier: MIT
 * part.h: a file's device code on its way to the device link (-rdc=true).
 *
 * The host object carries it in a section that the host's linker leaves out of programs: a record
 * of the file's unit (the name that tells it from all others) and LLVM's bitcode. An object that a
 * device link has made names the units in it in another section.
 */
#ifndef VGPU_CC_PART_H
#define VGPU_CC_PART_H

#include <stdint.h>

#include "mem.h"

#define CC_PART_SECTION ".vgpu_rdc"
#define CC_LINKED_SECTION ".vgpu_linked"

struct cc_part {
    const char *unit;   /* "sum_cu_0123456789abcdef" */
    const char *source; /* "src/sum.cu" */
    const char *bitcode;
    uint64_t bytes;
};

/* What an object or an archive holds; a file that is none holds nothing. */
struct cc_parts {
    struct cc_part *item; /* one for each unit */
    size_t count, capacity;
    struct cc_list linked; /* units that a device link has linked already */
};

/* The record, to be included into the section. False: it cannot be written. */
bool cc_write_part(const char *path, const struct cc_part *part);

/* Adds what the file holds. */
void cc_collect_parts(const char *path, struct cc_parts *parts);

#endif
