/* SPDX-License-Identifier: MIT
 * dwarf_lines.c: from an address in an ELF file to the line of source it comes from.
 *
 * Reads the DWARF line table (versions 2 to 5) of an ELF file, so that a fault can name the
 * student's line. A table is a program for a small machine whose rows give address, file and line;
 * we run the program of each unit until a row covers the address. Rows of the project's own headers
 * and of no line at all are passed over for the last one before them: the student's call.
 * Anything unexpected ends the search without an answer: a fault without a line is still told.
 *
 * The project's headers are known by the folder in which they lay when the unit was compiled:
 * host_defines.h, which every one of them includes, leaves its own path in the section
 * .vgpu.headers. A file of a student's may be called as it likes.
 *
 * Not libdw: the handler of SIGSEGV reads lines, on a stack of 32 KiB, and every program that is
 * linked would need that library. Memory comes from mmap, as much as a unit's tables have entries.
 */
#include "dwarf_lines.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "elf_read.h"

enum { MAX_FORMATS = 8 };

/* A directory or a file of a unit. */
struct entry {
    const char *name;
    uint64_t directory; /* of a file: its number */
    bool ours;          /* a file of the project's headers */
};

/* One unit's line program. */
struct unit {
    uint8_t min_step, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256];
    struct entry *directory, *file; /* in search.room */
    uint64_t directory_count, file_count;
    bool wide; /* 64-bit DWARF */
};

struct row {
    uint64_t address, line;
    uint64_t file;
};

struct search {
    uint64_t address;
    struct elf_cursor strings, line_strings, headers;
    struct entry *room; /* for the tables of a unit, and how many entries it has */
    uint64_t entries;
    const char *file;
    const char *directory, *base; /* the file's, and the one that this is relative to; or "" */
    uint64_t line;
};

/* ---- a unit's header ---- */

enum { FORM_DATA2 = 0x05, FORM_DATA4, FORM_DATA8, FORM_STRING, FORM_BLOCK, FORM_DATA1 = 0x0b };
enum { FORM_STRP = 0x0e, FORM_UDATA = 0x0f, FORM_DATA16 = 0x1e, FORM_LINE_STRP = 0x1f };
enum { CONTENT_PATH = 1, CONTENT_DIRECTORY = 2 };

struct value {
    const char *text; /* NULL: a number, or what is of no use here */
    uint64_t number;
};

static struct value value_of_form(struct elf_cursor *c, uint64_t form, const struct unit *unit,
                                  const struct search *search)
{
    static const uint8_t widths[] = {
        [FORM_DATA1] = 1, [FORM_DATA2] = 2, [FORM_DATA4] = 4, [FORM_DATA8] = 8, [FORM_DATA16] = 16};
    struct elf_cursor strings = form == FORM_STRP ? search->strings : search->line_strings;
    switch (form) {
    case FORM_STRING:
        return (struct value){.text = vgpu_elf_text(c)};
    case FORM_LINE_STRP:
    case FORM_STRP:
        return (struct value){.text =
                                  vgpu_elf_text_at(strings, vgpu_elf_fixed(c, unit->wide ? 8 : 4))};
    case FORM_UDATA:
        return (struct value){.number = vgpu_elf_unsigned_leb(c)};
    case FORM_BLOCK:
        for (uint64_t bytes = vgpu_elf_unsigned_leb(c); bytes > 0 && c->at < c->end; bytes--)
            c->at++;
        return (struct value){0};
    default:
        if (form < sizeof widths && widths[form])
            return (struct value){.number = vgpu_elf_fixed(c, widths[form])};
        c->at = c->end; /* unknown: nothing more can be read */
        return (struct value){0};
    }
}

/* Version 5: entries described by formats, directories and files alike; how many were read into
 * `out`, which has room for all that the header can hold. */
static uint64_t read_entries(struct elf_cursor *c, const struct unit *unit,
                             const struct search *search, struct entry *out)
{
    uint64_t content[MAX_FORMATS], form[MAX_FORMATS], formats = vgpu_elf_fixed(c, 1), n = 0;
    if (formats > MAX_FORMATS) {
        c->at = c->end;
        return 0;
    }
    for (uint64_t i = 0; i < formats; i++) {
        content[i] = vgpu_elf_unsigned_leb(c);
        form[i] = vgpu_elf_unsigned_leb(c);
    }
    uint64_t count = vgpu_elf_unsigned_leb(c);
    for (; formats && n < count && c->at < c->end; n++) {
        out[n] = (struct entry){.name = ""};
        for (uint64_t i = 0; i < formats; i++) {
            struct value value = value_of_form(c, form[i], unit, search);
            if (content[i] == CONTENT_PATH && value.text)
                out[n].name = value.text;
            else if (content[i] == CONTENT_DIRECTORY)
                out[n].directory = value.number;
        }
    }
    return n;
}

