/* SPDX-License-Identifier: MIT
 * elf_read.h: the sections of an ELF file, and what debug information is written in: numbers of
 * fixed and of variable length, and texts. Nothing here allocates, takes a lock or reads beyond a
 * cursor's end: a handler of SIGSEGV may call it.
 */
#ifndef VGPU_ELF_READ_H
#define VGPU_ELF_READ_H

#include <stdint.h>

/* A part of the file that is read from front to back; `at` stays within `end`. What is cut short
 * reads as 0 or "", with `at` at the end. */
struct elf_cursor {
    const uint8_t *at, *end;
};

struct elf_map { /* the whole file */
    const uint8_t *base;
    uint64_t bytes;
};

uint64_t vgpu_elf_fixed(struct elf_cursor *c, unsigned bytes); /* little-endian */
uint64_t vgpu_elf_unsigned_leb(struct elf_cursor *c);
int64_t vgpu_elf_signed_leb(struct elf_cursor *c);
const char *vgpu_elf_text(struct elf_cursor *c); /* in the file itself */
const char *vgpu_elf_text_at(struct elf_cursor section, uint64_t offset);

/* The section of this name; an empty one: it is not there, or compressed. */
struct elf_cursor vgpu_elf_section(const struct elf_map *map, const char *name);

#endif
