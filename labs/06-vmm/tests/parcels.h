/* SPDX-License-Identifier: MIT
 * parcels.h: the adapter for vmm_export and vmm_import (part of runner.cu): two processes, a socket
 * between them. The second one is made before the first calls CUDA, as it must be.
 */
#ifndef LAB06_PARCELS_H
#define LAB06_PARCELS_H

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Comes back when the other side is here as well, or gone. */
static void meet(int socket)
{
    char word = 0;
    (void)!send(socket, &word, 1, MSG_NOSIGNAL);
    (void)!recv(socket, &word, 1, MSG_WAITALL);
}

static void spoil_parcel(const struct parcel_in *in, struct vmm_parcel *parcel)
{
    if (in->bad == PARCEL_SIZE)
        parcel->bytes += (size_t)in->more;
    if (in->no_stdin) { /* 1 is a descriptor like any other */
        (void)dup2(parcel->fd, 1);
        close(parcel->fd);
        parcel->fd = 1;
    }
    if (in->bad == PARCEL_NO_FD) {
        parcel_drop(parcel);
        parcel->fd = open("/dev/null", O_RDONLY);
    }
}

static void use_import(const struct parcel_in *in, struct vmm *v, struct parcel_child *out)
{
    out->device = v->device;
    out->bytes = v->bytes;
    out->base = v->base;
    all_access(v->base, in->gpus, out->access);
    if (out->access[in->importer] == 3) {
        (void)get_by(in->importer, v->base, &out->value);
        (void)put_by(in->importer, v->base + v->bytes - sizeof(int), PARCEL_BACK);
    }
    out->freed = vmm_free(v);
}

/* The importer's life: its report goes through the socket. */
static void import_and_tell(const struct parcel_in *in, int socket)
{
    struct parcel_child out;
    struct vmm_parcel parcel = {};
    struct vmm v;
    memset(&out, 0, sizeof out);
    memset(&v, IO_FILL, sizeof v);
    parcel.fd = -1;
    if (!in->first_call)
        start(in->gpus, 0);
    if (in->no_stdin)
        close(0);
    int before = open_fds();
    out.received = parcel_recv(socket, &parcel);
    if (out.received == LAB_OK) {
        spoil_parcel(in, &parcel);
        lab_doing("vmm_import(&parcel, %d, &v)", in->importer);
        out.imported = vmm_import(&parcel, in->importer, &v);
        if (in->first_call) {
            before = open_fds(); /* CUDA's own among them */
            start(in->gpus, 0);
        }
        out.fd_after = parcel.fd;
        meet(socket); /* it is imported; now the exporter may free */
        meet(socket);
        out.untouched = all_bytes(&v, sizeof v, IO_FILL);
        if (out.imported == LAB_OK)
            use_import(in, &v, &out);
        else
            parcel_drop(&parcel);
        out.fds = open_fds() - before;
    }
    (void)!send(socket, &out, sizeof out, MSG_NOSIGNAL);
}

/* Calls that must be refused; none of them may use anything up. */
static void ask_nulls(const struct vmm *v, int *rc)
{
    struct vmm_parcel parcel = {};
    struct vmm nothing, to;
    memset(&nothing, 0, sizeof nothing);
    parcel.fd = -1;
    parcel.bytes = 4096;
    rc[0] = LAB_CALL(vmm_export(NULL, &parcel));
    rc[1] = LAB_CALL(vmm_export(v, NULL));
    rc[2] = LAB_CALL(vmm_export(&nothing, &parcel));
    rc[3] = LAB_CALL(vmm_import(NULL, 0, &to));
    rc[4] = LAB_CALL(vmm_import(&parcel, 0, &to));
    parcel.fd = 0;
    rc[5] = LAB_CALL(vmm_import(&parcel, 0, &to));
    parcel.fd = 1;
    rc[6] = LAB_CALL(vmm_import(&parcel, 0, NULL));
    parcel.bytes = 0;
    rc[7] = LAB_CALL(vmm_import(&parcel, 0, &to));
}