/* Versions 2 to 4: lists of text, ended by an empty one, that count from 1. Directory 0 is where
 * the unit was compiled, which these tables do not say. */
static uint64_t read_old_entries(struct elf_cursor *c, bool files, struct entry *out)
{
    uint64_t n = 0;
    out[n++] = (struct entry){.name = ""};
    for (const char *path = vgpu_elf_text(c); *path; path = vgpu_elf_text(c)) {
        out[n] = (struct entry){.name = path};
        if (files) {
            out[n].directory = vgpu_elf_unsigned_leb(c);
            vgpu_elf_unsigned_leb(c); /* when it was changed, and its bytes */
            vgpu_elf_unsigned_leb(c);
        }
        n++;
    }
    return n;
}

/* Room for a unit's entries, that of the unit before where it is enough. */
static bool has_room(struct search *search, uint64_t entries)
{
    if (entries <= search->entries)
        return true;
    if (search->room)
        munmap(search->room, search->entries * sizeof *search->room);
    search->entries = 0;
    search->room = mmap(NULL, entries * sizeof *search->room, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (search->room == MAP_FAILED)
        search->room = NULL;
    else
        search->entries = entries;
    return search->room != NULL;
}

/* The directory that a file's name is relative to; "" where that is not known. */
static const char *directory_of(const struct unit *unit, const struct entry *file)
{
    if (file->name[0] == '/' || file->directory >= unit->directory_count)
        return "";
    return unit->directory[file->directory].name;
}

/* Does `path` lie in the folder of the file `header`? */
static bool in_folder(const char *path, const char *header)
{
    const char *slash = strrchr(header, '/');
    uint64_t length = slash ? (uint64_t)(slash - header) + 1 : 0;
    return length > 0 && strncmp(path, header, length) == 0;
}

/* Compilers cut a path in two where they like: the name alone may be what the compiler was given.
 */
static bool is_ours(const struct unit *unit, const struct entry *file, const struct search *search)
{
    char path[1024];
    const char *directory = directory_of(unit, file);
    snprintf(path, sizeof path, "%s%s%s", directory, *directory ? "/" : "", file->name);
    for (struct elf_cursor c = search->headers; c.at < c.end;) {
        const char *header = vgpu_elf_text(&c);
        if (in_folder(path, header) || in_folder(file->name, header))
            return true;
    }
    return false;
}

/* Every entry takes a byte of the header at least, but for the two 0s of old tables. */
static void read_tables(struct elf_cursor *c, struct unit *unit, struct search *search,
                        uint64_t version)
{
    if (!has_room(search, (uint64_t)(c->end - c->at) + 2))
        return;
    unit->directory = search->room;
    unit->directory_count = version < 5 ? read_old_entries(c, false, unit->directory)
                                        : read_entries(c, unit, search, unit->directory);
    unit->file = unit->directory + unit->directory_count;
    unit->file_count = version < 5 ? read_old_entries(c, true, unit->file)
                                   : read_entries(c, unit, search, unit->file);
    for (uint64_t i = 0; i < unit->file_count; i++)
        unit->file[i].ours = is_ours(unit, &unit->file[i], search);
}

/* Reads the header; `c` holds the unit, and then its program. */
static void read_header(struct elf_cursor *c, struct unit *unit, struct search *search)
{
    uint64_t version = vgpu_elf_fixed(c, 2);
    if (version >= 5)
        vgpu_elf_fixed(c, 2); /* sizes of addresses and segments */
    uint64_t header_bytes = vgpu_elf_fixed(c, unit->wide ? 8 : 4);
    if (version < 2 || version > 5 || header_bytes > (uint64_t)(c->end - c->at)) {
        c->at = c->end;
        return;
    }
    struct elf_cursor header = {c->at, c->at + header_bytes};
    c->at += header_bytes;
    unit->min_step = (uint8_t)vgpu_elf_fixed(&header, 1);
    vgpu_elf_fixed(&header, version >= 4 ? 2 : 1); /* operations a row; is_stmt */
    unit->line_base = (int8_t)vgpu_elf_fixed(&header, 1);
    unit->line_range = (uint8_t)vgpu_elf_fixed(&header, 1);
    unit->opcode_base = (uint8_t)vgpu_elf_fixed(&header, 1);
    for (int i = 1; i < unit->opcode_base; i++)
        unit->operands[i] = (uint8_t)vgpu_elf_fixed(&header, 1);
    read_tables(&header, unit, search, version);
}

/* ---- a unit's program ---- */

/* A row of a student's line; line 0 is code that the compiler made up. */
static bool is_theirs(const struct row *row, const struct unit *unit)
{
    return row->line && row->file < unit->file_count && !unit->file[row->file].ours;
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
    search->file = unit->file[row->file].name;
    search->directory = directory_of(unit, &unit->file[row->file]);
    search->base = unit->directory_count ? unit->directory[0].name : "";
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

static bool extended(struct elf_cursor *c, struct machine *m, const struct unit *unit,
                     struct search *search)
{
    uint64_t bytes = vgpu_elf_unsigned_leb(c);
    if (bytes == 0 || bytes > (uint64_t)(c->end - c->at)) {
        c->at = c->end;
        return false;
    }
    struct elf_cursor inside = {c->at, c->at + bytes};
    c->at += bytes;
    uint64_t opcode = vgpu_elf_fixed(&inside, 1);
    if (opcode == 2)
        m->now.address = vgpu_elf_fixed(&inside, (unsigned)bytes - 1);
    if (opcode != 1)
        return false;
    bool found = emit(m, unit, search); /* the end of a sequence */
    *m = (struct machine){.now = {.line = 1, .file = 1}};
    return found;
}

static bool standard(uint8_t opcode, struct elf_cursor *c, struct machine *m,
                     const struct unit *unit, struct search *search)
{
    switch (opcode) {
    case 1:
        return emit(m, unit, search);
    case 2:
        m->now.address += vgpu_elf_unsigned_leb(c) * unit->min_step;
        return false;
    case 3:
        m->now.line += (uint64_t)vgpu_elf_signed_leb(c);
        return false;
    case 4:
        m->now.file = vgpu_elf_unsigned_leb(c);
        return false;
    case 8:
        m->now.address += (uint64_t)((255 - unit->opcode_base) / unit->line_range) * unit->min_step;
        return false;
    case 9:
        m->now.address += vgpu_elf_fixed(c, 2);
        return false;
    default:
        for (int i = 0; i < unit->operands[opcode]; i++)
            vgpu_elf_unsigned_leb(c);
        return false;
    }
}

static bool run_program(struct elf_cursor *c, const struct unit *unit, struct search *search)
{
    struct machine m = {.now = {.line = 1, .file = 1}};
    bool found = false;
    while (c->at < c->end && !found && unit->line_range) {
        uint8_t opcode = (uint8_t)vgpu_elf_fixed(c, 1);
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

static void search_units(const struct elf_map *map, struct search *search)
{
    struct elf_cursor table = vgpu_elf_section(map, ".debug_line");
    search->strings = vgpu_elf_section(map, ".debug_str");
    search->line_strings = vgpu_elf_section(map, ".debug_line_str");
    search->headers = vgpu_elf_section(map, ".vgpu.headers");
    while (table.at < table.end && !search->file) {
        struct unit unit = {0};
        uint64_t bytes = vgpu_elf_fixed(&table, 4);
        if (bytes == 0xffffffff) {
            unit.wide = true;
            bytes = vgpu_elf_fixed(&table, 8);
        }
        if (bytes > (uint64_t)(table.end - table.at))
            return;
        struct elf_cursor c = {table.at, table.at + bytes};
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
    bool whole = !*s->directory,
         based = !whole && s->directory[0] != '/' && *s->base && s->base != s->directory;
    snprintf(out, room, "%s%s%s%s%s", based ? s->base : "", based ? "/" : "", s->directory,
             whole ? "" : "/", s->file);
}

/* `path` may be NULL. */
static uint64_t find_line(int fd, uint64_t address, char *where, char *path, uint64_t room)
{
    struct stat status;
    struct search search = {.address = address};
    if (fstat(fd, &status) != 0 || status.st_size <= 0)
        return 0;
    struct elf_map map = {.bytes = (uint64_t)status.st_size};
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
    if (search.room)
        munmap(search.room, search.entries * sizeof *search.room);
    return search.file ? search.line : 0;
}

void vgpu_lines_find(int fd, uint64_t address, char *where, uint64_t room)
{
    where[0] = '\0';
    find_line(fd, address, where, NULL, room);
}

uint64_t vgpu_lines_path(int fd, uint64_t address, char *path, uint64_t room)
{
    path[0] = '\0';
    return find_line(fd, address, NULL, path, room);
}
