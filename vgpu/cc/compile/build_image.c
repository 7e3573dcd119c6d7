/* SPDX-License-Identifier: MIT
 * build_image.c: bitcode becomes a device image.
 */
#include <errno.h>
#include <string.h>

#include "clang.h"
#include "diag.h"
#include "proc.h"

bool cc_build_image(const struct cc_job *job, const struct cc_clang *clang,
                    const struct cc_bitcode *file, size_t count, const char *name,
                    struct cc_device_code *code, struct cc_text *fatbin)
{
    const char *object = cc_temp_path(cc_format("%s-device.o", name));
    const char *image = cc_temp_path(cc_format("%s-device.so", name));
    const char *headers =
        cc_keeps_lines(job->options) ? cc_format("%s/host_defines.h", job->places.include) : NULL;
    size_t bytes;

    if (!cc_load_llvm(clang->release) || !cc_lower(file, count, headers, object, code) ||
        !cc_link_image(job, object, image))
        return false;
    const char *data = cc_read_file(image, &bytes);
    if (data == NULL)
        cc_fail("cannot read the device image '%s': %s", image, strerror(errno));
    return data != NULL && cc_make_fatbin(code, file->source, data, bytes, fatbin);
}
