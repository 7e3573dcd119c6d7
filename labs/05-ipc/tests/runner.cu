/* SPDX-License-Identifier: MIT
 * runner.cu: lab 05's adapters. The runner itself makes no CUDA call: its ranks do.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"

#include "ring_rank.h"

#include "lone.h"

/* ---- handles ---- */

struct handle_job {
    const struct handle_in *in;
    struct handle_out *out;
};
struct handle_card {
    struct wire wire, said; /* what is imported; what ipc_export said */
    cudaIpcEventHandle_t event[2];
};

static void export_it(const struct handle_job *job, char *base, struct handle_card *card)
{
    const struct handle_in *in = job->in;
    struct handle_out *out = job->out;
    cudaIpcMemHandle_t handle;
    struct wire wire;
    int host = 0;
    memset(&wire, IO_FILL, sizeof wire);
    lab_doing("ipc_export(%s, %zu, %zu, %s)", in->odd == ODD_NULL ? "NULL" : "base",
              (size_t)in->offset, (size_t)(in->odd == ODD_ZERO ? 0 : in->bytes),
              in->odd == ODD_NO_OUT ? "NULL" : "&wire");
    void *from = in->odd == ODD_NULL ? NULL : in->odd == ODD_HOST ? (void *)&host : base;
    out->export_rc = ipc_export(from, in->offset, in->odd == ODD_ZERO ? 0 : in->bytes,
                                in->odd == ODD_NO_OUT ? NULL : &wire);
    out->export_last = last_error();
    out->export_untouched = all_bytes(&wire, sizeof wire, IO_FILL);
    out->setup |= (int)cudaIpcGetMemHandle(&handle, base);
    out->handle_ok = memcmp(&handle, &wire.handle, sizeof handle) == 0;
    out->offset = wire.offset;
    out->bytes = wire.bytes;
    card->said = wire;
    card->wire.handle = handle; /* the import does not depend on the export's being right */
    card->wire.offset = in->offset;
    card->wire.bytes = in->bytes;
}

static void make_events(struct handle_out *out, struct handle_card *card, struct events *events)
{
    memset(events, IO_FILL, sizeof *events);
    out->events_rc = LAB_CALL(ipc_events(events));
    out->events_untouched = all_bytes(events, sizeof *events, IO_FILL);
    out->events_null_rc = LAB_CALL(ipc_events(NULL));
    out->events_last = last_error();
    memcpy(card->event, events->handle, sizeof card->event);
}

static void import_it(const struct handle_job *job, struct wire *wire)
{
    const struct handle_in *in = job->in;
    struct handle_out *out = job->out;
    struct remote remote;
    int value = -1;
    memset(&remote, IO_FILL, sizeof remote);
    if (in->odd == ODD_STALE)
        memset(&wire->handle, 1, sizeof wire->handle);
    if (in->odd == ODD_ZERO)
        wire->bytes = 0;
    lab_doing("ipc_import(%s, %s)", in->odd == ODD_NULL ? "NULL" : "&wire",
              in->odd == ODD_NO_OUT ? "NULL" : "&remote");
    out->import_rc =
        ipc_import(in->odd == ODD_NULL ? NULL : wire, in->odd == ODD_NO_OUT ? NULL : &remote);
    out->import_last = last_error();
    out->import_untouched = all_bytes(&remote, sizeof remote, IO_FILL);
    if (out->import_rc)
        return;
    out->import_bytes_ok = remote.bytes == in->bytes;
    (void)cudaMemcpy(&value, remote.ptr, sizeof value, cudaMemcpyDeviceToHost);
    out->seen = value;
    out->base_closes = cudaIpcCloseMemHandle(remote.base) == cudaSuccess;
    value = -1;
    if (in->odd == ODD_NONE && ipc_import(wire, &remote) == LAB_OK) {
        (void)cudaMemcpy(&value, remote.ptr, sizeof value, cudaMemcpyDeviceToHost);
        (void)cudaIpcCloseMemHandle(remote.base);
    }
    out->seen_again = value;
    (void)cudaGetLastError();
}

/* What ipc_export made opens in another process. */
static void open_export(const struct handle_job *job, const struct wire *said)
{
    void *base = NULL;
    job->out->export_opens =
        (int)cudaIpcOpenMemHandle(&base, said->handle, cudaIpcMemLazyEnablePeerAccess);
    if (job->out->export_opens == 0)
        (void)cudaIpcCloseMemHandle(base);
    (void)cudaGetLastError();
}

