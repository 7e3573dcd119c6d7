/* SPDX-License-Identifier: MIT
 * guard.c: a process that stays outside and ends all that it has started.
 *
 * A parent-death signal alone does not do: it is each program's own to ask for, and bwrap asks
 * after it has forked. Killed between the two, it leaves a sandbox that nobody waits for, whose
 * program may even run on. So the guard is a child subreaper: what lost its parent, or detached
 * itself, stays below it and is ended with the rest. Who started the guard ends it by SIGTERM,
 * which also comes when he dies; a SIGKILL would leave nobody to end the others.
 */
#include "process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The child's part: it dies with the guard. */
static int go_on(pid_t guard, const sigset_t *before)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, before, NULL);
    return getppid() == guard ? 0 : -1; /* -1: it died before the first line */
}

/* Until `pid` has ended or is to be ended. Its status, as a shell tells it. */
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
    lab__close_from(0); /* whoever reads from the program must not wait for us */
    int status = await_child(pid, &signals, too_much);
    lab__kill_all(0);
    _exit(status);
}
