/* SPDX-License-Identifier: MIT
 * runner.c: calls the functions of lab 04 for the tests. It only translates; the judging is done in
 * another process.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "aliased.h"
#include "io.h"
#include "runner.h"

/* ---- around every call ---- */

static int gpu_count(void)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess)
        n = 0;
    cudaGetLastError();
    return n;
}

static void before(int current)
{
    if (current < gpu_count())
        cudaSetDevice(current);
    cudaGetLastError();
}

static void after(struct outcome *call, int rc)
{
    int current = -1;
    call->rc = rc;
    call->error = (int32_t)cudaPeekAtLastError();
    if (cudaGetDevice(&current) != cudaSuccess)
        current = -1;
    call->current = current;
    if (gpu_count() == 0) /* then every call fails, the one that looks too */
        call->error = 0;
    cudaGetLastError();
}

/* ---- split ---- */

LAB_RUN(split)
{
    size_t n = lab_input_bytes(io) / sizeof(struct split_in);
    const struct split_in *in = lab_input(io, n * sizeof *in);
    struct split_out *out = lab_result(io, n * sizeof *out);
    for (size_t k = 0; k < n; k++) {
        size_t first, count;
        memset(&first, UNTOUCHED, sizeof first);
        memset(&count, UNTOUCHED, sizeof count);
        lab_doing("split(%zu, %d, %d, %s, %s)", (size_t)in[k].n, in[k].parts, in[k].i,
                  in[k].no_first ? "NULL" : "&first", in[k].no_count ? "NULL" : "&count");
        out[k].rc = split((size_t)in[k].n, in[k].parts, in[k].i, in[k].no_first ? NULL : &first,
                          in[k].no_count ? NULL : &count);
        out[k].first = first;
        out[k].count = count;
    }
}

/* ---- sum_shared and sum_warp ---- */

/* The numbers on the current GPU, `shift` floats into the allocation, with NaN around them: whoever
 * reads one element too many gets no number any more. */
