/* SPDX-License-Identifier: MIT
 * process.c: starts a program that inherits nothing of ours, measures all descendants through
 * /proc, and ends them all.
 *
 * The verifier is a child subreaper: a process that a student's program starts stays a descendant
 * of the verifier, even if it detaches itself, and is found through its parents.
 */
#include "process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 32768

enum kin { UNKNOWN, OUTSIDE, OURS, SPARED };

struct process {
    pid_t pid, parent;
    char state;
    int threads;
    uint64_t ticks;
    enum kin kin;
    bool ours, spared; /* ours: a descendant; spared: of `spare`. Both only of a process that has
                          not ended */
};

/* ---- starting ---- */

void lab__close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, ~0u, 0) == 0)
        return;
#endif
    struct rlimit most;
    rlim_t last = getrlimit(RLIMIT_NOFILE, &most) == 0 ? most.rlim_max : 1 << 20;
    for (rlim_t fd = (rlim_t)first; fd < last && fd < 1 << 20; fd++)
        close((int)fd);
}

void lab__close_on_exec_from(int first)
{
#ifdef SYS_close_range
    const unsigned cloexec = 4; /* CLOSE_RANGE_CLOEXEC, Linux 5.11 */
    if (syscall(SYS_close_range, first, ~0u, cloexec) == 0)
        return;
#endif
    for (int fd = first; fd < 1024; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* fds[i] becomes descriptor i. All are first moved to high numbers: fds may hold small ones. */
static int place_descriptors(const int *fds, int count)
{
    int high[16];
    for (int i = 0; i < count; i++)
        if ((high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 64)) < 0)
            return -1;
    for (int i = 0; i < count; i++)
        if (dup2(high[i], i) < 0)
            return -1;
    return 0;
}

/* What execve would do later: a handler must not run in the child, whose memory is its parent's. */
static void drop_handlers(void)
{
    struct sigaction now;

    for (int number = 1; number < NSIG; number++)
        if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN &&
            now.sa_handler != SIG_DFL)
            signal(number, SIG_DFL);
}

static void run_child(char *const argv[], char *const envp[], const int *fds, int fd_count,
                      int error, pid_t parent)
{
    struct rlimit no_core = {0, 0};
    sigset_t none;
    int channel = fcntl(error, F_DUPFD_CLOEXEC, 64); /* above those that are assigned */
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before prctl took effect */
        _exit(127);
    setrlimit(RLIMIT_CORE, &no_core);
    drop_handlers();
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (place_descriptors(fds, fd_count) == 0) {
        lab__close_on_exec_from(fd_count);
        execve(argv[0], argv, envp);
    }
    int number = errno;
    if (write(channel, &number, sizeof number) < 0)
        number = 0;
    _exit(127);
}

/* By vfork, since copying a verifier's page tables takes longer than all that the child does. Until
 * the child is another program it has our memory, so no signal that comes meanwhile is handled
 * there. gdb cannot hold both processes of a vfork. */
static pid_t start_child(char *const argv[], char *const envp[], const int *fds, int fd_count,
                         int error)
{
    const pid_t self = getpid();
    const bool debugged = getenv("VGPU_DEBUGGER") != NULL;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t pid = debugged ? fork() : vfork();
    if (pid == 0)
        run_child(argv, envp, fds, fd_count, error, self);
    const int number = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    return pid;
}

/* Starts argv[0] in a new session with exactly these descriptors. Returns its pid, or -errno. */
pid_t lab__spawn(char *const argv[], char *const envp[], const int *fds, int fd_count)
{
    int channel[2], number = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (pipe2(channel, O_CLOEXEC) != 0)
        return -errno;
    pid_t pid = start_child(argv, envp, fds, fd_count, channel[1]);
    if (pid < 0)
        number = errno;
    close(channel[1]);
    if (pid > 0 && read(channel[0], &number, sizeof number) == sizeof number)
        waitpid(pid, NULL, 0);
    close(channel[0]);
    return number ? -number : pid;
}

int lab__pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* ---- memory files ---- */

