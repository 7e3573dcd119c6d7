/* SPDX-License-Identifier: MIT
 * options.c: see options.h.
 *
 * Applies the options that option_table.c describes. An option that is not in the table and looks
 * like one of the compiler (-f..., -m..., -W...) is passed on.
 */
#include "options.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arguments.h"
#include "diag.h"
#include "option_table.h"

struct line {
    int argc, at;
    const char **argv;
    struct cc_options *options;
    const struct cc_option *option;
    const char *value; /* value of the current option; null: none so far */
};

/* The option's value, from the next argument if need be. */
static bool take_value(struct line *line)
{
    const char *next = line->at + 1 < line->argc ? line->argv[line->at + 1] : NULL;
    enum cc_option_value wants = line->option->value;

    if (wants == ALONE || line->value != NULL)
        return true;
    if (wants == LEVEL && (next == NULL || *next < '0' || *next > '9' || next[1] != 0))
        return true;
    if (next == NULL) {
        cc_fail("option '%s' needs a value behind it", line->argv[line->at]);
        return false;
    }
    line->value = next;
    line->at++;
    return true;
}

/* ---- effects of options ---- */

static void add_input(struct cc_options *options, const char *path, bool is_option)
{
    options->input = cc_grow(options->input, options->input_count, &options->input_capacity,
                             sizeof *options->input);
    options->input[options->input_count++] = (struct cc_input){path, options->language, is_option};
}

/* Each part of "a,b,c" or "a b c". */
static void add_parts(const char *value, struct cc_list *list)
{
    while (*value != 0) {
        size_t length = strcspn(value, ", ");
        if (length != 0)
            cc_add(list, cc_copy(value, length));
        value += length + (value[length] != 0);
    }
}

/* CUDA's own libraries: the runtime, which is linked anyway, has what programs need of them. */
static bool is_cudas(const char *library)
{
    return strcmp(library, "cuda") == 0 || strcmp(library, "cudart") == 0 ||
           strcmp(library, "cudart_static") == 0 || strcmp(library, "cudadevrt") == 0 ||
           strcmp(library, "nvrtc") == 0;
}

/* The same by path, as CMake's CUDA::cudart: "lib64/libcudart.so", "stubs/libcuda.so". */
static bool is_cudas_file(const char *path)
{
    const char *base = cc_base_name(path), *name = base + strlen("lib");
    size_t length = cc_starts(base, "lib") ? strcspn(name, ".") : 0;

    return length != 0 && is_cudas(cc_copy(name, length)) &&
           (cc_starts(name + length, ".so") || strcmp(name + length, ".a") == 0);
}

/* A flag meant for the host compiler: warnings are wanted in both passes. */
static void add_host_flag(struct cc_options *options, const char *flag)
{
    bool warning = cc_starts(flag, "-W") && !cc_starts(flag, "-Wl,") && !cc_starts(flag, "-Wa,");

    if (cc_starts(flag, "-Wl,"))
        cc_add(&options->link, flag);
    else if (!cc_starts(flag, "-flto") && !cc_starts(flag, "-ffat-lto"))
        cc_add(warning ? &options->warnings : &options->host, flag);
}

static void add_host_list(struct cc_options *options, const char *value)
{
    struct cc_list parts = {0};

    add_parts(value, &parts);
    for (size_t i = 0; i < parts.count; i++)
        add_host_flag(options, parts.item[i]);
}

static bool set_language(struct cc_options *options, const char *name)
{
    static const struct {
        const char *name;
        enum cc_language language;
    } known[] = {
        {"cu", CC_LANG_CUDA}, {"c", CC_LANG_C}, {"c++", CC_LANG_CXX}, {"none", CC_BY_SUFFIX}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            options->language = known[i].language;
            return true;
        }
    cc_fail("-x %s: the language is one of cu, c, c++ and none", name);
    return false;
}

static bool set_rdc(struct cc_options *options, const char *value)
{
    options->rdc = strcmp(value, "true") == 0;
    if (!options->rdc && strcmp(value, "false") != 0) {
        cc_fail("-rdc (--relocatable-device-code) is true or false, not '%s'", value);
        return false;
    }
    return true;
}

/* nvcc's -Werror has a value, gcc's has none. */
static void take_werror(struct line *line)
{
    static const char *const kinds[] = {"all-warnings",
                                        "cross-execution-space-call",
                                        "reorder",
                                        "default-stream-launch",
                                        "deprecated-declarations",
                                        "missing-launch-bounds",
                                        "ext-lambda-captures-this"};
    const char *next = line->at + 1 < line->argc ? line->argv[line->at + 1] : "";

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (line->value != NULL && strcmp(line->value, kinds[i]) == 0)
            line->value = NULL;
        else if (strcmp(next, kinds[i]) == 0)
            line->at++;
    }
    cc_add(&line->options->warnings,
           line->value != NULL ? cc_format("-Werror=%s", line->value) : "-Werror");
}

