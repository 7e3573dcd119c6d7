/* SPDX-License-Identifier: MIT
 * dwarf_lines.h: finds the source line of an address in an ELF file.
 */
#ifndef VGPU_DWARF_LINES_H
#define VGPU_DWARF_LINES_H

#include <stdint.h>

/* Writes "file:line" of the code at `address`, an offset in the ELF file `fd`; "" if it is unknown.
 * Parses the file at every call, so it is meant for faults only. */
void vgpu_lines_find(int fd, uint64_t address, char *where, uint64_t room);

/* The same, with the path of the source file instead; returns the line, 0: unknown. */
uint64_t vgpu_lines_path(int fd, uint64_t address, char *path, uint64_t room);

#endif
