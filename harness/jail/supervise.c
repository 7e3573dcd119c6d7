/* SPDX-License-Identifier: MIT
 * supervise.c: waits outside of the sandbox for what runs in it.
 *
 * It is a child subreaper, as the verifier is: what detaches itself stays below it and is ended
 * with the rest. Who started us ends us by SIGTERM, which also comes when he dies; a SIGKILL would
 * leave nobody to end the others.
 */
#define _GNU_SOURCE
#include "jail.h"
#include "verifier.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(char *words[], const sigset_t *before)
{
    pid_t self = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, before, NULL);
    if (getppid() == self)
        execv("/proc/self/exe", words);
    _exit(JAIL_BROKEN);
}

/* Until `pid` has ended or we are told to end it. Its status, -1 when it was not its own end. */
static int await(pid_t pid, const sigset_t *signals)
{
    for (;;) {
        int status;
        for (pid_t got; (got = waitpid(-1, &status, WNOHANG)) > 0;)
            if (got == pid)
                return status;
        if (sigwaitinfo(signals, NULL) == SIGTERM)
            return -1;
    }
}

int jail_supervise(char *words[])
{
    sigset_t signals, before;
    pid_t parent = getppid();
    words[0] = (char *)"lab-jail";
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    sigprocmask(SIG_BLOCK, &signals, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        return JAIL_BROKEN;
    pid_t pid = start(words, &before);
    if (pid < 0)
        return JAIL_BROKEN;
    jail_close_from(0); /* whoever reads from the program must not wait for us */
    int status = await(pid, &signals);
    lab__kill_all(0);
    if (status == -1)
        return 128 + SIGTERM;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
