/* SPDX-License-Identifier: MIT
 * bootstrap.c: the rendezvous of the ranks of a communicator.
 *
 * The unique id is the path of a socket. The process that made the id runs a thread there, the
 * keeper: it waits until all ranks have connected, then repeatedly collects one entry from each
 * rank and sends the whole table to all, until the ranks disconnect. Ranks in the keeper's own
 * process connect in the same way. Every wait ends after $VGPU_NCCL_SECONDS, or a minute.
 */
#include "comm.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "number.h"

enum { ENTRY_BYTES_MAX = 4096, PAUSE_MS = 20 };

static int time_limit_s(void)
{
    static atomic_bool told;
    const char *given = getenv("VGPU_NCCL_SECONDS");
    uint64_t seconds = 60;
    if (given && *given && !vgpu_number(given, 1, 86400, &seconds) && !atomic_exchange(&told, true))
        fprintf(stderr,
                "vgpu: nccl: VGPU_NCCL_SECONDS=%s is not valid: expected whole seconds from 1 to "
                "86400; it is ignored\n",
                given);
    return (int)seconds;
}

struct hello {
    int rank, ranks;
};

/* The keeper's reply to a hello: ncclSuccess, or an error with its reason. */
struct answer {
    ncclResult_t result;
    char why[160];
};

struct keeper {
    int listener, ranks, come;
    int fd[NCCL_MAX_RANKS];
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
};

/* ---- whole messages ---- */

