/* SPDX-License-Identifier: MIT
 * precompiled.c: the prelude and its headers, precompiled by Clang when vgpu-cc is built, and
 * stored beside the runtime's library. Parsing them would take two thirds of the time for a small
 * file.
 *
 * Clang rejects a precompiled header made for another language or processor or from files that have
 * changed since: then it is not used (cc_is_misfit). Not checked by Clang, but here: macros of the
 * command line that the headers test.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "proc.h"

/* The level for -O, -g and options that change no header; the last -O counts. Null: there is
 * another option. */
static const char *level_of(const struct cc_list *host)
{
    static const char *const allowed[] = {
        "-g", "-O0", "-O1", "-O2", "-O3", "-O", "-fno-omit-frame-pointer", "-pipe"};
    const char *level = "O0";

    for (size_t i = 0; i < host->count; i++) {
        const char *word = host->item[i];
        bool fits = cc_starts(word, "-g");
        for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++)
            fits |= strcmp(word, allowed[k]) == 0;
        if (!fits)
            return NULL;
        if (cc_starts(word, "-O"))
            level = strcmp(word, "-O0") == 0 ? "O0" : "O";
    }
    return level;
}

/* "prelude-14-host-O.pch": of Clang 14, for host code with -O1 or more. */
static const char *header_path(const char *folder, int release, const struct cc_options *options,
                               enum cc_side side)
{
    const char *form = side == CC_HOST_SIDE      ? cc_format("host-%s", level_of(&options->host))
                       : options->checks_indices ? "device-checked"
                                                 : "device";

    return cc_format("%s/prelude-%d-%s.pch", folder, release, form);
}

/* ---- making them ---- */

/* For one side: one of its two forms. */
static bool make_form(const struct cc_job *job, const struct cc_clang *clang, enum cc_side side,
                      bool second, const char *source)
{
    struct cc_options options = *job->options;
    struct cc_job own = {.options = &options, .places = job->places};

    options.host = (struct cc_list){0};
    cc_add(&options.host, second ? "-O2" : "-O0");
    options.checks_indices = second;
    struct cc_list command = cc_clang_command(&own, clang->path, side, CC_TO_HEADER, source, NULL);
    cc_add_line(&command, "-Xclang -emit-pch -Xclang -o -Xclang %s",
                header_path(options.precompile, clang->release, &options, side));
    return cc_run(&command) == 0;
}

bool cc_precompile(const struct cc_job *job)
{
    static const char text[] = "#include <vgpu/prelude.h>\n";
    struct cc_clang clang;
    const char *source = cc_format("%s/prelude.cu", job->options->precompile);

    return cc_find_clang(job->options->cxx, &clang) && cc_write_file(source, text, strlen(text)) &&
           make_form(job, &clang, CC_HOST_SIDE, false, source) &&
           make_form(job, &clang, CC_HOST_SIDE, true, source) &&
           make_form(job, &clang, CC_DEVICE_SIDE, false, source) &&
           make_form(job, &clang, CC_DEVICE_SIDE, true, source);
}

/* ---- using them ---- */

/* May a header ask for the macro of -D or -U? Those of the C library and of Clang begin with an
 * underscore; of these _GNU_SOURCE is set anyway. */
static bool headers_ask(const char *macro)
{
    static const char *const begins[] = {"_", "CUDA", "CU_", "CCCL", "VGPU", "IEC_", "PSTL"};

    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (cc_starts(macro, begins[i]))
            return strcmp(macro, "_GNU_SOURCE") != 0;
    return false;
}

/* Folders and files may be named, and macros that are the program's own. */
static bool options_fit(const struct cc_list *common)
{
    for (size_t i = 0; i < common->count; i++) {
        const char *word = common->item[i];
        bool macro = cc_starts(word, "-D") || cc_starts(word, "-U");
        if (macro ? headers_ask(word + 2)
                  : !cc_starts(word, "-I") && !cc_starts(word, "-i") && *word == '-')
            return false;
    }
    return true;
}

const char *cc_precompiled(const struct cc_job *job, int release, enum cc_side side)
{
    const struct cc_options *options = job->options;

    if (options->std != NULL || options->rdc || options->relaxed ||
        level_of(&options->host) == NULL || !options_fit(&options->common))
        return NULL;
    const char *path =
        header_path(cc_format("%s/vgpu", job->places.library), release, options, side);
    return access(path, R_OK) == 0 ? path : NULL;
}

bool cc_is_misfit(const char *said)
{
    return strstr(said, "PCH") != NULL || strstr(said, "recompiled header") != NULL ||
           strstr(said, "malformed or corrupted AST file") != NULL ||
           strstr(said, "PLEASE submit a bug report") != NULL;
}
