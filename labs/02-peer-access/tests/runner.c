/* SPDX-License-Identifier: MIT
 * runner.c: calls the functions of lab 02 for the tests. It only translates; the judging is done in
 * another process.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "runner.h"

#define INPUTS(io, type) (lab_input_bytes(io) / sizeof(type))

/* ---- around every call ---- */

static void before(int current)
{
    if (current < peer_gpus())
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
    if (peer_gpus() == 0) /* then every call fails, the one that looks too */
        call->error = 0;
    cudaGetLastError();
}

/* ---- peer access by hand ---- */

static void switch_direction(int from, int to, int on)
{
    cudaSetDevice(from);
    if (on)
        cudaDeviceEnablePeerAccess(to, 0);
    else
        cudaDeviceDisablePeerAccess(to);
    cudaGetLastError();
}

static int is_on(int from, int to)
{
    int possible = 0;
    if (cudaDeviceCanAccessPeer(&possible, from, to) != cudaSuccess || !possible)
        return 0;
    cudaSetDevice(from);
    cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
    cudaGetLastError();
    if (error == cudaSuccess)
        cudaDeviceDisablePeerAccess(to);
    return error == cudaErrorPeerAccessAlreadyEnabled;
}

/* Which directions are on, found by trying. Leaves them and the current device as they were. */
static void look(uint8_t *on)
{
    int n = peer_gpus(), current = 0;
    memset(on, 0, SQUARE);
    if (n == 0)
        return;
    cudaGetDevice(&current);
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            if (from != to)
                on[from * n + to] = (uint8_t)is_on(from, to);
    cudaSetDevice(current);
}

static void all_off(void)
{
    int n = peer_gpus();
    for (int from = 0; from < n; from++)
        for (int to = 0; to < n; to++)
            if (from != to && is_on(from, to))
                switch_direction(from, to, 0);
}

/* ---- the functions ---- */

LAB_RUN(facts)
{
    struct facts_out *out = lab_result(io, sizeof *out);
    int n = 0;
    memset(out, 0, sizeof *out);
    if (cudaGetDeviceCount(&n) == cudaSuccess)
        out->gpus = n < PEER_MAX_GPUS ? n : PEER_MAX_GPUS;
    n = out->gpus;
    for (int from = 0; from < n; from++) {
        for (int to = 0; to < n; to++) {
            struct peer_attr *a = &out->attr[from * n + to];
            if (from == to)
                continue;
            cudaDeviceCanAccessPeer(&a->access, from, to);
            cudaDeviceGetP2PAttribute(&a->rank, cudaDevP2PAttrPerformanceRank, from, to);
            cudaDeviceGetP2PAttribute(&a->atomics, cudaDevP2PAttrNativeAtomicSupported, from, to);
        }
    }
}

LAB_RUN(matrix)
{
    size_t n = INPUTS(io, struct matrix_in);
    const struct matrix_in *in = lab_input(io, n * sizeof *in);
    struct matrix_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        memset(out[i].can, UNTOUCHED, sizeof out[i].can);
        before(in[i].current);
        lab_doing("peer_matrix(%d, %s)", in[i].n, in[i].no_table ? "NULL" : "can");
        after(&out[i].call, peer_matrix(in[i].n, in[i].no_table ? NULL : out[i].can));
    }
}

LAB_RUN(attrs)
{
    size_t n = INPUTS(io, struct attrs_in);
    const struct attrs_in *in = lab_input(io, n * sizeof *in);
    struct attrs_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        struct peer_attr *attr = in[i].no_attr ? NULL : &out[i].attr;
        memset(&out[i].attr, UNTOUCHED, sizeof out[i].attr);
        before(in[i].current);
        lab_doing("peer_attrs(%d, %d, %s)", in[i].from, in[i].to, attr ? "&attr" : "NULL");
        after(&out[i].call, peer_attrs(in[i].from, in[i].to, attr));
    }
}

