/* SPDX-License-Identifier: MIT
 * lines.c: from an address in an ELF file to the line of source it comes from.
 *
 * Reads the DWARF line table (versions 2 to 5) of an ELF file, so that a fault can name the
 * student's line. A table is a program for a small machine whose rows give address, file and line;
 * we run the program of each unit until a row covers the address. Rows of the project's own headers
 * and of no line at all are passed over for the last one before them: the student's call.
 * Anything unexpected ends the search without an answer: a fault without a line is still told.
 */
#define _GNU_SOURCE
#include "lines.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MAX_FILES = 512, MAX_DIRECTORIES = 128, MAX_FORMATS = 8 };

/* A part of the file that is read from front to back; `at` stays within `end`. */
struct cursor {
    const uint8_t *at, *end;
};

struct file_map {
    const uint8_t *base;
    uint64_t bytes;
};

/* One unit's line program. */
struct unit {
    uint8_t min_step, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256];
    const char *file[MAX_FILES], *directory[MAX_DIRECTORIES];
    uint16_t directory_of[MAX_FILES]; /* of a file: its number; version 5 only */
    uint32_t file_count, directory_count;
    bool wide; /* 64-bit DWARF */
};

struct row {
    uint64_t address, line;
    uint64_t file;
};

struct search {
    uint64_t address;
    struct cursor strings, line_strings;
    const char *file;
    const char *directory, *base; /* the file's, and the one that this is relative to; or NULL */
    uint64_t line;
};

/* ---- reading ---- */

static uint64_t fixed(struct cursor *c, unsigned bytes)
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

static uint64_t unsigned_leb(struct cursor *c)
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

static int64_t signed_leb(struct cursor *c)
{
    const uint8_t *first = c->at;
    uint64_t value = unsigned_leb(c);
    uint64_t bits = 7 * (uint64_t)(c->at - first);
    if (bits > 0 && bits < 64 && (c->at[-1] & 0x40))
        value |= ~0ull << bits;
    return (int64_t)value;
}

static const char *text(struct cursor *c)
{
    const char *from = (const char *)c->at;
    const uint8_t *stop = memchr(c->at, 0, (size_t)(c->end - c->at));
    if (!stop) {
        c->at = c->end;
        return "";
    }
    c->at = stop + 1;
    return from;
}

static const char *text_at(struct cursor section, uint64_t offset)
{
    if (offset >= (uint64_t)(section.end - section.at))
        return "";
    section.at += offset;
    return text(&section);
}

/* ---- the ELF file ---- */

static struct cursor section(const struct file_map *map, const char *name)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)map->base;
    struct cursor none = {0};
    if (map->bytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_shoff > map->bytes || head->e_shstrndx >= head->e_shnum ||
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
            (s->sh_flags & SHF_COMPRESSED))
            return none;
        return (struct cursor){map->base + s->sh_offset, map->base + s->sh_offset + s->sh_size};
    }
    return none;
}

/* ---- a unit's header ---- */

enum { FORM_DATA2 = 0x05, FORM_DATA4, FORM_DATA8, FORM_STRING, FORM_BLOCK, FORM_DATA1 = 0x0b };
enum { FORM_STRP = 0x0e, FORM_UDATA = 0x0f, FORM_DATA16 = 0x1e, FORM_LINE_STRP = 0x1f };
enum { CONTENT_PATH = 1, CONTENT_DIRECTORY = 2 };

/* Reads one value of an entry; returns it if it is text. */
static const char *value_of_form(struct cursor *c, uint64_t form, const struct unit *unit,
                                 const struct search *search)
{
    static const uint8_t widths[] = {
        [FORM_DATA1] = 1, [FORM_DATA2] = 2, [FORM_DATA4] = 4, [FORM_DATA8] = 8, [FORM_DATA16] = 16};
    switch (form) {
    case FORM_STRING:
        return text(c);
    case FORM_LINE_STRP:
        return text_at(search->line_strings, fixed(c, unit->wide ? 8 : 4));
    case FORM_STRP:
        return text_at(search->strings, fixed(c, unit->wide ? 8 : 4));
    case FORM_UDATA:
        unsigned_leb(c);
        return NULL;
    case FORM_BLOCK:
        for (uint64_t bytes = unsigned_leb(c); bytes > 0 && c->at < c->end; bytes--)
            c->at++;
        return NULL;
    default:
        if (form < sizeof widths && widths[form])
            fixed(c, widths[form]);
        else
            c->at = c->end; /* unknown: nothing more can be read */
        return NULL;
    }
}

static void keep_path(struct unit *unit, const char *path, bool file)
{
    if (file && unit->file_count < MAX_FILES)
        unit->file[unit->file_count++] = path;
    else if (!file && unit->directory_count < MAX_DIRECTORIES)
        unit->directory[unit->directory_count++] = path;
}