/* vmm_export where no descriptor is free, or only the number 0. */
static int export_into_full(const struct vmm *v, int zero, struct vmm_parcel *parcel)
{
    struct rlimit usual, few;
    int taken[64], n = 0, in = dup(0);
    (void)getrlimit(RLIMIT_NOFILE, &usual);
    few = usual;
    few.rlim_cur = (rlim_t)in + 8;
    (void)setrlimit(RLIMIT_NOFILE, &few);
    while (n < 64 && (taken[n] = dup(in)) >= 0)
        n++;
    if (zero)
        close(0);
    lab_doing("vmm_export(&v, &parcel) without a free descriptor");
    lab_refusing(1);
    int rc = vmm_export(v, parcel);
    lab_refusing(0);
    if (zero)
        (void)dup2(in, 0);
    (void)setrlimit(RLIMIT_NOFILE, &usual);
    while (n > 0)
        close(taken[--n]);
    close(in);
    return rc;
}

static void ask_full(const struct vmm *v, struct parcel_out *out)
{
    struct vmm_parcel parcel;
    memset(&parcel, IO_FILL, sizeof parcel);
    out->full_rc[0] = export_into_full(v, 0, &parcel);
    out->full_rc[1] = export_into_full(v, 1, &parcel);
    struct vmm other = *v;
    other.handle = ~v->handle;
    out->full_rc[2] = vmm_export(&other, &parcel);
    out->full_untouched = all_bytes(&parcel, sizeof parcel, IO_FILL);
}

static void export_and_ask(const struct parcel_in *in, int socket, struct parcel_out *out)
{
    struct vmm_parcel parcel = {};
    struct vmm v;
    memset(&v, 0, sizeof v);
    parcel.fd = -1;
    start(in->gpus, 0);
    out->setup = vmm_alloc(in->device, (size_t)in->bytes, &v) ||
                 put_by(in->device, v.base, PARCEL_SENT) ||
                 put_by(in->device, v.base + v.bytes - sizeof(int), IO_UNSET);
    if (out->setup)
        return;
    if (in->no_stdin)
        close(0);
    int before = open_fds();
    if (in->bad == PARCEL_NULL)
        ask_nulls(&v, out->null_rc);
    if (in->full)
        ask_full(&v, out);
    out->base = v.base;
    out->parcel_bytes = v.bytes;
    out->exported = LAB_CALL(vmm_export(&v, &parcel));
    out->export_bytes = parcel.bytes;
    out->export_fd = parcel.fd;
    if (out->exported == LAB_OK && parcel.fd > 0) {
        CUdeviceptr last = v.base + v.bytes - sizeof(int);
        out->export_fds = open_fds() - before;
        out->sent = parcel_send(socket, &parcel);
        parcel_drop(&parcel);
        out->exported_again = LAB_CALL(vmm_export(&v, &parcel));
        out->again_open = fcntl(parcel.fd, F_GETFD) >= 0;
        parcel_drop(&parcel);
        meet(socket);
        if (in->free_early)
            out->freed = vmm_free(&v);
        meet(socket);
        if (recv(socket, &out->child, sizeof out->child, MSG_WAITALL) != sizeof out->child)
            out->setup = LAB_EPEER;
        out->value = IO_UNSET;
        if (!in->free_early)
            (void)get_by(in->device, last, &out->value);
    }
    if (v.handle)
        out->freed = vmm_free(&v);
}

LAB_RUN(parcel)
{
    const struct parcel_in *in = (const struct parcel_in *)lab_input(io, sizeof *in);
    struct parcel_out *out = (struct parcel_out *)lab_result(io, sizeof *out);
    int ends[2] = {-1, -1};
    memset(out, 0, sizeof *out);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
        out->setup = LAB_ECUDA;
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        import_and_tell(in, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    export_and_ask(in, ends[0], out);
    close(ends[0]);
    (void)waitpid(child, &out->child_status, 0);
}

#endif
