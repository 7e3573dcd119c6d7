/* SPDX-License-Identifier: MIT
 * elf_image.c: see elf_image.h. Files have this machine's class and byte order; they are validated
 * only as far as needed for accesses to stay in bounds.
 */
#include "elf_image.h"

#include <elf.h>
#include <string.h>

#include "mem.h"

struct image {
    const char *data;
    size_t length;
    const Elf64_Ehdr *head;
    const Elf64_Shdr *section;
};

static bool inside(const struct image *image, uint64_t offset, uint64_t bytes)
{
    return offset <= image->length && bytes <= image->length - offset;
}

/* Opens the file in image->data. */
static bool open_image(struct image *image)
{
    if (image->data == NULL || image->length < sizeof(Elf64_Ehdr) ||
        memcmp(image->data, ELFMAG, SELFMAG) != 0 || image->data[EI_CLASS] != ELFCLASS64)
        return false;
    image->head = (const Elf64_Ehdr *)(const void *)image->data;
    if (image->head->e_shoff % _Alignof(Elf64_Shdr) != 0 ||
        !inside(image, image->head->e_shoff, image->head->e_shnum * sizeof(Elf64_Shdr)) ||
        image->head->e_shstrndx >= image->head->e_shnum)
        return false;
    image->section = (const Elf64_Shdr *)(const void *)(image->data + image->head->e_shoff);
    return true;
}

/* The string at `offset` of a string table; "": it is not terminated within the table. */
static const char *string_at(const struct image *image, unsigned table, uint64_t offset)
{
    const Elf64_Shdr *s = &image->section[table];

    if (table >= image->head->e_shnum || s->sh_type == SHT_NOBITS ||
        !inside(image, s->sh_offset, s->sh_size) || offset >= s->sh_size)
        return "";
    const char *text = image->data + s->sh_offset + offset;
    return memchr(text, 0, s->sh_size - offset) != NULL ? text : "";
}

static const char *section_name(const struct image *image, const Elf64_Shdr *section)
{
    return string_at(image, image->head->e_shstrndx, section->sh_name);
}

const char *cc_elf_section(const char *data, size_t length, const char *name, size_t *bytes)
{
    struct image image = {.data = data, .length = length};

    if (!open_image(&image))
        return NULL;
    for (unsigned i = 0; i < image.head->e_shnum; i++) {
        const Elf64_Shdr *section = &image.section[i];
        if (section->sh_type != SHT_PROGBITS || strcmp(section_name(&image, section), name) != 0 ||
            !inside(&image, section->sh_offset, section->sh_size))
            continue;
        *bytes = section->sh_size;
        return data + section->sh_offset;
    }
    return NULL;
}

static bool is_function(const Elf64_Sym *symbol)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
}

static const Elf64_Shdr *symbol_table(const struct image *image)
{
    for (unsigned i = 0; i < image->head->e_shnum; i++)
        if (image->section[i].sh_type == SHT_SYMTAB)
            return &image->section[i];
    return NULL;
}

bool cc_read_image(const char *path, struct cc_symbols *symbols)
{
    struct image image = {0};

    image.data = cc_read_file(path, &image.length);
    if (!open_image(&image))
        return false;
    const Elf64_Shdr *table = symbol_table(&image);
    if (table == NULL || !inside(&image, table->sh_offset, table->sh_size) ||
        table->sh_offset % _Alignof(Elf64_Sym) != 0)
        return false;
    const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)(image.data + table->sh_offset);
    size_t count = table->sh_size / sizeof *symbol;
    symbols->item = cc_alloc((count + 1) * sizeof *symbols->item);
    symbols->count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = string_at(&image, table->sh_link, symbol[i].st_name);
        if (*name != 0)
            symbols->item[symbols->count++] = (struct cc_symbol){name, is_function(&symbol[i])};
    }
    return true;
}
