/* SPDX-License-Identifier: MIT
 * node_start.c: finds the node to connect to, or starts it.
 *
 * 1. VGPU_NODE_FD: a connected socket that the parent process left open. Only the process that
 * inherited it by exec uses it: a child that is forked before the first call must not share its
 * parent's connection and goes on with 2. Once used, the descriptor is closed on exec, for the same
 * reason.
 *
 * 2. VGPU_NODE_QUEUE: a connection that all processes of a sandbox have. On it each asks the node
 * for one of its own, since none can connect to anything. The replies of several that ask at a time
 * are alike, so it does not matter who takes which.
 *
 * 3. The socket of VGPU_NODE_ID (default: one for each VGPU_NODE). If no node listens there, one is
 * started under a lock, so that programs that start together share one node.
 */
#include "core.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "number.h"

#include "run_directory.h"
#include "wire.h"

#ifndef VGPU_BIN_DIR
#define VGPU_BIN_DIR ""
#endif

#define READY_LIMIT_MS 30000
#define READY_FD 3

extern char **environ;

static pid_t exec_pid; /* the pid before any fork */

__attribute__((constructor)) static void remember_pid(void)
{
    exec_pid = getpid();
}

/* ---- an inherited socket ---- */

static int inherited_socket(void)
{
    const char *text = getenv("VGPU_NODE_FD");
    uint64_t fd;
    if (!text || getpid() != exec_pid || !vgpu_number(text, 0, INT_MAX, &fd))
        return -1;
    int type;
    socklen_t length = sizeof type;
    if (getsockopt((int)fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_SEQPACKET)
        return -1;
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    return (int)fd;
}

/* ---- a connection that hands out others ---- */

/* Returns a connection from the one that `text` names, or -1 with the reason if none is left. */
static int handed_connection(const char *text, char *why, size_t room)
{
    const struct vgpu_request ask = {.op = VGPU_OP_PROGRAM};
    struct vgpu_reply reply;
    int fd = -1, count = 1;
    uint64_t queue;
    if (!vgpu_number(text, 0, INT_MAX, &queue) ||
        vgpu_send((int)queue, &ask, sizeof ask, NULL, 0) != 0 ||
        vgpu_receive((int)queue, &reply, sizeof reply, &fd, &count, 0) <= 0 || count != 1) {
        snprintf(why, room,
                 "no connection to the virtual node is left in this sandbox: each process that "
                 "uses the GPUs takes one");
        return -1;
    }
    return fd;
}

/* ---- a node that is running ---- */

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int rc;
    do
        rc = connect(fd, (struct sockaddr *)&address, sizeof address);
    while (rc != 0 && errno == EINTR);
    if (rc == 0)
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static bool no_node_listens(void)
{
    return errno == ENOENT || errno == ECONNREFUSED;
}

/* ---- a node that must be started ---- */

static bool is_node_program(char *path, size_t room, const char *directory, const char *below)
{
    int length = snprintf(path, room, "%s%svgpu-node", directory, below);
    return length > 0 && (size_t)length < room && access(path, X_OK) == 0;
}

/* The directory of vgpu-node that vgpu-cc links into the program; absent if another linker was
 * used. */
extern const char vgpu__toolkit_bin[] __attribute__((weak, visibility("hidden")));

/* vgpu-node in ../bin/ beside the shared library that this code was loaded from. */
static bool find_beside_library(char *path, size_t room)
{
    Dl_info here;
    char folder[PATH_MAX];
    if (!dladdr((void *)find_beside_library, &here) || !here.dli_fname ||
        !realpath(here.dli_fname, folder))
        return false;
    *strrchr(folder, '/') = '\0';
    return is_node_program(path, room, folder, "/../bin/");
}

/* Looks for vgpu-node in this order: $VGPU_HOME/bin, the directory of the toolkit that linked the
 * program, beside the program, beside the shared library, where it was built. */
static bool find_node_program(char *path, size_t room)
{
    const char *home = getenv("VGPU_HOME");
    if (home && *home)
        return is_node_program(path, room, home, "/bin/");
    if (vgpu__toolkit_bin && is_node_program(path, room, vgpu__toolkit_bin, "/"))
        return true;
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length > 0) {
        self[length] = '\0';
        *strrchr(self, '/') = '\0';
        if (is_node_program(path, room, self, "/"))
            return true;
    }
    if (find_beside_library(path, room))
        return true;
    return *VGPU_BIN_DIR && is_node_program(path, room, VGPU_BIN_DIR, "/");
}

bool vgpu__find_program(const char *name, char *path, size_t room)
{
    if (!find_node_program(path, room))
        return false;
    size_t folder = (size_t)(strrchr(path, '/') + 1 - path);
    if (folder + strlen(name) >= room)
        return false;
    strcpy(path + folder, name);
    return access(path, X_OK) == 0;
}

/* The node starts with default signal actions and no blocked signals, whatever this program has
 * set. */
