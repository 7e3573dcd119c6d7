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
#include <unistd.h>

#include "diag.h"
#include "option_table.h"

struct line {
    struct cc_options *options;
    struct cc_list words;
    size_t next; /* word */
    int files;   /* of options, read so far */
    const struct cc_option *option;
    const char *said;  /* the word with the option */
    const char *value; /* null: none */
};

/* ---- words ---- */

/* Splits `text` at blanks; '...', "..." and \ quote them as in a shell. */
static void split_words(const char *text, struct cc_list *words)
{
    static const char blanks[] = " \t\r\n\v\f";

    for (text += strspn(text, blanks); *text != 0; text += strspn(text, blanks)) {
        struct cc_text word = {0};
        char quote = 0;
        cc_puts(&word, "");
        for (; *text != 0 && (quote != 0 || strchr(blanks, *text) == NULL); text++) {
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
static struct cc_list split_commas(const char *text)
{
    struct cc_list parts = {0};

    for (; *text != 0; text += *text == ',') {
        struct cc_text part = {0};
        bool quoted = false;
        for (; *text != 0 && (quoted || *text != ','); text++) {
            quoted ^= *text == '"';
            text += text[0] == '\\' && text[1] == ',';
            cc_put(&part, text, 1);
        }
        if (part.length != 0)
            cc_add(&parts, part.data);
    }
    return parts;
}

/* ---- inputs ---- */

static void add_input(struct cc_options *options, const char *path, enum cc_language language)
{
    options->input = cc_grow(options->input, options->input_count, &options->input_capacity,
                             sizeof *options->input);
    options->input[options->input_count++] = (struct cc_input){path, language};
}

/* CUDA's own libraries: the runtime, which is linked anyway, has what programs need of them. */
static bool is_cudas(const char *library)
{
    return cc_is_among(library, "cuda cudart cudart_static cudadevrt nvrtc");
}

/* The same by path, as CMake's CUDA::cudart: "lib64/libcudart.so", "stubs/libcuda.so". */
static bool is_cudas_file(const char *path)
{
    const char *base = cc_base_name(path), *name = base + strlen("lib");
    size_t length = cc_starts(base, "lib") ? strcspn(name, ".") : 0;

    return length != 0 && is_cudas(cc_copy(name, length)) &&
           (cc_starts(name + length, ".so") || strcmp(name + length, ".a") == 0);
}

/* libnccl.so has the runtime beside it; this program has it inside. */
static void add_libraries(struct cc_options *options, const char *names)
{
    struct cc_list parts = split_commas(names);

    for (size_t i = 0; i < parts.count; i++) {
        const char *name = strcmp(parts.item[i], "nccl") == 0 ? ":libnccl.a" : parts.item[i];
        if (!is_cudas(name))
            add_input(options, cc_format("-l%s", name), CC_LANG_OBJECT);
    }
}

/* By the name for -x, which is also the suffix of files. */
static enum cc_language language_named(const char *name)
{
    static const char *const names[] = {[CC_LANG_C] = "c",
                                        [CC_LANG_CXX] = "c++ cpp cc cxx C",
                                        [CC_LANG_CUDA] = "cu",
                                        [CC_LANG_PTX] = "ptx"};

    for (enum cc_language language = CC_LANG_C; language <= CC_LANG_PTX; language++)
        if (cc_is_among(name, names[language]))
            return language;
    return CC_BY_SUFFIX;
}

/* As nvcc: -x is for the files in front of it, too; an object stays one. */
static enum cc_language language_of(const struct cc_input *input, enum cc_language said)
{
    const char *dot = strrchr(input->path, '.');
    bool object = cc_ends(input->path, ".o") || cc_ends(input->path, ".a") ||
                  strstr(input->path, ".so") != NULL;

    if (input->language != CC_BY_SUFFIX)
        return input->language;
    if (said != CC_BY_SUFFIX && !object)
        return said;
    said = dot != NULL ? language_named(dot + 1) : CC_BY_SUFFIX;
    return said != CC_BY_SUFFIX ? said : CC_LANG_OBJECT;
}

/* ---- the host's compiler ---- */

/* A compiler, or the folder of one. */
static void set_compilers(struct cc_options *options, const char *value)
{
    struct stat info;
    bool folder = stat(value, &info) == 0 && S_ISDIR(info.st_mode);

    options->cxx = folder ? cc_format("%s/g++", value) : value;
    options->cxx_is_clang = strstr(cc_base_name(options->cxx), "clang") != NULL;
    options->cc = options->cxx_is_clang ? "clang" : folder ? cc_format("%s/gcc", value) : "gcc";
}

static void choose_compilers(struct cc_options *options)
{
    const char *cxx = getenv("VGPU_CXX"), *cc = getenv("VGPU_CC");

    set_compilers(options, cxx != NULL && *cxx != 0 ? cxx : "g++");
    if (cc != NULL && *cc != 0)
        options->cc = cc;
}

/* Warnings are wanted in both passes. */
static void add_host_flag(struct cc_options *options, const char *flag)
{
    bool warning = cc_starts(flag, "-W") && !cc_starts(flag, "-Wl,") && !cc_starts(flag, "-Wa,");

    if (cc_starts(flag, "-Wl,"))
        cc_add(&options->link, flag);
    else if (!cc_starts(flag, "-flto") && !cc_starts(flag, "-ffat-lto"))
        cc_add(warning ? &options->warnings : &options->host, flag);
}

/* The parts are words for a shell, as with nvcc. */
static void add_host_flags(struct cc_options *options, const char *value)
{
    struct cc_list parts = split_commas(value), flags = {0};

    for (size_t i = 0; i < parts.count; i++)
        split_words(parts.item[i], &flags);
    for (size_t i = 0; i < flags.count; i++)
        add_host_flag(options, flags.item[i]);
}

/* nvcc's -Werror has a list of kinds, some of which only nvcc knows; gcc's has one or none. */
static void take_werror(struct line *line)
{
    static const char nvccs[] = "cross-execution-space-call default-stream-launch "
                                "missing-launch-bounds ext-lambda-captures-this";
    static const char gccs[] = "all-warnings reorder deprecated-declarations";
    const char *next = line->words.item[line->next];
    struct cc_list kinds = split_commas(line->value != NULL ? line->value
                                        : next != NULL      ? next
                                                            : "");
    bool known =
        kinds.count != 0 && (cc_is_among(kinds.item[0], nvccs) || cc_is_among(kinds.item[0], gccs));

    if (line->value == NULL && known)
        line->next++;
    else if (line->value == NULL)
        kinds = split_commas("all-warnings");
    for (size_t i = 0; i < kinds.count; i++)
        if (strcmp(kinds.item[i], "all-warnings") == 0)
            cc_add(&line->options->warnings, "-Werror");
        else if (!cc_is_among(kinds.item[i], nvccs))
            cc_add_line(&line->options->warnings, "-Werror=%s", kinds.item[i]);
}

/* ---- one option ---- */

/* The option's value, from the next word if need be. */
static void take_value(struct line *line)
{
    const char *next = line->words.item[line->next];
    int wants = line->option->value;

    if (wants == ALONE || line->value != NULL)
        return;
    if (wants == LEVEL && (next == NULL || *next < '0' || *next > '9' || next[1] != 0))
        return;
    if (next == NULL)
        cc_fatal("option '%s' needs a value after it", line->said);
    line->value = next;
    line->next++;
}

/* Is the value one of those that the option has? */
static void check_value(const struct line *line)
{
    int name = (int)strcspn(line->said, "="), wants = line->option->value;
    char *end;

    if ((wants & NUMBER) && (strtol(line->value, &end, 0), end == line->value || *end != 0))
        cc_fatal("%.*s %s: the value must be a number", name, line->said, line->value);
    if ((wants & ONE_OF) && !cc_is_among(line->value, line->option->text))
        cc_fatal("%.*s %s: the value must be one of %s", name, line->said, line->value,
                 line->option->text);
}

/* --options-file a,b; @a: their words come next. */
static void take_files(struct line *line)
{
    enum { FILES_MAX = 1000 };
    struct cc_list files = split_commas(line->value), rest = {0};
    size_t length;

    for (size_t i = line->next; i < line->words.count; i++)
        cc_add(&rest, line->words.item[i]);
    line->words.count = line->next;
    for (size_t i = 0; i < files.count; i++) {
        const char *text = cc_read_file(files.item[i], &length);
        if (text == NULL || ++line->files > FILES_MAX)
            cc_fatal("cannot read the options file '%s': %s", files.item[i],
                     text == NULL ? strerror(errno) : "options files name each other without end");
        split_words(text, &line->words);
    }
    cc_add_all(&line->words, &rest);
}

static void add_option_words(const struct line *line, struct cc_list *list)
{
    const char *value = line->value != NULL ? line->value : "";
    struct cc_list parts = {.item = &value, .count = 1};

    if (line->option->value & LISTED)
        parts = split_commas(value);
    for (size_t i = 0; i < parts.count; i++)
        cc_add_line(list, line->option->text, parts.item[i]);
}

/* What the option does. */
static void apply(struct line *line)
{
    struct cc_options *options = line->options;
    const struct cc_option *option = line->option;
    void *member = (char *)options + option->number;

    switch (option->kind) {
    case IGNORE:
        break;
    case REFUSE:
        cc_fatal("'%.*s' is not supported: %s; see vgpu-cc --help",
                 (int)strcspn(option->names, " "), option->names, option->text);
    case QUESTION:
        cc_answer((enum cc_question)option->number);
        exit(EXIT_SUCCESS);
    case ACTION:
    case RDC_ACTION:
        options->action = (enum cc_action)option->number;
        options->rdc |= option->kind == RDC_ACTION;
        break;
    case SWITCH:
        *(bool *)member = line->value == NULL || strcmp(line->value, "false") != 0;
        break;
    case TEXT:
        *(const char **)member = option->text != NULL ? option->text : line->value;
        break;
    case PASS:
        add_option_words(line, member);
        break;
    case HOST_FLAGS:
        add_host_flags(options, line->value);
        break;
    case LIBRARIES:
        add_libraries(options, line->value);
        break;
    case LANGUAGE:
        options->language = language_named(line->value);
        break;
    case DEFAULT_STREAM:
        if (strcmp(line->value, "per-thread") == 0)
            cc_add(&options->common, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
        break;
    case CCBIN:
        set_compilers(options, line->value);
        options->ccbin = true;
        break;
    case WERROR:
        take_werror(line);
        break;
    case OPTIONS_FILES:
        take_files(line);
        break;
    }
}

/* ---- the command line ---- */

static void take_unknown(struct line *line)
{
    if (cc_has_word(&line->words, "-forward-unknown-to-host-linker") ||
        cc_has_word(&line->words, "--forward-unknown-to-host-linker"))
        cc_add_line(&line->options->link, "-Wl,%s", line->said);
    else if (cc_starts(line->said, "--"))
        cc_fatal("unknown option '%s'; see vgpu-cc --help", line->said);
    else
        add_host_flag(line->options, line->said);
}

static void take_word(struct line *line)
{
    const char *word = line->words.item[line->next++];
    bool file = *word == '@' && word[1] != 0;

    if (!file && (*word != '-' || word[1] == 0)) {
        if (!is_cudas_file(word))
            add_input(line->options, word, line->options->language);
        return;
    }
    line->said = file ? cc_format("--options-file=%s", word + 1) : word;
    line->option = cc_find_option(line->said, &line->value);
    if (line->option == NULL) {
        take_unknown(line);
        return;
    }
    take_value(line);
    check_value(line);
    apply(line);
}

/* A Toolkit's own headers come after ours, whose place they would take; ours lack some of them. */
static void put_toolkit_last(struct cc_list *common)
{
    for (size_t i = 0; i < common->count; i++) {
        bool system = strcmp(common->item[i], "-isystem") == 0 && i + 1 < common->count;
        const char *folder = system                             ? common->item[i + 1]
                             : cc_starts(common->item[i], "-I") ? common->item[i] + 2
                                                                : NULL;
        if (folder == NULL || access(cc_format("%s/crt/func_macro.h", folder), F_OK) != 0)
            continue;
        common->item[i] = system ? "-idirafter" : cc_format("-idirafter%s", folder);
    }
}

void cc_read_options(int argc, char **argv, struct cc_options *options)
{
    const char *before = getenv("NVCC_PREPEND_FLAGS"), *behind = getenv("NVCC_APPEND_FLAGS");
    struct line line = {.options = options};

    choose_compilers(options);
    split_words(before != NULL ? before : "", &line.words);
    for (int i = 1; i < argc; i++)
        cc_add(&line.words, argv[i]);
    split_words(behind != NULL ? behind : "", &line.words);
    while (line.next < line.words.count)
        take_word(&line);
    put_toolkit_last(&options->common);
    if (options->device_debug)
        cc_add(&options->host, "-g");
    for (size_t i = 0; i < options->input_count; i++)
        options->input[i].language = language_of(&options->input[i], options->language);
    if (options->input_count == 0 && !options->clangd && options->precompile == NULL)
        cc_fatal("no input files; see vgpu-cc --help");
}