static float *upload(const float *data, size_t n, size_t shift)
{
    float *at = NULL;
    if (cudaMalloc((void **)&at, (shift + n + GUARD) * sizeof *at) != cudaSuccess)
        return NULL;
    cudaMemset(at, 0xFF, (shift + n + GUARD) * sizeof *at); /* the bits of a NaN */
    cudaMemcpy(at + shift, data, n * sizeof *at, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    return at;
}

/* 2^32 zeros, and behind them no memory. */
static float *far_zeros(int gpu)
{
    const size_t piece = (size_t)2 << 20, pieces = ((size_t)1 << 32) * sizeof(float) / piece - 1;
    char *at = lab_aliased(gpu, piece, pieces, piece);
    cudaMemset(at, 0, piece);
    cudaMemset(at + pieces * piece, 0, piece);
    cudaDeviceSynchronize();
    return (float *)(void *)at;
}

static float *fresh_partials(int blocks)
{
    float *at = NULL;
    size_t bytes = ((size_t)(blocks > 0 ? blocks : 0) + GUARD) * sizeof *at;
    if (cudaMalloc((void **)&at, bytes) != cudaSuccess)
        return NULL;
    cudaMemset(at, UNTOUCHED, bytes);
    cudaDeviceSynchronize();
    return at;
}

static void block_sum(const struct block_call *c, const float *data, struct block_out *out,
                      struct block_sealed *sealed)
{
    static float nowhere[1]; /* an address, for machines whose GPU has none to give */
    int kept = c->blocks < 0 ? 0 : c->blocks > SUM_MAX_BLOCKS ? SUM_MAX_BLOCKS : c->blocks;
    cudaStream_t stream = NULL;

    before(c->gpu);
    float *base = c->no_data ? NULL
                  : c->far   ? far_zeros(c->gpu)
                             : upload(data + c->first, (size_t)c->n, (size_t)c->shift);
    float *partials = fresh_partials(c->blocks);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaGetLastError();
    const float *at = base ? base + c->shift : NULL;
    if (c->claimed) /* the kernel is to fault: nothing to read */
        setenv("VGPU_QUIET", "1", 1);
    if (c->far)
        lab_doing("%s of %zu elements", c->which == BY_WARP ? "sum_warp" : "sum_shared",
                  (size_t)c->n);
    float *to = c->no_partials ? NULL : partials ? partials : nowhere;
    after(&out->call, (c->which == BY_WARP ? sum_warp : sum_shared)(at, (size_t)(c->n + c->claimed),
                                                                    to, c->blocks, stream));
    out->query = stream ? (int32_t)cudaStreamQuery(stream) : 0;
    cudaGetLastError(); /* "not ready" is no error to keep */
    out->after = stream ? (int32_t)cudaStreamSynchronize(stream) : 0;
    unsetenv("VGPU_QUIET");
    if (partials)
        cudaMemcpy(sealed->partials, partials, ((size_t)kept + GUARD) * sizeof *partials,
                   cudaMemcpyDeviceToHost);
    if (stream)
        cudaStreamDestroy(stream);
    cudaFree(partials);
    if (!c->far)
        cudaFree(base);
    cudaGetLastError();
}

LAB_RUN(block_sums)
{
    const struct block_in *in = lab_input(io, sizeof *in);
    struct block_sealed *sealed = lab_sealed_result();
    struct block_out *out = lab_result(io, (size_t)in->calls * sizeof *out);
    for (size_t i = 0; i < in->calls; i++)
        block_sum(&in->call[i], lab_sealed_input(), &out[i], &sealed[i]);
}

/* ---- sum_start, sum_host, sum_peer ---- */

static int open_part(const struct parts_in *in, int i, const float *data, struct sum_part *p)
{
    void *partials = NULL, *total = NULL;
    p->gpu = in->gpu[i];
    p->count = (size_t)in->count[i];
    p->blocks = in->blocks[i];
    if (cudaSetDevice(p->gpu) != cudaSuccess)
        return 1;
    p->data = upload(data, p->count, 0);
    int failed = cudaMalloc(&partials, (size_t)p->blocks * sizeof(float)) != cudaSuccess ||
                 cudaMalloc(&total, sizeof(double)) != cudaSuccess ||
                 cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking) != cudaSuccess;
    p->partials = partials;
    p->total = total;
    if (i == in->bad_event)
        cudaSetDevice(in->gpu[i == 0 ? 1 : 0]);
    failed |= cudaEventCreateWithFlags(&p->done, cudaEventDisableTiming) != cudaSuccess;
    return failed || p->data == NULL;
}

static void close_parts(struct sum_part *part, int parts)
{
    for (int i = 0; i < parts; i++) {
        cudaSetDevice(part[i].gpu);
        if (part[i].done)
            cudaEventDestroy(part[i].done);
        if (part[i].stream)
            cudaStreamDestroy(part[i].stream);
        cudaFree(part[i].total);
        cudaFree(part[i].partials);
        cudaFree((void *)part[i].data);
    }
    cudaGetLastError();
}

/* Peer access of the root to the others, on or off. */
static void reach(const struct parts_in *in, int on)
{
    int root = in->root >= 0 && in->root < in->parts ? in->gpu[in->root] : in->gpu[0];
    cudaSetDevice(root);
    for (int i = 0; i < in->parts; i++) {
        if (in->gpu[i] == root)
            continue;
        if (on)
            cudaDeviceEnablePeerAccess(in->gpu[i], 0);
        else
            cudaDeviceDisablePeerAccess(in->gpu[i]);
    }
    cudaGetLastError();
}

static void damage(struct sum_part *part, enum damage how)
{
    if (how == DAMAGE_GPU)
        part->gpu = gpu_count();
    if (how == DAMAGE_BLOCKS)
        part->blocks = 0;
    if (how == DAMAGE_DATA)
        part->data = NULL;
    if (how == DAMAGE_TOTAL)
        part->total = NULL;
}

#define PAGE 65536 /* a multiple of every machine's */

/* The parts at the end of memory, behind a copy of the first one: who reads part[parts] is ended by
 * a signal, and part[-1] can be used like any other. */
