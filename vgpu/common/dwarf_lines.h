/* SPDX-License-Identifier: MIT
 * dwarf_lines.h: from an address in an ELF file to the line of source it comes from.
 */
#ifndef VGPU_DWARF_LINES_H
#define VGPU_DWARF_LINES_H

#include <stdint.h>

/* Writes "file:line" for the code at `address` (relative to the image's start) of the ELF file
 * `fd`; "" if it has no line table. Reads the file anew at every call: it is for faults. */
void vgpu_lines_find(int fd, uint64_t address, char *where, uint64_t room);

/* The same, with the path of the file of source, to open it: the line's number; 0: not known. */
uint64_t vgpu_lines_path(int fd, uint64_t address, char *path, uint64_t room);

#endif
