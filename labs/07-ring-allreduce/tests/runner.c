/* SPDX-License-Identifier: MIT
 * runner.c: calls the functions of lab 07 for the tests. It only translates; the judging is done in
 * another process.
 *
 * Everything around a collective is queued on the ranks' streams as well, and nothing waits before
 * the end: the upload before it, the download after it, and then rubbish into the buffers. Who
 * starts too early or is still at it afterwards reads or writes rubbish.
 */
#include "adapters.h"
#include "collectives.h"
#include "far.h"
#include "speed.h"
#include "timed.h"

#define RUBBISH 0x55
#define FAR ((size_t)1 << 32) /* elements */

/* ---- ring_chunk ---- */

LAB_RUN(chunk)
{
    size_t n = lab_input_bytes(io) / sizeof(struct chunk_in);
    const struct chunk_in *in = lab_input(io, n * sizeof *in);
    struct chunk_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        size_t first, len;
        memset(&first, UNTOUCHED, sizeof first);
        memset(&len, UNTOUCHED, sizeof len);
        lab_doing("ring_chunk(%zu, %d, %d, %s, %s)", (size_t)in[i].count, in[i].n, in[i].k,
                  in[i].no_first ? "NULL" : "&first", in[i].no_len ? "NULL" : "&len");
        out[i].rc = ring_chunk((size_t)in[i].count, in[i].n, in[i].k,
                               in[i].no_first ? NULL : &first, in[i].no_len ? NULL : &len);
        out[i].first = first;
        out[i].len = len;
    }
}

/* ---- ring_reduce ---- */