static bool send_all(int fd, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t done = send(fd, at, bytes, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

/* False: the peer has closed the connection, or the socket's time limit has expired. */
static bool receive_all(int fd, void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        ssize_t done = recv(fd, at, bytes, 0);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

static void set_socket_limits(int fd, int seconds)
{
    struct timeval limit = {.tv_sec = seconds};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/* ---- the keeper ---- */

static void answer_rank(int fd, ncclResult_t result, const char *why)
{
    struct answer reply = {.result = result};
    snprintf(reply.why, sizeof reply.why, "%s", why);
    send_all(fd, &reply, sizeof reply);
}

static void refuse_all(struct keeper *keeper, ncclResult_t result, const char *why)
{
    for (int r = 0; r < NCCL_MAX_RANKS; r++)
        if (keeper->fd[r] >= 0)
            answer_rank(keeper->fd[r], result, why);
}

/* Lists the ranks that have not connected, as "1, 3". */
static void list_missing_ranks(const struct keeper *keeper, char *text, size_t room)
{
    size_t used = 0;
    for (int r = 0; r < keeper->ranks && used < room; r++)
        if (keeper->fd[r] < 0)
            used += (size_t)snprintf(text + used, room - used, "%s%d", used ? ", " : "", r);
}

/* Adds a rank. False: it contradicts the others, and all ranks have been sent the error. */
static bool add_rank(struct keeper *keeper, int fd, const struct hello *hello)
{
    char why[160];
    if (keeper->ranks == 0)
        keeper->ranks = hello->ranks;
    if (hello->ranks != keeper->ranks)
        snprintf(why, sizeof why, "rank %d says there are %d ranks, another one said %d",
                 hello->rank, hello->ranks, keeper->ranks);
    else if (keeper->fd[hello->rank] >= 0)
        snprintf(why, sizeof why,
                 "rank %d came twice: each rank of a communicator has its own number", hello->rank);
    else {
        keeper->fd[hello->rank] = fd;
        keeper->come++;
        return true;
    }
    answer_rank(fd, ncclInvalidUsage, why);
    close(fd);
    refuse_all(keeper, ncclInvalidUsage, why);
    return false;
}

/* Accepts the next rank's connection; -1 on failure, after all ranks have been sent the error. If
 * descriptors or memory have run out, it tries again for a while. */
static int accept_rank(struct keeper *keeper)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    for (int left = time_limit_s() * 1000;; left -= PAUSE_MS) {
        int fd = accept4(keeper->listener, NULL, NULL, SOCK_CLOEXEC), why = errno;
        bool later = why == EMFILE || why == ENFILE || why == ENOMEM || why == ENOBUFS;
        if (fd >= 0)
            return fd;
        if ((!later && why != EINTR && why != ECONNABORTED) || left <= 0) {
            nccl_fail(ncclSystemError, "ncclGetUniqueId",
                      "its process cannot accept another rank: %s", strerror(why));
            refuse_all(keeper, ncclSystemError, strerror(why));
            return -1;
        }
        if (later)
            nanosleep(&pause, NULL);
    }
}

static bool gather_ranks(struct keeper *keeper)
{
    while (keeper->ranks == 0 || keeper->come < keeper->ranks) {
        struct pollfd wait = {.fd = keeper->listener, .events = POLLIN};
        /* There is no limit before the first rank: an id may be used late, or never. */
        int ready = poll(&wait, 1, keeper->come > 0 ? time_limit_s() * 1000 : -1);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0) {
            char missing[80] = "", why[160];
            list_missing_ranks(keeper, missing, sizeof missing);
            snprintf(why, sizeof why, "%d of %d ranks came within %d s; missing: %s", keeper->come,
                     keeper->ranks, time_limit_s(), missing);
            refuse_all(keeper, ncclSystemError, why);
            return false;
        }
        struct hello hello;
        int fd = accept_rank(keeper);
        if (fd < 0)
            return false;
        set_socket_limits(fd, time_limit_s());
        if (!receive_all(fd, &hello, sizeof hello) || hello.ranks < 1 ||
            hello.ranks > NCCL_MAX_RANKS || hello.rank < 0 || hello.rank >= hello.ranks)
            close(fd);
        else if (!add_rank(keeper, fd, &hello))
            return false;
    }
    for (int r = 0; r < keeper->ranks; r++)
        answer_rank(keeper->fd[r], ncclSuccess, "");
    return true;
}

/* True if the peer is a rank of this process. */
static bool is_own_process(int fd)
{
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == getpid();
}

/* Sends the table to all ranks, to those of this process last: a rank that has the last table may
 * end the process, and this thread with it. */
static bool send_table(const struct keeper *keeper, const char *table, size_t bytes)
{
    for (int ours = 0; ours < 2; ours++)
        for (int r = 0; r < keeper->ranks; r++)
            if (is_own_process(keeper->fd[r]) == (ours == 1) &&
                !send_all(keeper->fd[r], table, bytes))
                return false;
    return true;
}

/* One exchange: receives a size and that many bytes from each rank, and sends the table to all.
 * False if a rank has disconnected or is much later than rank 0. There is no limit for rank 0: the
 * last exchange takes place when the communicator is destroyed, which may be at any time. */
static bool exchange_table(const struct keeper *keeper, char *table)
{
    uint32_t bytes = 0;
    struct pollfd first = {.fd = keeper->fd[0], .events = POLLIN};
    while (poll(&first, 1, -1) < 0 && errno == EINTR)
        continue;
    for (int r = 0; r < keeper->ranks; r++) {
        uint32_t its;
        if (!receive_all(keeper->fd[r], &its, sizeof its) || its > ENTRY_BYTES_MAX ||
            (r > 0 && its != bytes))
            return false;
        bytes = its;
        if (!receive_all(keeper->fd[r], table + (size_t)r * bytes, bytes))
            return false;
    }
    return send_table(keeper, table, (size_t)keeper->ranks * bytes);
}

static void *run_keeper(void *argument)
{
    struct keeper *keeper = argument;
    char *table = malloc((size_t)NCCL_MAX_RANKS * ENTRY_BYTES_MAX);
    if (gather_ranks(keeper) && table)
        while (exchange_table(keeper, table)) {
        }
    for (int r = 0; r < NCCL_MAX_RANKS; r++)
        if (keeper->fd[r] >= 0)
            close(keeper->fd[r]);
    close(keeper->listener);
    unlink(keeper->path);
    free(table);
    free(keeper);
    return NULL;
}

/* ---- the id ---- */

static const char *socket_folder(void)
{
    const char *folder = getenv("XDG_RUNTIME_DIR");
    return folder && folder[0] == '/' && access(folder, W_OK) == 0 ? folder : "/tmp";
}

static int listen_for_ranks(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
                    listen(fd, NCCL_MAX_RANKS) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static struct keeper *make_keeper(void)
{
    static unsigned made;
    struct keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper)
        return NULL;
    for (int r = 0; r < NCCL_MAX_RANKS; r++)
        keeper->fd[r] = -1;
    unsigned number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    snprintf(keeper->path, sizeof keeper->path, "%.80s/vgpu-nccl-%d-%u", socket_folder(),
             (int)getpid(), number);
    unlink(keeper->path); /* left over by a killed process with the same pid */
    keeper->listener = listen_for_ranks(keeper->path);
    if (keeper->listener < 0) {
        free(keeper);
        return NULL;
    }
    return keeper;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    pthread_t thread;
    if (!id)
        return nccl_fail(ncclInvalidArgument, "ncclGetUniqueId", "id is null");
    struct keeper *keeper = make_keeper();
    if (!keeper)
        return nccl_fail(ncclSystemError, "ncclGetUniqueId", "no socket in %s: %s", socket_folder(),
                         strerror(errno));
    memset(id, 0, sizeof *id);
    snprintf(id->internal, sizeof id->internal, "%s", keeper->path);
    if (pthread_create(&thread, NULL, run_keeper, keeper) != 0) {
        close(keeper->listener);
        unlink(keeper->path);
        free(keeper);
        return nccl_fail(ncclSystemError, "ncclGetUniqueId", "no thread can be started");
    }
    pthread_detach(thread);
    return ncclSuccess;
}

/* ---- a rank ---- */

static bool connect_socket(int fd, const struct sockaddr_un *address)
{
    int rc;
    do
        rc = connect(fd, (const struct sockaddr *)address, sizeof *address);
    while (rc != 0 && errno == EINTR);
    return rc == 0;
}

ncclResult_t nccl_rendezvous(const ncclUniqueId *id, int rank, int ranks,
                             struct nccl_connection *connection)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct hello hello = {rank, ranks};
    struct answer reply;
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s", (int)sizeof address.sun_path - 1,
             id->internal);
    *connection =
        (struct nccl_connection){socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), rank, ranks};
    /* The limit is longer than the keeper's, so that the keeper's reason arrives. */
    if (connection->fd >= 0)
        set_socket_limits(connection->fd, time_limit_s() + 5);
    if (connection->fd < 0 || !connect_socket(connection->fd, &address)) {
        int why = errno;
        nccl_disconnect(connection);
        errno = why;
        return nccl_fail(
            ncclSystemError, "ncclCommInitRank",
            "rank %d of %d: no process waits at '%s' (%s): an id must come from this machine, be "
            "passed on whole and be used once, and the process that made it must still run",
            rank, ranks, address.sun_path, strerror(errno));
    }
    if (!send_all(connection->fd, &hello, sizeof hello) ||
        !receive_all(connection->fd, &reply, sizeof reply))
        reply = (struct answer){ncclRemoteError, "the process that made the id has ended"};
    if (reply.result == ncclSuccess)
        return ncclSuccess;
    nccl_disconnect(connection);
    reply.why[sizeof reply.why - 1] = '\0';
    return nccl_fail(reply.result, "ncclCommInitRank", "rank %d of %d: %s", rank, ranks, reply.why);
}

bool nccl_exchange_send(const struct nccl_connection *connection, const void *mine, size_t bytes)
{
    uint32_t size = (uint32_t)bytes;
    return send_all(connection->fd, &size, sizeof size) && send_all(connection->fd, mine, bytes);
}

bool nccl_exchange_receive(const struct nccl_connection *connection, void *all, size_t bytes)
{
    return receive_all(connection->fd, all, (size_t)connection->ranks * bytes);
}

ncclResult_t nccl_exchange(const struct nccl_connection *connection, const void *mine, void *all,
                           size_t bytes)
{
    if (nccl_exchange_send(connection, mine, bytes) &&
        nccl_exchange_receive(connection, all, bytes))
        return ncclSuccess;
    return nccl_fail(ncclRemoteError, "ncclCommInitRank",
                     "rank %d of %d: another rank ended while the communicator was made",
                     connection->rank, connection->ranks);
}

void nccl_disconnect(struct nccl_connection *connection)
{
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
}