/* A compiler, or the folder of one. */
static void take_ccbin(struct cc_options *options, const char *value)
{
    struct stat info;
    bool folder = stat(value, &info) == 0 && S_ISDIR(info.st_mode);

    options->cxx = folder ? cc_format("%s/g++", value) : value;
    options->cc = strstr(cc_base_name(options->cxx), "clang") != NULL ? "clang"
                  : folder                                            ? cc_format("%s/gcc", value)
                                                                      : "gcc";
}

static bool answer(const struct line *line)
{
    line->options->done = true;
    line->option->number == 0 ? cc_print_help() : cc_print_version();
    return true;
}

static bool set_default_stream(struct cc_options *options, const char *value)
{
    bool own = strcmp(value, "per-thread") == 0;

    if (!own && strcmp(value, "legacy") != 0 && strcmp(value, "null") != 0) {
        cc_fail("--default-stream is legacy, null or per-thread, not '%s'", value);
        return false;
    }
    if (own)
        cc_add(&options->common, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    return true;
}

static bool refuse(const struct line *line)
{
    cc_fail("'%s' is not supported: vgpu-cc compiles to objects and programs for virtual GPUs; "
            "see vgpu-cc --help",
            line->argv[line->at]);
    return false;
}

static void take_library(struct cc_options *options, const char *name)
{
    /* libnccl.so has the runtime beside it; this program has it inside. */
    if (!is_cudas(name))
        add_input(options, cc_format("-l%s", strcmp(name, "nccl") == 0 ? ":libnccl.a" : name),
                  true);
}

static void pass(const struct line *line, struct cc_list *list)
{
    const char *name = line->option->name, *value = line->value;

    if (line->option->kind == PASS_TWO)
        cc_add(list, name);
    cc_add(list, line->option->kind == PASS_TWO                  ? value
                 : value != NULL && line->option->value != ALONE ? cc_format("%s%s", name, value)
                                                                 : name);
}

/* What the option does. */
static bool apply(struct line *line)
{
    struct cc_options *options = line->options;
    const struct cc_option *option = line->option;
    void *member = (char *)options + option->number;

    switch (option->kind) {
    case IGNORE:
        return true;
    case REFUSE:
        return refuse(line);
    case ANSWER:
        return answer(line);
    case SET_ACTION:
    case RDC_ACTION:
        options->action = (enum cc_action)option->number;
        options->rdc |= option->kind == RDC_ACTION;
        return true;
    case SWITCH:
        return *(bool *)member = true;
    case TEXT:
    case NAME:
        *(const char **)member = option->kind == TEXT ? line->value : option->name;
        return true;
    case PASS:
    case PASS_TWO:
        pass(line, member);
        return true;
    case HOST_LIST:
        add_host_list(options, line->value);
        return true;
    case LINK_LIST:
        cc_add(&options->link, cc_format("-Wl,%s", line->value));
        return true;
    case LIBRARY:
        take_library(options, line->value);
        return true;
    case DEVICE_DEBUG:
        cc_add(&options->host, "-g");
        return options->device_debug = true;
    case LANGUAGE:
        return set_language(options, line->value);
    case DEFAULT_STREAM:
        return set_default_stream(options, line->value);
    case RDC:
        return set_rdc(options, line->value);
    case CCBIN:
        take_ccbin(options, line->value);
        return true;
    case WERROR:
        take_werror(line);
        return true;
    }
    return true;
}

/* ---- the command line ---- */

static bool take_unknown(struct cc_options *options, const char *argument)
{
    if (cc_starts(argument, "--")) {
        cc_fail("unknown option '%s'; see vgpu-cc --help", argument);
        return false;
    }
    add_host_flag(options, argument);
    return true;
}

static bool take_option(struct line *line)
{
    const char *argument = line->argv[line->at];

    if (*argument != '-' || argument[1] == 0) {
        if (!is_cudas_file(argument))
            add_input(line->options, argument, false);
        return true;
    }
    line->option = cc_find_option(argument, &line->value);
    if (line->option == NULL)
        return take_unknown(line->options, argument);
    return take_value(line) && apply(line);
}

static void choose_compilers(struct cc_options *options)
{
    const char *cxx = getenv("VGPU_CXX"), *cc = getenv("VGPU_CC");

    take_ccbin(options, cxx != NULL && *cxx != 0 ? cxx : "g++");
    if (cc != NULL && *cc != 0)
        options->cc = cc;
}

bool cc_read_options(int argc, char **argv, struct cc_options *options)
{
    struct cc_list words = {0};
    struct line line = {.at = 1, .options = options};

    *options = (struct cc_options){.action = CC_LINK};
    choose_compilers(options);
    if (!cc_read_arguments(argc, argv, &words))
        return false;
    line.argc = (int)words.count;
    line.argv = words.item;
    for (; line.at < line.argc && !options->done; line.at++)
        if (!take_option(&line))
            return false;
    if (options->done)
        return true;
    if (options->input_count != 0 || options->clangd || options->precompile != NULL)
        return true;
    cc_fail("no input files; see vgpu-cc --help");
    return false;
}
