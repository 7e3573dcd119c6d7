/* SPDX-License-Identifier: MIT
 * options.h: the command line, compatible with nvcc's common options.
 */
#ifndef VGPU_CC_OPTIONS_H
#define VGPU_CC_OPTIONS_H

#include "mem.h"

enum cc_action {
    CC_LINK,
    CC_LIBRARY, /* an archive of objects */
    CC_DEVICE_LINK,
    CC_COMPILE,
    CC_PREPROCESS,
    CC_DEPENDENCIES,
    CC_USER_DEPENDENCIES, /* without the system's headers */
    CC_FATBIN,            /* these three: device code alone, for cuModuleLoad */
    CC_CUBIN,
    CC_PTX
};

enum cc_language {
    CC_BY_SUFFIX,
    CC_LANG_C,
    CC_LANG_CXX,
    CC_LANG_CUDA,
    CC_LANG_PTX,
    CC_LANG_OBJECT
};

struct cc_input {
    const char *path; /* an object can be an option, too: -lfoo */
    enum cc_language language;
};

struct cc_options {
    enum cc_action action;
    const char *output;     /* null: as the compiler would name it */
    const char *output_dir; /* of objects that -o does not name; null: this one */
    struct cc_input *input;
    size_t input_count, input_capacity;
    struct cc_list common;     /* for preprocessing, in both passes: -I, -D, -include */
    struct cc_list warnings;   /* for both passes: -W..., -w */
    struct cc_list host;       /* for host code only: -O, -g, -f..., -m... */
    struct cc_list link;       /* for the linker, in front of the inputs: -shared, -L */
    struct cc_list archive;    /* for ar */
    const char *archiver;      /* null: ar */
    const char *deps_flag;     /* "-MD", "-MMD"; null: none is wanted */
    struct cc_list deps;       /* -MF file -MT target -MP */
    enum cc_language language; /* of the inputs that follow: -x */
    const char *std;           /* "c++20"; null: the default */
    const char *cxx, *cc;
    bool cxx_is_clang;
    bool ccbin;           /* cxx is -ccbin's */
    const char *keep_dir; /* for intermediate files; null: as --keep says */
    bool checks_indices;  /* of local arrays */
    bool device_debug;    /* -G */
    bool fast_math;
    bool verbose, dryrun, keep, relaxed;
    bool clangd;            /* --clangd */
    const char *precompile; /* --precompile FOLDER; null: no */
    const char *part;       /* of PTX: its number; "all": their list; null: the whole module */
    bool lambdas;           /* --extended-lambda */
    bool rdc;               /* device code of several files is linked */
    bool no_device_link;
    bool run; /* what was linked, with run_args */
    struct cc_list run_args;
};

/* Reads the command line into `options`, which is {0}. Ends the program if it is invalid, or after
 * the answer where it asks for help, the version or architectures. */
void cc_read_options(int argc, char **argv, struct cc_options *options);

/* Is device code alone wanted, for cuModuleLoad? */
static inline bool cc_makes_modules(const struct cc_options *options)
{
    return options->action >= CC_FATBIN;
}

static inline const char *cc_output_or(const struct cc_options *options, const char *name)
{
    return options->output != NULL ? options->output : name;
}

#endif
