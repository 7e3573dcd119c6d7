/* SPDX-License-Identifier: MIT
 * process.c: the process's connection to the node.
 *
 * The first connection (the control connection) carries hello and goodbye; in between it only
 * requests one connection for each host thread, so that a thread that waits never blocks another
 * one.
 *
 * fork: the child of a connected process can still query devices, from the data it inherited; every
 * other call returns 3, as on hardware. The child closes its copies of the sockets, so that the
 * node notices when the parent ends.
 */
#include "observer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static pthread_mutex_t process_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool process_started; /* true: start_error is final */
static cudaError_t start_error;
static int control_fd = -1; /* guarded by process_lock */

/* ---- hello ---- */

/* The checks that VGPU_CHECK selects. If a word is unknown, a message says so and the default
 * applies. */
static uint32_t checks_wanted(void)
{
    uint32_t checks;
    char bad[32];
    if (!vgpu_check_parse(getenv("VGPU_CHECK"), &checks, bad, sizeof bad))
        vgpu__message("VGPU_CHECK",
                      "\"%s\" is not valid: expected some of order, api, leaks, advice, kernels, "
                      "all, none (with commas between); VGPU_CHECK is ignored",
                      bad);
    return checks;
}

static void fill_hello(struct vgpu_request *request)
{
    const char *order = getenv("CUDA_DEVICE_ORDER");
    *request = (struct vgpu_request){.op = VGPU_OP_HELLO, .peer = -1, .call = "hello"};
    request->u.hello.protocol = VGPU_PROTOCOL;
    request->u.hello.pid = getpid();
    request->u.hello.device_order_pci = order && strcmp(order, "PCI_BUS_ID") == 0;
    const char *strict = getenv("VGPU_STRICT");
    request->u.hello.strict = strict && strcmp(strict, "1") == 0;
    request->u.hello.checks = checks_wanted();
    snprintf(request->u.hello.program, sizeof request->u.hello.program, "%s",
             program_invocation_short_name);
}