int lab__memory_input(const void *data, size_t bytes)
{
    int fd = memfd_create("lab-input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    const char *from = data;
    if (fd < 0)
        return -1;
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write(fd, from + done, bytes - done);
        if (n <= 0)
            goto fail;
        done += (size_t)n;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
fail:
    close(fd);
    return -1;
}

int lab__memory_shared(size_t bytes, void **at)
{
    int fd = memfd_create("lab-output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    *at = NULL;
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        goto fail;
    if (bytes > 0) {
        *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (*at == MAP_FAILED)
            goto fail;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    if (*at)
        munmap(*at, bytes);
fail:
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- descendants, from the parents of all processes ---- */

static int read_proc_file(const char *path, char *text, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, room - 1);
    close(fd);
    if (n <= 0)
        return -1;
    text[n] = 0;
    return 0;
}

/* Reads the fields of a stat file that are needed. The name in parentheses may contain any
 * character. */
static int read_stat(const char *path, struct process *p)
{
    char text[1024];
    unsigned long user, system;
    long user_children, system_children;
    if (read_proc_file(path, text, sizeof text) != 0)
        return -1;
    const char *rest = strrchr(text, ')');
    if (!rest ||
        sscanf(rest + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld %*d %*d %d",
               &p->state, &p->parent, &user, &system, &user_children, &system_children,
               &p->threads) != 7)
        return -1;
    p->ticks = user + system + (uint64_t)user_children + (uint64_t)system_children;
    return 0;
}

/* A process whose first thread has ended looks like a zombie while its others run. */
static bool process_has_ended(const struct process *p)
{
    return (p->state == 'Z' && p->threads <= 1) || p->state == 'X';
}

static int by_number(const void *a, const void *b)
{
    pid_t left = ((const struct process *)a)->pid, right = ((const struct process *)b)->pid;
    return (left > right) - (left < right);
}

static int read_all(struct process *all)
{
    DIR *proc = opendir("/proc");
    int count = 0;
    if (!proc)
        return 0;
    for (struct dirent *e; count < PROCESSES_MAX && (e = readdir(proc));) {
        char path[300];
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        all[count] = (struct process){.pid = atoi(e->d_name)};
        count += read_stat(path, &all[count]) == 0;
    }
    closedir(proc);
    qsort(all, (size_t)count, sizeof *all, by_number);
    return count;
}

static struct process *by_pid(struct process *all, int count, pid_t pid)
{
    struct process key = {.pid = pid};
    return bsearch(&key, all, (size_t)count, sizeof *all, by_number);
}

/* Sets `kin` of all[first] and its ancestors, up to the first one whose `kin` is known. Iterative,
 * since a submission may chain all its processes into one line of descent. */
static void trace_line(struct process *all, int count, int first, pid_t spare)
{
    static struct process *line[PROCESSES_MAX];
    pid_t self = getpid();
    int length = 0;
    struct process *up = &all[first];
    for (; up && up->pid != self && up->kin == UNKNOWN && length < count;
         up = by_pid(all, count, up->parent))
        line[length++] = up;
    enum kin kin = !up ? OUTSIDE : up->pid == self ? OURS : up->kin;
    while (length-- > 0) {
        if (kin == OURS && line[length]->pid == spare)
            kin = SPARED;
        line[length]->kin = kin == UNKNOWN ? OUTSIDE : kin;
    }
}

/* Marks the descendants of this process, and among them those of `spare`. */
static int mark_tree(struct process *all, int count, pid_t spare)
{
    int ours = 0;
    for (int i = 0; i < count; i++) {
        trace_line(all, count, i, spare);
        bool below = all[i].kin == OURS || all[i].kin == SPARED;
        all[i].ours = below && all[i].pid != getpid() && !process_has_ended(&all[i]);
        all[i].spared = all[i].kin == SPARED;
        ours += all[i].ours && !all[i].spared;
    }
    return ours;
}

/* ---- descendants, from the kernel's lists of children ---- */

/* Appends the children that one thread has started. False: the kernel has no such list, or the
 * thread has ended. */
static bool add_children(struct process *all, int *count, const char *thread, bool spared)
{
    char path[400];
    pid_t pid;
    snprintf(path, sizeof path, "%s/children", thread);
    FILE *list = fopen(path, "re");
    if (!list)
        return false;
    while (*count < PROCESSES_MAX && fscanf(list, "%d", &pid) == 1)
        all[(*count)++] = (struct process){.pid = pid, .spared = spared};
    fclose(list);
    return true;
}

static void add_children_of_all(struct process *all, int *count, pid_t pid, bool spared)
{
    char folder[64], path[330];
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(folder);
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (isdigit((unsigned char)e->d_name[0]))
            add_children(all, count, path, spared);
    }
    if (tasks)
        closedir(tasks);
}

/* Lists all descendants of this thread, and marks those of `spare`. The cost does not depend on
 * other processes of the machine. A process whose parent ends meanwhile may be missed this time.
 * -1: the kernel has no lists of children. */
static int mark_descendants(struct process *all, pid_t spare)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d", (int)getpid());
    if (!add_children(all, &count, path, false))
        return -1;
    for (int i = 0; i < count; i++) {
        struct process *p = &all[i];
        const bool spared = p->spared || p->pid == spare;
        snprintf(path, sizeof path, "/proc/%d/stat", (int)p->pid);
        p->ours = read_stat(path, p) == 0 && !process_has_ended(p);
        p->spared = spared;
        if (p->ours)
            add_children_of_all(all, &count, p->pid, spared);
    }
    return count;
}

/* All descendants, with `ours` and `spared` set; may also list processes with neither set. */
static int read_family(struct process *all, pid_t spare)
{
    int count = mark_descendants(all, spare);
    if (count < 0) {
        count = read_all(all);
        mark_tree(all, count, spare);
    }
    return count;
}

/* ---- what the processes do ---- */

/* The system call in which a thread waits; -1: none, or the kernel does not report it. */
static long call_of(const char *task_path)
{
    char path[340], text[128];
    snprintf(path, sizeof path, "%s/syscall", task_path);
    if (read_proc_file(path, text, sizeof text) != 0 || !isdigit((unsigned char)text[0]))
        return -1;
    return strtol(text, NULL, 10);
}

static bool is_nanosleep(long call)
{
#ifdef SYS_nanosleep
    if (call == SYS_nanosleep)
        return true;
#endif
    return call == SYS_clock_nanosleep;
}

/* A parent in vfork is shown in uninterruptible sleep (D) as long as the child lives. */
static bool is_vfork(long call)
{
#ifdef SYS_vfork
    if (call == SYS_vfork)
        return true;
#endif
    return call == SYS_clone || call == 435 /* clone3 */;
}

/* Updates `usage` by a process's threads. Returns the id of a thread that has not ended, whose
 * /proc entry shows the process's memory and files (a first thread that has ended shows neither).
 * 0: none. */
static pid_t look_at_threads(pid_t pid, struct lab_usage *usage)
{
    char folder[64];
    pid_t alive = 0;
    snprintf(folder, sizeof folder, "/proc/%d/task", pid);
    DIR *tasks = opendir(folder);
    if (!tasks)
        return 0;
    for (struct dirent *e; (e = readdir(tasks));) {
        char path[330];
        struct process thread;
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof path, "%s/%s/stat", folder, e->d_name);
        if (read_stat(path, &thread) != 0 || thread.state == 'Z' || thread.state == 'X')
            continue;
        alive = alive ? alive : atoi(e->d_name);
        *strrchr(path, '/') = 0;
        usage->running |= thread.state == 'R' || (thread.state == 'D' && !is_vfork(call_of(path)));
        usage->sleeping |= thread.state == 't'; /* a debugger has stopped it */
        if (thread.state == 'S' && !usage->sleeping)
            usage->sleeping = is_nanosleep(call_of(path));
    }
    closedir(tasks);
    return alive;
}

