/* SPDX-License-Identifier: MIT
 * jail.c: see jail.h. The filter is a list of permitted calls: those that the node makes while it
 * serves. All others fail with EPERM. No permitted call takes a path.
 */
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_filter.h"

enum { CGROUPS = 4, SEALS = F_ADD_SEALS, GET_SEALS = F_GET_SEALS };

static struct {
    uint64_t cpu_seconds, data_bytes, descriptors, uid;
} rules;

bool jail_wanted(void)
{
    const char *text = getenv("VGPU_NODE_JAIL");
    return text && *text;
}

static bool refuse_jail(char *error, size_t room, const char *what, const char *why)
{
    snprintf(error, room, "its jail: %s: %s", what, why);
    return false;
}

/* ---- rules ---- */

static bool join_group(const char *folder)
{
    char path[4200];
    static const char *const files[] = {"tasks", "cgroup.procs"};
    for (int i = 0; i < 2;
         i++) { /* `tasks` exists in version 1 only and takes a thread without a lock */
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool joined = fd >= 0 && write(fd, "0", 1) == 1;
        if (fd >= 0)
            close(fd);
        if (joined)
            return true;
    }
    return false;
}

static bool read_status_number(const char *line, const char *key, uint64_t *to)
{
    size_t length = strlen(key);
    char *end;
    if (strncmp(line, key, length) != 0 || line[length] != ' ')
        return false;
    *to = strtoull(line + length + 1, &end, 10);
    return end != line + length + 1 && *end == '\0';
}

static bool take_rule(const char *line)
{
    if (strncmp(line, "cgroup /", 8) == 0)
        return join_group(line + 7);
    return read_status_number(line, "cpu-seconds", &rules.cpu_seconds) ||
           read_status_number(line, "data-bytes", &rules.data_bytes) ||
           read_status_number(line, "descriptors", &rules.descriptors) ||
           read_status_number(line, "uid", &rules.uid);
}

/* If memory runs out, other processes of the group are killed first; only root may set this. */
static void lower_oom_score(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "-900", 4) != 4)
        errno = 0;
    if (fd >= 0)
        close(fd);
}

bool jail_prepare(char *error, size_t room)
{
    char *text = strdup(getenv("VGPU_NODE_JAIL")), *rest = text;
    bool good = text || refuse_jail(error, room, "its rules", strerror(errno));
    errno = 0;
    for (char *line; good && (line = strtok_r(rest, "\n", &rest));)
        if (!take_rule(line)) /* an ignored rule would be a security hole */
            good = refuse_jail(error, room, line, errno ? strerror(errno) : "is no rule");
    free(text);
    lower_oom_score();
    return good;
}

static bool set_resource_limit(__rlimit_resource_t which, uint64_t most)
{
    struct rlimit now, to = {most, most};
    if (most == 0 && which != RLIMIT_CORE)
        return true;
    if (getrlimit(which, &now) != 0)
        return false;
    if (now.rlim_max < most)
        to.rlim_cur = to.rlim_max = now.rlim_max;
    return setrlimit(which, &to) == 0;
}

/* Changes the user. The parent-death signal is set last, since a change of uid clears it. */
static bool become_user(void)
{
    pid_t parent = getppid();
    gid_t gid = (gid_t)rules.uid;
    uid_t uid = (uid_t)rules.uid;
    if (rules.uid &&
        (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0))
        return false;
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_DUMPABLE, 0) == 0 && getppid() == parent;
}

/* ---- the filter ---- */

static const int allowed_calls[] = {
    SYS_read,
    SYS_write,
    SYS_readv,
    SYS_writev,
    SYS_pread64,
    SYS_pwrite64,
    SYS_preadv,
    SYS_pwritev,
    SYS_close,
    SYS_fstat,
    SYS_lseek,
    SYS_ftruncate,
    SYS_fallocate,
    SYS_munmap,
    SYS_mremap,
    SYS_madvise,
    SYS_brk,
    SYS_memfd_create,
    SYS_recvmsg,
    SYS_sendmsg,
    SYS_accept4,
    SYS_setsockopt,
    SYS_getsockopt,
    SYS_ppoll,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_epoll_create1,
    SYS_pipe2,
    SYS_dup,
    SYS_clock_gettime,
    SYS_clock_getres,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_gettimeofday,
    SYS_getpid,
    SYS_gettid,
    SYS_getppid,
    SYS_futex,
    SYS_sched_yield,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_getrandom,
    SYS_exit,
    SYS_exit_group,
    SYS_restart_syscall,
#if defined __x86_64__
    SYS_poll,
    SYS_epoll_wait,
#endif
};

static void allow_if(struct call_filter *f, int number, int index, uint16_t test, uint32_t k,
                     bool wanted)
{
    call_filter_if(f, number, index, test, k, wanted, SECCOMP_RET_ALLOW);
}

static void build_filter(struct call_filter *f)
{
    static const uint32_t descriptors[] = {F_GETFD,         F_SETFD, F_GETFL,  F_SETFL,
                                           F_DUPFD_CLOEXEC, SEALS,   GET_SEALS};
    call_filter_start(f);
    for (size_t i = 0; i < sizeof allowed_calls / sizeof *allowed_calls; i++)
        call_filter_range(f, allowed_calls[i], allowed_calls[i], SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        allow_if(f, SYS_fcntl, 1, BPF_JEQ, descriptors[i], true);
    allow_if(f, SYS_mmap, 2, BPF_JSET, PROT_EXEC, false);
    allow_if(f, SYS_mprotect, 2, BPF_JSET, PROT_EXEC, false);
    allow_if(f, SYS_socketpair, 1, BPF_JEQ, SOCK_SEQPACKET | SOCK_CLOEXEC, true);
    allow_if(f, SYS_tgkill, 0, BPF_JEQ, (uint32_t)getpid(), true); /* for abort() */
    call_filter_rest(f, SECCOMP_RET_ERRNO | EPERM);
}

bool jail_close(char *error, size_t room)
{
    static struct call_filter filter;
    if (!set_resource_limit(RLIMIT_CORE, 0) || !set_resource_limit(RLIMIT_CPU, rules.cpu_seconds) ||
        !set_resource_limit(RLIMIT_DATA, rules.data_bytes) ||
        !set_resource_limit(RLIMIT_NOFILE, rules.descriptors))
        return refuse_jail(error, room, "limits", strerror(errno));
    if (!become_user())
        return refuse_jail(error, room, "its user", strerror(errno));
    build_filter(&filter);
    if (!call_filter_apply(&filter))
        return refuse_jail(error, room, "the filter of system calls", strerror(errno));
    return true;
}
