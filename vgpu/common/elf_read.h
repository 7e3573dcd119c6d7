/* SPDX-License-Identifier: MIT
 * elf_read.h: reads sections of an ELF file and the encodings of debug information: integers of
 * fixed and variable length, and strings. Async-signal-safe: no function allocates, takes a lock,
 * or reads beyond the end of its cursor.
 */
#ifndef VGPU_ELF_READ_H
#define VGPU_ELF_READ_H

#include <stdint.h>

/* A part of the file that is read sequentially; `at` never passes `end`. A truncated value is read
 * as 0 or "", and `at` becomes `end`. */
struct elf_cursor {
    const uint8_t *at, *end;
};

struct elf_map { /* the mapped file */
    const uint8_t *base;
    uint64_t bytes;
};

uint64_t vgpu_elf_fixed(struct elf_cursor *c, unsigned bytes); /* little-endian */
uint64_t vgpu_elf_unsigned_leb(struct elf_cursor *c);
int64_t vgpu_elf_signed_leb(struct elf_cursor *c);
const char *vgpu_elf_text(struct elf_cursor *c); /* points into the mapped file */
const char *vgpu_elf_text_at(struct elf_cursor section, uint64_t offset);

/* The section of this name; an empty one if it is missing or compressed. */
struct elf_cursor vgpu_elf_section(const struct elf_map *map, const char *name);

#endif