static void enable_one(const struct enable_in *in, struct enable_out *out)
{
    static struct peer_undo undo;
    int list[LIST_MAX];

    for (int i = 0; i < LIST_MAX; i++)
        list[i] = in->gpu[i];
    for (int i = 0; i < in->pre_count; i++)
        switch_direction(in->pre[i].from, in->pre[i].to, 1);
    memset(&undo, UNTOUCHED, sizeof undo);
    before(in->current);
    lab_doing("peer_enable(%s, %d, %s)", in->no_list ? "NULL" : "gpu", in->n,
              in->no_undo ? "NULL" : "&undo");
    after(&out->enable, peer_enable(in->no_list ? NULL : list, in->n, in->no_undo ? NULL : &undo));
    out->undo = undo;
    look(out->on_enabled);
    if (out->enable.rc == LAB_OK) {
        for (int i = 0; i < in->off_count; i++)
            switch_direction(in->off[i].from, in->off[i].to, 0);
        before(in->current);
        lab_doing("peer_disable(&undo)");
        after(&out->disable, peer_disable(&undo));
        out->left = undo.count;
        look(out->on_disabled);
        before(in->current);
        lab_doing("the second peer_disable(&undo)");
        after(&out->again, peer_disable(&undo));
    }
    all_off();
}

LAB_RUN(enable)
{
    size_t n = INPUTS(io, struct enable_in);
    const struct enable_in *in = lab_input(io, n * sizeof *in);
    struct enable_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        enable_one(&in[i], &out[i]);
}

LAB_RUN(disable_bad)
{
    size_t n = INPUTS(io, struct disable_in);
    const struct disable_in *in = lab_input(io, n * sizeof *in);
    struct outcome *out = lab_result(io, n * sizeof *out);
    static struct peer_undo undo;
    for (size_t i = 0; i < PEER_MAX_PAIRS; i++)
        undo.pair[i] = (struct peer_pair){.from = 0, .to = 1};
    for (size_t i = 0; i < n; i++) {
        undo.count = in[i].count;
        before(0);
        lab_doing("peer_disable(%s)", in[i].no_undo ? "NULL" : "&undo");
        after(&out[i], peer_disable(in[i].no_undo ? NULL : &undo));
    }
}

LAB_RUN(disable_rest)
{
    struct rest_out *out = lab_result(io, sizeof *out);
    static struct peer_undo undo;
    undo.count = 3;
    undo.pair[0] = (struct peer_pair){.from = 0, .to = 1};
    undo.pair[1] = (struct peer_pair){.from = 0, .to = peer_gpus()};
    undo.pair[2] = (struct peer_pair){.from = 1, .to = 0};
    switch_direction(0, 1, 1);
    switch_direction(1, 0, 1);
    before(0);
    after(&out->call, peer_disable(&undo));
    out->left = undo.count;
    out->on[0] = is_on(0, 1);
    out->on[1] = is_on(1, 0);
    all_off();
}

LAB_RUN(classify)
{
    size_t n = INPUTS(io, struct class_in);
    const struct class_in *in = lab_input(io, n * sizeof *in);
    struct class_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        enum peer_kind kind = (enum peer_kind)UNTOUCHED;
        lab_doing("peer_class(%s, %s)", in[i].no_attr ? "NULL" : "&attr",
                  in[i].no_kind ? "NULL" : "&kind");
        out[i].rc = peer_class(in[i].no_attr ? NULL : &in[i].attr, in[i].no_kind ? NULL : &kind);
        out[i].kind = (int32_t)kind;
    }
}

LAB_RUN(probe)
{
    size_t n = INPUTS(io, struct probe_in);
    const struct probe_in *in = lab_input(io, n * sizeof *in);
    struct probe_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        int works = UNTOUCHED;
        if (in[i].pre)
            switch_direction(in[i].from, in[i].to, 1);
        look(out[i].on_before);
        before(in[i].current);
        lab_doing("peer_probe(%d, %d, %s)", in[i].from, in[i].to,
                  in[i].no_works ? "NULL" : "&works");
        after(&out[i].call, peer_probe(in[i].from, in[i].to, in[i].no_works ? NULL : &works));
        out[i].works = works;
        look(out[i].on_after);
        if (in[i].pre)
            switch_direction(in[i].from, in[i].to, 0);
    }
}

/* A stream into memory that knows when it was closed. */
struct sink {
    char *text;
    size_t bytes;
    int32_t closed;
};

static ssize_t keep(void *cookie, const char *from, size_t bytes)
{
    struct sink *sink = cookie;
    size_t room = DOT_ROOM - sink->bytes, some = bytes < room ? bytes : room;
    memcpy(sink->text + sink->bytes, from, some);
    sink->bytes += some;
    return (ssize_t)bytes;
}

