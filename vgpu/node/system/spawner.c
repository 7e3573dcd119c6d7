/* SPDX-License-Identifier: MIT
 * spawner.c: see spawner.h.
 */
#include "spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ancestry.h"
#include "close_range.h"
#include "helper_filter.h"
#include "protocol_exec.h"
#include "wire.h"

#define LAUNCHER_WORDS 8
#define CONTEXTS 4096 /* greatest number of contexts at a time */
#define PROGRAMS 256  /* greatest number of programs examined at a time */

extern char **environ;

static const char *exec_path;
static int channel = -1; /* socket to the helper; -1: there is none */

void spawner_set_program(const char *path)
{
    exec_path = path;
}

/* ---- without a helper ---- */

/* Builds the command line of a context: the words of VGPU_EXEC_LAUNCHER, one on each line, before
 * the program (a sandbox for device code, which must exec the program). `text` is a copy of the
 * variable, or NULL. False: there are too many words, and none may be dropped. */
static bool launch_words(char *text, char *argv[LAUNCHER_WORDS + 2])
{
    char *rest = text;
    int count = 0;
    for (char *word; rest && (word = strtok_r(rest, "\n", &rest));) {
        if (count == LAUNCHER_WORDS)
            return false;
        argv[count++] = word;
    }
    argv[count++] = (char *)exec_path;
    argv[count] = NULL;
    return true;
}