static void *upload(const char *data, size_t bytes)
{
    void *at = NULL;
    if (cudaMalloc(&at, bytes) != cudaSuccess)
        return NULL;
    cudaMemcpy(at, data, bytes, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    return at;
}

/* Comes back as it is now. */
static void fetch(char *to, const char *from, size_t bytes)
{
    if (from)
        cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
    cudaFree((void *)from);
}

static void reduce_once(const struct reduce_in *in, struct reduce_out *out, size_t i)
{
    static char nowhere[1]; /* an address, for machines whose GPU has none to give */
    const struct reduce_call *c = &in->call[i];
    size_t each = ring_type_bytes((enum ring_type)c->type), wide = each ? each : 4;
    size_t bytes = (size_t)(c->count + 2 * GUARD) * wide;
    const char *data = (const char *)lab_sealed_input() + c->at;
    char *result = (char *)lab_sealed_result() + c->at;
    cudaStream_t stream = NULL;

    before(c->gpu);
    char *dst = upload(data, bytes), *src = upload(data + bytes, bytes);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaGetLastError();
    void *to = c->no_dst ? NULL : dst ? dst + GUARD * wide : nowhere;
    void *from = c->no_src ? NULL : src ? src + GUARD * wide : nowhere;
    int rc = LAB_OK, times = c->times ? c->times : 1;
    for (int k = 0; k < times && rc == LAB_OK; k++)
        rc = ring_reduce(to, from, (size_t)(c->count + c->claimed), (enum ring_type)c->type,
                         (enum ring_op)c->op, stream);
    after(&out->call[i], rc);
    out->after[i] = stream ? (int32_t)cudaStreamSynchronize(stream) : 0;
    if (stream)
        cudaStreamDestroy(stream);
    fetch(result, dst, bytes);
    fetch(result + bytes, src, bytes);
    cudaGetLastError();
}

LAB_RUN(reduce)
{
    const struct reduce_in *in = lab_input(io, sizeof *in);
    struct reduce_out *out = lab_result(io, sizeof *out);
    for (size_t i = 0; i < in->calls; i++)
        reduce_once(in, out, i);
}

/* ---- the collectives ---- */

/* One call with all that belongs to it. */
struct job {
    const struct ring_call *c;
    struct ring_told *told;
    struct ring ring;
    int no_gpu; /* -1: what stands behind the last of eight ranks */
    int gpu[RING_RANKS];
    size_t each, bytes; /* of an element, of a buffer with its guards */
    int runs;
    void *other[RING_RANKS];                   /* buffers of the call that follows */
    char *send[RING_RANKS], *recv[RING_RANKS]; /* recv == send: in place */
};

/* Sealed: what is uploaded before each run, and then what is downloaded after it. */
static const char *from(const struct job *job, int r)
{
    return (const char *)lab_sealed_input() + job->c->in_at + (size_t)r * job->bytes;
}

static char *got(const struct job *job, int k, int r)
{
    size_t before = 2 * ((size_t)k * (size_t)job->c->n + (size_t)r);
    return (char *)lab_sealed_result() + job->c->out_at + before * job->bytes;
}

static void prepare(struct job *job)
{
    const struct ring_call *c = job->c;
    for (int r = 0; r < c->n; r++) {
        void *send = NULL, *recv = NULL;
        cudaSetDevice(job->gpu[r]);
        /* One more element, for a recv that overlaps; or all that a call claims, and a recv. */
        size_t more = c->odd == ODD_FAR ? FAR * job->each + job->bytes : job->each;
        cudaMalloc(&send, job->bytes + more);
        if (c->out_of_place && c->odd == ODD_FAR)
            recv = (char *)send + FAR * job->each + job->bytes;
        else if (io_apart(c, r))
            cudaMalloc(&recv, job->bytes);
        if (c->then)
            cudaMalloc(&job->other[r], job->bytes);
        if (c->then)
            cudaMemset(job->other[r], 1 + r, job->bytes);
        cudaDeviceSynchronize();
        job->send[r] = send;
        job->recv[r] = io_apart(c, r) ? recv : send;
    }
}

static void clean_up(struct job *job)
{
    for (int r = 0; r < job->c->n; r++) {
        cudaSetDevice(job->gpu[r]);
        cudaFree(job->send[r]);
        cudaFree(job->other[r]);
        if (job->recv[r] != job->send[r] && job->c->odd != ODD_FAR)
            cudaFree(job->recv[r]);
    }
    cudaGetLastError();
}

static int run_companion(struct ring *ring, void *const *in, void *const *out,
                         const struct ring_call *c)
{
    size_t count = (size_t)c->count;
    enum ring_type type = (enum ring_type)c->type;
    enum ring_op op = (enum ring_op)c->op;
    switch (c->what) {
    case DO_BROADCAST:
        return coll_broadcast(ring, out, count, type, c->root);
    case DO_REDUCE:
        return coll_reduce(ring, out, count, type, op, c->root, ring_reduce);
    case DO_DIRECT_GATHER:
        return coll_all_gather(ring, out, count, type);
    case DO_DIRECT_SCATTER:
        return coll_reduce_scatter(ring, out, count, type, op, ring_reduce);
    case DO_DIRECT_ALL:
        return coll_all_reduce(ring, out, count, type, op, ring_reduce);
    case DO_ALL_TO_ALL:
        return coll_all_to_all(ring, in, out, count, type);
    default:
        return coll_naive_all_reduce(ring, out, count, type, op, ring_reduce);
    }
}

/* The count that the function is told, which may be more than there is. */
static size_t said_of(const struct ring_call *c, uint64_t elements)
{
    int far = c->odd == ODD_HUGE || c->odd == ODD_FAR || c->odd == ODD_OVERLAP_FAR;
    return (size_t)elements + (far ? FAR : 0);
}

static int run_with(struct job *job, uint64_t elements, void **send, void **recv)
{
    const struct ring_call *c = job->c;
    enum ring_type type = c->odd == ODD_TYPE ? (enum ring_type)7 : (enum ring_type)c->type;
    enum ring_op op = c->odd == ODD_OP ? (enum ring_op)7 : (enum ring_op)c->op;
    struct ring *ring = c->odd == ODD_NO_RING ? NULL : &job->ring;
    int slices = c->odd == ODD_SLICES ? 0 : c->odd == ODD_MANY_SLICES ? RING_SLICES + 1 : c->slices;
    size_t count = (size_t)elements;

    for (int r = 0; r < c->n; r++) {
        send[r] = job->send[r] + GUARD * job->each;
        recv[r] = job->recv[r] + GUARD * job->each;
    }
    if (c->odd == ODD_NO_BUFFER)
        send[c->n - 1] = recv[c->n - 1] = NULL;
    if (c->odd == ODD_NO_SEND)
        send[c->n - 1] = NULL;
    if (c->odd == ODD_NO_RECV)
        recv[c->n - 1] = NULL;
    if (c->odd == ODD_OVERLAP)
        recv[0] = (char *)send[0] + job->each;
    if (c->odd == ODD_OVERLAP_END)
        recv[c->n - 1] = (char *)send[c->n - 1] + (count - 1) * job->each;
    if (c->odd == ODD_OVERLAP_FAR)
        recv[c->n - 1] = (char *)send[c->n - 1] + count * job->each;
    count = said_of(c, elements);
    void *const *out = c->odd == ODD_NO_BUFFERS ? NULL : recv;
    void *const *in = c->odd == ODD_NO_BUFFERS ? NULL : send;
    switch (c->what) {
    case DO_REDUCE_SCATTER:
        return ring_reduce_scatter(ring, out, count, type, op);
    case DO_ALL_GATHER:
        return ring_all_gather(ring, out, count, type);
    case DO_PIPELINED:
        return ring_pipelined(ring, in, out, count, type, op, slices);
    case DO_ONE_SHOT:
        return ring_one_shot(ring, in, out, count, type, op);
    case DO_PICK:
        return ring_pick(ring, in, out, count, type, op, (size_t)c->small);
    case DO_ALL_REDUCE:
        return ring_all_reduce(ring, in, out, count, type, op);
    default:
        return run_companion(ring, in, out, c);
    }
}

static const char *name_of(const struct ring_call *c, size_t count)
{
    static char text[100];
    const char *name = c->what == DO_REDUCE_SCATTER ? "ring_reduce_scatter"
                       : c->what == DO_ALL_GATHER   ? "ring_all_gather"
                       : c->what == DO_PIPELINED    ? "ring_pipelined"
                       : c->what == DO_ONE_SHOT     ? "ring_one_shot"
                       : c->what == DO_PICK         ? "ring_pick"
                       : c->what == DO_ALL_REDUCE   ? "ring_all_reduce"
                                                    : "a companion's collective";
    snprintf(text, sizeof text, "%s(%d ranks, count = %zu)%s", name, (int)c->n, count,
             c->odd == ODD_NO_BUFFERS  ? " without buffers"
             : c->odd == ODD_NO_BUFFER ? " with a null buffer"
             : c->odd == ODD_NO_SEND   ? " with a null send buffer"
             : c->odd == ODD_NO_RECV   ? " with a null recv buffer"
             : c->odd == ODD_NO_RING   ? " without a ring"
                                       : "");
    return text;
}

/* Where the arrays of buffers end, memory ends. */
static int run_collective(struct job *job, uint64_t elements)
{
    void *none[RING_RANKS] = {0};
    size_t bytes = (size_t)job->c->n * sizeof *none;
    void **send = fenced(none, bytes), **recv = fenced(none, bytes);
    lab_doing("%s", name_of(job->c, said_of(job->c, elements)));
    lab_refusing(job->c->odd != 0);
    int rc = run_with(job, elements, send, recv);
    lab_refusing(0);
    unfence(send, bytes);
    unfence(recv, bytes);
    return rc;
}

/* Makes calls of the kind that is to fail once: if one does, none of the collective's did. */
static int is_unspent(const struct job *job)
{
    const struct ring_rank *rank = &job->ring.rank[0];
    int unspent = 0;
    for (int i = 0; i < 200 && job->c->fails == FAILS_RECORD; i++)
        unspent |= cudaEventRecord(rank->ready, rank->stream) != cudaSuccess;
    for (int i = 0; i < 200 && job->c->fails == FAILS_WAIT; i++)
        unspent |= cudaStreamWaitEvent(rank->stream, rank->ready, 0) != cudaSuccess;
    cudaGetLastError();
    return unspent;
}

/* Fills the inboxes again, with other numbers, as soon as it may. */
static int run_next(struct job *job)
{
    const struct ring_call *c = job->c;
    size_t count = (size_t)c->count;
    enum ring_type type = (enum ring_type)c->type;
    void *const *buf = job->other;
    return c->then == DO_PIPELINED
               ? ring_pipelined(&job->ring, buf, buf, count, type, RING_SUM, c->slices)
               : ring_all_reduce(&job->ring, buf, buf, count, type, RING_SUM);
}

/* Queued before each run. The copies of different ranks take their time. */
static void queue_upload(struct job *job)
{
    for (int r = 0; r < job->c->n; r++) {
        cudaStream_t stream = job->ring.rank[r].stream;
        if (io_apart(job->c, r))
            cudaMemsetAsync(job->recv[r], UNTOUCHED, job->bytes, stream);
        cudaMemcpyAsync(job->send[r], from(job, r), job->bytes, cudaMemcpyHostToDevice, stream);
    }
}

static void queue_download(struct job *job, int k)
{
    for (int r = 0; r < job->c->n; r++) {
        cudaStream_t stream = job->ring.rank[r].stream;
        cudaMemcpyAsync(got(job, k, r), job->recv[r], job->bytes, cudaMemcpyDeviceToHost, stream);
        cudaMemcpyAsync(got(job, k, r) + job->bytes, job->send[r], job->bytes,
                        cudaMemcpyDeviceToHost, stream);
        cudaMemsetAsync(job->send[r], RUBBISH, job->bytes, stream);
    }
}

/* Where a collective has failed half-way, nothing says that `stream` waits for the lanes. */
static void wait_for_gpus(const struct job *job)
{
    for (int r = 0; r < job->c->n; r++) {
        cudaSetDevice(job->gpu[r]);
        cudaDeviceSynchronize();
    }
}

/* Without a graph: upload, call, download, as often as asked, and no wait in between. */
static void run_plain(struct job *job)
{
    for (int k = 0; k < job->runs; k++) {
        queue_upload(job);
        before(job->c->current);
        after(&job->told->call[k], run_collective(job, job->c->count));
        job->told->unspent = is_unspent(job);
        if (job->c->then && job->told->call[k].rc == LAB_OK)
            job->told->call[k].rc = run_next(job);
        if (job->c->fails)
            wait_for_gpus(job);
        queue_download(job, k);
    }
}

/* More elements than the call's, with which most ranks have some: buffers have room for them. */
static uint64_t full(const struct ring_call *c)
{
    return c->count + GUARD;
}

/* With one: captured once. Upload and download of all ranks are ordered around each launch by the
 * host, as a graph is launched on one stream only. The ring was used before, so that every event
 * has been recorded outside of the graph: one that the capture waits for must be recorded in it. */
static void run_graph(struct job *job)
{
    cudaGraphExec_t graph = NULL;
    queue_upload(job);
    int rc = run_collective(job, full(job->c));
    rc = rc == LAB_OK ? ring_wait(&job->ring) : rc;
    rc = rc == LAB_OK ? ring_capture_begin(&job->ring) : rc;

    before(job->c->current);
    after(&job->told->call[0], run_collective(job, job->c->count));
    int ended = ring_capture_end(&job->ring, &graph);
    for (int k = 0; k < job->runs && ended == LAB_OK; k++) {
        job->told->call[k] = job->told->call[0];
        queue_upload(job);
        rc = rc == LAB_OK ? ring_wait(&job->ring) : rc;
        if (rc == LAB_OK)
            rc = ring_result(cudaGraphLaunch(graph, job->ring.rank[0].stream));
        rc = rc == LAB_OK ? ring_wait(&job->ring) : rc;
        queue_download(job, k);
    }
    if (graph)
        cudaGraphExecDestroy(graph);
    job->told->captured = rc == LAB_OK ? ended : rc;
    cudaGetLastError();
}

/* The inboxes that the call needs, or a tenth. A one-shot's hold all data of a rank. */
static size_t room_for(const struct job *job)
{
    size_t most = (size_t)(job->c->graph ? full(job->c) : job->c->count) * job->each;
    if (job->c->what == DO_ONE_SHOT)
        most *= (size_t)job->c->n;
    return job->c->odd == ODD_SMALL ? most / 10 : most;
}

/* The slices that its ring has events for. A call may ask for nonsense. */
static int slices_for(const struct ring_call *c)
{
    if (c->what == DO_PICK)
        return RING_PICKED;
    int asks = c->what == DO_PIPELINED || c->then == DO_PIPELINED;
    return asks && c->slices >= 1 && c->slices <= RING_SLICES ? c->slices : 1;
}

/* The ring that ring_order finds on this machine. */
static int order_by_links(int n, int *gpu)
{
    uint8_t links[RING_RANKS * RING_RANKS];
    int rc = ring_links(n, links);
    return rc == LAB_OK ? ring_order(n, links, gpu) : rc;
}

/* What a ring says that its inboxes hold. */
static void claim_room(struct job *job)
{
    const struct ring_call *c = job->c;
    size_t count = (size_t)c->count, n = (size_t)c->n;
    size_t fits = c->what == DO_ONE_SHOT ? count * job->each / 2 : (count + n - 1) / n * job->each;
    if (c->odd == ODD_FITS || c->odd == ODD_TIGHT)
        job->ring.inbox_bytes = fits - (c->odd == ODD_TIGHT ? 1 : 0);
    if (c->odd == ODD_FAR || c->odd == ODD_OVERLAP_FAR)
        job->ring.inbox_bytes = SIZE_MAX / 4;
}

static struct job job_of(const struct ring_call *c, struct ring_told *told)
{
    struct job job = {.c = c,
                      .told = told,
                      .no_gpu = -1,
                      .each = ring_type_bytes((enum ring_type)c->type),
                      .runs = c->repeats ? c->repeats : 1};
    memcpy(job.gpu, c->gpu, sizeof job.gpu);
    job.bytes = (size_t)(c->count + 2 * GUARD) * job.each;
    return job;
}

static void run_call(const struct ring_call *c, struct ring_told *told)
{
    memset(told, 0, sizeof *told);
    struct job job = job_of(c, told);
    if (c->by_links && (told->opened = order_by_links(c->n, job.gpu)) != LAB_OK)
        return;
    memcpy(told->gpu, job.gpu, sizeof told->gpu);
    told->opened = ring_open_sliced(&job.ring, job.gpu, c->n, room_for(&job), slices_for(c));
    if (told->opened != LAB_OK)
        return;
    prepare(&job);
    claim_room(&job);
    if (c->graph)
        run_graph(&job);
    else
        run_plain(&job);
    told->ended = ring_wait(&job.ring);
    ring_close(&job.ring);
    clean_up(&job);
}

LAB_RUN(rings)
{
    const struct rings_in *in = lab_input(io, sizeof *in);
    struct rings_out *out = lab_result(io, sizeof *out);
    for (size_t i = 0; i < in->calls; i++)
        run_call(&in->call[i], &out->told[i]);
}

/* ---- each call fails once ---- */

static const char *run_refused(const struct ring_call *c, int k, struct refused_out *out)
{
    struct job job = job_of(c, NULL);
    out->opened = ring_open_sliced(&job.ring, job.gpu, c->n, room_for(&job), slices_for(c));
    if (out->opened != LAB_OK)
        return NULL;
    prepare(&job);
    for (int r = 0; r < c->n; r++) {
        cudaSetDevice(job.gpu[r]);
        cudaMemset(job.send[r], 1 + r, job.bytes);
        cudaDeviceSynchronize();
    }
    before(c->current);
    lab_fail_call(k + 1);
    int rc = run_collective(&job, c->count);
    const char *failed = lab_call_failed();
    after(&out->call[k], rc);
    wait_for_gpus(&job);
    ring_close(&job.ring);
    clean_up(&job);
    return failed;
}

LAB_RUN(refused)
{
    const struct ring_call *c = lab_input(io, sizeof *c);
    struct refused_out *out = lab_result(io, sizeof *out);
    memset(out, 0, sizeof *out);
    for (const char *failed; out->calls < REFUSED_CALLS; out->calls++) {
        if (!(failed = run_refused(c, out->calls, out)))
            return;
        strncpy(out->name[out->calls], failed, sizeof out->name[0] - 1);
    }
}

/* ---- ring_order ---- */

LAB_RUN(order)
{
    size_t n = lab_input_bytes(io) / sizeof(struct order_in);
    const struct order_in *in = lab_input(io, n * sizeof *in);
    struct order_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        memset(out[i].order, UNTOUCHED, sizeof out[i].order);
        size_t gpus = in[i].n > 0 && in[i].n <= RING_RANKS ? (size_t)in[i].n : RING_RANKS;
        void *links = fenced(in[i].links, gpus * gpus);
        lab_doing("ring_order(%d, %s, %s)", in[i].n, in[i].no_links ? "NULL" : "links",
                  in[i].no_order ? "NULL" : "order");
        out[i].rc = ring_order(in[i].n, in[i].no_links ? NULL : links,
                               in[i].no_order ? NULL : out[i].order);
        unfence(links, gpus * gpus);
    }
}

LAB_RUNS = {LAB_ENTRY(chunk),   LAB_ENTRY(reduce), LAB_ENTRY(rings),
            LAB_ENTRY(refused), LAB_ENTRY(far),    LAB_ENTRY(speed),
            LAB_ENTRY(order),   LAB_ENTRY(timed),  LAB_END};
