/* SPDX-License-Identifier: MIT
 * test_jail.c: what a node that was taken over could do. This program enters the very jail of
 * vgpu-node (node/system/jail.c) and tries one thing after the other; each must be refused. Limits
 * and the death of the process that started the node are tried in children.
 *
 *     test_node_jail
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jail.h"

enum { DESCRIPTORS = 64, DATA_BYTES = 64 << 20, FAILED = 1, HELD = 0 };

static int failures;
static char mine[] = "/tmp/vgpu-jail-XXXXXX"; /* a file of ours, as a verdict would be */

/* `got` is what the attempt answered: -1 with EPERM or EACCES means refused. */
static void refused(const char *what, long got)
{
    bool held = got == -1 && (errno == EPERM || errno == EACCES || errno == ENOSYS);
    if (held)
        return;
    failures++;
    fprintf(stderr, "not refused: %s (%ld, %s)\n", what, got, got == -1 ? strerror(errno) : "done");
}

static void try_files(void)
{
    struct stat info;
    static char line[8];
    refused("reading a file", open("/etc/passwd", O_RDONLY));
    refused("reading a file by openat", openat(AT_FDCWD, mine, O_RDONLY));
    refused("writing a file", open(mine, O_WRONLY));
    refused("making a file", open("/tmp/vgpu-verdict", O_CREAT | O_WRONLY, 0600));
    refused("asking for a file", syscall(SYS_newfstatat, AT_FDCWD, mine, &info, 0));
    refused("asking for access", access(mine, R_OK));
    refused("reading a link", readlink("/proc/self/exe", line, sizeof line));
    refused("listing", open("/tmp", O_DIRECTORY));
    refused("removing", unlink(mine));
    refused("renaming", rename(mine, "/tmp/vgpu-other"));
    refused("changing its mode", chmod(mine, 0777));
    refused("going elsewhere", chdir("/"));
    refused("cutting it", truncate(mine, 0));
    refused("another's memory as a file", open("/proc/1/mem", O_RDWR));
}

static void try_network(void)
{
    int pair[2];
    refused("a socket of the network", socket(AF_INET, SOCK_STREAM, 0));
    refused("a local socket", socket(AF_UNIX, SOCK_STREAM, 0));
    refused("a netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
    refused("a pair that can send by name", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
    refused("io_uring", syscall(425, 1, NULL));
}

static void try_processes(pid_t parent)
{
    char byte = 0, *const words[] = {"/bin/true", NULL};
    struct iovec here = {&byte, 1}, there = {(void *)&failures, 1};
    refused("a process", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    refused("a program", execve("/bin/true", words, NULL));
    refused("a signal", kill(parent, 0));
    refused("a signal to all", kill(-1, 0));
    refused("a thread's signal", syscall(SYS_tgkill, parent, parent, 0));
    refused("tracing", ptrace(PTRACE_ATTACH, parent, NULL, NULL));
    refused("reading another's memory", process_vm_readv(parent, &here, 1, &there, 1, 0));
    refused("writing another's memory", process_vm_writev(parent, &here, 1, &there, 1, 0));
    refused("a descriptor for a process", syscall(434, parent, 0));
    refused("its limits", syscall(SYS_prlimit64, 0, RLIMIT_CPU, NULL, NULL));
    refused("another user", setuid(0));
    refused("to outlive its parent", prctl(PR_SET_PDEATHSIG, 0));
    refused("a name for its signals", fcntl(0, F_SETOWN, parent));
    refused("namespaces", unshare(CLONE_NEWUSER));
}

static void try_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    refused("pages of code", code == MAP_FAILED ? -1 : 1);
    refused("turning data into code", mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static void try_limits(void)
{
    int opened = 0;
    while (opened < 10 * DESCRIPTORS && dup(0) >= 0)
        opened++;
    if (opened >= DESCRIPTORS) {
        failures++;
        fprintf(stderr, "%d descriptors, and %d are the limit\n", opened, DESCRIPTORS);
    }
    void *much =
        mmap(NULL, 2ul * DATA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (much != MAP_FAILED) {
        failures++;
        fprintf(stderr, "twice the memory that is the limit\n");
    }
}

static void enter(const char *cpu_seconds)
{
    char rules[200], error[300];
    snprintf(rules, sizeof rules, "cpu-seconds %s\ndata-bytes %d\ndescriptors %d%s", cpu_seconds,
             DATA_BYTES, DESCRIPTORS, geteuid() == 0 ? "\nuid 19999" : "");
    setenv("VGPU_NODE_JAIL", rules, 1);
    if (jail_wanted() && jail_prepare(error, sizeof error) && jail_close(error, sizeof error))
        return;
    fprintf(stderr, "%s\n", error);
    exit(2);
}

/* In a child, so that who started it can look on. */
static int in_child(void (*what)(pid_t parent))
{
    pid_t parent = getpid(), child = fork();
    int status = 0;
    if (child == 0)
        what(parent);
    waitpid(child, &status, 0);
    return status;
}

static void try_all(pid_t parent)
{
    enter("60");
    try_files();
    try_network();
    try_processes(parent);
    try_code();
    try_limits();
    syscall(SYS_exit_group, failures ? FAILED : HELD);
}

static void spin(pid_t parent)
{
    (void)parent;
    enter("1");
    for (volatile unsigned i = 0; i == 0;)
        ;
}

/* Its own parent starts it and ends: it must not be there any more. */
static void leave_behind(pid_t parent)
{
    int pipes[2];
    char byte;
    (void)parent;
    if (pipe(pipes) != 0)
        exit(2);
    if (fork() == 0) {
        if (fork() == 0) {
            enter("60");
            for (;;)
                nanosleep(&(struct timespec){1, 0}, NULL);
        }
        close(pipes[1]);
        usleep(300000);
        _exit(0);
    }
    close(pipes[1]);
    signal(SIGALRM, SIG_DFL);
    alarm(10);
    _exit(read(pipes[0], &byte, 1) == 0 ? HELD : FAILED); /* closed: all who had it are gone */
}

int main(void)
{
    int made = mkstemp(mine);
    if (made < 0)
        return 2;
    int all = in_child(try_all), spun = in_child(spin), left = in_child(leave_behind);
    unlink(mine);
    printf("things tried: %s\n", all == 0 ? "each was refused" : "see above");
    printf("processor time: %s\n", WIFSIGNALED(spun) ? "it was ended" : "it went on");
    printf("whoever started it ends: %s\n", left == 0 ? "it ends, too" : "it goes on");
    return all == 0 && WIFSIGNALED(spun) && left == 0 ? 0 : 1;
}
