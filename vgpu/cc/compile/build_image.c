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

bool cc_compile_ptx(const struct cc_job *job, const char *source, const char *object, int number)
{
    struct cc_bitcode file = {.source = source, .is_ptx = true};
    struct cc_device_code code;
    struct cc_text fatbin = {0};
    struct cc_clang clang;

    if (job->options->dryrun)
        return true;
    file.data = cc_read_file(source, &file.bytes);
    if (file.data == NULL)
        return cc_fail("cannot read '%s': %s", source, strerror(errno));
    bool done = cc_find_clang(job->options->cxx, &clang) &&
                cc_build_image(job, &clang, &file, 1, cc_format("%d", number), &code, &fatbin);
    return cc_say_all() && done && cc_write_module(job, object, &fatbin);
}
