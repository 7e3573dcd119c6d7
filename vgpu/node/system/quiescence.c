/* SPDX-License-Identifier: MIT
 * quiescence.c: see quiescence.h. Examining threads one after the other is not a snapshot: a thread
 * found asleep may have been woken by one that is examined later and found asleep, too. So every
 * thread is examined twice: if it was asleep both times, and its number of context switches is the
 * same, it was asleep in between.
 */
#include "quiescence.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Limit for all programs together; with more threads the result is QUIESCENT_UNKNOWN. */
#define THREADS 4096

struct seen {
    long thread;
    uint64_t switches;
};

struct look {
    struct seen seen[THREADS];
    int count;
};

/* The thread that was last found running. It is examined first: mostly it still runs. */
static struct {
    pid_t pid;
    char thread[24];
} runner;

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Examines a thread, named by its folder in `tasks`. A thread that has just ended counts as asleep.
 */
static enum quiescence look_at(int tasks, const char *name, struct look *look)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "%.20s/status", name);
    int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    else if (errno != ENOENT && errno != ESRCH)
        return QUIESCENT_UNKNOWN;
    if (got <= 0)
        return QUIESCENT_YES;
    text[got] = '\0';
    const char *state = strstr(text, "\nState:\t");
    if (!state || !strstr(text, "\nvoluntary_ctxt_switches:\t") || look->count == THREADS)
        return QUIESCENT_UNKNOWN;
    if (state[8] == 'Z' || state[8] == 'X')
        return QUIESCENT_YES;
    look->seen[look->count++] = (struct seen){
        strtol(name, NULL, 10), number_after(text, "\nvoluntary_ctxt_switches:\t") +
                                    number_after(text, "\nnonvoluntary_ctxt_switches:\t")};
    return state[8] == 'S' ? QUIESCENT_YES : QUIESCENT_NO;
}

static DIR *open_tasks(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    return pid > 0 ? opendir(path) : NULL;
}

static bool still_runs(const pid_t *pid, int count)
{
    static struct look look;
    DIR *tasks = NULL;
    for (int i = 0; i < count && !tasks && runner.thread[0]; i++)
        if (pid[i] == runner.pid)
            tasks = open_tasks(runner.pid);
    look.count = 0;
    bool runs = tasks && look_at(dirfd(tasks), runner.thread, &look) == QUIESCENT_NO;
    if (tasks)
        closedir(tasks);
    return runs;
}

static enum quiescence look_at_program(pid_t pid, struct look *look)
{
    enum quiescence found = QUIESCENT_YES;
    DIR *tasks = open_tasks(pid);
    if (!tasks)
        return QUIESCENT_UNKNOWN;
    for (struct dirent *e; found == QUIESCENT_YES && (e = readdir(tasks));)
        if (e->d_name[0] != '.') {
            found = look_at(dirfd(tasks), e->d_name, look);
            if (found == QUIESCENT_NO) {
                runner.pid = pid;
                snprintf(runner.thread, sizeof runner.thread, "%.20s", e->d_name);
            }
        }
    closedir(tasks);
    return found;
}

static enum quiescence look_at_all(const pid_t *pid, int count, struct look *look)
{
    look->count = 0;
    enum quiescence found = still_runs(pid, count) ? QUIESCENT_NO : QUIESCENT_YES;
    for (int i = 0; i < count && found == QUIESCENT_YES; i++)
        found = look_at_program(pid[i], look);
    return found;
}

enum quiescence quiescence_of(const pid_t *pid, int count)
{
    static struct look first, second;
    enum quiescence found = look_at_all(pid, count, &first);
    if (found == QUIESCENT_YES)
        found = look_at_all(pid, count, &second);
    if (found == QUIESCENT_YES &&
        (first.count != second.count ||
         memcmp(first.seen, second.seen, (size_t)first.count * sizeof *first.seen) != 0))
        found = QUIESCENT_NO;
    return found;
}

double quiescence_cpu_seconds(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return -1;
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double wall_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
