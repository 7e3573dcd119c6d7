/* SPDX-License-Identifier: MIT
 * probe.c: lab-probe, the attacks that ./lab doctor makes on a sandbox.
 *
 *     lab-probe ATTACK [ARGUMENT]      exit status 0: it succeeded, 1: it was blocked
 *
 * Each attack is harmless where it succeeds, and succeeds without a sandbox: `./lab doctor` also
 * runs it there, since an attack that cannot succeed proves nothing.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THROUGH = 0, HELD = 1, USAGE = 2 };

static int what_got_through(int got)
{
    return got ? THROUGH : HELD;
}

static int try_read_file(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return what_got_through(fd >= 0 && read(fd, &byte, 1) == 1);
}

static int list_folder(const char *path)
{
    return what_got_through(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0);
}

static int try_write_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return what_got_through(fd >= 0 && write(fd, "x", 1) == 1);
}

static int try_environment(const char *pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    return try_read_file(path);
}

/* Signal 0 only tests whether a signal would be delivered. */
static int signal_to(const char *pid)
{
    return what_got_through(kill(atoi(pid), 0) == 0);
}

static int try_debug(const char *pid)
{
    pid_t victim = atoi(pid);
    if (ptrace(PTRACE_ATTACH, victim, 0, 0) != 0)
        return HELD;
    waitpid(victim, NULL, __WALL);
    ptrace(PTRACE_DETACH, victim, 0, 0);
    return THROUGH;
}

static int call_port(const char *port, int kind)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, kind, 0);
    return what_got_through(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
                            send(fd, "x", 1, MSG_NOSIGNAL) == 1);
}

static int try_tcp(const char *port)
{
    return call_port(port, SOCK_STREAM);
}

static int try_udp(const char *port)
{
    return call_port(port, SOCK_DGRAM);
}

static int try_service(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return what_got_through(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
}

static int try_namespace(const char *unused)
{
    (void)unused;
    return what_got_through(unshare(CLONE_NEWUSER) == 0);
}

static int try_keyring(const char *unused)
{
    (void)unused;
    return what_got_through(
        syscall(SYS_add_key, "user", "peerlab-probe", "x", 1, -1 /* this thread's */) >= 0);
}

/* Starts more concurrent processes than a submission may have. */
static int try_processes(const char *count)
{
    int wanted = atoi(count), got = 0;
    for (; got < wanted; got++) {
        pid_t pid = fork();
        if (pid < 0)
            break;
        if (pid == 0) {
            pause();
            _exit(0);
        }
    }
    signal(SIGTERM, SIG_IGN);
    kill(0, SIGTERM);
    return what_got_through(got == wanted);
}

/* Touches every page of more memory than a submission may have, for a second; in a child process,
 * which may be killed for it. */
static int try_memory(const char *mib, int kind)
{
    size_t bytes = (size_t)atol(mib) << 20, page = 4096;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; at != MAP_FAILED && i < bytes; i += page)
            at[i] = 1;
        sleep(1);
        _exit(at == MAP_FAILED);
    }
    return what_got_through(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
                            WEXITSTATUS(status) == 0);
}

static bool send_file(int socket, int fd)
{
    char byte = 0;
    struct iovec data = {&byte, 1};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } rights = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = rights.room,
                             .msg_controllen = sizeof rights.room};
    memcpy(CMSG_DATA(&rights.head), &fd, sizeof fd);
    return sendmsg(socket, &message, 0) == 1;
}

static int own_memory(const char *mib)
{
    return try_memory(mib, MAP_PRIVATE);
}

static int shared_memory(const char *mib)
{
    return try_memory(mib, MAP_SHARED);
}