static int spawn_process(pid_t *pid, char *const argv[], int socket)
{
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_adddup2(&actions, socket, 3);
    if (!failed)
        failed = posix_spawn(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Fails if the launcher cannot be read: a context must not run without it. */
static pid_t start_context(int socket)
{
    char *argv[LAUNCHER_WORDS + 2];
    const char *launcher = getenv("VGPU_EXEC_LAUNCHER");
    char *text = launcher ? strdup(launcher) : NULL;
    pid_t pid = -1;
    int failed = launcher && !text          ? ENOMEM
                 : launch_words(text, argv) ? spawn_process(&pid, argv, socket)
                                            : E2BIG;
    free(text);
    errno = failed;
    return failed ? -1 : pid;
}

/* A context whose socket is closed ends by itself, if it is not in a kernel. A debugger is given
 * the time to see that: it cannot handle a process that is killed while it holds it. */
static bool ends_itself(pid_t pid)
{
    const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
    for (int i = 0; i < 100; i++) {
        if (waitpid(pid, NULL, WNOHANG) != 0)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

static void end_context_process(pid_t pid)
{
    if (getenv("VGPU_DEBUGGER") && ends_itself(pid))
        return;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* ---- the helper process ---- */

/* The node may have been compromised: every request is checked before anything else is done with it
 * (refusal_of). */
enum spawner_op { START, HANG, END, ASLEEP };

struct order {
    enum spawner_op op;
    int count;
    pid_t pid[PROGRAMS];
};

struct done {
    int value, error;
};

static pid_t started_contexts[CONTEXTS];
static int started_count;
/* `starter` started the node, and starts the programs itself. */
static pid_t node_pid, starter;

static int child_number(pid_t pid)
{
    int i = 0;
    while (i < started_count && started_contexts[i] != pid)
        i++;
    return i;
}

/* If memory runs out, processes of the submission are killed first. */
static void raise_oom_score(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "500", 3) != 3)
        errno = 0;
    if (fd >= 0)
        close(fd);
}

static int option_of(int socket, int option)
{
    int value = -1;
    socklen_t bytes = sizeof value;
    return getsockopt(socket, SOL_SOCKET, option, &value, &bytes) == 0 ? value : -1;
}

/* True if both ends were made by the node: not a file, nor its listener, nor a connection to a
 * program or the verifier. */
static bool is_own_pair(int fd)
{
    struct ucred maker = {0};
    socklen_t bytes = sizeof maker;
    return option_of(fd, SO_DOMAIN) == AF_UNIX && option_of(fd, SO_TYPE) == SOCK_SEQPACKET &&
           option_of(fd, SO_ACCEPTCONN) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &maker, &bytes) == 0 && maker.pid == node_pid;
}

/* Programs are started by the process that started the node. If that is init, which adopts orphans,
 * any process may be a program. */
static bool is_program(pid_t pid)
{
    bool one_of_us = pid == node_pid || pid == getpid() || child_number(pid) < started_count;
    return pid > 1 && !one_of_us && (starter <= 1 || ancestry_has(pid, starter));
}

static bool are_programs(const struct order *o)
{
    bool all = o->count >= 0 && o->count <= PROGRAMS;
    for (int i = 0; all && i < o->count; i++)
        all = is_program(o->pid[i]);
    return all;
}

/* The error with which a request is refused; 0: it is valid. Only contexts started here may be
 * signalled, and only programs examined. */
static int refusal_of(const struct order *o, const int *fds, int fd_count)
{
    switch (o->op) {
    case START:
        return started_count == CONTEXTS              ? EAGAIN
               : fd_count == 1 && is_own_pair(fds[0]) ? 0
                                                      : EPERM;
    case HANG:
    case END:
        return fd_count == 0 && child_number(o->pid[0]) < started_count ? 0 : EPERM;
    case ASLEEP:
        return fd_count == 0 && are_programs(o) ? 0 : EPERM;
    default:
        return EPERM;
    }
}

static void handle_start(int socket, struct done *done)
{
    done->value = start_context(socket);
    done->error = errno;
    if (done->value > 0) {
        raise_oom_score(done->value);
        started_contexts[started_count++] = done->value;
    }
}

static void handle_order(const struct order *o, const int *fds, int fd_count, struct done *done)
{
    int i = child_number(o->pid[0]), refusal = refusal_of(o, fds, fd_count);
    *done = (struct done){refusal ? -1 : 0, refusal};
    if (refusal)
        return;
    if (o->op == START) {
        handle_start(fds[0], done);
    } else if (o->op == ASLEEP) {
        done->value = (int)quiescence_of(o->pid, o->count);
    } else if (o->op == HANG) {
        kill(started_contexts[i], VGPU_EXEC_HANG_SIGNAL);
    } else {
        end_context_process(started_contexts[i]);
        started_contexts[i] = started_contexts[--started_count];
    }
}

static void close_all_but(int kept)
{
    if (kept > 3)
        vgpu_close_range(3, (unsigned)kept - 1);
    vgpu_close_range((unsigned)kept + 1, ~0u);
}

static void run_helper(int socket, const char *leftover)
{
    struct order order;
    struct done done;
    int fds[2], fd_count = 2; /* a request may have one */
    close_all_but(socket);
    bool closed = helper_filter_close();
    while (closed && getppid() == node_pid &&
           vgpu_receive(socket, &order, sizeof order, fds, &fd_count, 0) == sizeof order) {
        handle_order(&order, fds, fd_count, &done);
        for (int i = 0; i < fd_count; i++)
            close(fds[i]);
        fd_count = 2;
        if (vgpu_send(socket, &done, sizeof done, NULL, 0) != 0)
            break;
    }
    while (started_count)
        end_context_process(started_contexts[--started_count]);
    unlink(leftover);
    _exit(0);
}

bool spawner_leave(const char *leftover)
{
    int pair[2];
    node_pid = getpid();
    starter = getppid();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    pid_t child = fork();
    if (child == 0)
        run_helper(pair[1], leftover);
    close(pair[1]);
    if (child < 0)
        close(pair[0]);
    else
        channel = pair[0];
    return child > 0;
}

/* ---- requests to the helper ---- */

static int ask_spawner(const struct order *order, const int *fds, int fd_count)
{
    struct done done;
    if (vgpu_send(channel, order, sizeof *order, fds, fd_count) != 0 ||
        vgpu_receive(channel, &done, sizeof done, NULL, NULL, 0) != sizeof done) {
        errno = EPIPE;
        return -1;
    }
    errno = done.error;
    return done.value;
}

pid_t spawner_start(int socket)
{
    const struct order order = {.op = START};
    return channel < 0 ? start_context(socket) : ask_spawner(&order, &socket, 1);
}

void spawner_hang(pid_t context)
{
    const struct order order = {.op = HANG, .pid = {context}};
    if (channel < 0)
        kill(context, VGPU_EXEC_HANG_SIGNAL);
    else
        ask_spawner(&order, NULL, 0);
}

void spawner_end(pid_t context)
{
    const struct order order = {.op = END, .pid = {context}};
    if (channel < 0)
        end_context_process(context);
    else
        ask_spawner(&order, NULL, 0);
}

enum quiescence spawner_quiescence(const pid_t *pid, int count)
{
    struct order order = {.op = ASLEEP, .count = count};
    if (channel < 0)
        return quiescence_of(pid, count);
    if (count > PROGRAMS)
        return QUIESCENT_UNKNOWN;
    memcpy(order.pid, pid, (size_t)count * sizeof *pid);
    int found = ask_spawner(&order, NULL, 0);
    return found < 0 ? QUIESCENT_UNKNOWN : (enum quiescence)found;
}
