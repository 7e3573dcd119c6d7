/* SPDX-License-Identifier: MIT
 * tables.c: the tables of struct vgpu_kernel (image.h) and struct vgpu_host_kernel
 * (registration.h), as assembly behind the compiler's own. There every symbol can be named, local
 * ones and those of template instances too, and no section attribute is needed (gcc ignores it on
 * what templates make).
 *
 * Directives are those that x86-64 and AArch64 share. Layouts are checked below.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "image.h"
#include "marks.h"
#include "registration.h"

_Static_assert(offsetof(struct vgpu_kernel, ordinal) == 8 &&
                   offsetof(struct vgpu_kernel, name) == 16 &&
                   offsetof(struct vgpu_kernel, call) == 24 &&
                   offsetof(struct vgpu_kernel, param_count) == 32 &&
                   offsetof(struct vgpu_kernel, param_bytes) == 40 &&
                   offsetof(struct vgpu_kernel, static_shared_bytes) == 48 &&
                   offsetof(struct vgpu_kernel, max_threads) == 52 &&
                   sizeof(struct vgpu_kernel) == VGPU_KERNEL_BYTES,
               "put_image_kernel writes this layout");
_Static_assert(offsetof(struct vgpu_host_kernel, stub) == 8 &&
                   offsetof(struct vgpu_host_kernel, ordinal) == 16 &&
                   offsetof(struct vgpu_host_kernel, param_count) == 20 &&
                   offsetof(struct vgpu_host_kernel, param_bytes) == 24 &&
                   offsetof(struct vgpu_host_kernel, max_threads) == 32 &&
                   offsetof(struct vgpu_host_kernel, static_shared_bytes) == 36 &&
                   offsetof(struct vgpu_host_kernel, file) == 40 &&
                   offsetof(struct vgpu_host_kernel, line) == 48 &&
                   sizeof(struct vgpu_host_kernel) == 56,
               "put_host_kernel writes this layout");

_Static_assert(sizeof(struct vgpu_var) == VGPU_VAR_BYTES, "the linker script counts these");
_Static_assert(offsetof(struct vgpu_host_image, begin) == 8 &&
                   offsetof(struct vgpu_host_image, end) == 16 &&
                   offsetof(struct vgpu_host_image, id) == 24 &&
                   sizeof(struct vgpu_host_image) == 32 &&
                   offsetof(struct vgpu_image_part, first_kernel) == 8 &&
                   sizeof(struct vgpu_image_part) == 16,
               "cc_put_image and cc_put_part write these layouts");

static void put_string(struct cc_text *out, const char *label, size_t number, const char *text)
{
    cc_putf(out, "%s%zu:\n\t.string %s\n", label, number, cc_quoted(text));
}

static void put_sizes(struct cc_text *out, size_t number, const struct cc_entry *entry)
{
    cc_putf(out, "\t.balign 4\n.Lvgpu_sizes%zu:\n\t.long 0", number);
    for (uint32_t i = 0; i < entry->param_count; i++)
        cc_putf(out, ", %u", entry->param_bytes[i]);
    cc_puts(out, "\n");
}

/* The sizes start behind a zero, so that a kernel without parameters has a table too. */
static void put_sizes_address(struct cc_text *out, size_t number)
{
    cc_putf(out, "\t.quad .Lvgpu_sizes%zu + 4\n", number);
}

/* ---- image ---- */

static void put_image_kernel(struct cc_text *out, size_t i, const struct cc_entry *entry)
{
    cc_putf(out, "\t.quad .Lvgpu_key%zu\n\t.long %zu, 0\n", i, i);
    cc_putf(out, "\t.quad .Lvgpu_name%zu, %s\n", i, entry->call);
    cc_putf(out, "\t.long %u, 0\n", entry->param_count);
    put_sizes_address(out, i);
    cc_putf(out, "\t.long %u, %u\n", entry->shared_bytes, entry->threads);
}

