/* SPDX-License-Identifier: MIT
 * proc.c: see proc.h.
 */
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diag.h"

static enum cc_show show_commands;
static char folder[PATH_MAX];
static char *unfinished; /* result; shared by both processes */

/* ---- the end ---- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static void remove_rest(bool temporary)
{
    struct stat info;

    if (stat(unfinished, &info) == 0 && S_ISREG(info.st_mode)) /* /dev/null stays */
        unlink(unfinished);
    if (temporary)
        nftw(folder, remove_entry, 1, FTW_DEPTH | FTW_PHYS);
}

/* Ends this process as the signal has ended the other one. */
static void end_by_signal(int number)
{
    static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};

    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        if (number == crashes[i])
            cc_fail(
                "LLVM has failed; its message, if any, is above. Another release may compile the "
                "file: set VGPU_CLANG to its clang++");
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    raise(number);
}

/* Waits for the end of the process, and passes on what it is asked to end by. What it has started
 * ends with it if it fails; daemons, which do not, have groups of their own. Returns its status. */
static int wait_until_all_end(pid_t worker, const sigset_t *signals)
{
    int status = W_EXITCODE(EXIT_FAILURE, 0), number; /* it could not be started */

    while (waitpid(worker, &status, WNOHANG) == 0)
        if (sigwait(signals, &number) == 0 && number != SIGCHLD)
            kill(worker, number);
    while (status != 0 && waitpid(0, NULL, 0) > 0)
        continue;
    return status;
}

static void make_folder(const char *keep)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/vgpu-cc-XXXXXX",
             base != NULL && *base == '/' ? base : "/tmp");
    if (keep != NULL)
        snprintf(folder, sizeof folder, "%s", keep);
    if (keep != NULL ? mkdir(folder, 0777) != 0 && errno != EEXIST : mkdtemp(folder) == NULL)
        cc_fatal("cannot make the folder '%s' for intermediate files: %s", folder, strerror(errno));
}

/* The child ends with this process, however that ends. */
static pid_t fork_child(int with_signal)
{
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();

    if (pid < 0)
        cc_fail("cannot start another process: %s", strerror(errno));
    if (pid == 0 && (prctl(PR_SET_PDEATHSIG, with_signal) != 0 || getppid() != parent))
        _exit(1);
    return pid;
}

int cc_guard(enum cc_show show, const char *keep, void (*work)(const void *of), const void *of)
{
    static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    sigset_t held, before;

    show_commands = show;
    unfinished = mmap(NULL, PATH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (unfinished == MAP_FAILED)
        cc_fatal("cannot start: %s", strerror(errno));
    signal(SIGCHLD,
           SIG_DFL); /* it may be ignored, and then nobody is told that a child has ended */
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&held, signals[i]);
    sigprocmask(SIG_BLOCK, &held, &before);
    make_folder(keep);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t worker = fork_child(SIGKILL);
    if (worker == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        work(of);
        exit(EXIT_SUCCESS);
    }
    int status = wait_until_all_end(worker, &held);
    remove_rest(keep == NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (WIFSIGNALED(status))
        end_by_signal(WTERMSIG(status));
    return WEXITSTATUS(status);
}

void cc_remove_at_end(const char *path)
{
    snprintf(unfinished, PATH_MAX, "%s", path != NULL ? path : "");
}

const char *cc_temp_path(const char *name)
{
    return cc_format("%s/%s", folder, name);
}

void cc_write_file(const char *path, const char *data, size_t length)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(data, 1, length, file) != length || fclose(file) != 0)
        cc_fatal("cannot write '%s': %s", path, strerror(errno));
}

const char *cc_need_file(const char *path, size_t *length)
{
    const char *data = cc_read_file(path, length);

    if (data == NULL)
        cc_fatal("cannot read '%s': %s", path, strerror(errno));
    return data;
}

/* ---- children ---- */

/* Shows the command if commands are shown. Is that all? */
static bool is_only_shown(struct cc_list argv)
{
    if (show_commands == CC_SHOW_NOT)
        return false;
    for (size_t i = 0; i < argv.count; i++) {
        bool plain = strpbrk(argv.item[i], " \t\"'$&|;<>()*?\\") == NULL && *argv.item[i] != 0;
        fprintf(stderr, plain ? "%s%s" : "%s'%s'", i > 0 ? " " : "#$ ", argv.item[i]);
    }
    fputc('\n', stderr);
    return show_commands == CC_SHOW_ONLY;
}

static void replace_by(struct cc_list argv)
{
    execvp(argv.item[0], (char *const *)argv.item);
    cc_fail("cannot run '%s': %s; install a C++ compiler or name one in VGPU_CXX", argv.item[0],
            strerror(errno));
    _exit(127);
}

/* The child has pid 0. */
static struct cc_child start_tool(const char *errors)
{
    struct cc_child child = {.errors = errors != NULL ? cc_temp_path(errors) : NULL};

    child.pid = fork_child(SIGTERM);
    if (child.pid != 0 || errors == NULL)
        return child;
    int fd = open(child.errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
        _exit(1);
    return child;
}

struct cc_child cc_spawn(struct cc_list argv, const char *errors)
{
    struct cc_child child = {.pid = 0};

    if (is_only_shown(argv))
        return child;
    child = start_tool(errors);
    if (child.pid == 0)
        replace_by(argv);
    return child;
}

int cc_try(bool (*does)(void *of), void *of, const char **errors)
{
    struct cc_child child = start_tool("try.err");

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
    int status = child.pid < 0 ? W_EXITCODE(127, 0) : 0;
    const char *text = NULL;
    size_t length;

    if (child.pid > 0)
        waitpid(child.pid, &status, 0);
    if (errors != NULL && child.errors != NULL)
        text = cc_read_file(child.errors, &length);
    if (errors != NULL)
        *errors = text != NULL ? text : "";
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int cc_run(struct cc_list argv)
{
    return cc_wait(cc_spawn(argv, NULL), NULL);
}

char *cc_output_of(const char *command)
{
    FILE *said = popen(command, "re");
    char *text = NULL;
    size_t room = 0;
    bool good = said != NULL && getdelim(&text, &room, 0, said) > 0;

    if (said != NULL)
        pclose(said);
    return good ? text : cc_format("%s", "");
}

void cc_must_run(struct cc_list argv)
{
    if (cc_run(argv) != 0)
        cc_end();
}

void cc_run_last(struct cc_list argv)
{
    if (!is_only_shown(argv))
        replace_by(argv);
}
