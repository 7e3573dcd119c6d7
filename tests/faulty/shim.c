/* SPDX-License-Identifier: MIT
 * shim.c: a library for LD_PRELOAD that makes one system call or allocation of one program fail.
 *
 *     FAULTY_WHO=vgpu-node   the program, by its file's name; its forks count on
 *     FAULTY_KIND=memory     what fails: see below
 *     FAULTY_AT=17           the 17th fails; 0: none, each is noted
 *     FAULTY_ON=1            and all that follow (no descriptor is left)
 *     FAULTY_LOG=PATH        gets a line for each: its number, and where the call stands; a file of
 *                            LOG_BYTES, whose first 8 say how many are taken
 *
 * Kinds: memory (malloc and its like), descriptor (whatever makes one, or receives it), map (mmap,
 * mprotect, ftruncate), process (what makes processes and threads, or reaches one: fork,
 * posix_spawn, execve, pthread_create, connect), interrupt (EINTR from what may be interrupted) and
 * short (one byte of a read or write that may come short).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum kind { NONE, MEMORY, DESCRIPTOR, MAP, PROCESS, INTERRUPT, SHORT, KINDS };

static const char *const names[KINDS] = {"",        "memory",    "descriptor", "map",
                                         "process", "interrupt", "short"};
static enum kind wanted; /* NONE: another program, or nothing asked for */
static long at;
static bool onward;
static atomic_long counted;

/* Shared memory: programs close what they inherit, and a jail may forbid to open more. */
enum { LOG_BYTES = 64 << 20 };
static struct log {
    _Atomic uint64_t taken;
    char text[LOG_BYTES - 8];
} * entries;

static void map_log(const char *path)
{
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *log = (void *)syscall(SYS_mmap, NULL, (size_t)LOG_BYTES, PROT_READ | PROT_WRITE,
                                MAP_SHARED, fd, 0); /* NOLINT */
    if (log != MAP_FAILED)
        entries = log;
    syscall(SYS_close, fd);
}

/* No allocation, no descriptor that a program could meet or close by number: it closes up to 1023.
 */
__attribute__((constructor)) static void start(void)
{
    const char *who = getenv("FAULTY_WHO"), *kind = getenv("FAULTY_KIND"),
               *number = getenv("FAULTY_AT"), *path = getenv("FAULTY_LOG");
    if (!who || !kind || !number || strcmp(who, program_invocation_short_name) != 0)
        return;
    if (path)
        map_log(path);
    at = atol(number);
    onward = getenv("FAULTY_ON") != NULL;
    for (int k = 1; k < KINDS; k++)
        if (strcmp(kind, names[k]) == 0)
            wanted = (enum kind)k;
}

static void note(long number, const void *caller)
{
    char line[300];
    Dl_info info = {0};
    const char *file = dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "?";
    const char *name = strrchr(file, '/');
    size_t offset = (size_t)((const char *)caller - (const char *)info.dli_fbase);
    int bytes =
        snprintf(line, sizeof line, "%ld %s+%#zx\n", number, name ? name + 1 : file, offset);
    uint64_t first = entries ? atomic_fetch_add(&entries->taken, (uint64_t)bytes) : 0;
    if (entries && first + (uint64_t)bytes <= sizeof entries->text)
        memcpy(entries->text + first, line, (size_t)bytes);
}

