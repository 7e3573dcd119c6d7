/* SPDX-License-Identifier: MIT
 * elf_read.c: see elf_read.h.
 */
#include "elf_read.h"

#include <elf.h>
#include <string.h>

uint64_t vgpu_elf_fixed(struct elf_cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    if ((uint64_t)(c->end - c->at) < bytes) {
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, bytes < 8 ? bytes : 8);
    c->at += bytes;
    return value;
}

uint64_t vgpu_elf_unsigned_leb(struct elf_cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; c->at < c->end; shift += 7) {
        uint8_t byte = *c->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

int64_t vgpu_elf_signed_leb(struct elf_cursor *c)
{
    const uint8_t *first = c->at;
    uint64_t value = vgpu_elf_unsigned_leb(c);
    uint64_t bits = 7 * (uint64_t)(c->at - first);
    if (bits > 0 && bits < 64 && (c->at[-1] & 0x40))
        value |= ~0ull << bits;
    return (int64_t)value;
}

const char *vgpu_elf_text(struct elf_cursor *c)
{
    const char *from = (const char *)c->at;
    const uint8_t *stop = c->at < c->end ? memchr(c->at, 0, (size_t)(c->end - c->at)) : NULL;
    if (!stop) {
        c->at = c->end;
        return "";
    }
    c->at = stop + 1;
    return from;
}

const char *vgpu_elf_text_at(struct elf_cursor section, uint64_t offset)
{
    if (offset >= (uint64_t)(section.end - section.at))
        return "";
    section.at += offset;
    return vgpu_elf_text(&section);
}

struct elf_cursor vgpu_elf_section(const struct elf_map *map, const char *name)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)map->base;
    struct elf_cursor none = {0};
    if (map->bytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shoff % _Alignof(Elf64_Shdr) || head->e_shoff > map->bytes ||
        head->e_shstrndx >= head->e_shnum ||
        head->e_shnum * sizeof(Elf64_Shdr) > map->bytes - head->e_shoff)
        return none;
    const Elf64_Shdr *list = (const Elf64_Shdr *)(const void *)(map->base + head->e_shoff);
    const Elf64_Shdr *names = &list[head->e_shstrndx];
    for (int i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *s = &list[i];
        if (names->sh_offset + s->sh_name + strlen(name) >= map->bytes ||
            strcmp((const char *)map->base + names->sh_offset + s->sh_name, name) != 0)
            continue;
        if (s->sh_offset > map->bytes || s->sh_size > map->bytes - s->sh_offset ||
            s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_COMPRESSED))
            return none;
        return (struct elf_cursor){map->base + s->sh_offset, map->base + s->sh_offset + s->sh_size};
    }
    return none;
}
