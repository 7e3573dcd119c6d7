/* SPDX-License-Identifier: MIT
 * options.c: vgpu-cc's command line: every spelling of an option means the same, and one that is
 * cut is read, or refused with a sentence.
 */
#include "options.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "option_table.h"
#include "unit.h"

enum { WORDS = 24 };

/* What is said on stderr goes here. */
static int said = -1;

static void hear(void)
{
    said = memfd_create("said", MFD_CLOEXEC);
    EXPECT(said >= 0 && dup2(said, 2) == 2, "%s", "stderr cannot be kept");
}

static long words_said(void)
{
    fflush(stderr);
    long bytes = lseek(said, 0, SEEK_END);
    EXPECT(ftruncate(said, 0) == 0, "%s", "stderr cannot be cleared");
    return bytes;
}

/* A copy of this process reads first: a line that is refused ends it. */
static bool is_taken(int argc, char **argv)
{
    struct cc_options options = {0};
    int status = 0;
    pid_t reader = fork();
    if (reader == 0) {
        cc_read_options(argc, argv, &options);
        _exit(0);
    }
    EXPECT(reader > 0 && waitpid(reader, &status, 0) == reader && WIFEXITED(status),
           "the reader ends by signal %d", WTERMSIG(status));
    return WEXITSTATUS(status) == 0;
}

/* Reads a line of words, blanks between them. */
static bool read_line(const char *line, struct cc_options *options)
{
    static char copy[1024];
    char *argv[WORDS + 2] = {"vgpu-cc"};
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *rest, *word = strtok_r(copy, " ", &rest); word && argc <= WORDS;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    memset(options, 0, sizeof *options);
    if (!is_taken(argc, argv))
        return false;
    cc_read_options(argc, argv, options);
    return true;
}

static void put_list(char *to, size_t room, const char *name, const struct cc_list *list)
{
    size_t used = strlen(to);
    for (size_t i = 0; i < list->count && used < room; i++)
        used += (size_t)snprintf(to + used, room - used, " %s:%s", name, list->item[i]);
}

/* All that a line means, in words. */
static const char *meaning(const char *line)
{
    static char text[2][2048];
    static int which;
    char *to = text[which = !which];
    struct cc_options o;
    if (!read_line(line, &o))
        return "refused";
    snprintf(to, sizeof text[0], "%d %s %s %d%d%d", (int)o.action, o.output ? o.output : "-",
             o.std ? o.std : "-", o.verbose, o.rdc, o.deps_flag != NULL);
    put_list(to, sizeof text[0], "common", &o.common);
    put_list(to, sizeof text[0], "warnings", &o.warnings);
    put_list(to, sizeof text[0], "host", &o.host);
    put_list(to, sizeof text[0], "link", &o.link);
    put_list(to, sizeof text[0], "deps", &o.deps);
    for (size_t i = 0; i < o.input_count; i++)
        snprintf(to + strlen(to), sizeof text[0] - strlen(to), " input:%s", o.input[i].path);
    return to;
}

UNIT(spellings_mean_the_same)
{
    static const char *const same[][3] = {
        {"-Idir a.cu", "-I dir a.cu", "--include-path=dir a.cu"},
        {"-DX=1 a.cu", "-D X=1 a.cu", "--define-macro=X=1 a.cu"},
        {"-oout a.cu", "-o out a.cu", "--output-file=out a.cu"},
        {"-c a.cu", "--compile a.cu", "a.cu -c"},
        {"-O2 a.cu", "-O 2 a.cu", "--optimize=2 a.cu"},
        {"-Ldir a.cu", "-L dir a.cu", "--library-path=dir a.cu"},
        {"-std=c++17 a.cu", "-std c++17 a.cu", "--std=c++17 a.cu"},
        {"-Xcompiler -Wall,-g a.cu", "-Xcompiler=-Wall,-g a.cu",
         "--compiler-options -Wall --compiler-options -g a.cu"},
        {"-w a.cu", "--disable-warnings a.cu", "-w -res-usage --dopt on a.cu"},
        {"-keep-dir=x a.cu", "--keep-dir x a.cu", "-keep-dir x a.cu"},
        {"-arch=sm_90 a.cu", "-arch sm_80 a.cu", "--gpu-architecture=sm_70 a.cu"},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        for (int k = 1; k < 3; k++)
            EXPECT(strcmp(meaning(same[i][0]), meaning(same[i][k])) == 0, "%s: %s; %s: %s",
                   same[i][0], meaning(same[i][0]), same[i][k], meaning(same[i][k]));
}

UNIT(different_options_differ)
{
    static const char *const lines[] = {
        "a.cu",           "-c a.cu",         "-E a.cu",
        "-Ia a.cu",       "-Ib a.cu",        "-DA a.cu",
        "-UA a.cu",       "-O1 a.cu",        "-O2 a.cu",
        "-g a.cu",        "-o x a.cu",       "-v a.cu",
        "-rdc=true a.cu", "-MD a.cu",        "-lm a.cu",
        "b.cu",           "-std=c++14 a.cu", "-Werror=all-warnings a.cu"};
    enum { LINES = sizeof lines / sizeof *lines };
    for (int i = 0; i < LINES; i++)
        for (int k = 0; k < i; k++)
            EXPECT(strcmp(meaning(lines[i]), meaning(lines[k])) != 0, "%s means what %s means: %s",
                   lines[i], lines[k], meaning(lines[i]));
}

UNIT(an_option_is_found_by_its_names)
{
    static const char *const names[][2] = {
        {"-c", "--compile"},      {"-o", "--output-file"},
        {"-I", "--include-path"}, {"-l", "--library"},
        {"-g", "--debug"},        {"-shared", "--shared"},
        {"-t", "--threads"},      {"-MF", "--dependency-output"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = NULL;
        const struct cc_option *one = cc_find_option(names[i][0], &value),
                               *other = cc_find_option(names[i][1], &value);
        EXPECT(one && one == other, "%s is not %s", names[i][0], names[i][1]);
    }
    const char *value;
    EXPECT(!cc_find_option("--no-such-option", &value), "%s", "an option that is none is found");
}

/* Words alone, and lines cut behind every sign. */
UNIT(cut_lines_are_read_or_refused)
{
    static const char line[] =
        "-c -o out.o --include-path=dir -I dir2 -Xcompiler -Wall,-O2 -std=c++17 "
        "-arch=sm_90 -x cu -MF deps -isystem sys -rdc=true -Xlinker a,b -lm a.cu";
    struct cc_options options;
    hear();
    for (size_t cut = 0; cut < sizeof line; cut++) {
        char part[sizeof line];
        snprintf(part, cut + 1, "%s", line);
        words_said();
        bool read = read_line(part, &options);
        EXPECT(read || words_said() > 20, "\"%s\" is refused without a sentence", part);
    }
    words_said();
    EXPECT(!read_line("--no-such-option a.cu", &options) && words_said() > 20, "%s",
           "an option that is none is taken");
}
