/* SPDX-License-Identifier: MIT
 * crash.c: describes how a program crashed. The program itself wrote that to the status page, so it
 * is a hint for the user and no evidence.
 */
#include "root.h"
#include "run.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *signal_meaning(int number)
{
    switch (number) {
    case SIGSEGV:
        return "invalid memory access";
    case SIGBUS:
        return "access to memory that is not there";
    case SIGFPE:
        return "arithmetic error: a division by zero?";
    case SIGABRT:
        return "abort: an assertion, or damaged heap memory";
    case SIGILL:
        return "illegal instruction: a function without return?";
    case SIGTRAP:
        return "an index that is not in its array";
    case SIGKILL:
        return "killed from outside: out of memory?";
    default:
        return strsignal(number);
    }
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void copy_clean(char *to, size_t room, const char *from, size_t bytes)
{
    snprintf(to, room, "%.*s", (int)bytes, from);
    lab__clean(to);
}

void lab__say_crash(struct lab_test *t, const struct lab_run *run, int number, char *text,
                    size_t room)
{
    const struct lab_status *s = &run->status;
    char file[sizeof s->crash_file], near[sizeof s->crash_near], doing[sizeof s->text];
    bool told = s->crash_signal == number;
    copy_clean(file, sizeof file, s->crash_file, told ? sizeof s->crash_file - 1 : 0);
    copy_clean(near, sizeof near, s->crash_near, told ? sizeof s->crash_near - 1 : 0);
    copy_clean(doing, sizeof doing, told ? s->crash_doing : s->text, sizeof s->text - 1);
    int used = snprintf(text, room, "signal %d (%s)", number, signal_meaning(number));
    if (file[0] && s->crash_line > 0)
        used +=
            snprintf(text + used, room - (size_t)used, " at %s:%d", file_name(file), s->crash_line);
    used += snprintf(text + used, room - (size_t)used, ", in %s%s%s", doing[0] ? "" : "'",
                     doing[0] ? doing : run->what, doing[0] ? "" : "'");
    if (near[0])
        snprintf(text + used, room - (size_t)used, ": %s", near);
    if (s->crash_line > 0 && t->options->source &&
        strcmp(file_name(t->options->source), file_name(file)) == 0)
        lab__place(t, s->crash_line);
}
