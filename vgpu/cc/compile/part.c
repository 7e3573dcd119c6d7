/* SPDX-License-Identifier: MIT
 * part.c: see part.h.
 */
#include "part.h"

#include <stdlib.h>
#include <string.h>

#include "elf_image.h"

static const char magic[8] = "vgpurdc2";

struct head {
    char magic[8];
    uint64_t bytes; /* size of the record, a multiple of 8: a linker (-r) concatenates records */
    uint64_t unit_bytes, source_bytes, bitcode_bytes;
};

bool cc_write_part(const char *path, const struct cc_part *part)
{
    struct head head = {.unit_bytes = strlen(part->unit) + 1,
                        .source_bytes = strlen(part->source) + 1,
                        .bitcode_bytes = part->bytes};
    struct cc_text text = {0};
    uint64_t used = sizeof head + head.unit_bytes + head.source_bytes + head.bitcode_bytes;

    memcpy(head.magic, magic, sizeof magic);
    head.bytes = (used + 7) & ~(uint64_t)7;
    cc_put(&text, (const char *)&head, sizeof head);
    cc_put(&text, part->unit, head.unit_bytes);
    cc_put(&text, part->source, head.source_bytes);
    cc_put(&text, part->bitcode, head.bitcode_bytes);
    cc_put(&text, "\0\0\0\0\0\0\0", head.bytes - used);
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

/* Takes the next `bytes` of the record, which ends at `end`; null: it is damaged. */
static const char *take_bytes(const char **at, const char *end, uint64_t bytes, bool string)
{
    const char *begin = *at;

    if (bytes > (uint64_t)(end - begin) || (string && (bytes == 0 || begin[bytes - 1] != 0)))
        return NULL;
    *at += bytes;
    return begin;
}

static void add_file_part(struct cc_parts *parts, const char *record, const struct head *head)
{
    const char *at = record + sizeof *head, *end = record + head->bytes;
    struct cc_part part = {.bytes = head->bitcode_bytes};

    part.unit = take_bytes(&at, end, head->unit_bytes, true);
    part.source = part.unit ? take_bytes(&at, end, head->source_bytes, true) : NULL;
    part.bitcode = part.source ? take_bytes(&at, end, head->bitcode_bytes, false) : NULL;
    if (part.bitcode == NULL || has_unit(parts, part.unit))
        return;
    parts->item = cc_grow(parts->item, parts->count, &parts->capacity, sizeof part);
    parts->item[parts->count++] = part;
}

static void read_records(struct cc_parts *parts, const char *section, size_t bytes)
{
    struct head head;

    for (size_t at = 0; at + sizeof head <= bytes; at += head.bytes) {
        memcpy(&head, section + at, sizeof head);
        if (memcmp(head.magic, magic, sizeof magic) != 0 || head.bytes < sizeof head ||
            head.bytes > bytes - at || head.bytes % 8 != 0)
            return;
        add_file_part(parts, section + at, &head);
    }
}

/* Reads NUL-terminated names. */
static void read_linked(struct cc_parts *parts, const char *section, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += strlen(section + at) + 1) {
        if (memchr(section + at, 0, bytes - at) == NULL)
            return;
        if (section[at] != 0)
            cc_add(&parts->linked, section + at);
    }
}

static void read_object(struct cc_parts *parts, const char *data, size_t length)
{
    size_t bytes;
    const char *section = cc_elf_section(data, length, CC_PART_SECTION, &bytes);

    if (section != NULL)
        read_records(parts, section, bytes);
    section = cc_elf_section(data, length, CC_LINKED_SECTION, &bytes);
    if (section != NULL)
        read_linked(parts, section, bytes);
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
