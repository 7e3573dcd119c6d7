/* SPDX-License-Identifier: MIT
 * part.h: a file's device code in its object, for the device link (-rdc=true).
 *
 * A section of the host object, which the host's linker leaves out of programs, contains a record
 * of the file's unit (an identifier that no other file has) and LLVM's bitcode. An object that a
 * device link has made lists the units in it in another section.
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

/* The parts of an object or an archive; other files have none. */
struct cc_parts {
    struct cc_part *item; /* one per unit */
    size_t count, capacity;
    struct cc_list linked; /* units that a device link has linked already */
};

/* Writes the record for the section. False: it cannot be written, which was reported. */
bool cc_write_part(const char *path, const struct cc_part *part);

/* Adds what the file holds. */
void cc_collect_parts(const char *path, struct cc_parts *parts);

#endif