static struct sum_part *fenced(const struct sum_part *part, int parts)
{
    char *two =
        mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, (off_t)0);
    if (two == MAP_FAILED || mprotect(two + PAGE, PAGE, PROT_NONE) != 0)
        return NULL;
    struct sum_part *last = (struct sum_part *)(void *)(two + PAGE) - parts;
    memcpy(last, part, (size_t)parts * sizeof *last);
    last[-1] = part[0];
    return last;
}

static void look_after_start(const struct parts_in *in, const struct sum_part *part,
                             struct parts_out *out)
{
    for (int i = 0; i < in->parts; i++) {
        out->query[i] = (int32_t)cudaEventQuery(part[i].done);
        out->stream[i] = (int32_t)cudaStreamQuery(part[i].stream);
    }
    cudaGetLastError();
}

static void fetch_partials(const struct parts_in *in, const struct sum_part *part)
{
    struct parts_sealed *sealed = lab_sealed_result();
    for (int i = 0; i < in->parts; i++) {
        cudaEventSynchronize(part[i].done);
        cudaMemcpy(sealed->partials[i], part[i].partials, (size_t)part[i].blocks * sizeof(float),
                   cudaMemcpyDeviceToHost);
    }
}

static void wait_for_all(const struct sum_part *part, int parts)
{
    for (int i = 0; i < parts; i++)
        cudaStreamSynchronize(part[i].stream);
    cudaGetLastError();
}

static void run_parts(const struct parts_in *in, const struct sum_part *part, struct parts_out *out)
{
    const struct sum_part *given = in->no_part ? NULL : part;
    for (int k = 0; k < in->repeats; k++) {
        before(in->current);
        after(&out->start, sum_start(given, in->parts));
        if (in->look)
            look_after_start(in, part, out);
        if (in->combine == COMBINE_NOT && out->start.rc == LAB_OK)
            fetch_partials(in, part);
        memset(&out->sum[k], UNTOUCHED, sizeof out->sum[k]);
        double *sum = in->no_sum ? NULL : &out->sum[k];
        before(in->current);
        if (in->combine == COMBINE_HOST)
            after(&out->combine[k], sum_host(given, in->parts, sum));
        if (in->combine == COMBINE_PEER)
            after(&out->combine[k], sum_peer(given, in->parts, in->root, sum));
        wait_for_all(part, in->parts);
    }
}

static int open_parts(const struct parts_in *in, struct sum_part part[SUM_MAX_PARTS])
{
    const float *data = lab_sealed_input();
    int failed = 0;

    memset(part, 0, SUM_MAX_PARTS * sizeof *part);
    for (int i = 0; i < in->parts; i++) {
        failed |= open_part(in, i, data, &part[i]);
        data += in->count[i];
    }
    if (in->reach)
        reach(in, 1);
    return failed;
}

LAB_RUN(parts)
{
    const struct parts_in *in = lab_input(io, sizeof *in);
    struct parts_out *out = lab_result(io, sizeof *out);
    struct sum_part part[SUM_MAX_PARTS];

    out->opened = open_parts(in, part);
    struct sum_part *given = fenced(part, in->parts);
    out->opened |= given == NULL;
    if (in->damage)
        damage(&given[in->damaged_part], (enum damage)in->damage);
    run_parts(in, given, out);
    if (in->reach)
        reach(in, 0);
    close_parts(part, in->parts);
}

static int any_busy(const struct sum_part *part, int parts)
{
    int busy = 0;
    for (int i = 0; i < parts; i++)
        busy |= cudaStreamQuery(part[i].stream) != cudaSuccess;
    cudaGetLastError();
    return busy;
}

static int call_one(const struct parts_in *in, const struct refusal *how, struct sum_part *part,
                    double *sum)
{
    struct sum_part *given = how->no_part ? NULL : fenced(part, in->parts);
    if (given && how->damage)
        damage(&given[how->damaged_part], (enum damage)how->damage);
    before(in->current);
    if (in->combine == COMBINE_HOST)
        return sum_host(given, how->parts, how->no_sum ? NULL : sum);
    if (in->combine == COMBINE_PEER)
        return sum_peer(given, how->parts, how->root, how->no_sum ? NULL : sum);
    return sum_start(given, how->parts);
}