/* A file's directory comes behind its name. */
static void keep_directory(struct unit *unit, uint64_t number)
{
    if (unit->file_count > 0 && number < MAX_DIRECTORIES)
        unit->directory_of[unit->file_count - 1] = (uint16_t)number;
}

/* Version 5: entries described by formats; directories and files alike. */
static void read_entries(struct cursor *c, struct unit *unit, const struct search *search,
                         bool files)
{
    uint64_t content[MAX_FORMATS], form[MAX_FORMATS], formats = fixed(c, 1);
    if (formats > MAX_FORMATS) {
        c->at = c->end;
        return;
    }
    for (uint64_t i = 0; i < formats; i++) {
        content[i] = unsigned_leb(c);
        form[i] = unsigned_leb(c);
    }
    uint64_t count = unsigned_leb(c);
    for (uint64_t n = 0; n < count && c->at < c->end; n++)
        for (uint64_t i = 0; i < formats; i++) {
            if (files && content[i] == CONTENT_DIRECTORY && form[i] == FORM_UDATA) {
                keep_directory(unit, unsigned_leb(c));
                continue;
            }
            const char *path = value_of_form(c, form[i], unit, search);
            if (path && content[i] == CONTENT_PATH)
                keep_path(unit, path, files);
        }
}

/* Versions 2 to 4: lists of text, ended by an empty one; files count from 1. */
static void read_old_tables(struct cursor *c, struct unit *unit)
{
    while (*text(c))
        ;
    unit->file[unit->file_count++] = "";
    for (const char *path = text(c); *path; path = text(c)) {
        for (int i = 0; i < 3; i++)
            unsigned_leb(c);
        if (unit->file_count < MAX_FILES)
            unit->file[unit->file_count++] = path;
    }
}

/* Reads the header; `c` holds the unit, and then its program. */
static void read_header(struct cursor *c, struct unit *unit, const struct search *search)
{
    uint64_t version = fixed(c, 2);
    if (version >= 5)
        fixed(c, 2); /* sizes of addresses and segments */
    uint64_t header_bytes = fixed(c, unit->wide ? 8 : 4);
    if (version < 2 || version > 5 || header_bytes > (uint64_t)(c->end - c->at)) {
        c->at = c->end;
        return;
    }
    struct cursor header = {c->at, c->at + header_bytes};
    c->at += header_bytes;
    unit->min_step = (uint8_t)fixed(&header, 1);
    fixed(&header, version >= 4 ? 2 : 1); /* operations a row; is_stmt */
    unit->line_base = (int8_t)fixed(&header, 1);
    unit->line_range = (uint8_t)fixed(&header, 1);
    unit->opcode_base = (uint8_t)fixed(&header, 1);
    for (int i = 1; i < unit->opcode_base; i++)
        unit->operands[i] = (uint8_t)fixed(&header, 1);
    if (version < 5) {
        read_old_tables(&header, unit);
        return;
    }
    read_entries(&header, unit, search, false);
    read_entries(&header, unit, search, true);
}

/* ---- a unit's program ---- */

/* Headers of the project, whose lines mean nothing to a student. */
static bool is_ours(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    static const char *const names[] = {
        "device_thread.h",   "device_warp.h",        "device_atomic.h",
        "device_math.h",     "cooperative_groups.h", "rounding.h",
        "small_type.h",      "small_convert.h",      "small_math.h",
        "small_operators.h", "typed_calls.h",        "device_round.h",
        "device_simd.h",     "special_math.h",       "dpx.h"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "vgpu_", 5) == 0 || strncmp(name, "vector_", 7) == 0;
}

/* A row of a student's line; line 0 is code that the compiler made up. */
static bool is_theirs(const struct row *row, const struct unit *unit)
{
    return row->line && row->file < unit->file_count && !is_ours(unit->file[row->file]);
}

struct machine {
    struct row now, before, theirs; /* the last row, and the last one of a student's file */
    uint64_t sequence_start;
    bool has_before;
};

/* A row is complete: does the one before it cover the address? */
static void found_row(const struct row *row, const struct unit *unit, struct search *search)
{
    search->line = row->line;
    search->file = NULL;
    if (row->file >= unit->file_count)
        return;
    search->file = unit->file[row->file];
    if (unit->directory_of[row->file] < unit->directory_count) {
        search->directory = unit->directory[unit->directory_of[row->file]];
        search->base = unit->directory[0];
    }
}

static bool emit(struct machine *m, const struct unit *unit, struct search *search)
{
    const struct row *row = &m->before;
    if (!m->has_before)
        m->sequence_start = m->now.address;
    else if (m->sequence_start != 0 && row->address <= search->address &&
             search->address < m->now.address) {
        if (m->theirs.line && !is_theirs(row, unit))
            row = &m->theirs;
        found_row(row, unit, search);
        return true;
    }
    m->before = m->now;
    m->has_before = true;
    if (is_theirs(&m->now, unit))
        m->theirs = m->now;
    return false;
}

