/* SPDX-License-Identifier: MIT
 * compile_ptx.c: compiles a PTX file, or the PTX in nvcc's container, to a module for cuModuleLoad:
 * -fatbin and its like.
 */
#include <errno.h>
#include <string.h>

#include "clang.h"
#include "diag.h"
#include "fatbin_text.h"
#include "proc.h"

bool cc_write_module(const struct cc_job *job, const char *object, const struct cc_text *fatbin)
{
    if (job->options->action != CC_PTX)
        return cc_write_file(object, fatbin->data, fatbin->length);
    const char *text = vgpu_fatbin_to_text(fatbin->data, fatbin->length);
    return text != NULL && cc_write_file(object, text, strlen(text));
}

bool cc_compile_ptx(const struct cc_job *job, const char *source, const char *object, int number)
{
    struct cc_bitcode file = {.source = source,
                              .is_ptx = true,
                              .checks_indices = job->options->checks_indices,
                              .debug = job->options->device_debug};
    struct cc_device_code code;
    struct cc_text fatbin = {0};
    struct cc_clang clang;

    if (job->options->dryrun)
        return true;
    file.data = cc_read_file(source, &file.bytes);
    if (file.data == NULL) {
        cc_fail("cannot read '%s': %s", source, strerror(errno));
        return false;
    }
    if (cc_is_nvcc_fatbin(file.data, file.bytes)) {
        file.data = cc_ptx_of_fatbin(file.data, file.bytes);
        if (file.data == NULL)
            return false;
    }
    bool done = cc_find_clang(job->options->cxx, &clang) &&
                cc_build_image(job, &clang, &file, 1, cc_format("%d", number), &code, &fatbin);
    cc_say_all();
    return done && cc_error_count() == 0 && cc_write_module(job, object, &fatbin);
}