static int handle_rank(struct peers *p, void *argument)
{
    const struct handle_job *job = (const struct handle_job *)argument;
    struct handle_card card, all[2];
    struct events events;
    char *base = NULL;
    int value = IO_VALUE, gpus = 1;
    memset(&card, 0, sizeof card);
    (void)cudaGetDeviceCount(&gpus);
    (void)cudaSetDevice(job->in->last ? gpus - 1 : p->rank % gpus);
    if (p->rank == 0) {
        job->out->setup =
            (int)cudaMalloc((void **)&base, job->in->offset + job->in->bytes + 4) |
            (int)cudaMemcpy(base + job->in->offset, &value, sizeof value, cudaMemcpyHostToDevice);
        export_it(job, base, &card);
        make_events(job->out, &card, &events);
        if (job->in->odd == ODD_SAME_PROCESS)
            import_it(job, &card.wire);
    }
    if (peers_gather(p, &card, all, sizeof card) != LAB_OK) {
        job->out->not_met = 1;
        (void)cudaFree(base);
        return 0;
    }
    if (p->rank == 1 && job->in->odd != ODD_SAME_PROCESS)
        import_it(job, &all[0].wire);
    if (p->rank == 1 && job->in->odd == ODD_NONE)
        open_export(job, &all[0].said);
    for (int i = 0; i < 2 && p->rank == 1; i++) {
        cudaEvent_t event;
        job->out->events_open[i] = (int)cudaIpcOpenEventHandle(&event, all[0].event[i]);
        if (job->out->events_open[i] == 0)
            (void)cudaEventDestroy(event);
        (void)cudaGetLastError();
    }
    (void)peers_barrier(p);
    for (int i = 0; i < 2 && p->rank == 0 && job->out->events_rc == 0; i++)
        (void)cudaEventDestroy(events.event[i]);
    (void)cudaFree(base);
    return 0;
}

LAB_RUN(handle)
{
    const struct handle_in *in = (const struct handle_in *)lab_input(io, sizeof *in);
    struct handle_out *out = (struct handle_out *)lab_result(io, sizeof *out);
    struct handle_job job = {in, out};
    memset(out, 0, sizeof *out);
    (void)peers_start(2, handle_rank, &job, out->status);
}

/* ---- each call of CUDA fails once ---- */

static int dropped; /* bytes given to event_drop that are no event */

/* What the tasks call in the place of event_drop (WATCHED in solutions/CMakeLists.txt). */
extern "C" void lab_watched_event_drop(cudaEvent_t event)
{
    cudaError_t is = event ? cudaEventQuery(event) : cudaSuccess;
    if (is == cudaSuccess || is == cudaErrorNotReady)
        event_drop(event);
    else
        dropped++;
    (void)cudaGetLastError();
}

LAB_RUN(refused)
{
    const struct refused_in *in = (const struct refused_in *)lab_input(io, sizeof *in);
    struct lab_refusals *told = (struct lab_refusals *)lab_result(io, sizeof *told);
    struct lab_refusal *entry;
    struct events events;
    struct wire wire;
    char *base = NULL;
    told->calls = 0;
    (void)cudaMalloc((void **)&base, 4096);
    do {
        memset(&events, IO_FILL, sizeof events);
        memset(&wire, IO_FILL, sizeof wire);
        lab_fail_call(told->calls + 1);
        dropped = 0;
        int rc = in->events ? ipc_events(&events) : ipc_export(base, 64, 1000, &wire);
        const char *failed = lab_call_failed();
        int error = last_error();
        for (int i = 0; i < 2 && in->events && rc == LAB_OK; i++)
            (void)cudaEventDestroy(events.event[i]);
        if ((entry = lab_note_refusal(told, failed, rc))) {
            entry->error = error;
            bool wrote = !all_bytes(&events, sizeof events, IO_FILL) ||
                         !all_bytes(&wire, sizeof wire, IO_FILL);
            entry->wrote = dropped ? 2 : wrote;
            entry->right = 0;
        }
    } while (entry);
    (void)cudaFree(base);
}

/* ---- the ring ---- */