static bool extended(struct cursor *c, struct machine *m, const struct unit *unit,
                     struct search *search)
{
    uint64_t bytes = unsigned_leb(c);
    if (bytes == 0 || bytes > (uint64_t)(c->end - c->at)) {
        c->at = c->end;
        return false;
    }
    struct cursor inside = {c->at, c->at + bytes};
    c->at += bytes;
    uint64_t opcode = fixed(&inside, 1);
    if (opcode == 2)
        m->now.address = fixed(&inside, (unsigned)bytes - 1);
    if (opcode != 1)
        return false;
    bool found = emit(m, unit, search); /* the end of a sequence */
    *m = (struct machine){.now = {.line = 1, .file = 1}};
    return found;
}

static bool standard(uint8_t opcode, struct cursor *c, struct machine *m, const struct unit *unit,
                     struct search *search)
{
    switch (opcode) {
    case 1:
        return emit(m, unit, search);
    case 2:
        m->now.address += unsigned_leb(c) * unit->min_step;
        return false;
    case 3:
        m->now.line += (uint64_t)signed_leb(c);
        return false;
    case 4:
        m->now.file = unsigned_leb(c);
        return false;
    case 8:
        m->now.address += (uint64_t)((255 - unit->opcode_base) / unit->line_range) * unit->min_step;
        return false;
    case 9:
        m->now.address += fixed(c, 2);
        return false;
    default:
        for (int i = 0; i < unit->operands[opcode]; i++)
            unsigned_leb(c);
        return false;
    }
}

static bool run_program(struct cursor *c, const struct unit *unit, struct search *search)
{
    struct machine m = {.now = {.line = 1, .file = 1}};
    bool found = false;
    while (c->at < c->end && !found && unit->line_range) {
        uint8_t opcode = (uint8_t)fixed(c, 1);
        if (opcode >= unit->opcode_base) {
            uint8_t step = (uint8_t)(opcode - unit->opcode_base);
            m.now.address += (uint64_t)(step / unit->line_range) * unit->min_step;
            m.now.line += (uint64_t)(unit->line_base + step % unit->line_range);
            found = emit(&m, unit, search);
        } else if (opcode == 0) {
            found = extended(c, &m, unit, search);
        } else {
            found = standard(opcode, c, &m, unit, search);
        }
    }
    return found;
}

static void search_units(const struct file_map *map, struct search *search)
{
    struct cursor table = section(map, ".debug_line");
    search->strings = section(map, ".debug_str");
    search->line_strings = section(map, ".debug_line_str");
    while (table.at < table.end && !search->file) {
        struct unit unit = {0};
        uint64_t bytes = fixed(&table, 4);
        if (bytes == 0xffffffff) {
            unit.wide = true;
            bytes = fixed(&table, 8);
        }
        if (bytes > (uint64_t)(table.end - table.at))
            return;
        struct cursor c = {table.at, table.at + bytes};
        table.at += bytes;
        read_header(&c, &unit, search);
        run_program(&c, &unit, search);
    }
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The file as a path that can be opened, as far as the line table tells. */
static void path_of(const struct search *s, char *out, uint64_t room)
{
    bool whole = s->file[0] == '/' || !s->directory;
    bool based = !whole && s->directory[0] != '/' && s->base && s->base != s->directory;
    snprintf(out, room, "%s%s%s%s%s", based ? s->base : "", based ? "/" : "",
             whole ? "" : s->directory, whole ? "" : "/", s->file);
}

/* `path` may be NULL. */
static uint64_t find(int fd, uint64_t address, char *where, char *path, uint64_t room)
{
    struct stat status;
    struct search search = {.address = address};
    if (fstat(fd, &status) != 0 || status.st_size <= 0)
        return 0;
    struct file_map map = {.bytes = (uint64_t)status.st_size};
    void *base = mmap(NULL, map.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED)
        return 0;
    map.base = base;
    search_units(&map, &search);
    if (search.file && search.line && path)
        path_of(&search, path, room);
    else if (search.file && search.line)
        snprintf(where, room, "%s:%llu", name_of(search.file), (unsigned long long)search.line);
    munmap(base, map.bytes);
    return search.file ? search.line : 0;
}

void vgpu_lines_find(int fd, uint64_t address, char *where, uint64_t room)
{
    where[0] = '\0';
    find(fd, address, where, NULL, room);
}

uint64_t vgpu_lines_path(int fd, uint64_t address, char *path, uint64_t room)
{
    path[0] = '\0';
    return find(fd, address, NULL, path, room);
}
