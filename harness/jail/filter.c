/* SPDX-License-Identifier: MIT
 * filter.c: the seccomp filter for submissions, as a BPF program.
 *
 * A list of refused system calls, since compilers and CUDA programs use a great many. Refused are:
 * inspecting other processes, limiting, slowing down and signalling them, channels that no
 * namespace separates (keyrings, System V IPC, vsock, io_uring), sockets of every kind, new
 * namespaces, mounts, modules, clocks. Refused calls return EPERM; calls that libraries can do
 * without return ENOSYS. System calls of another architecture kill the process.
 *
 * Two submissions that run at the same time see the same files of /usr, and must not be able to use
 * them as a covert channel: no locks and leases, no notification of file accesses, no futex wakes
 * on pages of shared libraries, no queries about the page cache, the number of running programs, or
 * other processes.
 *
 * Landlock has no rule for modes, owners, times and attributes of files, before version 3 none for
 * truncation, and ignores ownership. In place, a program without a writable path is refused all of
 * these.
 */
#include "jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_filter.h"

#define NAMESPACES 0x7e020000u /* CLONE_NEW* except CLONE_NEWTIME, which clone cannot request */
#define UNIX_FAMILY 1

/* Numbers of new system calls, the same on all architectures: headers may be older than the
 * kernel. */
enum {
    NR_PIDFD_SEND_SIGNAL = 424,
    NR_IO_URING_SETUP = 425,
    NR_IO_URING_REGISTER = 427,
    NR_OPEN_TREE = 428,
    NR_FSPICK = 433,
    NR_OPENAT2 = 437,
    NR_CLONE3 = 435,
    NR_CLOSE_RANGE = 436,
    NR_PIDFD_GETFD = 438,
    NR_MOUNT_SETATTR = 442,
    NR_FCHMODAT2 = 452,
    NR_MEMFD_SECRET = 447,
    NR_FUTEX_WAITV = 449,
    NR_CACHESTAT = 451,
    NR_FUTEX_WAKE = 454,
    NR_FUTEX_REQUEUE = 456,
    NR_STATMOUNT = 457,
    NR_LISTMOUNT = 458
};

static const int refused_calls[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_perf_event_open,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_open_by_handle_at,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_quotactl,
    SYS_move_pages,
    SYS_migrate_pages,
    SYS_lookup_dcookie,
    SYS_fanotify_init,
    SYS_vhangup,
    SYS_msgget,
    SYS_msgctl,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_semget,
    SYS_semctl,
    SYS_semop,
    SYS_semtimedop,
    SYS_shmget,
    SYS_shmctl,
    SYS_shmat,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_sched_setscheduler,
    SYS_sched_setparam,
    SYS_sched_setattr,
    SYS_socket,
    SYS_flock,
    SYS_inotify_init1,
    SYS_inotify_add_watch,
    SYS_mincore,
    SYS_sysinfo,
    SYS_ioprio_get,
    NR_PIDFD_GETFD,
    NR_MOUNT_SETATTR,
    NR_MEMFD_SECRET, /* its memory is not counted by any limit */
    NR_CACHESTAT,
#if defined __x86_64__
    SYS_inotify_init,
    SYS_iopl,
    SYS_ioperm,
    SYS_kexec_file_load,
#endif
};

/* Calls that change files, by path or descriptor. */
static const int changes[] = {
    SYS_fchmod,   SYS_fchmodat,  NR_FCHMODAT2,  SYS_fchown,      SYS_fchownat,     SYS_utimensat,
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr,
    SYS_truncate,
#if defined __x86_64__
    SYS_chmod,    SYS_chown,     SYS_lchown,    SYS_utime,       SYS_utimes,       SYS_futimesat,
#endif
};

/* Commands of fcntl that make the kernel send signals for a descriptor; locks, leases and
 * notifications, which belong to a file that other processes may have open. */
static const uint32_t controls[] = {F_SETOWN,     F_SETSIG,   15 /* F_SETOWN_EX */, F_GETLK,
                                    F_SETLK,      F_SETLKW,   F_OFD_GETLK,          F_OFD_SETLK,
                                    F_OFD_SETLKW, F_SETLEASE, F_GETLEASE,           F_NOTIFY};
/* Inserting input into a terminal, and redirecting its signals. */
static const uint32_t terminals[] = {0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */,
                                     0x8901 /* FIOSETOWN */, 0x8902 /* SIOCSPGRP */};

static uint32_t error_answer(int number)
{
    return SECCOMP_RET_ERRNO | (uint32_t)number;
}

static void only_if(struct call_filter *f, int number, int index, uint16_t test, uint32_t k,
                    bool wanted)
{
    call_filter_if(f, number, index, test, k, !wanted, error_answer(EPERM));
}

/* Only tgkill to the own process remains, which raise() and abort() use. */
static void own_signals(struct call_filter *f)
{
    static const int others[] = {SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
                                 NR_PIDFD_SEND_SIGNAL};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        call_filter_range(f, others[i], others[i], error_answer(EPERM));
    only_if(f, SYS_tgkill, 0, BPF_JEQ, (uint32_t)getpid(), true);
}

/* Wakes between processes. A process that can read a file can wait on a futex in its mapped pages
 * and wake waiters of other processes; libraries wake with the private flag, which stays in the
 * process. */