static void set_default_signals(posix_spawnattr_t *attributes)
{
    sigset_t set;
    sigemptyset(&set);
    posix_spawnattr_setsigmask(attributes, &set);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(attributes, &set);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn_node(const char *program, const char *id, int ready_fd, pid_t *pid)
{
    char fd_text[16];
    snprintf(fd_text, sizeof fd_text, "%d", READY_FD);
    char *args[] = {(char *)program, "--id", (char *)id, "--ready-fd", fd_text, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, ready_fd, READY_FD);
    set_default_signals(&attributes);
    int error = posix_spawn(pid, program, &actions, &attributes, args, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* True if `fd` becomes readable before `until_ms`. A wait interrupted by a signal is continued. */
static bool wait_readable(int fd, int64_t until_ms)
{
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int64_t left = until_ms - now_ms();
        int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
    }
}

/* Reads until the first end of line or until the node closes the descriptor; "" if it wrote
 * nothing. */
static void read_ready_line(int fd, char *line, size_t room)
{
    size_t length = 0;
    int64_t until = now_ms() + READY_LIMIT_MS;
    while (length + 1 < room && wait_readable(fd, until)) {
        ssize_t got = read(fd, line + length, room - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
        if (line[length - 1] == '\n')
            break;
    }
    line[length] = '\0';
}

/* The node becomes a daemon: the process that was spawned exits at once and must be waited for. */
static void collect_child(pid_t pid)
{
    struct timespec pause = {.tv_nsec = 5 * 1000 * 1000};
    for (int i = 0; i < 200 && waitpid(pid, NULL, WNOHANG) == 0; i++)
        nanosleep(&pause, NULL);
}

static int start_node(const char *id, char *why, size_t room)
{
    char program[PATH_MAX], line[512];
    int ends[2];
    pid_t pid;
    if (!find_node_program(program, sizeof program)) {
        snprintf(
            why, room,
            "no virtual node is running and vgpu-node was not found in $VGPU_HOME/bin, '%s' or "
            "beside the program; build the project or set VGPU_HOME",
            VGPU_BIN_DIR);
        return -1;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(why, room, "cannot make a pipe: %s", strerror(errno));
        return -1;
    }
    int ready = fcntl(ends[1], F_DUPFD_CLOEXEC,
                      READY_FD + 1); /* dup2 to the same number would keep CLOEXEC */
    int error = ready < 0 ? errno : spawn_node(program, id, ready, &pid);
    if (ready >= 0)
        close(ready);
    close(ends[1]);
    line[0] = '\0';
    if (error == 0) {
        read_ready_line(ends[0], line, sizeof line);
        collect_child(pid);
    }
    close(ends[0]);
    if (error != 0)
        snprintf(why, room, "cannot start '%s': %s", program, strerror(error));
    else if (strcmp(line, "ok\n") != 0)
        snprintf(why, room, "the virtual node '%s' did not start: %s", id,
                 *line ? line
                       : "it ended without a message; run vgpu-node --id by hand to see why");
    else
        return 0;
    why[strcspn(why, "\n")] = '\0';
    return -1;
}

/* ---- connect or start ---- */

/* The holder of the lock removes the lock file, so a process that waited may hold a deleted file.
 * True if `fd` is still the file at `path`. */
static bool is_file_at(int fd, const char *path)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(path, &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

static int take_lock(const char *path, char *why, size_t room)
{
    for (;;) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        int result;
        do
            result = fd < 0 ? -1 : flock(fd, LOCK_EX);
        while (result != 0 && fd >= 0 && errno == EINTR);
        if (result == 0 && is_file_at(fd, path))
            return fd;
        if (result != 0)
            snprintf(why, room, "cannot lock '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        if (result != 0)
            return -1;
    }
}

static void drop_lock(int fd, const char *path)
{
    unlink(path);
    close(fd);
}

/* One try, under the lock. *gone: the node that was started has ended in the meantime. */
static int start_and_connect(const char *id, const char *path, bool *gone, char *why, size_t room)
{
    char lock_path[PATH_MAX + 8];
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    int lock = take_lock(lock_path, why, room);
    if (lock < 0)
        return -1;
    int fd = connect_to(path); /* another process may have started it */
    if (fd < 0 && start_node(id, why, room) == 0) {
        fd = connect_to(path);
        *gone = fd < 0 && no_node_listens();
        if (fd < 0)
            snprintf(why, room, "the node '%s' started but '%s' does not answer: %s", id, path,
                     strerror(errno));
    }
    drop_lock(lock, lock_path);
    return fd;
}

static int connect_or_start(const char *id, const char *path, char *why, size_t room)
{
    int fd = -1;
    bool again = true;
    for (int tries = 0; tries < 20 && fd < 0 && again; tries++) {
        again = false;
        fd = connect_to(path);
        if (fd < 0 && no_node_listens())
            fd = start_and_connect(id, path, &again, why, room);
        else if (fd < 0)
            snprintf(why, room, "cannot connect to '%s': %s", path, strerror(errno));
    }
    return fd;
}

/* The node's id if the program names none: "default", "default-pcie-4090-2", or a hash if VGPU_NODE
 * is the path of a description. Programs with the same VGPU_NODE share a node. */
static void default_id(char *id, size_t room)
{
    const char *node = getenv("VGPU_NODE");
    unsigned long long number = 14695981039346656037ull; /* FNV-1a */
    for (const char *c = node; c && *c; c++)
        number = (number ^ (unsigned char)*c) * 1099511628211ull;
    if (!node || !*node || !strcmp(node, "hgx-h200-4"))
        snprintf(id, room, "default");
    else if (strchr(node, '/') || strlen(node) > 40)
        snprintf(id, room, "default-%016llx", number);
    else
        snprintf(id, room, "default-%s", node);
}

int vgpu__reach_node(char *why, size_t room)
{
    char path[PATH_MAX], usual[64];
    const char *id = getenv("VGPU_NODE_ID");
    int fd = inherited_socket();
    const char *queue = getenv("VGPU_NODE_QUEUE");
    if (fd >= 0)
        return fd;
    if (queue && *queue)
        return handed_connection(queue, why, room);
    if (!id || !*id) {
        default_id(usual, sizeof usual);
        id = usual;
    }
    if (vgpu_socket_path(id, path, sizeof path, why, room) != 0)
        return -1;
    return connect_or_start(id, path, why, room);
}
