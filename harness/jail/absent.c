/* SPDX-License-Identifier: MIT
 * absent.c: a library that the grader loads into compilers (LD_PRELOAD). In a program that has
 * loaded it, calls with the name of a file that it may not read fail as if there were no such file.
 *
 * A submission names files: in #include, __has_include, #embed, #line, .incbin. Landlock refuses to
 * open those outside of the sandbox with EACCES where they exist and ENOENT where they do not, and
 * does not refuse stat() at all; compilers print which it was. Here both are ENOENT. The compiler
 * is not under the submission's control, so this need not hold against code that calls the kernel
 * by itself; harness/jail/landlock.c does.
 *
 * A call is answered as if the file were not there unless the file can be opened for reading. Files
 * that a compiler makes (O_CREAT, fopen "w") have no names of the submission's.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_absent(int at, const char *path)
{
    int before = errno;
    long fd = syscall(SYS_openat, at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0)
        close((int)fd);
    errno = fd >= 0 ? before : ENOENT;
    return fd < 0;
}

static bool is_absent_here(const char *path)
{
    return is_absent(AT_FDCWD, path);
}

/* An empty path may mean the descriptor itself: so fstat() asks in its newer form. */
static bool is_absent_at(int at, const char *path, int flags)
{
    bool itself = (flags & AT_EMPTY_PATH) && (!path || !*path);
    return !itself && is_absent(at, path);
}

/* Defines RESULT NAME PARAMETERS, which gives FAILURE if ABSENT, and else what the C library's
 * function gives. */
#define FUNCTION(result, failure, absent, name, parameters, arguments)                             \
    result name parameters                                                                         \
    {                                                                                              \
        static __typeof__(name) *next;                                                             \
        if (absent)                                                                                \
            return failure;                                                                        \
        if (!next)                                                                                 \
            next = (__typeof__(name) *)(uintptr_t)dlsym(RTLD_NEXT, #name);                         \
        return next arguments;                                                                     \
    }
#define OF_PATH(name, parameters, arguments)                                                       \
    FUNCTION(int, -1, is_absent_here(path), name, parameters, arguments)

/* The mode is there only for files that are made. */
static mode_t mode_argument(int flags, va_list rest)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

static int open_unless_absent(int at, const char *path, int flags, va_list rest)
{
    mode_t mode = mode_argument(flags, rest);
    if (!(flags & O_CREAT) && is_absent(at, path))
        return -1;
    return (int)syscall(SYS_openat, at, path, flags, mode);
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        int fd = open_unless_absent(AT_FDCWD, path, flags, rest);                                  \
        va_end(rest);                                                                              \
        return fd;                                                                                 \
    }
#define OPENAT(name)                                                                               \
    int name(int at, const char *path, int flags, ...)                                             \
    {                                                                                              \
        va_list rest;                                                                              \
        va_start(rest, flags);                                                                     \
        int fd = open_unless_absent(at, path, flags, rest);                                        \
        va_end(rest);                                                                              \
        return fd;                                                                                 \
    }
#define FOPEN(name)                                                                                \
    FUNCTION(FILE *, NULL, mode[0] == 'r' && is_absent_here(path), name,                           \
             (const char *path, const char *mode), (path, mode))

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)

/* What a program calls that was compiled with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
OF_PATH(__open_2, (const char *path, int flags), (path, flags))
OF_PATH(__open64_2, (const char *path, int flags), (path, flags))

OF_PATH(stat, (const char *path, struct stat *to), (path, to))
OF_PATH(stat64, (const char *path, struct stat64 *to), (path, to))
OF_PATH(lstat, (const char *path, struct stat *to), (path, to))
OF_PATH(lstat64, (const char *path, struct stat64 *to), (path, to))
OF_PATH(access, (const char *path, int mode), (path, mode))
OF_PATH(eaccess, (const char *path, int mode), (path, mode))
OF_PATH(euidaccess, (const char *path, int mode), (path, mode))
FUNCTION(int, -1, is_absent_at(at, path, flags), fstatat,
         (int at, const char *path, struct stat *to, int flags), (at, path, to, flags))
FUNCTION(int, -1, is_absent_at(at, path, flags), fstatat64,
         (int at, const char *path, struct stat64 *to, int flags), (at, path, to, flags))
FUNCTION(int, -1, is_absent_at(at, path, flags), statx,
         (int at, const char *path, int flags, unsigned mask, struct statx *to),
         (at, path, flags, mask, to))
FUNCTION(int, -1, is_absent_at(at, path, flags), faccessat,
         (int at, const char *path, int mode, int flags), (at, path, mode, flags))
FUNCTION(ssize_t, -1, is_absent_here(path), readlink, (const char *path, char *to, size_t most),
         (path, to, most))
FUNCTION(char *, NULL, is_absent_here(path), realpath, (const char *path, char *to), (path, to))
FUNCTION(DIR *, NULL, is_absent_here(path), opendir, (const char *path), (path))
