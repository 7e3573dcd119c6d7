/* SPDX-License-Identifier: MIT
 * main.c: vgpu-exec: one CUDA context: a process that runs the kernels of one program on one GPU.
 *
 * The node starts it with a socket on descriptor 3 and sends one request at a time. The process
 * ends when that socket closes, or when its node dies. It has no input or output of its own.
 */
#include "device_image.h"
#include "exec.h"
#include "mapped_memory.h"
#include "message.h"
#include "run.h"
#include "traps.h"
#include "wire.h"
#include "worker_process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

union message {
    struct vgpu_exec_request request;
    struct vgpu_exec_reply reply;
    uint8_t room[VGPU_MSG_MAX];
};

static union message incoming, outgoing;

enum { MAX_VARS = (VGPU_MSG_MAX - sizeof(struct vgpu_exec_reply)) / sizeof(struct vgpu_exec_var) };

/* Adds as many of the image's variables as a message holds, from number `first` on. */
static void put_vars(const struct device_image *image, uint64_t first,
                     struct vgpu_exec_reply *reply)
{
    for (uint64_t i = first; i < reply->var_count && i - first < MAX_VARS; i++) {
        struct vgpu_exec_var var = {0};
        image_var(image, (uint32_t)i, &var);
        memcpy(reply->data + reply->data_bytes, &var, sizeof var);
        reply->data_bytes += sizeof var;
    }
}

static void load_module(const struct vgpu_exec_request *request, int *fds, int fd_count,
                        struct vgpu_exec_reply *reply)
{
    struct device_image *image = image_find(request->module);
    if (fd_count == 0 && image) {
        image_vars(image, &reply->var_base, &reply->var_bytes, &reply->var_count);
        put_vars(image, request->va, reply);
        return;
    }
    if (fd_count != 1) {
        snprintf(reply->text, sizeof reply->text, "MODULE %u came with %d descriptors, not one",
                 request->module, fd_count);
        reply->status = VGPU_REFUSED;
        return;
    }
    workers_retire();
    image = image_load(request->module, fds[0], reply->text, sizeof reply->text);
    if (!image) {
        reply->status = VGPU_REFUSED;
        return;
    }
    fds[0] = -1; /* owned by the image now */
    reply->kernel_count = image_kernel_count(image);
    image_vars(image, &reply->var_base, &reply->var_bytes, &reply->var_count);
    put_vars(image, 0, reply);
}

static void answer_request(const struct vgpu_exec_request *request, int *fds, int fd_count,
                           struct vgpu_exec_reply *reply)
{
    char *why = reply->text;
    const uint64_t room = sizeof reply->text;
    bool done = false;
    if (!context.attached && request->op != VGPU_EXEC_ATTACH) {
        snprintf(why, room, "operation %u before ATTACH", request->op);
        reply->status = VGPU_REFUSED;
        return;
    }
    switch (request->op) {
    case VGPU_EXEC_ATTACH:
        done = memory_attach(request, fds, fd_count, why, room);
        for (int i = 0; done && i < fd_count; i++)
            fds[i] = -1; /* owned by the context now */
        if (done)
            message_use_doors(context.host_fd, context.device);
        break;
    case VGPU_EXEC_MAP:
        done = memory_map(request, why, room);
        break;
    case VGPU_EXEC_UNMAP:
        done = memory_unmap(request->va, request->bytes, why, room);
        break;
    case VGPU_EXEC_MODULE:
        load_module(request, fds, fd_count, reply);
        return;
    case VGPU_EXEC_RUN:
        run_start(request, reply);
        return;
    case VGPU_EXEC_RESUME:
        run_resume(request->run, reply);
        return;
    case VGPU_EXEC_ABORT:
        run_abort(request->run, reply);
        return;
    default:
        snprintf(why, room, "operation %u is unknown: node and vgpu-exec are of different versions",
                 request->op);
    }
    if (done)
        workers_log(request);
    reply->status = done ? VGPU_OK : VGPU_REFUSED;
}

static void set_up_context(void)
{
    struct rlimit none = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGPIPE, SIG_IGN);
    traps_setup();
}

int main(void)
{
    set_up_context();
    for (;;) {
        int fds[VGPU_WIRE_FDS], fd_count = VGPU_WIRE_FDS;
        ssize_t got = message_receive(&incoming, sizeof incoming, fds, &fd_count);
        if (got < (ssize_t)sizeof incoming.request)
            return 0; /* the node has closed the socket, or it is no node */
        memset(&outgoing, 0, sizeof outgoing.reply);
        outgoing.reply.run = incoming.request.run;
        if (incoming.request.data_bytes > (size_t)got - sizeof incoming.request)
            incoming.request.data_bytes = (uint32_t)((size_t)got - sizeof incoming.request);
        answer_request(&incoming.request, fds, fd_count, &outgoing.reply);
        for (int i = 0; i < fd_count; i++)
            if (fds[i] >= 0)
                close(fds[i]);
        message_listen();
        message_send(&outgoing.reply);
    }
}