LAB_RUN(ring)
{
    const struct ring_in *in = (const struct ring_in *)lab_input(io, sizeof *in);
    struct ring_out *out = (struct ring_out *)lab_result(io, sizeof *out);
    struct ring_job job = {in, out, lab_sealed_input, lab_sealed_result};
    memset(out, 0, sizeof *out);
    (void)peers_start(in->ranks, ring_rank, &job, out->status);
}

LAB_RUN(refuse)
{
    struct refuse_out *out = (struct refuse_out *)lab_result(io, sizeof *out);
    struct ring none;
    size_t bytes;
    int word = 0;
    memset(&none, 0, sizeof none);
    out->put_null = LAB_CALL(ring_put(NULL, &word, 4));
    out->put_none = LAB_CALL(ring_put(&none, &word, 4));
    out->take_null = LAB_CALL(ring_take(NULL, &word, 4, &bytes));
    out->take_none = LAB_CALL(ring_take(&none, &word, 4, &bytes));
    out->close_null = LAB_CALL(ipc_close(NULL));
    out->close_none = LAB_CALL(ipc_close(&none));
}

static __global__ void store(int *at)
{
    *at = 1;
}

LAB_RUN(close_failed)
{
    struct failed_out *out = (struct failed_out *)lab_result(io, sizeof *out);
    struct ring ring;
    memset(&ring, 0, sizeof ring);
    (void)cudaStreamCreateWithFlags(&ring.stream, cudaStreamNonBlocking);
    store<<<1, 1, 0, ring.stream>>>(NULL);
    out->rc = LAB_CALL(ipc_close(&ring));
    out->zeroed = all_bytes(&ring, sizeof ring, 0);
}

/* ---- one message ---- */

static void nothing(int signal)
{
    (void)signal;
}

static void other_side(const struct hear_in *in, int fd)
{
    if (in->how == HEAR_LATE || in->how == HEAR_SIGNAL)
        (void)poll(NULL, 0, 150);
    if (in->how <= HEAR_LAST || in->how == HEAR_SIGNAL || in->how == HEAR_NULL)
        (void)peer_tell(fd, (size_t)LARGE_NUMBER);
    if (in->how != HEAR_GONE && in->how != HEAR_LAST)
        (void)poll(NULL, 0, 5000);
    _exit(0);
}

LAB_RUN(hear)
{
    const struct hear_in *in = (const struct hear_in *)lab_input(io, sizeof *in);
    struct hear_out *out = (struct hear_out *)lab_result(io, sizeof *out);
    struct sigaction action;
    struct itimerval soon = {{0, 0}, {0, 50000}};
    size_t number;
    int pair[2];
    memset(&action, 0, sizeof action);
    memset(&number, IO_FILL, sizeof number);
    action.sa_handler = nothing;
    (void)sigaction(SIGALRM, &action, NULL);
    (void)socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    pid_t child = fork();
    if (child == 0) {
        close(pair[0]);
        other_side(in, pair[1]);
    }
    close(pair[1]);
    if (in->how == HEAR_LAST)
        (void)waitpid(child, NULL, 0);
    if (in->how == HEAR_SIGNAL || in->how == HEAR_INTERRUPTED)
        (void)setitimer(ITIMER_REAL, &soon, NULL);
    double start = now();
    lab_doing("peer_hear(fd, %d, %s) of a peer that %s", in->wait_ms,
              in->how == HEAR_NULL ? "NULL" : "&number",
              in->how == HEAR_SILENT || in->how == HEAR_INTERRUPTED ? "says nothing"
              : in->how == HEAR_GONE                                ? "has gone"
                                                                    : "speaks");
    out->rc = peer_hear(pair[0], in->wait_ms, in->how == HEAR_NULL ? NULL : &number);
    out->seconds = now() - start;
    out->number = number;
    char rest[16];
    ssize_t left = recv(pair[0], rest, sizeof rest, MSG_DONTWAIT);
    out->left = left > 0 ? (int)left : 0;
    out->untouched = all_bytes(&number, sizeof number, IO_FILL);
    if (in->how != HEAR_LAST)
        (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
}

LAB_RUNS = {
    LAB_ENTRY_FORKS(handle), LAB_ENTRY_FORKS(ring), LAB_ENTRY(refuse),       LAB_ENTRY(refused),
    LAB_ENTRY(lone),         LAB_ENTRY(hear),       LAB_ENTRY(close_failed), LAB_END};