/* Really none left, so that a program which closes one gets it again. */
static void take_descriptors_away(void)
{
    struct rlimit limit;
    int next = (int)syscall(SYS_fcntl, 0, F_DUPFD, 0);
    if (next < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    syscall(SYS_close, next);
    limit.rlim_cur = (rlim_t)next;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Does this call, which stands at `caller`, fail? */
static bool fails(enum kind kind, const void *caller)
{
    if (kind != wanted)
        return false;
    long number = atomic_fetch_add(&counted, 1) + 1;
    bool now = at > 0 && (number == at || (onward && number > at));
    if (at == 0 || number == at)
        note(number, caller);
    if (onward && kind == DESCRIPTOR) {
        if (number == at)
            take_descriptors_away();
        return false; /* the system says so */
    }
    return now;
}

#define HERE __builtin_return_address(0)
#define FAIL_AS(kind, code, value)                                                                 \
    do {                                                                                           \
        if (fails(kind, HERE)) {                                                                   \
            errno = code;                                                                          \
            return value;                                                                          \
        }                                                                                          \
    } while (0)
#define REAL(name)                                                                                 \
    static __typeof__(&name) real;                                                                 \
    if (!real)                                                                                     \
    real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* ---- memory ---- */

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t bytes)
{
    FAIL_AS(MEMORY, ENOMEM, NULL);
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    FAIL_AS(MEMORY, ENOMEM, NULL);
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    FAIL_AS(MEMORY, ENOMEM, NULL);
    return __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    FAIL_AS(MEMORY, ENOMEM, NULL);
    return __libc_memalign(alignment, bytes);
}

char *strdup(const char *text)
{
    FAIL_AS(MEMORY, ENOMEM, NULL);
    size_t bytes = strlen(text) + 1;
    char *copy = __libc_malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

int asprintf(char **text, const char *format, ...)
{
    FAIL_AS(MEMORY, ENOMEM, -1);
    va_list list;
    va_start(list, format);
    int bytes = vasprintf(text, format, list);
    va_end(list);
    return bytes;
}

ssize_t getdelim(char **line, size_t *room, int end, FILE *file)
{
    FAIL_AS(MEMORY, ENOMEM, -1);
    REAL(getdelim);
    return real(line, room, end, file);
}

FILE *open_memstream(char **text, size_t *bytes)
{
    FAIL_AS(MEMORY, ENOMEM, NULL);
    REAL(open_memstream);
    return real(text, bytes);
}

/* ---- descriptors ---- */

static int opened(int folder, const char *path, int flags, va_list list)
{
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    va_list list;
    va_start(list, flags);
    int fd = opened(AT_FDCWD, path, flags, list);
    va_end(list);
    return fd;
}

int openat(int folder, const char *path, int flags, ...)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    va_list list;
    va_start(list, flags);
    int fd = opened(folder, path, flags, list);
    va_end(list);
    return fd;
}

FILE *fopen(const char *path, const char *mode)
{
    FAIL_AS(DESCRIPTOR, EMFILE, NULL);
    REAL(fopen);
    return real(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
    FAIL_AS(MEMORY, ENOMEM, NULL);
    REAL(fdopen);
    return real(fd, mode);
}

DIR *opendir(const char *path)
{
    FAIL_AS(DESCRIPTOR, EMFILE, NULL);
    REAL(opendir);
    return real(path);
}

int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
            int (*order)(const struct dirent **, const struct dirent **))
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    REAL(scandir);
    return real(path, list, filter, order);
}

/* Where files of more than 2 GiB are asked for: the same on 64 bits. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int folder, const char *path, int flags, ...) __attribute__((alias("openat")));
FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));

int socket(int family, int type, int protocol)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    return (int)syscall(SYS_socket, family, type, protocol);
}

int socketpair(int family, int type, int protocol, int pair[2])
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    return (int)syscall(SYS_socketpair, family, type, protocol, pair);
}

int memfd_create(const char *name, unsigned flags)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    return (int)syscall(SYS_memfd_create, name, flags);
}

int pipe2(int ends[2], int flags)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    return (int)syscall(SYS_pipe2, ends, flags);
}

int pipe(int ends[2])
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    return (int)syscall(SYS_pipe2, ends, 0);
}

int dup(int fd)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    return (int)syscall(SYS_dup, fd);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    FAIL_AS(INTERRUPT, EINTR, -1);
    return (int)syscall(SYS_accept4, fd, address, length, flags);
}

int epoll_create1(int flags)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    return (int)syscall(SYS_epoll_create1, flags);
}

int eventfd(unsigned count, int flags)
{
    FAIL_AS(DESCRIPTOR, EMFILE, -1);
    return (int)syscall(SYS_eventfd2, count, flags);
}

int fcntl(int fd, int command, ...)
{
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        FAIL_AS(DESCRIPTOR, EMFILE, -1);
    va_list list;
    va_start(list, command);
    long argument = va_arg(list, long);
    va_end(list);
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* ---- address space ---- */

void *mmap(void *where, size_t bytes, int access, int flags, int fd, off_t offset)
{
    FAIL_AS(MAP, ENOMEM, MAP_FAILED);
    return (void *)syscall(SYS_mmap, where, bytes, access, flags, fd, offset); /* NOLINT */
}

int mprotect(void *where, size_t bytes, int access)
{
    FAIL_AS(MAP, ENOMEM, -1);
    return (int)syscall(SYS_mprotect, where, bytes, access);
}