static const struct vgpu_node_info *map_info(int fd)
{
    struct stat stat;
    if (fstat(fd, &stat) != 0 || stat.st_size < (off_t)sizeof(struct vgpu_node_info))
        return NULL;
    void *p = mmap(NULL, sizeof(struct vgpu_node_info), PROT_READ, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Opens the file that VGPU_TRACE names; the node writes the timeline into it (timeline.h there).
 * -1: not set, or it cannot be opened (reported on stderr). */
static int open_trace(void)
{
    const char *path = getenv("VGPU_TRACE");
    if (!path || !*path)
        return -1;
    int fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0)
        vgpu__message("VGPU_TRACE", "%s cannot be written: %s; there will be no trace", path,
                      strerror(errno));
    vgpu__process.traced = fd >= 0;
    return fd;
}

enum welcome { WELCOME, REFUSED, GONE };

/* Prints why the reply to hello cannot be used. */
static void explain_unusable_reply(const struct vgpu_reply *reply, int count)
{
    if (reply->error != 0 && reply->explain[0])
        return; /* the node's own explanation has been printed */
    bool ours = reply->error == 0 && reply->u.hello.protocol == VGPU_PROTOCOL;
    if (ours && count < 2)
        vgpu__message("the virtual node",
                      "its answer came without its descriptors: this program, or "
                      "the node, has none left (ulimit -n)");
    else if (ours)
        vgpu__message("the virtual node",
                      "its description cannot be mapped: is this program's memory "
                      "limited (ulimit -v)?");
    else if (reply->error == 0 ||
             !reply->explain[0]) /* otherwise the node's explanation has been printed */
        vgpu__message(
            "the virtual node",
            "it uses protocol %u and answered code %d with %d descriptors, but this program "
            "needs protocol %d, code 0 and 2; rebuild the program or restart the node",
            reply->u.hello.protocol, reply->error, count, VGPU_PROTOCOL);
}

/* Sends hello on `fd`. WELCOME: the process now has what the node sent. REFUSED: the node or the
 * runtime has printed why. GONE: the node ended before it replied. */
static enum welcome send_hello(int fd)
{
    union {
        struct vgpu_reply reply;
        unsigned char room[VGPU_MSG_MAX];
    } answer;
    struct vgpu_request request;
    int fds[2], count = 2;
    fill_hello(&request);
    int trace_fd = open_trace();
    bool answered = vgpu__exchange(fd, NULL, &request, trace_fd, &answer.reply, fds, &count);
    if (trace_fd >= 0)
        close(trace_fd);
    if (!answered)
        return GONE;
    if (answer.reply.explain[0])
        vgpu__message("the virtual node", "%s", answer.reply.explain);
    if (count == 2 && answer.reply.error == 0 && answer.reply.u.hello.protocol == VGPU_PROTOCOL) {
        vgpu__process.info = map_info(fds[0]);
        vgpu__process.host_fd = fds[1];
        vgpu__process.node_cpu = answer.reply.u.hello.node_cpu;
        vgpu__process.checks = answer.reply.u.hello.checks;
        atomic_store(&vgpu__process.latest_ps, answer.reply.clock_ps);
        close(fds[0]);
    }
    if (vgpu__process.info)
        return WELCOME;
    if (count == 2 && vgpu__process.host_fd == fds[1])
        close(fds[1]);
    else
        for (int i = 0; i < count; i++)
            close(fds[i]);
    vgpu__process.host_fd = -1;
    explain_unusable_reply(&answer.reply, count);
    return REFUSED;
}

/* ---- fork and exit ---- */

static void before_fork(void)
{
    pthread_mutex_lock(&process_lock);
    vgpu__wires_lock();
    vgpu__fork_begins();
}

static void after_fork_parent(void)
{
    vgpu__fork_over();
    vgpu__wires_unlock();
    pthread_mutex_unlock(&process_lock);
}

static void after_fork_child(void)
{
    if (control_fd >= 0) {
        atomic_store(&vgpu__process.forked, true);
        vgpu__wires_drop();
        close(control_fd);
        control_fd = -1;
    }
    after_fork_parent();
    vgpu__child_begins();
}

/* Notifies the node of an orderly end, as opposed to a crash. */
static void send_goodbye(void)
{
    struct vgpu_request request = {.op = VGPU_OP_BYE, .peer = -1, .call = "exit"};
    union {
        struct vgpu_reply reply;
        unsigned char room[VGPU_MSG_MAX];
    } answer;
    bool told = true;
    vgpu__process_ends();
    request.clock_ps = vgpu__self.clock_ps;
    request.value = atomic_load(&vgpu__process.clock_read);
    request.ptr = vgpu__used_features();
    while (told) { /* the node's findings may take several replies */
        if (pthread_mutex_trylock(&process_lock) != 0)
            return;
        told = control_fd >= 0 && !atomic_load(&vgpu__process.lost) &&
               vgpu__exchange(control_fd, NULL, &request, -1, &answer.reply, NULL, NULL) &&
               answer.reply.explain[0];
        pthread_mutex_unlock(&process_lock);
        if (told)
            vgpu__explain("exit", cudaSuccess, answer.reply.explain);
    }
    vgpu__report();
}

/* ---- start ---- */

static cudaError_t connect_node(void)
{
    char why[512] = "";
    int fd = -1;
    enum welcome welcome = GONE;
    /* A node whose last client has just left may accept the connection and then end: try again. */
    for (int tries = 0; tries < 20 && welcome == GONE; tries++) {
        fd = vgpu__reach_node(why, sizeof why);
        if (fd < 0) {
            vgpu__message("no virtual node", "%s", why);
            return cudaErrorInsufficientDriver;
        }
        vgpu__limit_silence(fd);
        atomic_store(&vgpu__process.lost, true); /* suppresses the message of exchange.c */
        welcome = send_hello(fd);
        if (welcome != WELCOME)
            close(fd);
    }
    if (welcome != WELCOME) {
        vgpu__message("no virtual node", welcome == GONE
                                             ? "each node that accepted the connection ended "
                                               "before it answered; look at what vgpu-node prints"
                                             : "the one that answered refuses this program");
        return cudaErrorInsufficientDriver;
    }
    atomic_store(&vgpu__process.lost, false);
    control_fd = fd;
    atexit(send_goodbye);
    vgpu__fault_handler_install();
    return cudaSuccess;
}

static cudaError_t start_locked(void)
{
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
    cudaError_t error = connect_node();
    if (error != cudaSuccess)
        return error;
    const char *order = getenv("CUDA_DEVICE_ORDER");
    return vgpu__visible(vgpu__process.info, getenv("CUDA_VISIBLE_DEVICES"),
                         order && strcmp(order, "PCI_BUS_ID") == 0, vgpu__process.physical,
                         &vgpu__process.device_count);
}

cudaError_t vgpu__start(void)
{
    if (!atomic_load(&process_started)) {
        pthread_mutex_lock(&process_lock);
        if (!atomic_load(&process_started)) {
            start_error = start_locked();
            atomic_store(&process_started, true);
        }
        pthread_mutex_unlock(&process_lock);
    }
    return start_error;
}

int vgpu__new_connection(struct vgpu_request *request, struct vgpu_reply *reply)
{
    int fd = -1, count = 1;
    *request = (struct vgpu_request){.op = VGPU_OP_THREAD,
                                     .peer = -1,
                                     .free = true,
                                     .unregistered = vgpu__unregistered_threads(),
                                     .clock_ps = vgpu__self.clock_ps,
                                     .call = "thread"};
    pthread_mutex_lock(&process_lock);
    bool ok = control_fd >= 0 && vgpu__exchange(control_fd, NULL, request, -1, reply, &fd, &count);
    pthread_mutex_unlock(&process_lock);
    if (ok && count == 1 && reply->error == 0)
        return fd;
    if (ok && reply->explain[0])
        vgpu__message("the virtual node", "%s", reply->explain);
    else if (ok && count != 1)
        vgpu__message("a thread's first call",
                      "the connection of this thread to the virtual node did not arrive: has the "
                      "program no descriptors left (ulimit -n)?");
    if (ok && count == 1)
        close(fd);
    return -1;
}
