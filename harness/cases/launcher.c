/* SPDX-License-Identifier: MIT
 * launcher.c: the command that a grader puts before the runner (--launcher): harness/jail, with
 * bubblewrap or without.
 *
 * A failure of the launcher must not look like a failure of the program. So it has a descriptor
 * that the runner never inherits, on which it reports that it starts the runner ("started") or,
 * with bwrap, how the runner ended ("exit-code").
 */
#include "run.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void lab__launch_words(const struct lab_test *t, const char *what, char **argv)
{
    const struct lab_options *options = t->options;
    for (int i = 0; i < options->launcher_words; i++)
        *argv++ = (char *)options->launcher[i];
    *argv++ = (char *)t->runner;
    *argv++ = (char *)what;
    *argv = NULL;
}

static void read_report(int fd, char *text, size_t room)
{
    size_t length = 0;
    for (ssize_t n = 1; n > 0 && length + 1 < room; length += n > 0 ? (size_t)n : 0)
        n = read(fd, text + length, room - 1 - length);
    text[length] = 0;
    close(fd);
}

/* All descendants have ended, so the pipe has no writer left. */
void lab__check_launcher(struct lab_test *t, int report, int status)
{
    char text[1024];
    if (report < 0)
        return;
    read_report(report, text, sizeof text);
    bool killed =
        WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; /* out of memory, as bwrap may be */
    bool started = strstr(text, "exit-code") || strstr(text, "started");
    if (!strstr(text, "failed") && (started || killed))
        return;
    lab__clean(text);
    lab__broken(t, 0, "the sandbox did not start the program: %s",
                text[0] ? text : "it printed no message");
}
