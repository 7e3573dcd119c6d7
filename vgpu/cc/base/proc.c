/* SPDX-License-Identifier: MIT
 * proc.c: see proc.h.
 */
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag.h"

#define CHILDREN_MAX 8
#define PATH_LIMIT 4096

extern char **environ;

/* Set once at start. */
static enum cc_show show_commands;
static bool temporary;
static char folder[PATH_LIMIT];

/* Read by the signal handler; a slot is 0 when free. */
static volatile sig_atomic_t child_pid[CHILDREN_MAX];

/* ---- the end ---- */

/* Uses only async-signal-safe calls, except opendir and the like: nothing else of the program runs
 * any more, and no heap call of the arena is in progress. */
static void remove_temporary(void)
{
    char path[2 * PATH_LIMIT];
    DIR *dir = temporary ? opendir(folder) : NULL;
    struct dirent *entry;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    closedir(dir);
    rmdir(folder);
    temporary = false;
}

static void end_children(int number)
{
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (child_pid[i] > 0)
            kill(child_pid[i], SIGTERM);
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (child_pid[i] > 0)
            waitpid(child_pid[i], NULL, 0);
    remove_temporary();
    signal(number, SIG_DFL);
    raise(number);
}

static bool make_folder(const char *keep)
{
    const char *base = getenv("TMPDIR");

    if (keep != NULL) {
        snprintf(folder, sizeof folder, "%s", keep);
        return mkdir(folder, 0777) == 0 || errno == EEXIST;
    }
    snprintf(folder, sizeof folder, "%s/vgpu-cc-XXXXXX",
             base != NULL && *base == '/' ? base : "/tmp");
    temporary = mkdtemp(folder) != NULL;
    return temporary;
}

bool cc_proc_start(enum cc_show show, const char *keep)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

    show_commands = show;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (signal(signals[i], end_children) == SIG_IGN)
            signal(signals[i], SIG_IGN);
    atexit(remove_temporary);
    if (make_folder(keep))
        return true;
    cc_fail("cannot make the folder '%s' for intermediate files: %s", folder, strerror(errno));
    return false;
}

bool cc_shows_commands(void)
{
    return show_commands != CC_SHOW_NOT;
}

const char *cc_temp_path(const char *name)
{
    return cc_format("%s/%s", folder, name);
}

bool cc_write_file(const char *path, const char *data, size_t length)
{
    FILE *file = fopen(path, "wb");
    bool good = file != NULL && fwrite(data, 1, length, file) == length;

    if (file != NULL)
        good = fclose(file) == 0 && good;
    if (!good)
        cc_fail("cannot write '%s': %s", path, strerror(errno));
    return good;
}

/* ---- children ---- */

static void show(const struct cc_list *argv)
{
    for (size_t i = 0; i < argv->count; i++) {
        bool plain = strpbrk(argv->item[i], " \t\"'$&|;<>()*?\\") == NULL && *argv->item[i] != 0;
        fprintf(stderr, plain ? "%s%s" : "%s'%s'", i > 0 ? " " : "#$ ", argv->item[i]);
    }
    fputc('\n', stderr);
}

static int spawn(const struct cc_list *argv, const char *errors)
{
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;

    posix_spawn_file_actions_init(&actions);
    if (errors != NULL)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors,
                                         O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int error =
        posix_spawnp(&pid, argv->item[0], &actions, NULL, (char *const *)argv->item, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error == 0)
        return pid;
    cc_fail("cannot run '%s': %s; install a C++ compiler or name one in VGPU_CXX", argv->item[0],
            strerror(error));
    return -1;
}

struct cc_child cc_spawn(const struct cc_list *argv, const char *errors)
{
    struct cc_child child = {.pid = 0};

    if (show_commands != CC_SHOW_NOT)
        show(argv);
    if (show_commands == CC_SHOW_ONLY)
        return child;
    child.errors = errors != NULL ? cc_temp_path(errors) : NULL;
    child.pid = spawn(argv, child.errors);
    for (int i = 0; i < CHILDREN_MAX && child.pid > 0; i++)
        if (child_pid[i] == 0) {
            child_pid[i] = child.pid;
            break;
        }
    return child;
}

int cc_wait(struct cc_child child)
{
    int status = 0;

    if (child.pid <= 0)
        return child.pid < 0 ? 127 : 0;
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        continue;
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (child_pid[i] == child.pid)
            child_pid[i] = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void cc_stop(struct cc_child child)
{
    if (child.pid > 0)
        kill(child.pid, SIGKILL);
    cc_wait(child);
}

bool cc_has_ended(struct cc_child child)
{
    siginfo_t info = {0};

    return child.pid <= 0 ||
           (waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid == child.pid);
}

const char *cc_child_errors(struct cc_child child)
{
    size_t length;
    const char *text = child.errors != NULL ? cc_read_file(child.errors, &length) : NULL;

    return text != NULL ? text : "";
}

int cc_run(const struct cc_list *argv)
{
    return cc_wait(cc_spawn(argv, NULL));
}
