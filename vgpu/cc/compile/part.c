/* SPDX-License-Identifier: MIT
 * part.c: see part.h. A record: sign, its bytes, those of the bitcode (64 bits each), the unit and
 * the source with zero bytes at their ends, the bitcode, and zeros up to a multiple of 8, because a
 * linker (-r) puts records one behind another.
 */
#include "part.h"

#include <stdlib.h>
#include <string.h>

#include "elf_read.h"
#include "proc.h"

static const uint64_t sign = 0x3363647275706776; /* "vgpurdc3" */

bool cc_write_part(const char *path, const struct cc_part *part)
{
    size_t unit = strlen(part->unit) + 1, source = strlen(part->source) + 1;
    uint64_t used = 3 * sizeof sign + unit + source + part->bytes;
    uint64_t head[] = {sign, (used + 7) & ~(uint64_t)7, part->bytes};
    struct cc_text text = {0};

    cc_put(&text, (const char *)head, sizeof head);
    cc_put(&text, part->unit, unit);
    cc_put(&text, part->source, source);
    cc_put(&text, part->bitcode, part->bytes);
    cc_put(&text, "\0\0\0\0\0\0\0", head[1] - used);
    return cc_write_file(path, text.data, text.length);
}

/* ---- reading ---- */

static bool has_unit(const struct cc_parts *parts, const char *unit)
{
    for (size_t i = 0; i < parts->count; i++)
        if (strcmp(parts->item[i].unit, unit) == 0)
            return true;
    return false;
}

static uint64_t bytes_left(const struct elf_cursor *c)
{
    return (uint64_t)(c->end - c->at);
}

/* Nothing behind a damaged record is read. */
static void read_records(struct cc_parts *parts, struct elf_cursor section)
{
    while (section.at < section.end) {
        struct elf_cursor record = section;
        uint64_t found = vgpu_elf_fixed(&record, 8), bytes = vgpu_elf_fixed(&record, 8);
        if (found != sign || bytes > bytes_left(&section) || bytes < 3 * sizeof sign)
            return;
        record.end = section.at += bytes;
        struct cc_part part = {.bytes = vgpu_elf_fixed(&record, 8)};
        part.unit = vgpu_elf_text(&record);
        part.source = vgpu_elf_text(&record);
        part.bitcode = (const char *)record.at;
        if (part.bytes > bytes_left(&record))
            return;
        if (has_unit(parts, part.unit))
            continue;
        parts->item = cc_grow(parts->item, parts->count, &parts->capacity, sizeof part);
        parts->item[parts->count++] = part;
    }
}

static void read_object(struct cc_parts *parts, const char *data, size_t length)
{
    const struct elf_map map = {(const uint8_t *)data, length};
    struct elf_cursor linked = vgpu_elf_section(&map, CC_LINKED_SECTION);

    read_records(parts, vgpu_elf_section(&map, CC_PART_SECTION));
    while (linked.at < linked.end)
        cc_add(&parts->linked, vgpu_elf_text(&linked));
}

/* ---- archives ---- */

enum { MEMBER_HEAD = 60, MEMBER_SIZE_AT = 48, MEMBER_SIZE_DIGITS = 10 };

static const char archive_sign[] = "!<arch>\n";

static void read_archive(struct cc_parts *parts, const char *data, size_t length)
{
    size_t at = sizeof archive_sign - 1;

    while (at + MEMBER_HEAD <= length) {
        const char *digits = cc_copy(data + at + MEMBER_SIZE_AT, MEMBER_SIZE_DIGITS);
        size_t bytes = strtoul(digits, NULL, 10);
        at += MEMBER_HEAD;
        if (bytes > length - at)
            return;
        read_object(parts, cc_copy(data + at, bytes), bytes); /* a copy, for alignment */
        at += bytes + bytes % 2;
    }
}

void cc_collect_parts(const char *path, struct cc_parts *parts)
{
    size_t length;
    const char *data = cc_read_file(path, &length);

    if (data == NULL)
        return;
    if (cc_starts(data, archive_sign))
        read_archive(parts, data, length);
    else
        read_object(parts, data, length);
}
