/* SPDX-License-Identifier: MIT
 * options.c: see options.h.
 *
 * Applies the options that option_table.c describes. An option that is not in the table and looks
 * like one of the compiler (-f..., -m..., -W...) is passed on.
 */
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "diag.h"
#include "option_table.h"

enum { DEPTH_MAX = 16 }; /* nesting of option files */

struct line {
    struct cc_list words;
    size_t at;
    int depth; /* of option files */
    struct cc_options *options;
    const struct cc_option *option;
    const char *said;  /* the argument with the option */
    const char *name;  /* the option's first one */
    const char *value; /* value of the current option; null: none so far */
    bool linkers;      /* unknown options are the linker's */
};

/* ---- words and values ---- */

/* Splits `text` at blanks; '...', "..." and \ quote them as in a shell. */
static void split_words(const char *text, struct cc_list *words)
{
    while (true) {
        struct cc_text word = {0};
        char quote = 0;
        text += strspn(text, " \t\r\n\v\f");
        if (*text == 0)
            return;
        cc_puts(&word, "");
        for (; *text != 0 && (quote != 0 || strchr(" \t\r\n\v\f", *text) == NULL); text++) {
            if (*text == quote)
                quote = 0;
            else if (quote == 0 && (*text == '\'' || *text == '"'))
                quote = *text;
            else if (*text == '\\' && quote != '\'' && text[1] != 0)
                cc_put(&word, ++text, 1);
            else
                cc_put(&word, text, 1);
        }
        cc_add(words, word.data);
    }
}

/* Each part of "a,b,c" that is not empty. "..." and \, keep a comma; the quotes stay. */
static void split_commas(const char *text, struct cc_list *parts)
{
    struct cc_text part = {0};
    bool quoted = false;

    for (;; text++) {
        if (*text == 0 || (*text == ',' && !quoted)) {
            if (part.length != 0)
                cc_add(parts, part.data);
            part = (struct cc_text){0};
        } else if (text[0] != '\\' || text[1] != ',') {
            quoted ^= *text == '"';
            cc_put(&part, text, 1);
        } else {
            cc_put(&part, ++text, 1);
        }
        if (*text == 0)
            return;
    }
}

/* The option's value, from the next argument if need be. */
static bool take_value(struct line *line)
{
    const char *next = line->words.item[line->at + 1];
    enum cc_option_value wants = line->option->value;

    if (wants == ALONE || line->value != NULL)
        return true;
    if (wants == LEVEL && (next == NULL || *next < '0' || *next > '9' || next[1] != 0))
        return true;
    if (next == NULL) {
        cc_fail("option '%s' needs a value behind it", line->said);
        return false;
    }
    line->value = next;
    line->at++;
    return true;
}

/* Is the value one of those that the option has? */
static bool check_value(const struct line *line)
{
    const struct cc_option *option = line->option;
    const char *value = line->value != NULL ? line->value : "";
    bool number = option->text != NULL && strcmp(option->text, CC_NUMBER) == 0;
    struct cc_list known = {0};
    char *end = NULL;

    if (option->text == NULL || option->kind == REFUSE || option->kind == INSTEAD)
        return true;
    cc_add_words(&known, option->text);
    if (number ? strtol(value, &end, 0), end != value && *end == 0 : cc_has_word(&known, value))
        return true;
    cc_fail("%.*s %s: the value is %s%s", (int)strcspn(line->said, "="), line->said, value,
            number ? "" : "one of ", option->text);
    return false;
}

/* ---- effects of options ---- */

static void add_input(struct cc_options *options, const char *path, bool is_option)
{
    options->input = cc_grow(options->input, options->input_count, &options->input_capacity,
                             sizeof *options->input);
    options->input[options->input_count++] = (struct cc_input){path, options->language, is_option};
}

