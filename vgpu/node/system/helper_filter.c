/* SPDX-License-Identifier: MIT
 * helper_filter.c: see helper_filter.h.
 *
 * The filter is a list of refused calls, which fail with EPERM. It cannot be a list of permitted
 * calls like the node's own (jail.c): filters are inherited, and a process that the helper starts
 * must first make a sandbox of its own (lab-jail: files, mounts, limits, another user) and then run
 * as vgpu-exec. So the list contains calls that neither of them nor the helper needs: inspecting
 * other processes, sockets other than pairs, channels that outlive a process, kernel modules,
 * clocks, and descriptors of other processes.
 */
#include "helper_filter.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "call_filter.h"

/* System call numbers, which are the same on all architectures; the headers may be older than the
 * kernel. */
enum { NR_PIDFD_SEND_SIGNAL = 424, NR_IO_URING_SETUP, NR_IO_URING_ENTER, NR_IO_URING_REGISTER };
enum { NR_PIDFD_GETFD = 438, NR_PROCESS_MADVISE = 440 };

static const int helper_refused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    NR_PROCESS_MADVISE,
    NR_PIDFD_GETFD,
    NR_PIDFD_SEND_SIGNAL,
    SYS_kcmp,
    SYS_socket,
    SYS_connect,
    SYS_bind,
    SYS_listen,
    SYS_accept,
    SYS_accept4,
    NR_IO_URING_SETUP,
    NR_IO_URING_ENTER,
    NR_IO_URING_REGISTER,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_msgget,
    SYS_msgsnd,
    SYS_msgrcv,
    SYS_semget,
    SYS_semop,
    SYS_semtimedop,
    SYS_shmget,
    SYS_shmat,
    SYS_mq_open,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_setns,
    SYS_pivot_root,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
    SYS_kexec_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_syslog,
    SYS_quotactl,
};

bool helper_filter_close(void)
{
    static struct call_filter filter;

    call_filter_start(&filter);
    call_filter_newer(&filter, SECCOMP_RET_ERRNO | ENOSYS);
    for (size_t i = 0; i < sizeof helper_refused / sizeof *helper_refused; i++)
        call_filter_range(&filter, helper_refused[i], helper_refused[i], SECCOMP_RET_ERRNO | EPERM);
    call_filter_rest(&filter, SECCOMP_RET_ALLOW);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && call_filter_apply(&filter);
}
