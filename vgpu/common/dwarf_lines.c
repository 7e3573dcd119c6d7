/* SPDX-License-Identifier: MIT
 * dwarf_lines.c: finds the source line of an address in an ELF file.
 *
 * Reads the DWARF line table (versions 2 to 5), so that a message about a fault can name the
 * program's line. A line table is a program for a small state machine, whose output are rows of
 * address, file and line; the program of each unit is run until a row covers the address. If that
 * row belongs to a header of this project or has line 0, the last row before it that does not is
 * used: the program's call. Malformed input ends the search without a result: the fault is then
 * reported without a line.
 *
 * A header of this project is recognised by its directory at compile time: host_defines.h, which
 * all of them include, stores its own path in the section .vgpu.headers. So the program's files may
 * have any names.
 *
 * libdw is not used: the SIGSEGV handler reads lines, on a stack of 32 KiB, and every program would
 * have to be linked with libdw. Memory is allocated by mmap, as much as a unit's tables need.
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
    uint64_t directory; /* of a file: index of its directory */
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
    /* Memory for the tables of a unit, and its size in entries. */
    struct entry *room;
    uint64_t entries;
    const char *file;
    /* The file's directory, and the directory that this one is relative to; "" if unknown. */
    const char *directory, *base;
    uint64_t line;
};

/* ---- a unit's header ---- */

enum { FORM_DATA2 = 0x05, FORM_DATA4, FORM_DATA8, FORM_STRING, FORM_BLOCK, FORM_DATA1 = 0x0b };
enum { FORM_STRP = 0x0e, FORM_UDATA = 0x0f, FORM_DATA16 = 0x1e, FORM_LINE_STRP = 0x1f };
enum { CONTENT_PATH = 1, CONTENT_DIRECTORY = 2 };

struct value {
    const char *text; /* NULL: the value is a number, or was skipped */
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
        c->at = c->end; /* unknown form: its length is unknown, too */
        return (struct value){0};
    }
}

/* Version 5: tables of directories and of files, whose columns are described by a list of formats.
 * Returns the number of entries stored in `out`, which has room for all that the header can
 * contain. */
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

/* Versions 2 to 4: lists of strings, ended by an empty one and numbered from 1. Entry 0 stands for
 * the unit's compilation directory, which these tables do not contain. */
static uint64_t read_old_entries(struct elf_cursor *c, bool files, struct entry *out)
{
    uint64_t n = 0;
    out[n++] = (struct entry){.name = ""};
    for (const char *path = vgpu_elf_text(c); *path; path = vgpu_elf_text(c)) {
        out[n] = (struct entry){.name = path};
        if (files) {
            out[n].directory = vgpu_elf_unsigned_leb(c);
            vgpu_elf_unsigned_leb(c); /* time of modification, and size */
            vgpu_elf_unsigned_leb(c);
        }
        n++;
    }
    return n;
}

/* Makes room for a unit's entries; memory of the unit before is reused if it suffices. */
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

/* The directory that the file's name is relative to; "" if there is none or it is unknown. */
static const char *directory_of(const struct unit *unit, const struct entry *file)
{
    if (file->name[0] == '/' || file->directory >= unit->directory_count)
        return "";
    return unit->directory[file->directory].name;
}

/* True if `path` is in the directory of the file `header`. */
static bool in_folder(const char *path, const char *header)
{
    const char *slash = strrchr(header, '/');
    uint64_t length = slash ? (uint64_t)(slash - header) + 1 : 0;
    return length > 0 && strncmp(path, header, length) == 0;
}

/* True for a file in the directory of the project's headers. Compilers split a path into directory
 * and name at any slash, so the name alone may be the whole path. */
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

/* Each entry takes at least one byte of the header, except the two entries 0 of versions before 5.
 */
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

/* Reads the header of the unit in `c`; afterwards `c` is at the unit's line program. */
static void read_header(struct elf_cursor *c, struct unit *unit, struct search *search)
{
    uint64_t version = vgpu_elf_fixed(c, 2);
    if (version >= 5)
        vgpu_elf_fixed(c, 2); /* sizes of addresses and of segment selectors */
    uint64_t header_bytes = vgpu_elf_fixed(c, unit->wide ? 8 : 4);
    if (version < 2 || version > 5 || header_bytes > (uint64_t)(c->end - c->at)) {
        c->at = c->end;
        return;
    }
    struct elf_cursor header = {c->at, c->at + header_bytes};
    c->at += header_bytes;
    unit->min_step = (uint8_t)vgpu_elf_fixed(&header, 1);
    vgpu_elf_fixed(&header,
                   version >= 4 ? 2 : 1); /* operations per instruction; default of is_stmt */
    unit->line_base = (int8_t)vgpu_elf_fixed(&header, 1);
    unit->line_range = (uint8_t)vgpu_elf_fixed(&header, 1);
    unit->opcode_base = (uint8_t)vgpu_elf_fixed(&header, 1);
    for (int i = 1; i < unit->opcode_base; i++)
        unit->operands[i] = (uint8_t)vgpu_elf_fixed(&header, 1);
    read_tables(&header, unit, search, version);
}

/* ---- a unit's line program ---- */

/* True for a row of the program's own code. Line 0 is code that the compiler generated. */
static bool is_theirs(const struct row *row, const struct unit *unit)
{
    return row->line && row->file < unit->file_count && !unit->file[row->file].ours;
}

struct machine {
    /* The current row, the last one, and the last one that is_theirs. */
    struct row now, before, theirs;
    uint64_t sequence_start;
    bool has_before;
};

/* Stores the file and line of the row as the result. */
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

static bool emit_row(struct machine *m, const struct unit *unit, struct search *search)
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

static bool extended_opcode(struct elf_cursor *c, struct machine *m, const struct unit *unit,
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
    bool found = emit_row(m, unit, search); /* end of a sequence */
    *m = (struct machine){.now = {.line = 1, .file = 1}};
    return found;
}

static bool standard_opcode(uint8_t opcode, struct elf_cursor *c, struct machine *m,
                            const struct unit *unit, struct search *search)
{
    switch (opcode) {
    case 1:
        return emit_row(m, unit, search);
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

static bool run_line_program(struct elf_cursor *c, const struct unit *unit, struct search *search)
{
    struct machine m = {.now = {.line = 1, .file = 1}};
    bool found = false;
    while (c->at < c->end && !found && unit->line_range) {
        uint8_t opcode = (uint8_t)vgpu_elf_fixed(c, 1);
        if (opcode >= unit->opcode_base) {
            uint8_t step = (uint8_t)(opcode - unit->opcode_base);
            m.now.address += (uint64_t)(step / unit->line_range) * unit->min_step;
            m.now.line += (uint64_t)(unit->line_base + step % unit->line_range);
            found = emit_row(&m, unit, search);
        } else if (opcode == 0) {
            found = extended_opcode(c, &m, unit, search);
        } else {
            found = standard_opcode(opcode, c, &m, unit, search);
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
        run_line_program(&c, &unit, search);
    }
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Writes the file's path, as complete as the line table allows. */
static void path_of(const struct search *s, char *out, uint64_t room)
{
    bool whole = !*s->directory,
         based = !whole && s->directory[0] != '/' && *s->base && s->base != s->directory;
    snprintf(out, room, "%s%s%s%s%s", based ? s->base : "", based ? "/" : "", s->directory,
             whole ? "" : "/", s->file);
}

/* Writes the path if `path` is not NULL, else "file:line" to `where`. Returns the line; 0: unknown.
 */
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
