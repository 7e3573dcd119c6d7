/* SPDX-License-Identifier: MIT
 * build_image.c: compiles bitcode, or PTX, to a device image, and that to a module for
 * cuModuleLoad.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "diag.h"
#include "fatbin_text.h"
#include "proc.h"
#include "ptx_parts.h"

/* For a grader, which needs the compiler's output and cannot extract it from the object. */
static bool keep_image(const char *data, size_t bytes)
{
    static unsigned number;
    const char *prefix = getenv("VGPU_CC_IMAGES");

    if (prefix == NULL || *prefix == 0)
        return true;
    return cc_write_file(cc_format("%s%u", prefix, number++), data, bytes);
}

bool cc_build_image(const struct cc_job *job, const struct cc_clang *clang, struct cc_bitcode *file,
                    size_t count, const char *name, struct cc_device_code *code,
                    struct cc_text *fatbin)
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
    if (!cc_load_llvm(clang->release) || !cc_lower(file, count, headers, object, code) ||
        !cc_link_image(job, object, image))
        return false;
    const char *data = cc_read_file(image, &bytes);
    if (data == NULL)
        return cc_fail("cannot read the device image '%s': %s", image, strerror(errno));
    return keep_image(data, bytes) && cc_make_fatbin(code, file->source, data, bytes, fatbin);
}

/* ---- -fatbin and its like ---- */

bool cc_write_module(const struct cc_job *job, const char *object, const struct cc_text *fatbin)
{
    if (job->options->action != CC_PTX)
        return cc_write_file(object, fatbin->data, fatbin->length);
    const char *text = vgpu_fatbin_to_text(fatbin->data, fatbin->length);
    return text != NULL && cc_write_file(object, text, strlen(text));
}

/* The list of the module's parts, without code. */
static bool list_parts(const struct cc_clang *clang, const struct cc_bitcode *file,
                       const struct cc_ptx_parts *parts, struct cc_device_code *code,
                       struct cc_text *fatbin)
{
    if (!cc_load_llvm(clang->release) || !cc_check_ptx(file, code))
        return false;
    code->parts = cc_ptx_part_count(parts);
    for (size_t i = 0; i < code->kernel_count; i++)
        code->kernel[i].part = cc_ptx_part_of(parts, code->kernel[i].symbol);
    for (size_t i = 0; i < code->variable_count; i++)
        code->variable[i].part = cc_ptx_part_of(parts, code->variable[i].symbol);
    return cc_make_fatbin(code, file->source, "", 0, fatbin);
}

/* Leaves in `file` what is to be compiled. *lists: nothing, but its parts are to be listed. */
static bool choose_part(const char *part, struct cc_bitcode *file, struct cc_ptx_parts **parts,
                        bool *lists)
{
    const char *text = part != NULL ? cc_ptx_text(file->data, file->bytes) : NULL;
    char *end;

    *lists = false;
    if (part == NULL || text == NULL)
        return part == NULL;
    *parts = cc_ptx_divide(text);
    unsigned long number = strtoul(part, &end, 10), count = cc_ptx_part_count(*parts);
    file->data = text, file->bytes = strlen(text);
    if (strcmp(part, "all") == 0) {
        *lists = count > CC_PTX_PARTS_FEW;
        return true;
    }
    if (*end != 0 || number >= count)
        return cc_fail("-ptx-part %s: the module has %lu parts, from 0 on", part, count);
    file->data = cc_ptx_part_text(*parts, (unsigned)number);
    return true;
}

bool cc_compile_ptx(const struct cc_job *job, const char *source, const char *object, int number)
{
    struct cc_ptx_parts *parts = NULL;
    bool lists;
    struct cc_bitcode file = {.source = source, .is_ptx = true};
    struct cc_device_code code;
    struct cc_text fatbin = {0};
    struct cc_clang clang;

    if (job->options->dryrun)
        return true;
    file.data = cc_read_file(source, &file.bytes);
    if (file.data == NULL)
        return cc_fail("cannot read '%s': %s", source, strerror(errno));
    bool done =
        choose_part(job->options->part, &file, &parts, &lists) &&
        cc_find_clang(job->options->cxx, &clang) &&
        (lists ? list_parts(&clang, &file, parts, &code, &fatbin)
               : cc_build_image(job, &clang, &file, 1, cc_format("%d", number), &code, &fatbin));
    return cc_say_all() && done && cc_write_module(job, object, &fatbin);
}