LAB_RUN(refused)
{
    const struct refused_in *in = lab_input(io, sizeof *in);
    struct refused_out *out = lab_result(io, sizeof *out);
    struct sum_part part[SUM_MAX_PARTS];

    out->opened = open_parts(&in->parts, part);
    if (in->parts.combine != COMBINE_NOT)
        sum_start(part, in->parts.parts);
    wait_for_all(part, in->parts.parts);
    for (size_t k = 0; k < in->calls; k++) {
        memset(&out->sum[k], UNTOUCHED, sizeof out->sum[k]);
        after(&out->call[k], call_one(&in->parts, &in->call[k], part, &out->sum[k]));
        out->launched[k] = any_busy(part, in->parts.parts);
        wait_for_all(part, in->parts.parts);
    }
    if (in->parts.reach)
        reach(&in->parts, 0);
    close_parts(part, in->parts.parts);
}

/* ---- each call of CUDA fails once ---- */

static int call_parts(const struct parts_in *in, const struct sum_part *part, double *sum)
{
    if (in->combine == COMBINE_HOST)
        return sum_host(part, in->parts, sum);
    if (in->combine == COMBINE_PEER)
        return sum_peer(part, in->parts, in->root, sum);
    return sum_start(part, in->parts);
}

LAB_RUN(calls)
{
    const struct parts_in *in = lab_input(io, sizeof *in);
    struct lab_refusals *told = lab_result(io, sizeof *told);
    struct sum_part part[SUM_MAX_PARTS];
    struct lab_refusal *entry;
    struct outcome call;
    double was, now;
    told->calls = 0;
    memset(&was, UNTOUCHED, sizeof was);
    if (open_parts(in, part))
        return;
    do {
        now = was;
        if (in->combine != COMBINE_NOT)
            sum_start(part, in->parts);
        wait_for_all(part, in->parts);
        before(in->current);
        lab_fail_call(told->calls + 1);
        int rc = call_parts(in, part, &now);
        const char *failed = lab_call_failed();
        after(&call, rc);
        wait_for_all(part, in->parts);
        if ((entry = lab_note_refusal(told, failed, rc))) {
            entry->current = call.current;
            entry->error = call.error;
            entry->wrote = memcmp(&now, &was, sizeof now) != 0;
            entry->right = 0;
        }
    } while (entry);
    if (in->reach)
        reach(in, 0);
    close_parts(part, in->parts);
}

/* ---- sum_scale ---- */

static struct scale_out *pretending; /* NULL: sum_time measures */

/* What sum_scale calls in the place of sum_time (WATCHED in solutions/CMakeLists.txt). */
int lab_watched_sum_time(size_t n, int gpus, double *ms);
int lab_watched_sum_time(size_t n, int gpus, double *ms)
{
    if (!pretending)
        return sum_time(n, gpus, ms);
    if (pretending->asked < SCALE_ASKED) {
        pretending->asked_n[pretending->asked] = n;
        pretending->asked_gpus[pretending->asked] = gpus;
    }
    pretending->asked++;
    *ms = (double)n / gpus * 1e-6;
    return LAB_OK;
}

LAB_RUN(scale)
{
    size_t n = lab_input_bytes(io) / sizeof(struct scale_in);
    const struct scale_in *in = lab_input(io, n * sizeof *in);
    struct scale_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        memset(&out[i].s, UNTOUCHED, sizeof out[i].s);
        pretending = in[i].pretend ? &out[i] : NULL;
        out[i].asked = 0;
        before(in[i].current);
        lab_doing("sum_scale(%zu, %d, ...)", (size_t)in[i].n, (int)in[i].gpus);
        lab_refusing(in[i].n >> 39 != 0); /* floats that no GPU has room for */
        after(&out[i].call, sum_scale((size_t)in[i].n, in[i].gpus, (enum sum_kind)in[i].kind,
                                      in[i].no_out ? NULL : &out[i].s));
        lab_refusing(0);
    }
}

#include "timed.h"

LAB_RUNS = {LAB_ENTRY(split), LAB_ENTRY(block_sums), LAB_ENTRY(parts), LAB_ENTRY(refused),
            LAB_ENTRY(scale), LAB_ENTRY(timed),      LAB_ENTRY(calls), LAB_END};
