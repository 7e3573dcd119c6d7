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
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "diag.h"
#include "proc.h"

enum { FILES_KEPT = 32 }; /* 16 headers, some 80 MB, each with its names */

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
    if (cc_starts(word, "-D") || cc_starts(word, "-U"))
        return !headers_ask(word + 2);
    return cc_starts(word, "-g") || (cc_starts(word, "-W") && strchr(word, ',') == NULL) ||
           cc_is_among(word, "-c -fsyntax-only -fcolor-diagnostics -w -pipe "
                             "-fno-omit-frame-pointer -ffunction-sections -fdata-sections -Xclang "
                             "-debug-info-kind=line-tables-only -debug-info-kind=limited "
                             "-dwarf-version=4");
}

/* The words of a command up to its input, or of options, that change headers. Not among them: what
 * -include names, since it is read behind the prelude, and the folders in which headers are looked
 * for, which go to *folders. */
static struct cc_list needed_words(const struct cc_list *words, struct cc_list *folders)
{
    struct cc_list needed = {0};

    for (size_t i = 0; i < words->count && strcmp(words->item[i], "-x") != 0; i++) {
        const char *word = words->item[i];
        if (strcmp(word, "-include") == 0)
            i++;
        else if (cc_is_among(word, "-isystem -iquote -idirafter"))
            cc_add(folders, words->item[++i]);
        else if (cc_starts(word, "-I"))
            cc_add(folders, word + 2);
        else if (!is_neutral(word))
            cc_add(&needed, word);
    }
    return needed;
}

/* Of what a precompiled header depends on. Headers ask whether there is optimization, not how
 * much. */
static uint64_t hash_words(const struct cc_list *needed)
{
    uint64_t hash = CC_HASH_OF_NONE;
    const char *level = cc_last_with(needed, "-O");

    for (size_t i = 1; i < needed->count; i++)
        if (!cc_starts(needed->item[i], "-O"))
            hash = cc_hash(hash, cc_format("%s\n", needed->item[i]));
    if (level == NULL)
        level = "-O0";
    return cc_hash(hash, cc_is_among(level, "-O -O1 -O2 -O3") ? "-O" : level);
}

/* "prelude-14-host-0123456789abcdef.pch": of Clang 14, for the command. */
static const char *header_path(const struct cc_job *job, const char *folder, enum cc_side side,
                               const struct cc_list *command, struct cc_list *folders)
{
    struct cc_list needed = needed_words(command, folders);

    return cc_format("%s/prelude-%d-%s-%016" PRIx64 ".pch", folder, cc_find_clang(job).release,
                     side == CC_HOST_SIDE ? "host" : "device", hash_words(&needed));
}

/* The file with the names of all headers in a precompiled one, as -MD writes them. */
static const char *names_path(const char *header)
{
    return cc_format("%s.d", header);
}

/* ---- making them ---- */

/* Others may read the file, or make the same one. */
static void put(const char *fresh, const char *path)
{
    if (rename(fresh, path) != 0)
        cc_fatal("cannot write '%s': %s", path, strerror(errno));
}

static void make_header(const struct cc_job *job, enum cc_side side, const char *source)
{
    struct cc_list command = cc_clang_command(job, side, CC_TO_HEADER, NULL, source, NULL);
    struct cc_list folders = {0};
    const char *path = header_path(job, job->options->precompile, side, &command, &folders);
    const char *fresh = cc_format("%s.%d", path, getpid());

    cc_add_line(&command, "-Xclang -emit-pch -Xclang -o -Xclang %s -MD -MF %s", fresh,
                names_path(fresh));
    cc_must_run(command);
    put(names_path(fresh), names_path(path));
    put(fresh, path);
}

