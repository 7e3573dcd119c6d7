/* SPDX-License-Identifier: MIT
 * precompiled.c: the prelude and its headers, precompiled by Clang and stored beside the runtime's
 * library: when vgpu-cc is built, for usual options, and when the labs are, for theirs. Parsing
 * them would take two thirds of the time for a small file.
 *
 * A precompiled header has in its name a hash of all words of Clang's command but those known to
 * change no header. So it serves only compilers that are given the same, in the same order. Clang
 * rejects one made for another processor or from files that have changed since: then it is not used
 * (cc_is_misfit).
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "diag.h"
#include "precompiled.h"
#include "proc.h"

/* ---- what they are made for ---- */

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

/* Is it an option that changes messages or the code that is generated, but no header, or a macro
 * that is the program's own? -Wl, and its like give words to other programs. */
static bool is_neutral(const char *word)
{
    static const char *const words[] = {"-c",
                                        "-fsyntax-only",
                                        "-fcolor-diagnostics",
                                        "-w",
                                        "-pipe",
                                        "-fno-omit-frame-pointer",
                                        "-ffunction-sections",
                                        "-fdata-sections",
                                        "-Xclang",
                                        "-debug-info-kind=line-tables-only",
                                        "-debug-info-kind=limited",
                                        "-dwarf-version=4"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    if (cc_starts(word, "-D") || cc_starts(word, "-U"))
        return !headers_ask(word + 2);
    return cc_starts(word, "-g") || (cc_starts(word, "-W") && strchr(word, ',') == NULL);
}

/* The folder in which headers are looked for, if `word` is such an option: "" where it is the next
 * word. Else null. */
static const char *folder_of(const char *word)
{
    static const char *const words[] = {"-isystem", "-iquote", "-idirafter"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return "";
    return cc_starts(word, "-I") ? word + 2 : NULL;
}

/* What -include names is read behind the prelude. */
static bool is_include(const char *word)
{
    return strcmp(word, "-include") == 0;
}

/* Headers ask whether there is optimization, not how much. */
static const char *level_of(const char *word)
{
    static const char *const levels[] = {"-O", "-O1", "-O2", "-O3"};

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (strcmp(word, levels[i]) == 0)
            return "-O";
    return word;
}

/* The words of Clang's command that count, up to its input, and the level. Puts the folders in
 * which headers are looked for into *folders. */
static const char *needs_of(const struct cc_list *command, struct cc_list *folders)
{
    struct cc_text needs = {0};
    const char *level = "-O0"; /* the last one counts */

    for (size_t i = 1; i < command->count && strcmp(command->item[i], "-x") != 0; i++) {
        const char *word = command->item[i], *folder = folder_of(word);
        if (is_include(word))
            i++;
        else if (folder != NULL)
            cc_add(folders, *folder != 0 ? folder : command->item[++i]);
        else if (cc_starts(word, "-O"))
            level = level_of(word);
        else if (!is_neutral(word))
            cc_putf(&needs, "%s\n", word);
    }
    cc_puts(&needs, level);
    return needs.data;
}

/* FNV-1a */
static uint64_t needs_hash(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (; *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

/* "prelude-14-host-0123456789abcdef.pch": of Clang 14. */
static const char *header_path(const char *folder, int release, enum cc_side side,
                               const char *needs)
{
    return cc_format("%s/prelude-%d-%s-%016llx.pch", folder, release,
                     side == CC_HOST_SIDE ? "host" : "device",
                     (unsigned long long)needs_hash(needs));
}

/* ---- making them ---- */

/* Without what is another file's: neutral options, folders, files. */
static struct cc_list needed_options(const struct cc_list *list)
{
    struct cc_list needed = {0};

    for (size_t i = 0; i < list->count; i++) {
        const char *word = list->item[i], *folder = folder_of(word);
        if (is_include(word) || (folder != NULL && *folder == 0))
            i++;
        else if (folder == NULL && !is_neutral(word))
            cc_add(&needed, word);
    }
    return needed;
}

/* Others may read the file, or make the same one. */
static bool put(const char *fresh, const char *path)
{
    return rename(fresh, path) == 0 || cc_fail("cannot write '%s': %s", path, strerror(errno));
}

static bool make_header(const struct cc_job *job, const struct cc_clang *clang, enum cc_side side,
                        const char *source)
{
    struct cc_list command = cc_clang_command(job, clang->path, side, CC_TO_HEADER, source, NULL);
    struct cc_list folders = {0};
    const char *path =
        header_path(job->options->precompile, clang->release, side, needs_of(&command, &folders));
    const char *fresh = cc_format("%s.%d", path, getpid());

    cc_add_line(&command, "-Xclang -emit-pch -Xclang -o -Xclang %s -MD -MF %s", fresh,
                cc_names_path(fresh));
    return cc_run(&command) == 0 && put(cc_names_path(fresh), cc_names_path(path)) &&
           put(fresh, path);
}

/* What is there already is not written again: headers are made from it, and know how old it is. */
static bool write_source(const char *path)
{
    static const char text[] = "#include <vgpu/prelude.h>\n";
    size_t length = 0;
    const char *there = cc_read_file(path, &length), *fresh = cc_format("%s.%d", path, getpid());

    if (there != NULL && cc_is(there, length, text))
        return true;
    return cc_write_file(fresh, text, strlen(text)) && put(fresh, path);
}

bool cc_precompile(const struct cc_job *job)
{
    struct cc_options options = *job->options;
    struct cc_job own = {.options = &options, .places = job->places};
    struct cc_clang clang;
    const char *source = cc_format("%s/prelude.cu", options.precompile);

    options.common = needed_options(&job->options->common);
    options.host = needed_options(&job->options->host);
    if (!cc_find_clang(options.cxx, &clang) || !write_source(source) ||
        !make_header(&own, &clang, CC_HOST_SIDE, source) ||
        !make_header(&own, &clang, CC_DEVICE_SIDE, source))
        return false;
    cc_remove_old_headers(options.precompile);
    return true;
}

/* ---- using them ---- */

const char *cc_precompiled(const struct cc_job *job, int release, enum cc_side side,
                           const struct cc_list *command)
{
    struct cc_list folders = {0};
    const char *needs = needs_of(command, &folders);
    const char *path = header_path(cc_format("%s/vgpu", job->places.library), release, side, needs);

    if (access(path, R_OK) != 0 || getenv("CPATH") != NULL ||
        getenv("CPLUS_INCLUDE_PATH") != NULL || cc_hides_header(path, &folders))
        return NULL;
    return path;
}

bool cc_is_misfit(const char *said)
{
    return strstr(said, "PCH") != NULL || strstr(said, "recompiled header") != NULL ||
           strstr(said, "malformed or corrupted AST file") != NULL ||
           strstr(said, "PLEASE submit a bug report") != NULL;
}
