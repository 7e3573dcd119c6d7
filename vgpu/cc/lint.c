/* SPDX-License-Identifier: MIT
 * lint.c: VGPU_CC_LINT=1: clang's own CUDA front end looks at the file, too. It knows overloads and
 * types, so it finds every call between host and device code that is wrong, also in templates that
 * nobody uses. It needs no CUDA Toolkit: words and builtins come from vgpu/lint.h.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"

static bool in_path(const char *program)
{
    const char *path = getenv("PATH");

    while (path != NULL && *path != 0) {
        size_t length = strcspn(path, ":");
        if (access(cc_format("%.*s/%s", (int)length, path, program), X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

struct cc_list cc_lint_command(const struct cc_job *job, const char *source)
{
    const char *wanted = getenv("VGPU_CC_LINT");
    struct cc_list command = {0};

    if (wanted == NULL || strcmp(wanted, "1") != 0 || !in_path("clang++"))
        return command;
    static const char *const flags[] = {"clang++", "-x", "cuda", "--cuda-host-only", "-nocudainc",
                                        "-nocudalib", "-fsyntax-only", "-w", "-isystem"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        cc_add(&command, flags[i]);
    cc_add(&command, job->places.include);
    cc_add(&command, "-include");
    cc_add(&command, cc_format("%s/vgpu/lint.h", job->places.include));
    cc_add(&command, job->options->std != NULL ? job->options->std : "-std=gnu++17");
    cc_add_all(&command, &job->options->common);
    cc_add(&command, source);
    return command;
}
