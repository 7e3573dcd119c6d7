/* SPDX-License-Identifier: MIT
 * timed.c: how long the work on sealed numbers took, by the node's records alone.
 *
 * Nothing that the program measures is used. Work can begin when the node has loaded the numbers to
 * a GPU, and it counts when the node has stored the result where the verifier reads it. The clock
 * of a host thread, which has the cost of its calls, is kept by the program; the node notices when
 * it goes back.
 */
#include "run.h"

static bool loads_sealed(const struct lab_record *r)
{
    return r->kind == LAB_COPY && r->from == LAB_SEALED;
}

static bool stores_sealed(const struct lab_record *r)
{
    return r->kind == LAB_COPY && r->to == LAB_SEALED;
}

/* A memset is no work: it moves no number from one place to another. */
static bool is_timed_work(const struct lab_record *r)
{
    return r->kind == LAB_KERNEL || (r->kind == LAB_COPY && !loads_sealed(r) && !stores_sealed(r));
}

static uint64_t sealed_bytes(const struct lab_witness *w, bool (*wanted)(const struct lab_record *),
                             int gpu)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        if (wanted(r) && (loads_sealed(r) ? r->to : r->from) == gpu)
            bytes += r->bytes;
    }
    return bytes;
}

static void expect_moved(struct lab_test *t, const struct lab_witness *w,
                         const struct lab_moved *moved)
{
    for (int gpu = 0; gpu < LAB_MAX_GPUS; gpu++) {
        uint64_t loaded = sealed_bytes(w, loads_sealed, gpu),
                 stored = sealed_bytes(w, stores_sealed, gpu);
        lab_expect(t, loaded == moved->loaded[gpu],
                   "%zu bytes of the test's numbers were loaded to GPU %d, expected %zu: they are "
                   "loaded once, by the test, to where the task begins",
                   (size_t)loaded, gpu, (size_t)moved->loaded[gpu]);
        lab_expect(t, stored == moved->stored[gpu],
                   "%zu bytes of results came from GPU %d, expected %zu: each from where the task "
                   "leaves it",
                   (size_t)stored, gpu, (size_t)moved->stored[gpu]);
    }
}

static void expect_ended(struct lab_test *t, const struct lab_witness *w)
{
    for (unsigned i = 0; i < w->record_count; i++)
        lab_expect(t, w->records[i].kind == LAB_ELAPSED || w->records[i].end_ps > 0,
                   "%s on GPU %d had not ended when the program had: its time is not known",
                   w->records[i].name, w->records[i].gpu);
}

/* The program itself reports when its host threads made a call. */
static void expect_honest_clocks(struct lab_test *t, const struct lab_witness *w, bool graph)
{
    lab_expect(t, w->processes == 1, "%u processes used the node, expected one", w->processes);
    lab_expect(t, w->clocks_set_back == 0,
               "the clock of a host thread was set back %u times: calls take the time that the "
               "node says",
               w->clocks_set_back);
    lab_expect(
        t, graph || w->unpaid == 0,
        "%u pieces of work cost their host thread no time, as a graph's do: this task has no "
        "graph",
        w->unpaid);
}

struct span {
    uint64_t start, end;
};

static struct span loads_of(const struct lab_witness *w)
{
    struct span loads = {UINT64_MAX, 0};
    for (unsigned i = 0; i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        if (!loads_sealed(r))
            continue;
        loads.start = r->start_ps < loads.start ? r->start_ps : loads.start;
        loads.end = r->end_ps > loads.end ? r->end_ps : loads.end;
    }
    return loads;
}

/* What had ended before the first load can have done nothing with the numbers. */
static struct span work_of(const struct lab_witness *w, const struct span *loads)
{
    struct span work = {loads->end, 0};
    for (unsigned i = 0; i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        if (!is_timed_work(r) || r->end_ps <= loads->start)
            continue;
        work.start = r->issue_ps < work.start ? r->issue_ps : work.start;
        work.end = r->end_ps > work.end ? r->end_ps : work.end;
    }
    return work;
}

/* The clock charges kernels by the bytes that are counted in the program's process: one whose
 * accesses are not counted would take no time. */
static void expect_charged(struct lab_test *t, const struct lab_witness *w,
                           const struct lab_moved *moved, const struct span *loads)
{
    uint64_t kernels = 0, between = 0;
    for (unsigned i = 0; i < w->record_count; i++) {
        const struct lab_record *r = &w->records[i];
        bool copied = r->kind == LAB_COPY && r->from >= 0 && r->to >= 0 && r->from != r->to;
        if (r->end_ps <= loads->start)
            continue;
        kernels += r->kind == LAB_KERNEL ? r->bytes : 0;
        between += r->kind == LAB_KERNEL ? r->far_bytes : copied ? r->bytes : 0;
    }
    lab_expect(t, kernels >= moved->kernels,
               "kernels read and wrote %zu bytes in that time, and this task needs %zu at least",
               (size_t)kernels, (size_t)moved->kernels);
    lab_expect(t, between >= moved->between,
               "%zu bytes went from one GPU to another in that time, and this task needs %zu at "
               "least",
               (size_t)between, (size_t)moved->between);
}

void lab_timed(struct lab_test *t, const struct lab_run *run, const struct lab_moved *moved,
               uint64_t payload, double seconds)
{
    const struct lab_witness *w = lab_witness(run);
    t->payload = payload;
    if (!w) {
        t->timed_ps = (uint64_t)(seconds * 1e12);
        return;
    }
    lab_expect(t, !w->unsteady[0], "the time is not the same in every run: %s", w->unsteady);
    expect_honest_clocks(t, w, moved->graph);
    expect_moved(t, w, moved);
    expect_ended(t, w);
    struct span loads = loads_of(w), work = work_of(w, &loads);
    lab_expect(t, work.end > work.start, "no GPU has done anything with the numbers");
    expect_charged(t, w, moved, &loads);
    t->timed_ps = work.end - work.start;
}
