/* SPDX-License-Identifier: MIT
 * rig.c: plays the node to one vgpu-exec; see rig.h.
 */
#include "rig.h"
#include "door.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RIG_DOOR_MS 5000 /* a test that reads the socket afterwards has waited for nothing */

static void broken(const char *what)
{
    fprintf(stderr, "rig: %s: %s\n", what, strerror(errno));
    exit(3);
}

static int make_memory(const char *name, uint64_t bytes)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        broken("memfd");
    fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    return fd;
}

static void *view(int fd, uint64_t offset, uint64_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (at == MAP_FAILED)
        broken("mmap");
    return at;
}

static void spawn(struct rig *rig)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        broken("socketpair");
    rig->pid = fork();
    if (rig->pid < 0)
        broken("fork");
    if (rig->pid == 0) {
        int null = open("/dev/null", O_RDWR);
        for (int i = 0; i < 3; i++)
            dup2(null, getenv("VGPU_TEST_STDERR") && i == 2 ? 2 : i);
        dup2(pair[1], 3);
        execl(VGPU_EXEC_PATH, "vgpu-exec", (char *)NULL);
        _exit(127);
    }
    close(pair[1]);
    rig->socket = pair[0];
}

static void keep_print(struct rig *rig, const struct vgpu_exec_reply *reply)
{
    rig->printed = realloc(rig->printed, rig->printed_bytes + reply->printf_bytes + 1);
    memcpy(rig->printed + rig->printed_bytes, reply->data, reply->printf_bytes);
    rig->printed_bytes += reply->printf_bytes;
    rig->printed[rig->printed_bytes] = '\0';
}

static bool is_run(uint32_t op)
{
    return op == VGPU_EXEC_RUN || op == VGPU_EXEC_RESUME;
}

static struct vgpu_door *door(const struct rig *rig, int which)
{
    return rig->doors ? (void *)(rig->doors + which * VGPU_DOOR_BYTES) : NULL;
}

/* As the node does. True: the context was asked at its door. */
static bool send_request(struct rig *rig, const struct vgpu_exec_request *request, const int *fds,
                         int fd_count)
{
    uint64_t bytes = sizeof *request + request->data_bytes;
    if (rig->doors)
        vgpu_door_open(door(rig, VGPU_DOOR_ANSWERS));
    if (rig->doors && fd_count == 0 && vgpu_door_put(door(rig, VGPU_DOOR_ASKED), request, bytes))
        return true;
    if (rig->doors) {
        vgpu_door_close(door(rig, VGPU_DOOR_ANSWERS));
        vgpu_door_knock(door(rig, VGPU_DOOR_ASKED));
    }
    if (vgpu_send(rig->socket, request, bytes, fds, fd_count) != 0)
        broken("send");
    return false;
}

void rig_ask(struct rig *rig, const struct vgpu_exec_request *request, const void *data,
             uint32_t data_bytes, const int *fds, int fd_count)
{
    static union {
        struct vgpu_exec_request request;
        struct vgpu_exec_reply reply;
        uint8_t room[VGPU_MSG_MAX];
    } message;
    message.request = *request;
    message.request.data_bytes = data_bytes;
    if (data_bytes)
        memcpy(message.request.data, data, data_bytes);
    bool asked = send_request(rig, &message.request, fds, fd_count);
    rig->printed_bytes = 0;
    rig->at_door = false;
    do {
        ssize_t got = asked ? vgpu_door_take(door(rig, VGPU_DOOR_ANSWERS), &message, sizeof message,
                                             RIG_DOOR_MS)
                            : -1;
        rig->at_door |= got >= 0;
        asked = false;
        if (got < 0)
            got = vgpu_receive(rig->socket, &message, sizeof message, NULL, NULL, 0);
        if (got < (ssize_t)sizeof rig->reply)
            broken("the context has ended without a reply");
        rig->reply = message.reply;
        if (is_run(request->op))
            keep_print(rig, &message.reply);
    } while (is_run(request->op) && message.reply.status == VGPU_OK);
    if (request->op == VGPU_EXEC_MODULE) {
        rig->var_count = message.reply.data_bytes / sizeof *rig->vars;
        memcpy(rig->vars, message.reply.data, rig->var_count * sizeof *rig->vars);
    }
}

static void need_ok(struct rig *rig, const char *what)
{
    if (rig->reply.status == VGPU_OK)
        return;
    fprintf(stderr, "rig: %s was refused: %s\n", what, rig->reply.text);
    exit(3);
}

