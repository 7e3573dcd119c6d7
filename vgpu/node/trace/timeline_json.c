/* SPDX-License-Identifier: MIT
 * timeline_json.c: see timeline_json.h. Chrome's format has rows (tid) in groups (pid): one group
 * for the host threads, one for each GPU, with its streams and copy engines, and one for the links.
 * Times are microseconds with six decimals, which are exactly picoseconds.
 */
#include "timeline_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "timeline_order.h"

#define HOST 900   /* pid of the host threads' group */
#define LINKS 1000 /* pid of the links' group */
/* tid of the first stream or host thread, and of the first copy engine. To Perfetto, the rows 0 and
 * the one that has its group's number are one row: no row has such a number. */
#define FIRST_ROW 2000
#define FIRST_ENGINE 10000
/* Rows of an engine, for copies that overlap. */
#define LANES 16
#define MAX_ROWS 4096

enum engine { FROM_HOST, TO_HOST, TO_PEER, INSIDE, ENGINES };

struct row { /* row of a stream */
    int program, device;
    uint32_t number;
    uint64_t stream;
};

struct host_thread { /* row of a host thread, or of its ranges */
    pid_t pid;
    uint32_t number;
    bool ranges;
};

struct writer {
    FILE *out;
    struct timeline in_order;
    const struct timeline *t;
    struct vgpu_trace_record *record;
    int *row, *lane; /* for each record; lane -1: not a copy */
    uint64_t records;
    struct row stream[MAX_ROWS];
    int streams;
    struct host_thread thread[MAX_ROWS];
    int threads;
    bool lane_used[VGPU_MAX_DEVICES][ENGINES][LANES];
    bool begun;
};

/* ---- JSON elements ---- */

static void write_text(FILE *out, const char *s)
{
    fputc('"', out);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fputc('\\', out);
        if ((unsigned char)*s >= ' ')
            fputc(*s, out);
    }
    fputc('"', out);
}

static void write_event(struct writer *w, const char *kind, int group, int row)
{
    fprintf(w->out, "%s{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", w->begun ? ",\n" : "", kind, group,
            row);
    w->begun = true;
}

static void write_time(FILE *out, const char *key, uint64_t ps)
{
    fprintf(out, ",\"%s\":%llu.%06llu", key, (unsigned long long)(ps / 1000000),
            (unsigned long long)(ps % 1000000));
}

/* Between both, as Perfetto rounds them to nanoseconds. */
static uint64_t rounded_ns(uint64_t start_ps, uint64_t end_ps)
{
    return (end_ps + 499) / 1000 - (start_ps + 500) / 1000;
}

/* How long a bar is written to be. Perfetto rounds its begin and its length to nanoseconds, and
 * drops what begins before the bar ends then: one that would end later than at its end, rounded, is
 * shorter here, by at most a nanosecond. */
static uint64_t drawn_ps(uint64_t start_ps, uint64_t end_ps)
{
    uint64_t ns = rounded_ns(start_ps, end_ps), ps = end_ps - start_ps;
    return (ps + 500) / 1000 > ns ? ns * 1000 + 499 : ps;
}

static void name_row(struct writer *w, const char *what, int group, int row, const char *name,
                     int order)
{
    write_event(w, "M", group, row);
    fprintf(w->out, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
    write_text(w->out, name);
    fputs("}}", w->out);
    write_event(w, "M", group, row);
    fprintf(w->out, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%d}}", what, order);
}

/* ---- rows ---- */

static int program_of(const struct timeline *t, pid_t pid)
{
    for (int i = t->programs - 1; i >= 0; i--)
        if (t->pid[i] == pid)
            return i;
    return 0;
}

static int stream_row(struct writer *w, const struct vgpu_trace_record *r)
{
    int program = program_of(w->t, r->pid);
    for (int i = 0; i < w->streams; i++) {
        const struct row *s = &w->stream[i];
        if (s->program == program && s->device == r->device && s->stream == r->stream)
            return FIRST_ROW + i;
    }
    if (w->streams == MAX_ROWS)
        return FIRST_ROW + MAX_ROWS - 1;
    w->stream[w->streams] = (struct row){program, r->device, r->on_stream, r->stream};
    return FIRST_ROW + w->streams++;
}

static int thread_row(struct writer *w, const struct timeline_call *call)
{
    for (int i = 0; i < w->threads; i++)
        if (w->thread[i].pid == call->pid && w->thread[i].number == call->thread &&
            w->thread[i].ranges == call->range)
            return FIRST_ROW + i;
    if (w->threads == MAX_ROWS)
        return FIRST_ROW + MAX_ROWS - 1;
    w->thread[w->threads] = (struct host_thread){call->pid, call->thread, call->range};
    return FIRST_ROW + w->threads++;
}