void lab__usage(pid_t node, uint64_t memory_limit, struct lab_usage *usage)
{
    static struct process all[PROCESSES_MAX];
    static pid_t runners[PROCESSES_MAX], contexts[PROCESSES_MAX];
    int count = read_family(all, node), context_count = 0, runner_count = 0;
    const bool jailed = getenv("VGPU_NODE_JAIL") != NULL; /* its child is no context */
    memset(usage, 0, sizeof *usage);
    for (int i = 0; i < count; i++) {
        if (!all[i].ours)
            continue;
        pid_t thread = look_at_threads(all[i].pid, usage);
        if (all[i].pid == node)
            usage->node_ticks = all[i].ticks;
        if (all[i].pid == node || (jailed && all[i].parent == node))
            continue; /* the node, or its spawner (node/system/spawner.c), runs to answer us: no
                         progress */
        usage->cpu_ticks += all[i].ticks;
        if (thread && all[i].spared)
            contexts[context_count++] = thread;
        else if (thread)
            runners[runner_count++] = thread;
    }
    const struct lab_family family = {runners, runner_count, contexts, context_count, node};
    if (memory_limit)
        usage->memory_bytes = lab__memory(&family, memory_limit);
    usage->cpu_seconds = (double)usage->cpu_ticks / (double)sysconf(_SC_CLK_TCK);
}

/* Whether `spare` (or none) is this thread's only child, after ended ones were reaped: then there
 * are no other descendants, because orphans become children. False if the kernel has no list of
 * children. */
static bool has_only_spare(pid_t spare)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n < 0)
        return false;
    text[n] = 0;
    char *rest = text;
    long first = strtol(text, &rest, 10);
    return n == 0 || (first == spare && strspn(rest, " ") == strlen(rest));
}

/* Waits a moment, until one of those that were killed has ended. */
static void await_killed(const struct process *all, int count, int round)
{
    for (int i = 0; i < count; i++) {
        struct pollfd end = {.fd = all[i].ours && !all[i].spared ? lab__pidfd(all[i].pid) : -1,
                             .events = POLLIN};
        if (end.fd < 0)
            continue;
        poll(&end, 1, 5);
        close(end.fd);
        return;
    }
    usleep(round < 4 ? 200 : round < 20 ? 500 : 5000);
}

/* The kernel's lists of children cost little, however many processes the machine has, but a process
 * may be missed whose parent ends meanwhile. So every fourth round looks at all processes. Returns
 * whether some may be left, after it has waited for one of them. */
static bool kill_descendants(int round, pid_t spare)
{
    static struct process all[PROCESSES_MAX];
    int count = round % 4 == 3 ? -1 : mark_descendants(all, spare), left = 1;
    if (count < 0) {
        count = read_all(all);
        left = mark_tree(all, count, spare);
    }
    for (int i = 0; i < count; i++)
        if (all[i].ours && !all[i].spared)
            kill(all[i].pid, SIGKILL);
    if (left > 0)
        await_killed(all, count, round);
    return left > 0;
}

void lab__kill_all(pid_t spare)
{
    for (int round = 0; round < 2000; round++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (has_only_spare(spare) || !kill_descendants(round, spare))
            return;
    }
}

double lab__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