/* Memory files that are open, or in transit through a socket pair and open nowhere. */
static int memory_files(const char *mib, bool flying)
{
    static char piece[1 << 20];
    int got = 0, pair[2] = {-1, -1};
    signal(SIGXFSZ, SIG_IGN);
    if (flying && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0)
        return HELD;
    for (int wanted = atoi(mib); got < wanted;) {
        int fd = memfd_create("lab-probe", MFD_CLOEXEC), before = got;
        while (fd >= 0 && got < wanted && write(fd, piece, sizeof piece) == (ssize_t)sizeof piece)
            got++;
        if (got == before)
            return HELD;
        if (flying && !send_file(pair[0], fd))
            return HELD;
        if (flying)
            close(fd);
    }
    sleep(1);
    return THROUGH;
}

static int open_files(const char *mib)
{
    return memory_files(mib, false);
}

static int flying_files(const char *mib)
{
    return memory_files(mib, true);
}

enum { CHAIN_LINKS = 120, CHAIN_LAST = 10 };

/* Each process is the child of the one before; the last ones, deep in the tree, take all the
 * memory. */
static int chain_link(int left, size_t bytes)
{
    int status = 0;
    pid_t next = left > 0 ? fork() : 0;
    if (left > 0 && next == 0)
        _exit(chain_link(left - 1, bytes));
    if (next < 0)
        return HELD;
    if (left < CHAIN_LAST) {
        void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return HELD;
        memset(at, 1, bytes);
    }
    if (left > 0)
        return what_got_through(waitpid(next, &status, 0) == next && status == 0);
    sleep(2);
    return THROUGH;
}

static int try_chain(const char *mib)
{
    return chain_link(CHAIN_LINKS, ((size_t)atol(mib) << 20) / CHAIN_LAST);
}

/* One page of page tables per two MiB of addresses, without present pages. */
static int page_tables(const char *mib)
{
    size_t stride = 2 << 20, count = ((size_t)atol(mib) << 20) / 4096;
    volatile char *at =
        mmap(NULL, stride * count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return HELD;
    madvise((void *)at, stride * count, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < count; i++)
        (void)at[i * stride];
    sleep(1);
    return THROUGH;
}

/* ---- covert channels to another submission ---- */

static int try_lock(const char *path)
{
    return what_got_through(flock(open(path, O_RDONLY | O_CLOEXEC), LOCK_EX | LOCK_NB) == 0);
}

static int try_watch(const char *path)
{
    return what_got_through(inotify_add_watch(inotify_init1(IN_CLOEXEC), path, IN_OPEN) >= 0);
}

static int try_wake(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    return what_got_through(at != MAP_FAILED && syscall(SYS_futex, at, 1 /* FUTEX_WAKE */, 1) >= 0);
}

static int try_numbers(const char *path)
{
    struct sysinfo info;
    return what_got_through(sysinfo(&info) == 0 || try_read_file(path) == THROUGH);
}

static int try_ask(const char *pid)
{
    struct timespec used;
    clockid_t clock = (clockid_t)((~(unsigned)atoi(pid) << 3) | 2);
    return what_got_through(getpgid(atoi(pid)) > 0 || clock_gettime(clock, &used) == 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*attack)(const char *argument);
    } attacks[] = {
        {"read", try_read_file},    {"list", list_folder},
        {"write", try_write_file},  {"environ", try_environment},
        {"signal", signal_to},      {"debug", try_debug},
        {"tcp", try_tcp},           {"udp", try_udp},
        {"service", try_service},   {"namespace", try_namespace},
        {"keyring", try_keyring},   {"processes", try_processes},
        {"memory", own_memory},     {"shared-memory", shared_memory},
        {"open-files", open_files}, {"flying-files", flying_files},
        {"chain", try_chain},       {"page-tables", page_tables},
        {"lock", try_lock},         {"watch", try_watch},
        {"wake", try_wake},         {"numbers", try_numbers},
        {"ask", try_ask},
    };
    for (size_t i = 0; argc == 3 && i < sizeof attacks / sizeof *attacks; i++)
        if (strcmp(argv[1], attacks[i].name) == 0)
            return attacks[i].attack(argv[2]);
    fprintf(stderr,
            "usage: lab-probe ATTACK ARGUMENT   (./lab doctor attacks a sandbox with it)\n");
    return USAGE;
}