static void deny_wakings(struct call_filter *f)
{
    static const uint32_t wakes[] = {FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP,
                                     FUTEX_WAKE_BITSET};
    for (size_t i = 0; i < sizeof wakes / sizeof *wakes; i++) {
        only_if(f, SYS_futex, 1, BPF_JEQ, wakes[i], false);
        only_if(f, SYS_futex, 1, BPF_JEQ, wakes[i] | FUTEX_CLOCK_REALTIME, false);
    }
    call_filter_range(f, NR_FUTEX_WAITV, NR_FUTEX_WAITV, error_answer(ENOSYS));
    call_filter_range(f, NR_FUTEX_WAKE, NR_FUTEX_REQUEUE, error_answer(ENOSYS));
}

/* Pid 0 is the caller; clock ids below 0 are other processes' CPU clocks. */
static void deny_others(struct call_filter *f, const struct jail_walls *walls)
{
    static const int of_a_process[] = {
        SYS_prlimit64,     SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_getscheduler,
        SYS_sched_getattr, SYS_getpgid,           SYS_getsid,         SYS_get_robust_list};
    static const int of_a_clock[] = {SYS_clock_gettime, SYS_clock_getres, SYS_clock_nanosleep,
                                     SYS_timer_create};
    for (size_t i = 0; i < sizeof of_a_process / sizeof *of_a_process; i++)
        only_if(f, of_a_process[i], 0, BPF_JEQ, 0, true);
    /* glibc calls this for its own threads, and does without it on ENOSYS. */
    call_filter_if(f, SYS_sched_getaffinity, 0, BPF_JEQ, 0, false, error_answer(ENOSYS));
    for (size_t i = 0; !walls->clocks && i < sizeof of_a_clock / sizeof *of_a_clock; i++)
        only_if(f, of_a_clock[i], 0, BPF_JGE, 1u << 31, false);
    only_if(f, SYS_prctl, 0, BPF_JEQ, PR_SET_DUMPABLE, false); /* would hide its open files */
    only_if(f, SYS_getpriority, 1, BPF_JEQ, 0, true);
    only_if(f, SYS_preadv2, 5, BPF_JSET, 8 /* RWF_NOWAIT: is it cached? */, false);
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++)
        only_if(f, SYS_fcntl, 1, BPF_JEQ, controls[i], false);
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++)
        only_if(f, SYS_ioctl, 1, BPF_JEQ, terminals[i], false);
}

static void deny_changing(struct call_filter *f)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        call_filter_range(f, changes[i], changes[i], error_answer(EPERM));
    call_filter_range(f, NR_OPENAT2, NR_OPENAT2,
                      error_answer(ENOSYS)); /* a filter cannot see its flags */
    only_if(f, SYS_openat, 2, BPF_JSET, O_TRUNC, false);
#if defined __x86_64__
    only_if(f, SYS_open, 1, BPF_JSET, O_TRUNC, false);
#endif
}

/* Open files count as memory of their process (harness/base/memory.c): so no thread may have its
 * own descriptor table, and no socket a larger buffer than the default. */
static void own_files(struct call_filter *f)
{
    call_filter_masked(f, SYS_clone, CLONE_THREAD | CLONE_FILES, CLONE_THREAD, error_answer(EPERM));
    only_if(f, NR_CLOSE_RANGE, 2, BPF_JSET, 2 /* CLOSE_RANGE_UNSHARE */, false);
    only_if(f, SYS_setsockopt, 2, BPF_JEQ, SO_SNDBUF, false);
}

static void fill_filter(struct call_filter *f, const struct jail_walls *walls)
{
    call_filter_start(f);
    call_filter_newer(f, error_answer(ENOSYS));
    for (size_t i = 0; i < sizeof refused_calls / sizeof *refused_calls; i++)
        call_filter_range(f, refused_calls[i], refused_calls[i], error_answer(EPERM));
    call_filter_range(f, NR_IO_URING_SETUP, NR_IO_URING_REGISTER, error_answer(ENOSYS));
    call_filter_range(f, NR_OPEN_TREE, NR_FSPICK, error_answer(EPERM));
    call_filter_range(f, NR_CLONE3, NR_CLONE3,
                      error_answer(ENOSYS)); /* a filter cannot see its flags */
    only_if(f, SYS_clone, 0, BPF_JSET, NAMESPACES, false);
    own_files(f);
    only_if(f, SYS_socketpair, 0, BPF_JEQ, UNIX_FAMILY, true);
    call_filter_range(f, NR_STATMOUNT, NR_LISTMOUNT, error_answer(ENOSYS));
    deny_others(f, walls);
    deny_wakings(f);
    if (walls->files) {
        call_filter_range(f, SYS_memfd_create, SYS_memfd_create, error_answer(EPERM));
        call_filter_range(f, SYS_socketpair, SYS_socketpair, error_answer(EPERM));
    }
    if (!walls->signals)
        own_signals(f);
    if (!walls->changes)
        deny_changing(f);
    call_filter_rest(f, SECCOMP_RET_ALLOW);
}

void jail_filter_self(const struct jail_policy *policy, const struct jail_walls *walls)
{
    struct call_filter f;
    fill_filter(&f, walls);
    if (!call_filter_apply(&f))
        jail_broken(policy, "the filter of system calls");
}

int jail_filter_file(const struct jail_policy *policy)
{
    struct call_filter f;
    fill_filter(&f, &(struct jail_walls){.signals = true, .changes = true});
    size_t bytes = f.length * sizeof *f.code;
    int fd = memfd_create("lab-filter", 0);
    if (f.length == CALL_FILTER_MAX || fd < 0 || write(fd, f.code, bytes) != (ssize_t)bytes ||
        lseek(fd, 0, SEEK_SET) != 0)
        jail_broken(policy, "the filter of system calls");
    return fd;
}
