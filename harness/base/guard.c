/* SPDX-License-Identifier: MIT
 * guard.c: a parent process that ends everything below it.
 *
 * A parent-death signal alone does not suffice: each program must set its own, and bwrap sets it
 * only after it has forked. If bwrap is killed between the two, its sandbox is never reaped and the
 * program in it may continue. So the guard is a child subreaper: orphaned and daemonised processes
 * become its children and are ended with the rest. The guard itself is ended by SIGTERM, which it
 * also receives when its parent dies; after SIGKILL nothing would end the others.
 */
#include "process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The child's side: it dies with the guard. */
static int go_on(pid_t guard, const sigset_t *before)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, before, NULL);
    return getppid() == guard ? 0 : -1; /* -1: the guard died before prctl took effect */
}

/* Waits until `pid` ends or must be ended. Returns its status, 128 + N after signal N. */
static int await_child(pid_t pid, const sigset_t *signals, bool (*too_much)(void))
{
    const struct timespec quarter = {.tv_nsec = 250 * 1000 * 1000};
    for (;;) {
        int status;
        for (pid_t got; (got = waitpid(-1, &status, WNOHANG)) > 0;)
            if (got == pid)
                return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        int signal = sigtimedwait(signals, NULL, &quarter);
        if (signal == SIGTERM)
            return 128 + SIGTERM;
        if (signal < 0 && too_much && too_much())
            return 128 + SIGKILL;
    }
}

int lab__guard(bool (*too_much)(void))
{
    sigset_t signals, before;
    pid_t parent = getppid();
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        return -1;
    pid_t self = getpid(), pid = fork();
    if (pid == 0)
        return go_on(self, &before);
    if (pid < 0)
        return -1;
    lab__close_from(0); /* else a reader of the program's output would wait for us, too */
    int status = await_child(pid, &signals, too_much);
    lab__kill_all(0);
    _exit(status);
}
