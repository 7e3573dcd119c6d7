/* SPDX-License-Identifier: MIT
 * main.c: lab-jail: the order in which privileges are dropped. See jail.h.
 */
#include "jail.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say_started(const struct jail_policy *policy)
{
    static const char started[] = "started\n";
    if (policy->report >= 0 && write(policy->report, started, sizeof started - 1) < 0)
        _exit(JAIL_BROKEN);
}

/* Moves our own descriptors above the program's, and sets close-on-exec. */
static void move_report(struct jail_policy *policy, int flag)
{
    if (policy->report < 0)
        return;
    int high = fcntl(policy->report, flag, 100);
    if (high < 0) {
        policy->report = -1;
        jail_broken(policy, "the report descriptor");
    }
    close(policy->report);
    policy->report = high;
}

static bool writes_somewhere(const struct jail_policy *policy)
{
    for (int i = 0; i < policy->path_count; i++)
        if (policy->paths[i].writable)
            return true;
    return false;
}

/* The PID stays the caller's: vgpu-node signals vgpu-exec, and reads its CPU time. */
static void in_place(struct jail_policy *policy, char *const words[])
{
    jail_limit_processes(policy->processes, policy->uid != 0);
    jail_limit(policy);
    if (chdir(policy->folder) != 0)
        jail_broken(policy, policy->folder);
    bool scoped = !policy->bare && jail_landlock(policy);
    bool alone = policy->uid != 0;
    const struct jail_walls walls = {.signals = scoped || alone,
                                     .changes = writes_somewhere(policy),
                                     .clocks = policy->clocks != 0,
                                     .files = policy->files == 0};
    jail_filter_self(policy, &walls);
    say_started(policy);
    execve(words[0], words, policy->environment);
    jail_broken(policy, words[0]);
}

/* Inside bwrap's namespaces: the limit on processes counts those of the namespace only. */
static int run_inside(char *const words[])
{
    struct jail_policy nothing = {.report = -1};
    jail_limit_processes(strtoull(words[0], NULL, 10), true);
    jail_hide_numbers();
    lab__close_from(atoi(words[1]));
    execv(words[2], words + 2);
    jail_broken(&nothing, words[2]);
}

int main(int argc, char **argv)
{
    static struct jail_policy policy = {.report = -1};
    if (argc >= 5 && strcmp(argv[1], "--inside") == 0)
        return run_inside(argv + 2);
    if (argc >= 4 && strcmp(argv[1], "--supervise") == 0)
        return jail_supervise(argv + 1);
    if (argc < 3 || argv[2][0] != '/') {
        fprintf(stderr, "usage: lab-jail [--supervise] POLICY /PROGRAM ARGUMENT...\n"
                        "Started by ./lab grade; harness/jail/policy.c says what a policy is.\n");
        return JAIL_BROKEN;
    }
    jail_read_policy(argv[1], &policy);
    move_report(&policy, policy.bubblewrap ? F_DUPFD : F_DUPFD_CLOEXEC);
    jail_join_cgroups(&policy);
    jail_offer_to_oom(&policy);
    jail_queue_node(&policy);
    lab__close_on_exec_from(policy.keep);
    if (policy.bubblewrap && policy.report >= 0)
        fcntl(policy.report, F_SETFD, 0);
    if (!policy.bubblewrap)
        jail_own_mounts();
    jail_become(&policy);
    if (!policy.bubblewrap)
        in_place(&policy, argv + 2);
    jail_limit(&policy);
    jail_box(&policy, argv + 2);
}