int ftruncate(int fd, off_t bytes)
{
    FAIL_AS(MAP, ENOSPC, -1);
    return (int)syscall(SYS_ftruncate, fd, bytes);
}

void *mremap(void *old, size_t bytes, size_t more, int flags, ...)
{
    FAIL_AS(MAP, ENOMEM, MAP_FAILED);
    va_list list;
    va_start(list, flags);
    void *where = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
    va_end(list);
    return (void *)syscall(SYS_mremap, old, bytes, more, flags, where); /* NOLINT */
}

int fallocate(int fd, int how, off_t from, off_t bytes)
{
    FAIL_AS(MAP, ENOSPC, -1);
    return (int)syscall(SYS_fallocate, fd, how, from, bytes);
}

/* ---- processes and threads ---- */

pid_t fork(void)
{
    FAIL_AS(PROCESS, EAGAIN, -1);
    REAL(fork);
    return real();
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const words[], char *const environment[])
{
    if (fails(PROCESS, HERE))
        return EAGAIN;
    REAL(posix_spawn);
    return real(pid, path, actions, attributes, words, environment);
}

int execve(const char *path, char *const words[], char *const environment[])
{
    FAIL_AS(PROCESS, ENOMEM, -1);
    return (int)syscall(SYS_execve, path, words, environment);
}

int execv(const char *path, char *const words[])
{
    FAIL_AS(PROCESS, ENOMEM, -1);
    return (int)syscall(SYS_execve, path, words, environ);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument)
{
    if (fails(PROCESS, HERE))
        return EAGAIN;
    REAL(pthread_create);
    return real(thread, attributes, begin, argument);
}

int connect(int fd, const struct sockaddr *to, socklen_t bytes)
{
    FAIL_AS(PROCESS, ECONNREFUSED, -1);
    FAIL_AS(INTERRUPT, EINTR, -1);
    return (int)syscall(SYS_connect, fd, to, bytes);
}

/* ---- interrupted and short ---- */

#define INTERRUPTIBLE(kind_of, name, parameters, ...)                                              \
    kind_of name parameters                                                                        \
    {                                                                                              \
        FAIL_AS(INTERRUPT, EINTR, -1);                                                             \
        REAL(name);                                                                                \
        return real(__VA_ARGS__);                                                                  \
    }

INTERRUPTIBLE(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), fd, m, flags)
/* As the kernel does it where there is no number left for a descriptor: the message comes without.
 */
static void lose_descriptors(struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++)
            syscall(SYS_close, ((int *)(void *)CMSG_DATA(c))[i]);
        c->cmsg_len = CMSG_LEN(0);
        m->msg_flags |= MSG_CTRUNC;
    }
}

static bool has_descriptors(struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c))
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
            return true;
    return false;
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
    FAIL_AS(INTERRUPT, EINTR, -1);
    REAL(recvmsg);
    ssize_t got = real(fd, m, flags);
    if (got > 0 && !(flags & MSG_PEEK) && has_descriptors(m) && fails(DESCRIPTOR, HERE))
        lose_descriptors(m);
    return got;
}

INTERRUPTIBLE(int, poll, (struct pollfd * list, nfds_t count, int ms), list, count, ms)
INTERRUPTIBLE(int, ppoll,
              (struct pollfd * list, nfds_t count, const struct timespec *time,
               const sigset_t *set),
              list, count, time, set)
INTERRUPTIBLE(int, epoll_wait, (int fd, struct epoll_event *list, int count, int ms), fd, list,
              count, ms)
INTERRUPTIBLE(pid_t, waitpid, (pid_t pid, int *status, int flags), pid, status, flags)
INTERRUPTIBLE(int, flock, (int fd, int how), fd, how)

#define SHORTENED(name, parameters, bytes, ...)                                                    \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        FAIL_AS(INTERRUPT, EINTR, -1);                                                             \
        if (bytes > 1 && fails(SHORT, HERE))                                                       \
            bytes = 1;                                                                             \
        REAL(name);                                                                                \
        return real(__VA_ARGS__);                                                                  \
    }

SHORTENED(read, (int fd, void *to, size_t bytes), bytes, fd, to, bytes)
SHORTENED(write, (int fd, const void *from, size_t bytes), bytes, fd, from, bytes)
SHORTENED(pread, (int fd, void *to, size_t bytes, off_t where), bytes, fd, to, bytes, where)
SHORTENED(pwrite, (int fd, const void *from, size_t bytes, off_t where), bytes, fd, from, bytes,
          where)
