/* SPDX-License-Identifier: MIT
 * marks.c: limits on values that depend on the virtual clock, and so on how a program was compiled.
 *
 * Authors of labs need to know how close a correct answer comes to each limit: with LAB_MARKS=FILE
 * each comparison appends a line to that file, and with LAB_SPARE=0.05 a value passes only if it is
 * better than its limit by that fraction. Neither is set when answers are graded
 * (tests/clock/marks.py sets them).
 */
#include "run.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double wanted_spare(void)
{
    const char *text = getenv("LAB_SPARE");
    double spare = text ? strtod(text, NULL) : 0;
    return spare > 0 ? spare : 0;
}

/* "lab04.example_b public.c:253 spare 0.104: 22.08 against 20". Written with a single write, since
 * verifiers may share the file. */
static void note_mark(struct lab_test *t, const char *where, double value, double limit,
                      double spare)
{
    const char *path = getenv("LAB_MARKS"), *slash = strrchr(where, '/');
    char line[512];
    if (!path || !*path)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int n = snprintf(line, sizeof line, "%s %s spare %.4f: %.6g against %.6g\n", t->name,
                     slash ? slash + 1 : where, spare, value, limit);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        lab_fail(t, "", 0, "LAB_MARKS", "%s cannot be written", path);
    close(fd);
}

/* A NaN on either side fails. */
static bool set_mark(struct lab_test *t, const char *where, double value, double limit,
                     double spare)
{
    t->timed = true;
    note_mark(t, where, value, limit, spare);
    return spare >= wanted_spare();
}

bool lab_mark_least(struct lab_test *t, const char *where, double value, double least)
{
    return set_mark(t, where, value, least, value / least - 1);
}

bool lab_mark_most(struct lab_test *t, const char *where, double value, double most)
{
    return set_mark(t, where, value, most, most / value - 1);
}

void lab_mark_close(struct lab_test *t, const char *where, const char *what, double got,
                    double want, double tolerance)
{
    if (!set_mark(t, where, got, want, 1 - fabs(got - want) / tolerance))
        lab_close(t, what, got, want, (1 - wanted_spare()) * tolerance);
}
