/* SPDX-License-Identifier: MIT
 * pair.c: two submissions that are graded at the same time, and try to tell each other something.
 *
 *     pair talk FOLDER       does, for some seconds, what somebody else might notice
 *     pair listen FOLDER     says "heard CHANNEL" for each channel by which it notices
 *
 * Both may read FOLDER, as all may read /usr. tests/sandbox/test_channels.py has the list of what
 * is heard on which tier.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TALK_SECONDS = 4, LISTEN_SECONDS = 9, CROWD = 40, MORE = 25, SOME = 3, PIDS = 70000 };

static const char *top;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int file(const char *name, int flags)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", top, name);
    return open(path, flags | O_CLOEXEC);
}

static void touch(const char *name)
{
    char bytes[4096];
    int fd = file(name, O_RDONLY);
    if (read(fd, bytes, sizeof bytes) < 0)
        bytes[0] = 0;
    close(fd);
}

/* A page of a file that nobody may write to. */
static uint32_t *page(const char *name)
{
    void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file(name, O_RDONLY), 0);
    return at == MAP_FAILED ? NULL : at;
}

static long futex(uint32_t *at, int op, uint32_t value, const struct timespec *limit)
{
    return syscall(SYS_futex, at, op, value, limit, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* ---- talking ---- */

static int ends_at_once(void *unused)
{
    (void)unused;
    return 0;
}

/* A thread whose end wakes, without any call, whoever waits at that page. */
static void end_a_thread(uint32_t *at)
{
    static char stack[1 << 16] __attribute__((aligned(64)));
    const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                      CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
    clone(ends_at_once, stack + sizeof stack, flags, NULL, NULL, NULL, at);
    usleep(20000);
}

static void crowd(void)
{
    for (int i = 0; i < CROWD; i++)
        if (fork() == 0) {
            sleep(TALK_SECONDS);
            _exit(0);
        }
}

static int talk(void)
{
    struct flock record = {.l_type = F_RDLCK};
    uint32_t *woken = page("futex"), *ended = page("thread");
    flock(file("lock", O_RDONLY), LOCK_EX);
    fcntl(file("record", O_RDONLY), F_OFD_SETLK, &record);
    crowd();
    for (double until = now() + TALK_SECONDS; now() < until; usleep(20000)) {
        touch("watch");
        touch("notice/inside");
        touch("atime");
        touch("cache");
        if (woken && futex(woken, FUTEX_WAKE, 100, NULL) > 0)
            printf("heard futex\n");
        if (ended)
            end_a_thread(ended);
        for (int i = 0; i < 10; i++) { /* numbers of processes that others do not get */
            pid_t pid = fork();
            if (pid == 0)
                _exit(0);
            waitpid(pid, NULL, 0);
        }
    }
    return 0;
}

/* ---- listening: each says whether it has noticed something ---- */

static int hears_lock(void)
{
    static int fd;
    fd = fd ? fd : file("lock", O_RDONLY);
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return 0;
}

static int hears_record(void)
{
    struct flock record = {.l_type = F_WRLCK};
    static int fd;
    fd = fd ? fd : file("record", O_RDONLY);
    return fcntl(fd, F_OFD_GETLK, &record) == 0 && record.l_type != F_UNLCK;
}

static int hears_watch(void)
{
    static int fd;
    char path[4096], event[4096];
    if (!fd) {
        snprintf(path, sizeof path, "%s/watch", top);
        fd = inotify_init1(IN_NONBLOCK);
        inotify_add_watch(fd, path, IN_OPEN);
    }
    return read(fd, event, sizeof event) > 0;
}

static volatile sig_atomic_t noticed;

static void on_notice(int signal)
{
    (void)signal;
    noticed = 1;
}

static int hears_notice(void)
{
    static int fd;
    if (!fd) {
        signal(SIGIO, on_notice);
        fd = file("notice", O_RDONLY | O_DIRECTORY);
        fcntl(fd, F_NOTIFY, DN_ACCESS | DN_MULTISHOT);
    }
    return noticed;
}

static int waits_at(const char *name)
{
    const struct timespec limit = {.tv_nsec = 30000000};
    static uint32_t *at[2];
    uint32_t **mine = &at[name[0] == 't'];
    *mine = *mine ? *mine : page(name);
    return *mine && futex(*mine, FUTEX_WAIT, **mine, &limit) == 0;
}

static int hears_futex(void)
{
    return waits_at("futex");
}

static int hears_thread(void)
{
    return waits_at("thread");
}

static int hears_atime(void)
{
    static struct timespec first;
    struct stat info;
    char path[4096];
    snprintf(path, sizeof path, "%s/atime", top);
    if (stat(path, &info) != 0)
        return 0;
    first = first.tv_sec ? first : info.st_atim;
    return info.st_atim.tv_sec != first.tv_sec;
}

/* Not in the cache at first, and then it is. */
static int hears_cache(void)
{
    static int fd;
    static uint32_t *at;
    unsigned char in = 0;
    char byte;
    struct iovec one = {&byte, 1};
    if (!fd) {
        fd = file("cache", O_RDONLY);
        at = page("cache");
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        return 0;
    }
    int there = preadv2(fd, &one, 1, 0, 8 /* RWF_NOWAIT */) == 1;
    return there || (getuid() == 0 && at && mincore(at, 4096, &in) == 0 && (in & 1));
}

static int processes(void)
{
    struct sysinfo info;
    int running, all = 0;
    FILE *load = fopen("/proc/loadavg", "r");
    if (load && fscanf(load, "%*f %*f %*f %d/%d", &running, &all) != 2)
        all = 0;
    if (load)
        fclose(load);
    return all ? all : sysinfo(&info) == 0 ? info.procs : 0;
}

static int hears_load(void)
{
    static int lowest;
    int count = processes();
    lowest = !lowest || count < lowest ? count : lowest;
    return count - lowest >= MORE;
}

/* Other processes than the few that a box has of its own. */
static int hears_clock(void)
{
    int found = 0;
    for (int pid = 2; pid < PIDS && found <= SOME; pid++) {
        struct timespec used;
        found += clock_gettime((clockid_t)((~(unsigned)pid << 3) | 2), &used) == 0;
    }
    return found > SOME;
}

static int hears_ask(void)
{
    int found = 0;
    for (int pid = 2; pid < PIDS && found <= SOME; pid++)
        found += getpgid(pid) > 0;
    return found > SOME;
}

/* Numbers that somebody else was given. */
static int hears_pid(void)
{
    static pid_t last;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    int missed = last ? pid - last - 1 : 0;
    last = pid;
    return missed > SOME;
}

static int listen(void)
{
    static struct {
        const char *name;
        int (*hears)(void);
        int done;
    } all[] = {
        {"lock", hears_lock, 0},     {"record", hears_record, 0}, {"watch", hears_watch, 0},
        {"notice", hears_notice, 0}, {"futex", hears_futex, 0},   {"thread", hears_thread, 0},
        {"atime", hears_atime, 0},   {"cache", hears_cache, 0},   {"load", hears_load, 0},
        {"clock", hears_clock, 0},   {"ask", hears_ask, 0},       {"pid", hears_pid, 0}};
    for (double until = now() + LISTEN_SECONDS; now() < until; usleep(5000))
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (!all[i].done && all[i].hears()) {
                all[i].done = 1;
                printf("heard %s\n", all[i].name);
            }
    printf("listened\n");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    top = argv[2];
    return strcmp(argv[1], "talk") == 0 ? talk() : listen();
}