static int closes(void *cookie)
{
    ((struct sink *)cookie)->closed = 1;
    return 0;
}

static FILE *open_stream(enum dot_stream kind, struct sink *sink)
{
    static char tiny[16];
    switch (kind) {
    case DOT_MEMORY:
        return fopencookie(sink, "w", (cookie_io_functions_t){.write = keep, .close = closes});
    case DOT_TINY:
        return fmemopen(tiny, sizeof tiny, "w");
    case DOT_READ_ONLY:
        return fmemopen(tiny, sizeof tiny, "r");
    default:
        return NULL;
    }
}

LAB_RUN(dot)
{
    size_t n = INPUTS(io, struct dot_in);
    const struct dot_in *in = lab_input(io, n * sizeof *in);
    struct dot_out *out = lab_result(io, n * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        struct sink sink = {.text = out[i].text};
        FILE *stream = open_stream((enum dot_stream)in[i].stream, &sink);
        lab_doing("peer_dot(%d, %s, %s)", in[i].n, in[i].no_attr ? "NULL" : "attr",
                  stream ? "out" : "NULL");
        out[i].rc = peer_dot(in[i].n, in[i].no_attr ? NULL : in[i].attr, stream);
        out[i].closed = sink.closed;
        if (stream && !sink.closed)
            fclose(stream);
        out[i].bytes = (int32_t)sink.bytes;
    }
}

/* ---- each call of CUDA fails once ---- */

struct outputs {
    uint8_t can[4];
    struct peer_attr attr;
    struct peer_undo undo;
    int works;
    uint8_t on[SQUARE]; /* which directions are */
};

/* What the function finds: outputs that nobody wrote; for peer_disable access that is on. */
static void set_up(int todo, struct outputs *o)
{
    memset(o, UNTOUCHED, sizeof *o);
    memset(o->on, 0, sizeof o->on);
    if (todo == 4) {
        switch_direction(0, 1, 1);
        switch_direction(1, 0, 1);
        o->undo.count = 2;
        o->undo.pair[0] = (struct peer_pair){0, 1};
        o->undo.pair[1] = (struct peer_pair){1, 0};
        look(o->on);
    }
}

static int ask_one(int todo, struct outputs *o)
{
    const int both[] = {0, 1};
    switch (todo) {
    case 1:
        return peer_matrix(2, o->can);
    case 2:
        return peer_attrs(0, 1, &o->attr);
    case 3:
        return peer_enable(both, 2, &o->undo);
    case 4:
        return peer_disable(&o->undo);
    default:
        return peer_probe(0, 1, &o->works);
    }
}

/* Where peer_probe cannot switch access off, it stays on. */
static void look_after(int todo, struct outputs *o)
{
    if (todo == 3 || todo == 4)
        look(o->on);
    all_off();
}

LAB_RUN(refused)
{
    const struct refused_in *in = lab_input(io, sizeof *in);
    struct lab_refusals *told = lab_result(io, sizeof *told);
    static struct outputs was, right, now;
    struct lab_refusal *entry;
    struct outcome call;
    told->calls = 0;
    set_up(in->todo, &was);
    right = was;
    ask_one(in->todo, &right);
    look_after(in->todo, &right);
    do {
        set_up(in->todo, &now);
        before(in->current);
        lab_fail_call(told->calls + 1);
        int rc = ask_one(in->todo, &now);
        const char *failed = lab_call_failed();
        after(&call, rc);
        look_after(in->todo, &now);
        if ((entry = lab_note_refusal(told, failed, rc))) {
            entry->current = call.current;
            entry->error = call.error;
            entry->right = memcmp(&now, &right, sizeof now) == 0;
            entry->access = memcmp(now.on, was.on, sizeof now.on) != 0;
            memcpy(now.on, was.on, sizeof now.on);
            entry->wrote = memcmp(&now, &was, sizeof now) != 0;
        }
    } while (entry);
}

LAB_RUNS = {LAB_ENTRY(facts),
            LAB_ENTRY(matrix),
            LAB_ENTRY(attrs),
            LAB_ENTRY(enable),
            LAB_ENTRY(disable_bad),
            LAB_ENTRY(disable_rest),
            LAB_ENTRY(classify),
            LAB_ENTRY(probe),
            LAB_ENTRY(dot),
            LAB_ENTRY(refused),
            LAB_END};