static void attach(struct rig *rig)
{
    int fds[RIG_DEVICES + 2];
    struct vgpu_exec_request request = {
        .op = VGPU_EXEC_ATTACH, .device_count = RIG_DEVICES, .limits = rig->limits};
    for (int i = 0; i <= RIG_DEVICES; i++) {
        fds[i] = make_memory("memory", i < RIG_DEVICES ? RIG_MEMORY : VGPU_HOST_BYTES);
        rig->memory[i] = view(fds[i], 0, RIG_MEMORY);
    }
    fds[RIG_DEVICES + 1] = make_memory("control", sizeof *rig->control);
    rig->control = view(fds[RIG_DEVICES + 1], 0, sizeof *rig->control);
    rig_ask(rig, &request, NULL, 0, fds, RIG_DEVICES + 2);
    need_ok(rig, "ATTACH");
    rig->doors = view(fds[RIG_DEVICES], VGPU_DOOR_VA(0) - VGPU_HOST_VA, 2 * VGPU_DOOR_BYTES);
    for (int i = 0; i < RIG_DEVICES + 2; i++)
        close(fds[i]);
}

void rig_start(struct rig *rig)
{
    struct vgpu_exec_request request = {.op = VGPU_EXEC_MODULE, .module = 1};
    spawn(rig);
    attach(rig);
    const char *path = rig->image ? rig->image : TEST_IMAGE_PATH;
    int image = open(path, O_RDONLY | O_CLOEXEC);
    if (image < 0)
        broken(path);
    rig_ask(rig, &request, NULL, 0, &image, 1);
    need_ok(rig, "MODULE");
    close(image);
    rig->kernel_count = rig->reply.kernel_count;
    rig->var_base = rig->reply.var_base;
    rig->var_bytes = rig->reply.var_bytes;
}

int rig_stop(struct rig *rig)
{
    int status = -1;
    close(rig->socket);
    vgpu_door_knock(door(rig, VGPU_DOOR_ASKED));
    waitpid(rig->pid, &status, 0);
    for (int i = 0; i <= RIG_DEVICES; i++)
        munmap(rig->memory[i], RIG_MEMORY);
    munmap(rig->control, sizeof *rig->control);
    free(rig->printed);
    rig->printed = NULL;
    return status;
}

void rig_map(struct rig *rig, int memory, uint64_t bytes, bool writable)
{
    struct vgpu_exec_request request = {.op = VGPU_EXEC_MAP,
                                        .memory = memory,
                                        .writable = writable,
                                        .va = memory < 0 ? HOST : VGPU_DEVICE_VA(memory),
                                        .bytes = bytes};
    rig_ask(rig, &request, NULL, 0, NULL, 0);
    need_ok(rig, "MAP");
}

void rig_unmap(struct rig *rig, uint64_t va, uint64_t bytes)
{
    struct vgpu_exec_request request = {.op = VGPU_EXEC_UNMAP, .va = va, .bytes = bytes};
    rig_ask(rig, &request, NULL, 0, NULL, 0);
    need_ok(rig, "UNMAP");
}

int rig_run_as(struct rig *rig, uint64_t run, enum kernel_number kernel, struct shape shape,
               uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t arguments[4] = {a, b, c, 0};
    struct vgpu_exec_request request = {.op = VGPU_EXEC_RUN, .module = 1, .run = run};
    request.launch.module = 1;
    request.launch.kernel = kernel;
    for (int i = 0; i < 3; i++) {
        request.launch.grid[i] = shape.grid[i] ? shape.grid[i] : 1;
        request.launch.block[i] = shape.block[i] ? shape.block[i] : 1;
        request.launch.cluster[i] = 1;
    }
    request.launch.shared_bytes = shape.shared;
    request.launch.param_count = 4;
    memcpy(request.pointed, rig->pointed, sizeof request.pointed);
    rig_ask(rig, &request, arguments, sizeof arguments, NULL, 0);
    return rig->reply.status;
}

int rig_run(struct rig *rig, enum kernel_number kernel, struct shape shape, uint64_t a, uint64_t b,
            uint64_t c)
{
    return rig_run_as(rig, 1, kernel, shape, a, b, c);
}

int rig_resume(struct rig *rig, uint64_t run)
{
    struct vgpu_exec_request request = {.op = VGPU_EXEC_RESUME, .run = run};
    rig_ask(rig, &request, NULL, 0, NULL, 0);
    return rig->reply.status;
}

uint32_t *rig_words(struct rig *rig, uint64_t offset)
{
    return (uint32_t *)(void *)(rig->memory[0] + offset);
}
