/* SPDX-License-Identifier: MIT
 * elf_image.c: see elf_image.h.
 */
#include "elf_image.h"

#include <elf.h>
#include <string.h>

#include "elf_read.h"
#include "mem.h"

bool cc_read_image(const char *path, struct cc_symbols *symbols)
{
    size_t length = 0;
    const void *data = cc_read_file(path, &length);
    const struct elf_map map = {data, length};
    struct elf_cursor table = vgpu_elf_section(&map, ".symtab");
    struct elf_cursor names = vgpu_elf_section(&map, ".strtab");
    size_t count = (size_t)(table.end - table.at) / sizeof(Elf64_Sym);

    symbols->item = cc_alloc((count + 1) * sizeof *symbols->item);
    symbols->count = 0;
    for (size_t i = 0; i < count; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, table.at + i * sizeof symbol, sizeof symbol);
        const char *name = vgpu_elf_text_at(names, symbol.st_name);
        bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
        if (*name != 0)
            symbols->item[symbols->count++] = (struct cc_symbol){name, function};
    }
    return count != 0;
}
