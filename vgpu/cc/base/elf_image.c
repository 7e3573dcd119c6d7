/* SPDX-License-Identifier: MIT
 * elf_image.c: see elf_image.h.
 */
#include "elf_image.h"

#include <elf.h>
#include <string.h>

#include "elf_read.h"

struct cc_list cc_symbols_of(const char *path, bool functions)
{
    size_t length = 0;
    const void *data = cc_read_file(path, &length);
    const struct elf_map map = {data, length};
    struct elf_cursor table = vgpu_elf_section(&map, ".symtab");
    struct elf_cursor names = vgpu_elf_section(&map, ".strtab");
    struct cc_list symbols = {0};
    Elf64_Sym symbol;

    for (; table.end - table.at >= (ptrdiff_t)sizeof symbol; table.at += sizeof symbol) {
        memcpy(&symbol, table.at, sizeof symbol);
        const char *name = vgpu_elf_text_at(names, symbol.st_name);
        bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
        if (*name != 0 && (function || !functions))
            cc_add(&symbols, name);
    }
    return symbols;
}
