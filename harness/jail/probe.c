/* SPDX-License-Identifier: MIT
 * probe.c: lab-probe, what ./lab doctor attacks a sandbox with.
 *
 *     lab-probe ATTACK [ARGUMENT]      exit status 0: it got through, 1: it was held
 *
 * Each attack is harmless where it gets through, and gets through without a sandbox: `./lab doctor`
 * runs it there as well, so that an attack which cannot succeed proves nothing.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THROUGH = 0, HELD = 1, USAGE = 2 };

static int through(int got)
{
    return got ? THROUGH : HELD;
}

static int read_file(const char *path)
{
    char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return through(fd >= 0 && read(fd, &byte, 1) == 1);
}

static int list_folder(const char *path)
{
    return through(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0);
}

static int write_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return through(fd >= 0 && write(fd, "x", 1) == 1);
}

static int environment(const char *pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    return read_file(path);
}

/* Signal 0 asks whether a signal would arrive. */
static int signal_to(const char *pid)
{
    return through(kill(atoi(pid), 0) == 0);
}

static int debug(const char *pid)
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
    return through(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
                   send(fd, "x", 1, MSG_NOSIGNAL) == 1);
}

static int tcp(const char *port)
{
    return call_port(port, SOCK_STREAM);
}

static int udp(const char *port)
{
    return call_port(port, SOCK_DGRAM);
}

static int service(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return through(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
}

static int namespace(const char *unused)
{
    (void)unused;
    return through(unshare(CLONE_NEWUSER) == 0);
}

static int keyring(const char *unused)
{
    (void)unused;
    return through(syscall(SYS_add_key, "user", "peerlab-probe", "x", 1, -1 /* this thread's */) >=
                   0);
}

/* More processes at a time than a submission may have. */
static int processes(const char *count)
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
    return through(got == wanted);
}

/* As much memory as no submission may have, every page of it, for a second; a child takes it, since
 * it may be ended. */
static int memory(const char *mib, int kind)
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
    return through(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
                   WEXITSTATUS(status) == 0);
}

static int own_memory(const char *mib)
{
    return memory(mib, MAP_PRIVATE);
}

static int shared_memory(const char *mib)
{
    return memory(mib, MAP_SHARED);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*attack)(const char *argument);
    } attacks[] = {
        {"read", read_file},    {"list", list_folder},
        {"write", write_file},  {"environ", environment},
        {"signal", signal_to},  {"debug", debug},
        {"tcp", tcp},           {"udp", udp},
        {"service", service},   {"namespace", namespace},
        {"keyring", keyring},   {"processes", processes},
        {"memory", own_memory}, {"shared-memory", shared_memory},
    };
    for (size_t i = 0; argc == 3 && i < sizeof attacks / sizeof *attacks; i++)
        if (strcmp(argv[1], attacks[i].name) == 0)
            return attacks[i].attack(argv[2]);
    fprintf(stderr,
            "usage: lab-probe ATTACK ARGUMENT   (./lab doctor attacks a sandbox with it)\n");
    return USAGE;
}