/* CUDA's own libraries: the runtime, which is linked anyway, has what programs need of them. */
static bool is_cudas(const char *library)
{
    struct cc_list own = {0};

    cc_add_words(&own, "cuda cudart cudart_static cudadevrt nvrtc");
    return cc_has_word(&own, library);
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

/* The parts are words for a shell, as with nvcc. */
static void add_host_list(struct cc_options *options, const char *value)
{
    struct cc_list parts = {0}, flags = {0};

    split_commas(value, &parts);
    for (size_t i = 0; i < parts.count; i++)
        split_words(parts.item[i], &flags);
    for (size_t i = 0; i < flags.count; i++)
        add_host_flag(options, flags.item[i]);
}

static void set_language(struct cc_options *options, const char *name)
{
    options->language = strcmp(name, "cu") == 0    ? CC_LANG_CUDA
                        : strcmp(name, "ptx") == 0 ? CC_LANG_PTX
                        : strcmp(name, "c") == 0   ? CC_LANG_C
                        : strcmp(name, "c++") == 0 ? CC_LANG_CXX
                                                   : CC_BY_SUFFIX;
}

/* nvcc's -Werror has a list of kinds, some of which only nvcc knows; gcc's has one or none. */
static void take_werror(struct line *line)
{
    struct cc_list nvccs = {0}, known = {0}, kinds = {0};
    struct cc_list *warnings = &line->options->warnings;
    const char *next = line->words.item[line->at + 1];

    cc_add_words(&nvccs, "cross-execution-space-call default-stream-launch "
                         "missing-launch-bounds ext-lambda-captures-this");
    cc_add_words(&known, "all-warnings reorder deprecated-declarations");
    cc_add_all(&known, &nvccs);
    split_commas(line->value != NULL ? line->value : next != NULL ? next : "", &kinds);
    if (line->value == NULL && (kinds.count == 0 || !cc_has_word(&known, kinds.item[0]))) {
        cc_add(warnings, "-Werror");
        return;
    }
    line->at += line->value == NULL;
    for (size_t i = 0; i < kinds.count; i++)
        if (strcmp(kinds.item[i], "all-warnings") == 0)
            cc_add(warnings, "-Werror");
        else if (!cc_has_word(&nvccs, kinds.item[i]))
            cc_add(warnings, cc_format("-Werror=%s", kinds.item[i]));
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

static bool refuse(const struct line *line)
{
    cc_fail("'%s' is not supported: %s; see vgpu-cc --help", line->name, line->option->text);
    return false;
}

/* libnccl.so has the runtime beside it; this program has it inside. */
static void take_libraries(struct cc_options *options, const char *names)
{
    struct cc_list parts = {0};

    split_commas(names, &parts);
    for (size_t i = 0; i < parts.count; i++) {
        const char *name = strcmp(parts.item[i], "nccl") == 0 ? ":libnccl.a" : parts.item[i];
        if (!is_cudas(name))
            add_input(options, cc_format("-l%s", name), true);
    }
}

/* Adds the option with its value, or with each part of it, behind the name or as a word. */
static void pass(const struct line *line, struct cc_list *list)
{
    enum cc_option_kind kind = line->option->kind;
    bool joined = line->value != NULL && line->option->value != ALONE;
    struct cc_list parts = {0};

    if (kind == PASS_LIST || kind == PASS_TWO_LIST)
        split_commas(line->value, &parts);
    else
        cc_add(&parts, line->value);
    for (size_t i = 0; i < parts.count; i++)
        if (kind == PASS_TWO || kind == PASS_TWO_LIST)
            cc_add_line(list, "%s %s", line->name, parts.item[i]);
        else
            cc_add(list, joined ? cc_format("%s%s", line->name, parts.item[i]) : line->name);
}

static bool take_words(struct cc_options *options, struct cc_list words, int depth);

/* --options-file a,b; @a */
static bool take_files(const struct line *line, const char *names)
{
    struct cc_list files = {0};

    split_commas(names, &files);
    for (size_t i = 0; i < files.count; i++) {
        size_t length;
        struct cc_list words = {0};
        const char *text = line->depth < DEPTH_MAX ? cc_read_file(files.item[i], &length) : NULL;
        if (text == NULL) {
            cc_fail("cannot read the options file '%s': %s", files.item[i],
                    line->depth < DEPTH_MAX ? strerror(errno)
                                            : "options files name each other without end");
            return false;
        }
        split_words(text, &words);
        if (!take_words(line->options, words, line->depth + 1))
            return false;
    }
    return true;
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
        cc_answer((enum cc_question)option->number);
        return options->done = true;
    case SET_ACTION:
    case RDC_ACTION:
        options->action = (enum cc_action)option->number;
        options->rdc |= option->kind == RDC_ACTION;
        return true;
    case SWITCH:
        return *(bool *)member = true;
    case TEXT:
    case NAME:
        *(const char **)member = option->kind == TEXT ? line->value : line->name;
        return true;
    case PASS:
    case PASS_TWO:
    case PASS_LIST:
    case PASS_TWO_LIST:
        pass(line, member);
        return true;
    case INSTEAD:
        cc_add(member,
               line->value != NULL ? cc_format("%s=%s", option->text, line->value) : option->text);
        return true;
    case LIST:
        split_commas(line->value, member);
        return true;
    case HOST_LIST:
        add_host_list(options, line->value);
        return true;
    case LINK_LIST:
        cc_add(&options->link, cc_format("-Wl,%s", line->value));
        return true;
    case LIBRARY:
        take_libraries(options, line->value);
        return true;
    case DEVICE_DEBUG:
        cc_add(&options->host, "-g");
        return options->device_debug = true;
    case LANGUAGE:
        set_language(options, line->value);
        return true;
    case DEFAULT_STREAM:
        if (strcmp(line->value, "per-thread") == 0)
            cc_add(&options->common, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
        return true;
    case RDC:
        options->rdc = strcmp(line->value, "true") == 0;
        return true;
    case CCBIN:
        take_ccbin(options, line->value);
        return options->ccbin = true;
    case WERROR:
        take_werror(line);
        return true;
    case OPTIONS_FILE:
        return take_files(line, line->value);
    }
    return true;
}

/* ---- the command line ---- */

static bool take_unknown(struct line *line, const char *argument)
{
    if (line->linkers) {
        cc_add(&line->options->link, cc_format("-Wl,%s", argument));
        return true;
    }
    if (cc_starts(argument, "--")) {
        cc_fail("unknown option '%s'; see vgpu-cc --help", argument);
        return false;
    }
    add_host_flag(line->options, argument);
    return true;
}

static bool take_option(struct line *line)
{
    const char *argument = line->words.item[line->at];

    if (*argument == '@' && argument[1] != 0)
        return take_files(line, argument + 1);
    if (*argument != '-' || argument[1] == 0) {
        if (!is_cudas_file(argument))
            add_input(line->options, argument, false);
        return true;
    }
    line->option = cc_find_option(argument, &line->value);
    if (line->option == NULL)
        return take_unknown(line, argument);
    line->said = argument;
    line->name = cc_copy(line->option->names, strcspn(line->option->names, " "));
    return take_value(line) && check_value(line) && apply(line);
}

static bool take_words(struct cc_options *options, struct cc_list words, int depth)
{
    struct line line = {.words = words, .options = options, .depth = depth};

    line.linkers = cc_has_word(&words, "-forward-unknown-to-host-linker") ||
                   cc_has_word(&words, "--forward-unknown-to-host-linker");
    for (; line.at < words.count && !options->done; line.at++)
        if (!take_option(&line))
            return false;
    return true;
}

static void choose_compilers(struct cc_options *options)
{
    const char *cxx = getenv("VGPU_CXX"), *cc = getenv("VGPU_CC");

    take_ccbin(options, cxx != NULL && *cxx != 0 ? cxx : "g++");
    if (cc != NULL && *cc != 0)
        options->cc = cc;
}

/* As nvcc: -x is for the files in front of it, too. */
static void set_languages(struct cc_options *options)
{
    for (size_t i = 0; i < options->input_count; i++) {
        struct cc_input *input = &options->input[i];
        bool object = cc_ends(input->path, ".o") || cc_ends(input->path, ".a") ||
                      strstr(input->path, ".so") != NULL;
        if (input->language == CC_BY_SUFFIX && !object)
            input->language = options->language;
    }
}

bool cc_read_options(int argc, char **argv, struct cc_options *options)
{
    static const char *const variable[] = {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"};
    struct cc_list words[3] = {0}; /* the command line is the second */

    *options = (struct cc_options){.action = CC_LINK};
    choose_compilers(options);
    for (int i = 0; i < 2; i++)
        if (getenv(variable[i]) != NULL)
            split_words(getenv(variable[i]), &words[2 * i]);
    for (int i = 1; i < argc; i++)
        cc_add(&words[1], argv[i]);
    for (int i = 0; i < 3; i++)
        if (!take_words(options, words[i], 0))
            return false;
    set_languages(options);
    if (options->done || options->input_count != 0 || options->clangd ||
        options->precompile != NULL)
        return true;
    cc_fail("no input files; see vgpu-cc --help");
    return false;
}
