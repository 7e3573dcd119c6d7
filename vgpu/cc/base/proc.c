/* SPDX-License-Identifier: MIT
 * proc.c: see proc.h.
 */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag.h"

#define CHILDREN_MAX 8
#define PATH_LIMIT 4096

/* Set once at start. */
static enum cc_show show_commands;
static bool temporary;
static char folder[PATH_LIMIT];
static const char *volatile unfinished; /* result */

static volatile sig_atomic_t is_child; /* what is above is the parent's */

static const int asked_to_end[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};

/* Read by the signal handlers; a slot is 0 when free. */
static volatile sig_atomic_t child_pid[CHILDREN_MAX];

/* ---- the end ---- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

/* nftw is not async-signal-safe, but nothing else of the program runs any more. */
static void remove_temporary(void)
{
    if (temporary)
        nftw(folder, remove_entry, 1, FTW_DEPTH | FTW_PHYS);
    temporary = false;
}

/* /dev/null stays. */
static void remove_unfinished(void)
{
    struct stat info;

    if (unfinished != NULL && stat(unfinished, &info) == 0 && S_ISREG(info.st_mode))
        unlink(unfinished);
}

static void stop_children(void)
{
    if (is_child)
        return;
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (child_pid[i] > 0)
            kill(child_pid[i], SIGTERM);
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (child_pid[i] > 0)
            waitpid(child_pid[i], NULL, 0);
    remove_unfinished();
    remove_temporary();
}

static void end_by_signal(int number)
{
    stop_children();
    signal(number, SIG_DFL);
    raise(number);
}

/* LLVM's libraries abort, or crash, where they fail. */
static void end_by_crash(int number)
{
    static const char sentence[] =
        "vgpu-cc: LLVM has failed; its message, if any, is above. Another release may compile the "
        "file: set VGPU_CLANG to its clang++\n";

    signal(number, SIG_DFL);
    if (!is_child && write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0)
        raise(number);
    end_by_signal(number);
}

/* Signals wait until the mask is set to what is returned. */
static sigset_t hold_signals(void)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    return before;
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
    sigset_t before = hold_signals();
    temporary = mkdtemp(folder) != NULL;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return temporary;
}

bool cc_proc_start(enum cc_show show, const char *keep)
{
    show_commands = show;
    for (size_t i = 0; i < sizeof asked_to_end / sizeof *asked_to_end; i++)
        if (signal(asked_to_end[i], end_by_signal) == SIG_IGN)
            signal(asked_to_end[i], SIG_IGN);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        signal(crashes[i], end_by_crash);
    atexit(stop_children);
    return make_folder(keep) || cc_fail("cannot make the folder '%s' for intermediate files: %s",
                                        folder, strerror(errno));
}

void cc_remove_at_end(const char *path)
{
    unfinished = path;
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
    return good || cc_fail("cannot write '%s': %s", path, strerror(errno));
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

/* 0: no child. */
static void replace_child(int old, int pid)
{
    for (int i = 0; i < CHILDREN_MAX; i++)
        if (child_pid[i] == old) {
            child_pid[i] = pid;
            return;
        }
}

/* Forks; each side knows which one it is before a signal can end it. */
static pid_t fork_known(void)
{
    sigset_t before = hold_signals();
    pid_t pid = fork();

    if (pid > 0)
        replace_child(0, pid);
    is_child |= pid == 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

/* The child ends with this process, however that ends, and leaves alone what is this process's. */
static int fork_child(const char *errors)
{
    fflush(NULL);
    pid_t parent = getpid(), pid = fork_known();

    if (pid < 0)
        cc_fail("cannot start another process: %s", strerror(errno));
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    int fd = errors != NULL ? open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0666) : STDERR_FILENO;
    if (fd < 0 || (fd != STDERR_FILENO && (dup2(fd, STDERR_FILENO) < 0 || close(fd) != 0)))
        _exit(1);
    return 0;
}

struct cc_child cc_spawn(const struct cc_list *argv, const char *errors)
{
    struct cc_child child = {.pid = 0};

    if (show_commands != CC_SHOW_NOT)
        show(argv);
    if (show_commands == CC_SHOW_ONLY)
        return child;
    child.errors = errors != NULL ? cc_temp_path(errors) : NULL;
    child.pid = fork_child(child.errors);
    if (child.pid == 0) {
        execvp(argv->item[0], (char *const *)argv->item);
        cc_fail("cannot run '%s': %s; install a C++ compiler or name one in VGPU_CXX",
                argv->item[0], strerror(errno));
        fflush(stderr);
        _exit(127);
    }
    return child;
}

int cc_try(bool (*does)(void *of), void *of, const char **errors)
{
    struct cc_child child = {.errors = cc_temp_path("try.err")};

    child.pid = fork_child(child.errors);
    if (child.pid == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        bool done = does(of) && cc_error_count() == 0;
        fflush(NULL);
        _exit(done ? 0 : CC_TRY_SAID);
    }
    return cc_wait(child, errors);
}

int cc_wait(struct cc_child child, const char **errors)
{
    const char *text = NULL;
    int status = 0;
    size_t length;

    while (child.pid > 0 && waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (errors != NULL && child.errors != NULL)
        text = cc_read_file(child.errors, &length);
    if (errors != NULL)
        *errors = text != NULL ? text : "";
    if (child.pid <= 0)
        return child.pid < 0 ? 127 : 0;
    replace_child(child.pid, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cc_run(const struct cc_list *argv)
{
    return cc_wait(cc_spawn(argv, NULL), NULL);
}
