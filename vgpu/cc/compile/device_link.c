/* SPDX-License-Identifier: MIT
 * device_link.c: -rdc=true with Clang. A file's object carries its bitcode as a part; the device
 * link links the parts of a program, and compiles them to one image in an object of its own. The
 * host code that Clang makes calls a function of its own name before main,
 * __cudaRegisterLinkedBinary_...: it is renamed to what a device link defines for this file, so
 * that without one the linker reports "undefined reference to vgpu_device_link_of_...".
 *
 * A part is a record in a section that the host's linker leaves out of programs: sign, its bytes,
 * those of the bitcode (64 bits each), the unit and the source with zero bytes at their ends, the
 * bitcode, and zeros up to a multiple of 8, because a linker (-r) puts records one behind another.
 * An object that a device link has made lists the units in it in another section.
 */
#include <ar.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "diag.h"
#include "elf_image.h"
#include "elf_read.h"
#include "fatbin.h"
#include "proc.h"

#define PART_SECTION ".vgpu_rdc"
#define LINKED_SECTION ".vgpu_linked"

static const uint64_t sign = 0x3363647275706776; /* "vgpurdc3" */

struct parts {
    struct cc_bitcode *item; /* one per unit */
    size_t count, capacity;
    struct cc_list units, linked; /* linked: by a device link before */
};

static const char *link_function(const char *unit)
{
    return cc_format("vgpu_device_link_of_%s", unit);
}

/* ---- a file's object ---- */

