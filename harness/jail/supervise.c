/* SPDX-License-Identifier: MIT
 * supervise.c: waits outside of the sandbox for what runs in it.
 *
 * It is a child subreaper, as the verifier is: what detaches itself stays below it and is ended
 * with the rest. Who started us ends us by SIGTERM, which also comes when he dies; a SIGKILL would
 * leave nobody to end the others.
 *
 * Where there is no control group nothing limits the memory of all processes together, and shared
 * memory not at all. So it also looks at what they have, four times a second.
 */
#define _GNU_SOURCE
#include "jail.h"
#include "verifier.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
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

static bool is_too_large(const struct jail_policy *policy)
{
    struct lab_usage usage;
    lab__usage(0, true, &usage);
    return policy->data_bytes && usage.resident_bytes > policy->data_bytes;
}

/* Until `pid` has ended or is to be ended. Its status, as a shell tells it. */
static int await(pid_t pid, const sigset_t *signals, const struct jail_policy *policy)
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
        if (signal < 0 && is_too_large(policy))
            return 128 + SIGKILL;
    }
}

int jail_supervise(char *words[])
{
    static struct jail_policy policy;
    sigset_t signals, before;
    pid_t parent = getppid();
    jail_read_policy(words[1], &policy);
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
    int status = await(pid, &signals, &policy);
    lab__kill_all(0);
    return status;
}