void cc_put_image_table(struct cc_text *out, const struct cc_marks *marks,
                        const struct cc_named *name, const char *module)
{
    cc_puts(out, "\n\t.section .rodata.vgpu_tables,\"a\",%progbits\n\t.balign 8\n");
    for (size_t i = 0; i < marks->entry_count; i++) {
        put_sizes(out, i, &marks->entry[i]);
        put_string(out, ".Lvgpu_name", i, name[i].name);
        put_string(out, ".Lvgpu_key", i, cc_format("%s#%zu:%s", module, i, name[i].name));
    }
    cc_puts(out, "\t.section " VGPU_KERNEL_TABLE_SECTION ",\"aw\",%progbits\n\t.balign 8\n");
    for (size_t i = 0; i < marks->entry_count; i++)
        put_image_kernel(out, i, &marks->entry[i]);
}

/* ---- host ---- */

static bool has_stub(const struct cc_marks *host, const char *symbol)
{
    for (size_t i = 0; i < host->stub_count; i++)
        if (strcmp(host->stub[i].symbol, symbol) == 0)
            return true;
    return false;
}

static void put_host_kernel(struct cc_text *out, size_t i, const struct cc_entry *entry, int line)
{
    cc_putf(out, "\t.quad .Lvgpu_name%zu, %s\n\t.long %zu, %u\n", i, entry->symbol, i,
            entry->param_count);
    put_sizes_address(out, i);
    cc_putf(out, "\t.long %u, %u\n\t.quad .Lvgpu_file%zu\n\t.long %d, 0\n", entry->threads,
            entry->shared_bytes, i, line);
}

const char *cc_part_symbol(const char *unit)
{
    return unit != NULL ? cc_format("vgpu_device_link_of_%s", unit) : "vgpu_image_part_here";
}

void cc_put_image(struct cc_text *out, const char *image, const char *name)
{
    cc_putf(out,
            "\t.section .rodata.vgpu_image,\"a\",%%progbits\n\t.balign 16\n"
            ".Lvgpu_image_begin:\n\t.incbin %s\n.Lvgpu_image_end:\n\t.byte 0\n"
            ".Lvgpu_image_name:\n\t.string %s\n",
            cc_quoted(image), cc_quoted(name));
    cc_puts(out, "\t.section .data.vgpu_image,\"aw\",%progbits\n\t.balign 8\n.Lvgpu_image:\n"
                 "\t.quad .Lvgpu_image_name, .Lvgpu_image_begin, .Lvgpu_image_end\n\t.long 0, 0\n");
}

void cc_put_part(struct cc_text *out, const char *unit, uint64_t first_kernel)
{
    const char *symbol = cc_part_symbol(unit);

    cc_puts(out, "\t.section .data.rel.ro.vgpu_part,\"aw\",%progbits\n\t.balign 8\n");
    if (unit != NULL)
        cc_putf(out, "\t.globl %s\n\t.hidden %s\n", symbol, symbol);
    cc_putf(out, "%s:\n\t.quad .Lvgpu_image\n\t.long %" PRIu64 ", 0\n", symbol, first_kernel);
}

void cc_put_host_table(struct cc_text *out, const struct cc_marks *image_marks,
                       const struct cc_marks *host_marks, const struct cc_named *name)
{
    size_t count = 0;

    cc_puts(out, "\n\t.section .rodata.vgpu_tables,\"a\",%progbits\n\t.balign 8\n");
    for (size_t i = 0; i < image_marks->entry_count; i++) {
        put_sizes(out, i, &image_marks->entry[i]);
        put_string(out, ".Lvgpu_name", i, name[i].name);
        put_string(out, ".Lvgpu_file", i, name[i].file);
    }
    cc_puts(out, "\t.section .data.rel.ro.vgpu_tables,\"aw\",%progbits\n\t.balign 8\n"
                 "vgpu_host_kernels:\n");
    for (size_t i = 0; i < image_marks->entry_count; i++) {
        if (!has_stub(host_marks, image_marks->entry[i].symbol))
            continue;
        put_host_kernel(out, i, &image_marks->entry[i], name[i].line);
        count++;
    }
    cc_putf(out,
            "\t.quad 0\n\t.section .rodata.vgpu_tables\n\t.balign 4\nvgpu_host_kernel_count:\n"
            "\t.long %zu\n",
            count);
}
