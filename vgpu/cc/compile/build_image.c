/* SPDX-License-Identifier: MIT
 * build_image.c: compiles bitcode, or PTX, to a device image, and that to a module for
 * cuModuleLoad.
 */
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "diag.h"
#include "fatbin_text.h"
#include "image.h"
#include "proc.h"
#include "ptx_parts.h"

/* __device__ variables get pages of their own, over which vgpu-exec maps device memory. */
static const char layout[] = "PHDRS {\n"
                             "  head PT_LOAD FILEHDR PHDRS FLAGS(4);\n"
                             "  text PT_LOAD FLAGS(5);\n"
                             "  constants PT_LOAD FLAGS(4);\n"
                             "  data PT_LOAD FLAGS(6);\n"
                             "  dynamic PT_DYNAMIC FLAGS(6);\n"
                             "  stack PT_GNU_STACK FLAGS(6);\n"
                             "}\n"
                             "SECTIONS {\n"
                             "  . = SIZEOF_HEADERS;\n"
                             "  .hash : { *(.hash) } :head\n"
                             "  .gnu.hash : { *(.gnu.hash) } :head\n"
                             "  .dynsym : { *(.dynsym) }\n"
                             "  .dynstr : { *(.dynstr) }\n"
                             "  .rela.dyn : { *(.rela.*) }\n"
                             "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                             "  .plt : { *(.plt) *(.iplt) } :text\n"
                             "  .plt.got : { *(.plt.got) }\n"
                             "  .plt.sec : { *(.plt.sec) }\n"
                             "  .text : { BYTE(0xcc) *(.text .text.*) } :text\n"
                             "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                             "  .rodata : { *(.rodata .rodata.*) } :constants\n"
                             "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                             "  .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) } :data\n"
                             "  .dynamic : { *(.dynamic) } :data :dynamic\n"
                             "  .got : { *(.got) *(.got.plt) } :data\n"
                             "  .data : { *(.data .data.*) }\n"
                             "  /DISCARD/ : { *(.note.* .comment) *(.eh_frame .eh_frame_hdr) }\n"
                             "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                             "  " VGPU_DEVICE_VAR_SECTION " : { *(" VGPU_DEVICE_VAR_SECTION
                             ") . = ALIGN(CONSTANT(MAXPAGESIZE)); }\n"
                             "  .bss : { *(.bss .bss.*) *(COMMON) }\n"
                             "}\n";

static const char exports[] = "{ global: vgpu_image_abi; vgpu_image_kernels; "
                              "vgpu_image_kernel_count; vgpu_image_vars; vgpu_image_var_count; "
                              "vgpu_image_second_stack; local: *; };\n";

static void link_image(const struct cc_job *job, const char *object, const char *image)
{
    const char *script = cc_temp_path("clang.ld"), *names = cc_temp_path("clang.ver");
    struct cc_list command = {0};

    cc_write_file(script, layout, strlen(layout));
    cc_write_file(names, exports, strlen(exports));
    cc_add_line(&command,
                "%s -shared -nostdlib -Wl,-z,now -Wl,-z,norelro -Wl,-z,noexecstack "
                "-Wl,--build-id=none -Wl,--hash-style=gnu "
                "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset "
                "-Wl,-T,%s -Wl,--version-script=%s %s -lgcc -o %s",
                job->options->cxx, script, names, object, image);
    cc_must_run(command);
}

/* For a grader, which needs the compiler's output and cannot extract it from the object. */
static void keep_image(const char *data, size_t bytes)
{
    static unsigned number;
    const char *prefix = getenv("VGPU_CC_IMAGES");

    if (prefix != NULL && *prefix != 0)
        cc_write_file(cc_format("%s%u", prefix, number++), data, bytes);
}

bool cc_build_image(const struct cc_job *job, struct cc_bitcode *file, size_t count,
                    const char *name, struct cc_device_code *code, struct cc_text *fatbin)
{
    const char *object = cc_temp_path(cc_format("%s-device.o", name));
    const char *image = cc_temp_path(cc_format("%s-device.so", name));
    const char *headers =
        cc_keeps_lines(job->options) ? cc_format("%s/host_defines.h", job->places.include) : NULL;
    size_t bytes;

    for (size_t i = 0; i < count; i++) {
        file[i].checks_indices = job->options->checks_indices;
        file[i].debug = job->options->device_debug;
        file[i].fast_math = job->options->fast_math;
    }
    if (!cc_load_llvm(cc_find_clang(job).release) || !cc_lower(file, count, headers, object, code))
        return false;
    link_image(job, object, image);
    const char *data = cc_need_file(image, &bytes);
    keep_image(data, bytes);
    return cc_make_fatbin(code, file->source, data, bytes, fatbin);
}

/* ---- -fatbin and its like ---- */

void cc_write_module(const struct cc_job *job, const char *object, const struct cc_text *fatbin)
{
    if (job->options->action != CC_PTX) {
        cc_write_file(object, fatbin->data, fatbin->length);
        return;
    }
    const char *text = vgpu_fatbin_to_text(fatbin->data, fatbin->length);
    if (text == NULL)
        cc_fatal("cannot write '%s': out of memory", object);
    cc_write_file(object, text, strlen(text));
}

/* The list of the module's parts, without code. */
static bool list_parts(const struct cc_job *job, const struct cc_bitcode *file,
                       const struct cc_ptx_parts *parts, struct cc_device_code *code,
                       struct cc_text *fatbin)
{
    if (!cc_load_llvm(cc_find_clang(job).release) || !cc_check_ptx(file, code))
        return false;
    code->parts = cc_ptx_part_count(parts);
    for (size_t i = 0; i < code->kernel_count; i++)
        code->kernel[i].part = cc_ptx_part_of(parts, code->kernel[i].symbol);
    for (size_t i = 0; i < code->variable_count; i++)
        code->variable[i].part = cc_ptx_part_of(parts, code->variable[i].symbol);
    return cc_make_fatbin(code, file->source, "", 0, fatbin);
}

/* -ptx-part: leaves in `file` what is to be compiled. Returns the parts if they are to be listed in
 * place of that, else null. */
static const struct cc_ptx_parts *choose_part(const char *part, struct cc_bitcode *file)
{
    const char *text = cc_ptx_text(file->data, file->bytes);
    char *end;

    if (text == NULL)
        cc_end();
    const struct cc_ptx_parts *parts = cc_ptx_divide(text);
    unsigned long number = strtoul(part, &end, 10), count = cc_ptx_part_count(parts);
    file->data = text, file->bytes = strlen(text);
    if (strcmp(part, "all") == 0)
        return count > CC_PTX_PARTS_FEW ? parts : NULL;
    if (*end != 0 || number >= count)
        cc_fatal("-ptx-part %s: the module has %lu parts, from 0 on", part, count);
    file->data = cc_ptx_part_text(parts, (unsigned)number);
    return NULL;
}

void cc_compile_ptx(const struct cc_job *job, const char *source, const char *object, int number)
{
    const struct cc_ptx_parts *listed = NULL;
    struct cc_bitcode file = {.source = source, .is_ptx = true};
    struct cc_device_code code;
    struct cc_text fatbin = {0};

    if (job->options->dryrun)
        return;
    file.data = cc_need_file(source, &file.bytes);
    if (job->options->part != NULL)
        listed = choose_part(job->options->part, &file);
    bool done = listed != NULL
                    ? list_parts(job, &file, listed, &code, &fatbin)
                    : cc_build_image(job, &file, 1, cc_format("%d", number), &code, &fatbin);
    if (!cc_say_all() || !done)
        cc_end();
    cc_write_module(job, object, &fatbin);
}