/* "program 1, " where there are several; returns its length. */
static int name_program(const struct writer *w, int program, char *name, size_t room)
{
    return w->t->programs > 1 ? snprintf(name, room, "program %d, ", program) : 0;
}

static bool is_shown(const struct vgpu_trace_record *r)
{
    return r->end_ps > 0 && r->kind != VGPU_TRACE_FINDING && r->kind != VGPU_TRACE_CALL;
}

static enum engine record_engine(const struct vgpu_trace_record *r, int *device)
{
    *device = r->from >= 0 ? r->from : r->to;
    return r->from < 0 ? FROM_HOST : r->to < 0 ? TO_HOST : r->from == r->to ? INSIDE : TO_PEER;
}

struct copy {
    uint64_t start_ps, number;
};

static int compare_copies(const void *a, const void *b)
{
    const struct copy *x = a, *y = b;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Puts a copy into the first lane of its engine that is free at its start. */
static void choose_lane(struct writer *w, uint64_t busy[][ENGINES][LANES], uint64_t number)
{
    const struct vgpu_trace_record *r = &w->record[number];
    int device, lane = 0;
    enum engine engine = record_engine(r, &device);
    if (device < 0) /* within the host */
        return;
    while (lane < LANES - 1 && busy[device][engine][lane] > r->start_ps)
        lane++;
    busy[device][engine][lane] = r->end_ps;
    w->lane[number] = lane;
    w->lane_used[device][engine][lane] = true;
}

static void place_record(struct writer *w)
{
    uint64_t busy[VGPU_MAX_DEVICES][ENGINES][LANES];
    struct copy *copy = malloc((w->records + 1) * sizeof *copy);
    uint64_t copies = 0;
    memset(busy, 0, sizeof busy);
    for (uint64_t i = 0; i < w->records; i++) {
        w->row[i] = is_shown(&w->record[i]) ? stream_row(w, &w->record[i]) : -1;
        w->lane[i] = -1;
        if (copy && is_shown(&w->record[i]) && w->record[i].kind == VGPU_TRACE_COPY)
            copy[copies++] = (struct copy){w->record[i].start_ps, i};
    }
    if (copies)
        qsort(copy, copies, sizeof *copy, compare_copies);
    for (uint64_t i = 0; i < copies; i++)
        choose_lane(w, busy, copy[i].number);
    free(copy);
}

/* ---- output ---- */

/* Rows of host threads, in the order of their first calls. */
static void name_threads(struct writer *w)
{
    char name[128];
    for (uint32_t i = 0; i < w->t->calls; i++)
        thread_row(w, &w->t->call[i]);
    if (w->threads)
        name_row(w, "process", HOST, 0, "host", -1);
    for (int i = 0; i < w->threads; i++) {
        int used = name_program(w, program_of(w->t, w->thread[i].pid), name, sizeof name);
        snprintf(name + used, sizeof name - (size_t)used,
                 w->thread[i].ranges ? "NVTX, host thread %u" : "host thread %u",
                 w->thread[i].number);
        name_row(w, "thread", HOST, FIRST_ROW + i, name, i);
    }
}

static void write_rows(struct writer *w)
{
    static const char *const names[ENGINES] = {"copies from host", "copies to host",
                                               "copies to peers", "copies inside"};
    const struct vgpu_node_info *info = &w->t->topology->info;
    char name[128];
    name_threads(w);
    for (int d = 0; d < info->device_count; d++) {
        snprintf(name, sizeof name, "GPU %d (%s)", d, info->device[d].name);
        name_row(w, "process", d + 1, 0, name, d);
    }
    name_row(w, "process", LINKS, 0, "links, GB/s", LINKS);
    for (int i = 0; i < w->streams; i++) {
        const struct row *s = &w->stream[i];
        int used = name_program(w, s->program, name, sizeof name);
        if (s->number == 0)
            snprintf(name + used, sizeof name - (size_t)used, "default stream");
        else
            snprintf(name + used, sizeof name - (size_t)used, "stream %u", s->number);
        name_row(w, "thread", s->device + 1, FIRST_ROW + i, name, i);
    }
    for (int d = 0; d < info->device_count; d++)
        for (int k = 0; k < ENGINES * LANES; k++) {
            snprintf(name, sizeof name, k % LANES ? "%s (%d)" : "%s", names[k / LANES],
                     k % LANES + 1);
            if (w->lane_used[d][k / LANES][k % LANES])
                name_row(w, "thread", d + 1, FIRST_ENGINE + k, name, FIRST_ENGINE + k);
        }
}

static void write_place(FILE *out, const char *key, int where)
{
    fprintf(out, ",\"%s\":", key);
    if (where >= 0)
        fprintf(out, "\"GPU %d\"", where);
    else
        fputs(where == -2 ? "\"pageable host memory\"" : "\"host memory\"", out);
}

/* What the kernel did, and in which form it ran (docs/virtual-node.md). */
static void write_kernel(struct writer *w, const struct vgpu_trace_record *r)
{
    char text[128];
    fprintf(w->out, ",\"barriers\":%llu,\"shuffles\":%llu,\"atomics\":%llu",
            (unsigned long long)r->barriers, (unsigned long long)r->shuffles,
            (unsigned long long)r->atomics);
    fprintf(w->out, ",\"shared accesses\":%llu", (unsigned long long)r->shared_accesses);
    if (r->fast_blocks)
        snprintf(text, sizeof text, "fast: %llu blocks", (unsigned long long)r->fast_blocks);
    else
        snprintf(text, sizeof text, "careful: %s",
                 r->careful[0] ? r->careful : "no block was asked about");
    fputs(",\"form\":", w->out);
    write_text(w->out, text);
}

static void write_slice(struct writer *w, uint64_t number, int group, int row)
{
    static const char *const kinds[] = {"", "copy", "kernel", "memset", "call"};
    const struct vgpu_trace_record *r = &w->record[number];
    write_event(w, "X", group, row);
    write_time(w->out, "ts", r->start_ps);
    write_time(w->out, "dur", drawn_ps(r->start_ps, r->end_ps));
    fprintf(w->out, ",\"cat\":\"%s\",\"name\":", kinds[r->kind]);
    write_text(w->out, r->name);
    fprintf(w->out, ",\"args\":{\"bytes\":%llu,\"ps\":%llu", (unsigned long long)r->bytes,
            (unsigned long long)(r->end_ps - r->start_ps));
    write_time(w->out, "issued", r->issue_ps);
    if (r->kind == VGPU_TRACE_COPY) {
        write_place(w->out, "from", r->from);
        write_place(w->out, "to", r->to);
    }
    if (r->kind == VGPU_TRACE_KERNEL)
        write_kernel(w, r);
    if (r->site[0]) {
        fputs(",\"site\":", w->out);
        write_text(w->out, r->site);
    }
    fputs("}}", w->out);
}

static void write_slices(struct writer *w)
{
    for (uint64_t i = 0; i < w->records; i++) {
        if (w->row[i] >= 0)
            write_slice(w, i, w->record[i].device + 1, w->row[i]);
        if (w->lane[i] >= 0) {
            int device;
            enum engine engine = record_engine(&w->record[i], &device);
            write_slice(w, i, device + 1, FIRST_ENGINE + (int)engine * LANES + w->lane[i]);
        }
    }
}

static void write_arguments(FILE *out, const char *site)
{
    fputs(",\"args\":{", out);
    if (site[0]) {
        fputs("\"site\":", out);
        write_text(out, site);
    }
    fputs("}}", out);
}

static void write_calls(struct writer *w)
{
    for (uint32_t i = 0; i < w->t->calls; i++) {
        const struct timeline_call *call = &w->t->call[i];
        write_event(w, "X", HOST, thread_row(w, call));
        write_time(w->out, "ts", call->start_ps);
        /* of ranges that end together, none ends after the one that it lies in */
        write_time(w->out, "dur",
                   call->range ? 1000 * rounded_ns(call->start_ps, call->end_ps)
                               : drawn_ps(call->start_ps, call->end_ps));
        fprintf(w->out, ",\"cat\":\"%s\",\"name\":", call->range ? "range" : "host");
        write_text(w->out, call->name);
        write_arguments(w->out, call->site);
    }
}

/* The operation that a finding is about; NULL: none that is shown. */
static const struct vgpu_trace_record *record_of_finding(const struct writer *w,
                                                         const struct vgpu_trace_record *finding)
{
    for (uint64_t i = 0; i < w->records; i++) {
        const struct vgpu_trace_record *r = &w->record[i];
        if (w->row[i] >= 0 && r->pid == finding->pid && r->device == finding->device &&
            r->stream == finding->stream && r->issue_ps == finding->issue_ps)
            return r;
    }
    return NULL;
}

/* A mark where the operation begins that the finding is about. */
static void write_findings(struct writer *w)
{
    for (uint64_t i = 0; i < w->records; i++) {
        const struct vgpu_trace_record *f = &w->record[i];
        const struct vgpu_trace_record *r =
            f->kind == VGPU_TRACE_FINDING ? record_of_finding(w, f) : NULL;
        if (!r)
            continue;
        write_event(w, "i", r->device + 1, stream_row(w, r));
        write_time(w->out, "ts", r->start_ps);
        fputs(",\"s\":\"t\",\"cat\":\"finding\",\"name\":", w->out);
        write_text(w->out, f->name);
        write_arguments(w->out, f->site[0] ? f->site : r->site);
    }
}

/* An arrow attaches to the slice that contains its end point, also in whole nanoseconds, so it
 * starts one before the end of its source. */
static void write_arrow_end(struct writer *w, const char *kind, uint64_t number, uint64_t ps,
                            unsigned id)
{
    write_event(w, kind, w->record[number].device + 1, w->row[number]);
    write_time(w->out, "ts", ps);
    fprintf(w->out, ",\"cat\":\"event\",\"name\":\"event\",\"id\":%u%s}", id,
            *kind == 'f' ? ",\"bp\":\"e\"" : "");
}

static void write_arrows(struct writer *w)
{
    for (uint32_t i = 0; i < w->t->arrows; i++) {
        uint64_t from = w->t->arrow[i].from - 1ull, to = w->t->arrow[i].to - 1ull;
        if (from >= w->records || to >= w->records || w->row[from] < 0 || w->row[to] < 0 ||
            w->row[from] == w->row[to])
            continue;
        uint64_t start_ps = w->record[from].start_ps;
        uint64_t ps = drawn_ps(start_ps, w->record[from].end_ps);
        write_arrow_end(w, "s", from, start_ps + (ps > 1000 ? ps - 1000 : 0), i);
        write_arrow_end(w, "f", to, w->record[to].start_ps, i);
    }
}

static void write_links(struct writer *w)
{
    for (uint32_t i = 0; i < w->t->samples; i++) {
        const struct timeline_sample *s = &w->t->sample[i];
        write_event(w, "C", LINKS, s->link);
        write_time(w->out, "ts", s->at_ps);
        fprintf(w->out, ",\"name\":");
        write_text(w->out, w->t->topology->resource_name[s->link]);
        fprintf(w->out, ",\"args\":{\"GB/s\":%.3f}}", s->bytes_s / 1e9);
    }
}

static void write_node(struct writer *w)
{
    const struct topology *t = w->t->topology;
    fprintf(w->out, "\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"node\":");
    write_text(w->out, t->info.name);
    fputs(",\"links\":[", w->out);
    for (int i = 0; i < t->resource_count; i++) {
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", w->out);
        write_text(w->out, t->resource_name[i]);
        fprintf(w->out, ",\"gbs\":%.4f,\"bytes\":%llu}", t->rate_bytes_s[i] / 1e9,
                (unsigned long long)w->t->bytes[i]);
    }
    fputs("]}}\n", w->out);
}

static void write_all(struct writer *w)
{
    fputs("{\"traceEvents\":[\n", w->out);
    write_rows(w);
    write_calls(w);
    write_slices(w);
    write_findings(w);
    write_arrows(w);
    write_links(w);
    write_node(w);
}

bool timeline_json(const struct timeline *t, const struct vgpu_trace_record *records,
                   uint64_t total, int fd)
{
    struct writer *w = calloc(1, sizeof *w);
    bool written = false;
    uint64_t count = total - t->first_record;
    FILE *out = lseek(fd, 0, SEEK_SET) == 0 && ftruncate(fd, 0) == 0 ? fdopen(fd, "w") : NULL;
    if (!out)
        close(fd);
    if (w && out) {
        w->in_order = *t;
        w->t = &w->in_order;
        w->out = out;
        w->record = malloc((count + 1) * sizeof *w->record);
        w->row = calloc(count + 1, sizeof *w->row);
        w->lane = calloc(count + 1, sizeof *w->lane);
    }
    if (w && out && w->record && w->row && w->lane) {
        w->records = count;
        if (count)
            memcpy(w->record, records + t->first_record, count * sizeof *records);
        if (timeline_order(&w->in_order, w->record, w->records)) {
            place_record(w);
            write_all(w);
            written = !ferror(out);
            free(w->in_order.arrow);
            free(w->in_order.sample);
            free(w->in_order.call);
        }
    }
    if (w) {
        free(w->record);
        free(w->row);
        free(w->lane);
    }
    free(w);
    if (out && fclose(out) != 0)
        written = false;
    return written;
}