/* What is there already is not written again: headers are made from it, and know how old it is. */
static void write_source(const char *path)
{
    static const char text[] = "#include <vgpu/prelude.h>\n";
    size_t length = 0;
    const char *there = cc_read_file(path, &length), *fresh = cc_format("%s.%d", path, getpid());

    if (there != NULL && cc_is(there, length, text))
        return;
    cc_write_file(fresh, text, strlen(text));
    put(fresh, path);
}

/* The newest first. */
static int by_age(const void *a, const void *b)
{
    struct stat x = {0}, y = {0};

    stat(*(char *const *)a, &x);
    stat(*(char *const *)b, &y);
    if (x.st_mtim.tv_sec != y.st_mtim.tv_sec)
        return x.st_mtim.tv_sec < y.st_mtim.tv_sec ? 1 : -1;
    return (x.st_mtim.tv_nsec < y.st_mtim.tv_nsec) - (x.st_mtim.tv_nsec > y.st_mtim.tv_nsec);
}

/* All but the last that were made. */
static void remove_old_headers(const char *folder)
{
    glob_t found;

    if (chdir(folder) != 0 || glob("prelude-*", 0, NULL, &found) != 0)
        return;
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_age);
    for (size_t i = FILES_KEPT; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

void cc_precompile(const struct cc_job *job)
{
    struct cc_options options = *job->options;
    struct cc_job own = {.options = &options, .places = job->places};
    const char *source = cc_format("%s/prelude.cu", options.precompile);
    struct cc_list folders = {0}; /* other files' */

    options.common = needed_words(&job->options->common, &folders);
    options.host = needed_words(&job->options->host, &folders);
    write_source(source);
    make_header(&own, CC_HOST_SIDE, source);
    make_header(&own, CC_DEVICE_SIDE, source);
    remove_old_headers(options.precompile);
}

/* ---- using them ---- */

static bool is_another(const char *folder, const char *name, const char *header)
{
    struct stat here, there;

    return stat(cc_format("%s/%s", folder, name), &here) == 0 &&
           (stat(header, &there) != 0 || here.st_dev != there.st_dev ||
            here.st_ino != there.st_ino);
}

/* A header is included by its name, or as bits/NAME. One that another header includes as ../NAME is
 * found from there, whatever the folders have. */
static bool hides(const char *folder, const char *header)
{
    const char *name = cc_base_name(header), *longer = name;

    if (longer - header > 1)
        for (longer--; longer > header && longer[-1] != '/';)
            longer--;
    return is_another(folder, name, header) ||
           (!cc_starts(longer, "../") && is_another(folder, longer, header));
}

/* Is one of these folders searched for a name that another file has in the precompiled header? Then
 * the compiler could read that file in its place. */
static bool hides_any(const struct cc_list *folders, const char *header)
{
    size_t length = 0;
    char *rest = NULL, *names = cc_read_file(names_path(header), &length);

    if (names == NULL)
        return true;
    strtok_r(names, " \\\n", &rest); /* the target */
    for (char *name; (name = strtok_r(NULL, " \\\n", &rest)) != NULL;)
        for (size_t i = 0; i < folders->count; i++)
            if (hides(folders->item[i], name))
                return true;
    return false;
}

const char *cc_precompiled(const struct cc_job *job, enum cc_side side)
{
    struct cc_list command = cc_clang_command(job, side, CC_TO_HEADER, NULL, "", NULL);
    struct cc_list folders = {0};
    const char *library = cc_format("%s/vgpu", job->places.library);
    const char *path = header_path(job, library, side, &command, &folders);
    bool fits = access(path, R_OK) == 0 && getenv("CPATH") == NULL &&
                getenv("CPLUS_INCLUDE_PATH") == NULL && !hides_any(&folders, path);

    return fits ? path : NULL;
}

bool cc_is_misfit(const char *said)
{
    return strstr(said, "PCH") != NULL || strstr(said, "recompiled header") != NULL ||
           strstr(said, "malformed or corrupted AST file") != NULL ||
           strstr(said, "PLEASE submit a bug report") != NULL;
}
