/* SPDX-License-Identifier: MIT
 * limits.c: the submission's uid and resource limits.
 */
#include "jail.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* This process has one thread. Moving a single thread, which only cgroup v1 can (`tasks`), does not
 * take the lock of all thread groups, for which the kernel waits some milliseconds. */
void jail_join_cgroups(const struct jail_policy *policy)
{
    for (int i = 0; i < policy->cgroup_count; i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/tasks", policy->cgroups[i]);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0) {
            snprintf(path, sizeof path, "%s/cgroup.procs", policy->cgroups[i]);
            fd = open(path, O_WRONLY | O_CLOEXEC);
        }
        if (fd < 0 || write(fd, "0", 1) != 1)
            jail_broken(policy, path);
        close(fd);
    }
}

/* If memory runs out without a limit, the OOM killer chooses a submission's processes before the
 * grader. */
void jail_offer_to_oom(const struct jail_policy *policy)
{
    static const char score[] = "500"; /* as the node gives vgpu-exec */
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, score, sizeof score - 1) < 0)
        jail_broken(policy, "/proc/self/oom_score_adj");
    close(fd);
}

/* A file's access time reveals to others that it was read, and the filter cannot restrict who reads
 * it. Without the right to mount (in some containers) access times stay on. */
void jail_own_mounts(void)
{
    struct { /* struct mount_attr, which older headers lack */
        uint64_t set, clear, propagation, user;
    } times = {.set = 0x10 /* MOUNT_ATTR_NOATIME */, .clear = 0x70, .propagation = MS_PRIVATE};
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
        syscall(442 /* mount_setattr */, -1, "/", 0x8000 /* AT_RECURSIVE */, &times, sizeof times);
}

/* A change of uid clears the parent-death signal that the verifier set, so it is set again. */
void jail_become(const struct jail_policy *policy)
{
    pid_t parent = getppid();
    if (policy->uid) {
        gid_t gid = (gid_t)policy->uid;
        if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 ||
            setresuid(policy->uid, policy->uid, policy->uid) != 0)
            jail_broken(policy, "changing to the submission's uid");
    }
    /* Containers give some to plain users; bwrap refuses to start with any. */
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (prctl(PR_SET_PDEATHSIG, 9) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        jail_broken(policy, "prctl");
    if (getppid() != parent)
        _exit(JAIL_BROKEN); /* the parent died before prctl took effect */
    if (geteuid() == 0)
        jail_broken(policy, "still root");
}

static void limit_resource(const struct jail_policy *policy, __rlimit_resource_t which,
                           uint64_t most)
{
    struct rlimit now, to = {most, most};
    if (getrlimit(which, &now) != 0)
        jail_broken(policy, "getrlimit");
    if (now.rlim_max < most)
        to.rlim_cur = to.rlim_max = now.rlim_max;
    if (setrlimit(which, &to) != 0)
        jail_broken(policy, "setrlimit");
}

void jail_limit(const struct jail_policy *policy)
{
    limit_resource(policy, RLIMIT_CORE, 0);
    limit_resource(policy, RLIMIT_RTPRIO, 0);
    limit_resource(policy, RLIMIT_MSGQUEUE, 0);
    limit_resource(policy, RLIMIT_CPU, policy->cpu_seconds);
    limit_resource(policy, RLIMIT_FSIZE, policy->file_bytes);
    limit_resource(policy, RLIMIT_NOFILE, policy->descriptors);
    if (policy->data_bytes)
        limit_resource(policy, RLIMIT_DATA, policy->data_bytes);
}

/* Threads that run under this uid already: the kernel counts them against the limit. */
static uint64_t threads_of(uid_t uid)
{
    DIR *proc = opendir("/proc");
    uint64_t count = 0;
    for (struct dirent *e; proc && (e = readdir(proc));) {
        char path[300];
        struct stat info;
        snprintf(path, sizeof path, "/proc/%s/task", e->d_name);
        if (isdigit((unsigned char)e->d_name[0]) && stat(path, &info) == 0 && info.st_uid == uid)
            count += info.st_nlink > 2 ? info.st_nlink - 2 : 1;
    }
    if (proc)
        closedir(proc);
    return count;
}

void jail_limit_processes(uint64_t processes, bool alone)
{
    uint64_t most = processes + (alone ? 0 : threads_of(getuid()));
    struct rlimit now, to = {most, most};
    if (getrlimit(RLIMIT_NPROC, &now) == 0 && now.rlim_max < most)
        to.rlim_cur = to.rlim_max = now.rlim_max;
    if (setrlimit(RLIMIT_NPROC, &to) != 0)
        _exit(JAIL_BROKEN);
}