const char *cc_unit_name(const struct cc_job *job, const char *source)
{
    enum { NAME_MAX_BYTES = 80 };
    const char *output = job->options->output;
    char *base = cc_format("%.*s", NAME_MAX_BYTES, cc_base_name(source));
    const char *folder = *source != '/' ? getcwd(NULL, 0) : NULL;
    const char *names =
        cc_format("%s/%s:%s", folder != NULL ? folder : "", source, output != NULL ? output : "");
    uint64_t number = cc_hash(CC_HASH_OF_NONE, names);

    for (size_t i = 0; i < job->options->common.count; i++)
        number = cc_hash(number, job->options->common.item[i]);
    for (char *c = base; *c != 0; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return cc_format("%s_%016" PRIx64, base, number);
}

void cc_write_unit(const char *path, const char *unit)
{
    struct vgpu_fatbin_unit record = {.name = ""};

    memcpy(record.magic, VGPU_FATBIN_UNIT_MAGIC, sizeof record.magic);
    snprintf(record.name, sizeof record.name, "%s", unit);
    cc_write_file(path, (const char *)&record, sizeof record);
}

static void write_part(const char *path, const struct cc_bitcode *part)
{
    size_t unit = strlen(part->unit) + 1, source = strlen(part->source) + 1;
    uint64_t used = 3 * sizeof sign + unit + source + part->bytes;
    uint64_t head[] = {sign, (used + 7) & ~(uint64_t)7, part->bytes};
    struct cc_text text = {0};

    cc_put(&text, (const char *)head, sizeof head);
    cc_put(&text, part->unit, unit);
    cc_put(&text, part->source, source);
    cc_put(&text, part->data, part->bytes);
    cc_put(&text, "\0\0\0\0\0\0\0", head[1] - used);
    cc_write_file(path, text.data, text.length);
}

/* Renames the symbols that Clang made for the device link; host code without device code has none.
 * Clang's own name depends only on the source's path. */
static void rename_symbols(struct cc_list *command, const char *object, const char *unit)
{
    struct cc_list symbols = cc_symbols_of(object, false);

    for (size_t i = 0; i < symbols.count; i++)
        if (cc_starts(symbols.item[i], "__cudaRegisterLinkedBinary"))
            cc_add_line(command, "--redefine-sym %s=%s", symbols.item[i], link_function(unit));
        else if (cc_starts(symbols.item[i], "__fatbinwrap"))
            cc_add_line(command, "--localize-symbol %s", symbols.item[i]);
}

void cc_add_part(const char *object, const struct cc_bitcode *file, const char *path,
                 struct cc_list *objcopy)
{
    write_part(path, file);
    cc_add_line(objcopy,
                "--set-section-flags " PART_SECTION "=exclude,readonly "
                "--add-section " PART_SECTION "=%s",
                path);
    rename_symbols(objcopy, object, file->unit);
}

/* ---- reading parts ---- */

static uint64_t bytes_left(const struct elf_cursor *c)
{
    return (uint64_t)(c->end - c->at);
}

/* Nothing behind a damaged record is read. */
static void read_records(struct parts *parts, struct elf_cursor section)
{
    while (section.at < section.end) {
        struct elf_cursor record = section;
        uint64_t found = vgpu_elf_fixed(&record, 8), bytes = vgpu_elf_fixed(&record, 8);
        if (found != sign || bytes > bytes_left(&section) || bytes < 3 * sizeof sign)
            return;
        record.end = section.at += bytes;
        struct cc_bitcode part = {.bytes = vgpu_elf_fixed(&record, 8)};
        part.unit = vgpu_elf_text(&record);
        part.source = vgpu_elf_text(&record);
        part.data = (const char *)record.at;
        if (part.bytes > bytes_left(&record))
            return;
        if (cc_has_word(&parts->units, part.unit))
            continue;
        cc_add(&parts->units, part.unit);
        parts->item = cc_grow(parts->item, parts->count, &parts->capacity, sizeof part);
        parts->item[parts->count++] = part;
    }
}

static void read_object(struct parts *parts, const char *data, size_t length)
{
    const struct elf_map map = {(const uint8_t *)data, length};
    struct elf_cursor linked = vgpu_elf_section(&map, LINKED_SECTION);

    read_records(parts, vgpu_elf_section(&map, PART_SECTION));
    while (linked.at < linked.end)
        cc_add(&parts->linked, vgpu_elf_text(&linked));
}

static void read_archive(struct parts *parts, const char *data, size_t length)
{
    struct ar_hdr head;

    for (size_t at = SARMAG, bytes; at + sizeof head <= length; at += bytes + bytes % 2) {
        memcpy(&head, data + at, sizeof head);
        at += sizeof head;
        bytes = strtoul(cc_copy(head.ar_size, sizeof head.ar_size), NULL, 10);
        if (bytes > length - at)
            return;
        read_object(parts, cc_copy(data + at, bytes), bytes); /* a copy, for alignment */
    }
}

/* Other files have none. */
static void read_parts(struct parts *parts, const char *path)
{
    size_t length;
    const char *data = cc_read_file(path, &length);

    if (data != NULL && cc_starts(data, ARMAG))
        read_archive(parts, data, length);
    else if (data != NULL)
        read_object(parts, data, length);
}

/* The archive that the linker takes for -lNAME, if it is in one of the -L folders; else null. */
static const char *archive_of(const struct cc_options *options, const char *library)
{
    for (size_t i = 0; i < options->link.count; i++) {
        const char *folder = options->link.item[i];
        if (!cc_starts(folder, "-L"))
            continue;
        const char *archive = cc_format("%s/lib%s.a", folder + 2, library);
        if (access(cc_format("%s/lib%s.so", folder + 2, library), R_OK) == 0)
            return NULL;
        if (access(archive, R_OK) == 0)
            return archive;
    }
    return NULL;
}

/* The parts that no device link has linked. */
static struct parts collect_parts(const struct cc_job *job, const struct cc_list *objects)
{
    struct parts parts = {0};
    size_t left = 0;

    for (size_t i = 0; i < objects->count; i++) {
        const char *path = objects->item[i];
        if (cc_starts(path, "-l"))
            path = archive_of(job->options, path + 2);
        if (path != NULL && *path != '-')
            read_parts(&parts, path);
    }
    for (size_t i = 0; i < parts.count; i++)
        if (!cc_has_word(&parts.linked, parts.item[i].unit))
            parts.item[left++] = parts.item[i];
    parts.count = left;
    return parts;
}

/* ---- the device link ---- */

/* Passes on the function's arguments, with the image's address as the fifth. */
static void put_function(struct cc_text *text, const char *unit)
{
    const char *name = link_function(unit);

    cc_putf(text, "\t.globl %s\n\t.hidden %s\n\t.type %s,%%function\n%s:\n", name, name, name,
            name);
#ifdef __aarch64__
    cc_puts(text, "\tadrp x4, .Lvgpu_linked\n\tadd x4, x4, :lo12:.Lvgpu_linked\n"
                  "\tb vgpu_register_linked\n");
#else
    cc_puts(text, "\tleaq .Lvgpu_linked(%rip), %r8\n\tjmp vgpu_register_linked@PLT\n");
#endif
}

/* The image, and a function for each part. */
static void put_parts(struct cc_text *text, const struct parts *parts)
{
    cc_puts(text, "\t.section .rodata.vgpu_linked,\"a\",%progbits\n\t.balign 16\n"
                  ".Lvgpu_linked:\n\t.incbin \"linked.fatbin\"\n\t.text\n");
    for (size_t i = 0; i < parts->count; i++)
        put_function(text, parts->item[i].unit);
    cc_puts(text, "\t.section " LINKED_SECTION ",\"e\",%progbits\n");
    for (size_t i = 0; i < parts->count; i++)
        cc_putf(text, "\t.string \"%s\"\n", parts->item[i].unit);
}

/* Compiles all parts together. */
static void build_parts(const struct cc_job *job, const struct parts *parts)
{
    struct cc_text fatbin = {0};
    struct cc_device_code code;
    bool built = cc_build_image(job, parts->item, parts->count, "linked", &code, &fatbin);

    if (!cc_say_all() || !built)
        cc_fatal("the device code of these files cannot be linked together (-rdc=true)");
    cc_write_file(cc_temp_path("linked.fatbin"), fatbin.data, fatbin.length);
}

bool cc_device_link(const struct cc_job *job, const struct cc_list *objects, const char *object)
{
    struct parts parts = collect_parts(job, objects);
    const char *path = cc_temp_path("linked.s");
    struct cc_text text = {0};
    struct cc_list command = {0};

    if (parts.count == 0 && job->options->action != CC_DEVICE_LINK)
        return false;
    cc_puts(&text, "\t.section .note.GNU-stack,\"\",%progbits\n");
    if (parts.count != 0) {
        build_parts(job, &parts);
        put_parts(&text, &parts);
    }
    cc_write_file(path, text.data, text.length);
    /* -I: of what .incbin names */
    cc_add_line(&command, "%s -c -I %s -o %s %s", job->options->cxx, cc_temp_path(""), object,
                path);
    cc_must_run(command);
    return true;
}
