/* SPDX-License-Identifier: MIT
 * common.h: what lab 06's public and hidden cases share.
 */
#ifndef LAB06_COMMON_H
#define LAB06_COMMON_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

#include "io.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
#define NONE CU_MEM_ACCESS_FLAGS_PROT_NONE
#define READ CU_MEM_ACCESS_FLAGS_PROT_READ
#define BOTH CU_MEM_ACCESS_FLAGS_PROT_READWRITE
#define ILLEGAL_ADDRESS 700

static inline const char *rc_name(int rc)
{
    static const char *const names[] = {"LAB_OK",     "LAB_EINVAL", "LAB_ENOGPU", "LAB_ENOPEER",
                                        "LAB_ENOMEM", "LAB_ECUDA",  "LAB_EPEER",  "LAB_ERANGE"};
    return rc <= 0 && rc > -8 ? names[-rc] : "not a result of lab.h";
}

static inline const char *access_name(int access)
{
    return access == NONE   ? "no access"
           : access == READ ? "read-only"
           : access == BOTH ? "read and write"
                            : "nothing mapped";
}

/* `call` is what a person would have typed: "vmm_alloc(0, 1, &v)". */
static inline void expect_rc(struct lab_test *t, const char *call, int got, int want)
{
    lab_expect(t, got == want, "%s returned %d (%s), expected %d (%s)", call, got, rc_name(got),
               want, rc_name(want));
}

/* CUDA's real driver opens descriptors of its own, at its first exports and imports. */
static inline void expect_no_fds(struct lab_test *t, enum lab_grave kind, const char *call, int fds)
{
    lab_expect_grave(
        t, kind, fds <= 0 || !lab_is_virtual(t),
        "%d descriptor%s left open after %s: every descriptor that an export made or a "
        "parcel brought is closed once",
        fds, fds == 1 ? " was" : "s were", call);
}

/* One GPU's access: names who has what he should not. */
static inline void expect_access(struct lab_test *t, const char *what, int gpu, int got, int want)
{
    lab_expect(
        t, got == want, "%s: GPU %d has %s, expected %s%s", what, gpu, access_name(got),
        access_name(want),
        want == NONE ? " (access was given to a GPU that was not asked for)"
        : got == NONE
            ? " (no GPU may use mapped memory before cuMemSetAccess gives it access; a GPU that "
              "had access keeps it)"
        : want == READ ? " (read-only was asked for)"
                       : "");
}

/* ---- rounding ---- */

static inline struct lab_run *ask_round(struct lab_test *t, const struct round_in *in)
{
    return lab_run(t, "round", in, sizeof *in, sizeof(struct round_out));
}

/* Every size in in->q must come out as the next multiple of the granularity: of the node's, and not
 * of what the program says that CUDA has told it. */
static inline void check_rounded(struct lab_test *t, const struct round_in *in)
{
    struct lab_device device[IO_GPUS];
    bool known[IO_GPUS];
    for (int d = 0; d < IO_GPUS; d++)
        known[d] = lab_device(t, d, &device[d]);
    struct lab_run *run = ask_round(t, in);
    const struct round_out *out = lab_output(run);
    for (int i = 0; i < in->asked; i++) {
        const struct round_question *q = &in->q[i];
        char call[96];
        uint64_t g = 1;
        for (int k = 0; k < q->n; k++) {
            int d = q->devs[k];
            uint64_t own = known[d] ? device[d].vmm_granule : out->granularity[d];
            g = own > g ? own : g;
        }
        uint64_t want = (q->bytes + g - 1) / g * g;
        snprintf(call, sizeof call, "vmm_round(%llu, %d GPUs)", (unsigned long long)q->bytes, q->n);
        expect_rc(t, call, out->rc[i], LAB_OK);
        lab_expect(t, out->rounded[i] == want,
                   "%s gave %llu, expected %llu: the next multiple of the granularity of each of "
                   "these GPUs, the largest is %llu here%s",
                   call, (unsigned long long)out->rounded[i], (unsigned long long)want,
                   (unsigned long long)g, out->rounded[i] > want ? ", and no larger" : "");
    }
    lab_nothing_leaked(t, run);
}

/* ---- allocations ---- */

static inline void check_allocated(struct lab_test *t, const struct alloc_in *in, int i,
                                   const struct alloc_out *out)
{
    char call[96];
    int dev = in->dev[i];
    snprintf(call, sizeof call, "vmm_alloc(%d, %llu)", dev, (unsigned long long)in->bytes[i]);
    expect_rc(t, call, out->rc[i], LAB_OK);
    lab_expect(t,
               out->bytes[i] >= in->bytes[i] && out->bytes[i] - in->bytes[i] < 2 * MIB &&
                   out->base[i] != 0,
               "%s made %llu bytes at %#llx, expected %llu rounded up, at an address that is not 0",
               call, (unsigned long long)out->bytes[i], (unsigned long long)out->base[i],
               (unsigned long long)in->bytes[i]);
    lab_expect(
        t, out->held[i],
        "%s: v.handle is not a handle any more (released already?); vmm_export needs it, and "
        "vmm_free will release it",
        call);
    lab_expect(t, out->of[i] == dev && out->device[i] == dev,
               "%s: v.device is %d and the memory lies on GPU %d, expected %d", call,
               out->device[i], out->of[i], dev);
    for (int d = 0; d < in->gpus; d++)
        expect_access(t, call, d, out->access[i][d], d == dev ? BOTH : NONE);
    lab_expect(t, out->works[i], "%s: its own GPU cannot use the first and the last int", call);
    lab_expect(t, out->exports[i],
               "%s: the allocation cannot be exported; requestedHandleTypes must say "
               "CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR before cuMemCreate",
               call);
}

/* Memory that the node has given out on a GPU, whatever the program says of it. */
static inline void expect_taken(struct lab_test *t, const struct lab_run *run, const char *call,
                                int gpu, uint64_t bytes)
{
    const struct lab_witness *w = lab_witness(run);
    lab_expect(t, !w || w->peak_bytes[gpu] >= bytes,
               "%s: on GPU %d %llu bytes were taken at most, expected %llu: the memory is to be "
               "that GPU's",
               call, gpu, (unsigned long long)w->peak_bytes[gpu], (unsigned long long)bytes);
}

static inline uint64_t taken_bytes(const struct lab_witness *w)
{
    uint64_t bytes = 0;
    for (int gpu = 0; gpu < LAB_MAX_GPUS; gpu++)
        bytes += w->peak_bytes[gpu];
    return bytes;
}

static inline struct lab_run *check_allocs(struct lab_test *t, const struct alloc_in *in)
{
    struct lab_run *run = lab_run(t, "alloc", in, sizeof *in, sizeof(struct alloc_out));
    const struct alloc_out *out = lab_output(run);
    for (int i = 0; i < in->asked; i++)
        check_allocated(t, in, i, out);
    for (int i = 0; i < in->asked; i++) {
        expect_rc(t, "vmm_free", out->freed[i], LAB_OK);
        lab_expect(t, out->zeroed[i],
                   "vmm_free left something in *v: a second call would free it "
                   "again");
    }
    lab_expect(t, out->current == in->current, "GPU %d was current before vmm_alloc, %d after it",
               in->current, out->current);
    expect_no_fds(t, LAB_LEAK, "vmm_alloc and vmm_free", out->fds);
    for (int i = 0; i < in->asked; i++)
        expect_taken(t, run, "vmm_alloc", in->dev[i], in->bytes[i]);
    lab_nothing_leaked(t, run);
    return run;
}

/* All questions must get `want`, change nothing and leave nothing. */
static inline void refuse_alloc(struct lab_test *t, const struct alloc_in *in, const char *call,
                                int want)
{
    struct lab_run *run = lab_run(t, "alloc", in, sizeof *in, sizeof(struct alloc_out));
    const struct alloc_out *out = lab_output(run);
    for (int i = 0; i < in->asked; i++) {
        expect_rc(t, call, out->rc[i], want);
        lab_expect(t, out->untouched[i], "%s failed and wrote *v all the same", call);
    }
    lab_refused_leaked_nothing(t, run);
}

/* ---- sharing ---- */

/* The adapter lets every GPU that has access read an int after each call (runner.cu): so the node
 * has seen kernels of GPUs in other GPUs' memory. (CUDA_VISIBLE_DEVICES may have given them other
 * numbers: all are added up.) */
static inline uint64_t among_peers(const struct lab_witness *w)
{
    uint64_t bytes = 0;
    for (int from = 0; from < LAB_MAX_GPUS; from++)
        for (int to = 0; to < LAB_MAX_GPUS; to++)
            bytes += from == to ? 0 : w->kernel_bytes[from][to];
    return bytes;
}

static inline void expect_used(struct lab_test *t, const struct lab_run *run,
                               const struct share_in *in, const struct share_out *out)
{
    const struct lab_witness *w = lab_witness(run);
    uint64_t bytes = 0;
    for (int i = 0; i < in->asked; i++)
        for (int k = 0; k < 2; k++)
            for (int d = 0; d < in->gpus; d++)
                bytes += d != in->owner && out->access[i][k][d] > 0 ? sizeof(int) : 0;
    lab_expect(t, !w || among_peers(w) >= bytes,
               "other GPUs could read GPU %d's memory %llu times, by what cuMemGetAccess returned, "
               "and the node saw them read %llu bytes: the access was reported and not given",
               in->owner, (unsigned long long)(bytes / sizeof(int)),
               (unsigned long long)among_peers(w));
}

/* Asks in order; the access of everybody must follow what was said, and nothing else. */
static inline void check_shares(struct lab_test *t, const struct share_in *in)
{
    struct lab_run *run = lab_run(t, "share", in, sizeof *in, sizeof(struct share_out));
    const struct share_out *out = lab_output(run);
    int want[2][IO_GPUS] = {{0}};
    want[0][in->owner] = want[1][in->owner] = BOTH;
    lab_expect(t, out->setup == 0, "the allocations could not be made (%d)", out->setup);
    for (int i = 0; i < in->asked; i++) {
        const struct share_question *q = &in->q[i];
        char call[96], what[160];
        snprintf(call, sizeof call, "vmm_share(%c of GPU %d, %d, %s)", 'A' + q->which, in->owner,
                 q->peer, access_name(q->flags));
        expect_rc(t, call, out->rc[i], LAB_OK);
        want[q->which][q->peer] = q->flags;
        for (int k = 0; k < 2; k++) {
            snprintf(what, sizeof what, "after %s, allocation %c", call, 'A' + k);
            for (int d = 0; d < in->gpus; d++)
                expect_access(t, what, d, out->access[i][k][d], want[k][d]);
        }
    }
    expect_used(t, run, in, out);
    lab_nothing_leaked(t, run);
}

/* The node's record of the kernel number `number` of the run. */
static inline const struct lab_record *kernel_number(const struct lab_witness *w, int number)
{
    for (unsigned i = 0; i < w->record_count; i++)
        if (w->records[i].kind == LAB_KERNEL && number-- == 0)
            return &w->records[i];
    return NULL;
}

/* The runner's own kernel has faulted, and no other: the owner has written to both allocations,
 * then in->gpu went to one of them, and that was the end. */
static inline int has_faulted(const struct lab_witness *w, const struct probe_in *in)
{
    const struct lab_record *target = kernel_number(w, in->which), *last = kernel_number(w, 2);
    return w->faults == 1 && target && last && !kernel_number(w, 3) && target->gpu == in->owner &&
           last->faulted && last->gpu == in->gpu && last->fault_of == in->owner &&
           last->fault_at == target->argument && strcmp(last->name, in->write ? "put" : "get") == 0;
}

/* What the program says of its kernel is what the node has seen: a fault, or the use of another
 * GPU's memory. */
static inline void expect_seen(struct lab_test *t, const struct lab_run *run,
                               const struct probe_in *in, const char *what, int works)
{
    const struct lab_witness *w = lab_witness(run);
    lab_expect(
        t, !w || works || has_faulted(w, in),
        "%s: error 700, and the node saw no kernel of GPU %d end in a fault where GPU %d had "
        "written",
        what, in->gpu, in->owner);
    lab_expect(t, !w || !works || in->gpu == in->owner || among_peers(w) >= sizeof(int),
               "%s: no error, and the node saw no kernel use another GPU's memory", what);
}

/* A kernel of in->gpu reads or writes: does it do so, or end in a fault? */
static inline void check_probe(struct lab_test *t, const struct probe_in *in, int works)
{
    struct lab_run *run = lab_run(t, "probe", in, sizeof *in, sizeof(struct probe_out));
    const struct probe_out *out = lab_output(run);
    int want = in->write ? PROBE_WRITTEN : PROBE_BEFORE;
    char what[160];
    snprintf(what, sizeof what, "GPU %d's allocation A is shared with GPU %d (%s); GPU %d %s %c",
             in->owner, in->peer, access_name(in->flags), in->gpu, in->write ? "writes" : "reads",
             'A' + in->which);
    lab_expect(t, out->setup == 0, "%s: it could not be set up (%d)", what, out->setup);
    if (works)
        lab_expect(t, out->error == 0 && out->value == want,
                   "%s: error %d, value %d; expected no error and %d", what, out->error, out->value,
                   want);
    else
        lab_expect(t, out->error == ILLEGAL_ADDRESS,
                   "%s: the kernel ended with error %d, expected 700 (an illegal address): %s",
                   what, out->error,
                   in->which == 0 && in->gpu == in->peer
                       ? "read-only must be read-only"
                       : "what is not shared must stay unreachable");
    expect_seen(t, run, in, what, works);
}

/* ---- growing ---- */

static inline struct lab_run *ask_grow(struct lab_test *t, const struct grow_in *in)
{
    struct lab_run *run = lab_run(t, "grow", in, sizeof *in, sizeof(struct grow_out));
    const struct grow_out *out = lab_output(run);
    lab_expect(t, out->setup == 0, "the vector could not be set up (%s)", rc_name(out->setup));
    return run;
}

static inline void check_grown(struct lab_test *t, const struct grow_in *in, int i,
                               const struct grow_out *out)
{
    char call[96];
    uint64_t before = i ? out->mapped[i - 1] : 0, wanted = in->bytes[i];
    snprintf(call, sizeof call, "vec_grow(v, %llu)", (unsigned long long)wanted);
    if (i > 0 && wanted <= before)
        lab_expect(t, out->rc[i] == LAB_OK,
                   "%s returned %d (%s), expected LAB_OK: the vector has %llu bytes already, which "
                   "is enough, so there is nothing to do",
                   call, out->rc[i], rc_name(out->rc[i]), (unsigned long long)before);
    expect_rc(t, call, out->rc[i], LAB_OK);
    lab_expect(
        t, out->base_after[i] == out->base,
        "%s: the vector has moved to %#llx, expected it to stay at %#llx: pointers into it are "
        "wrong from here on",
        call, (unsigned long long)out->base_after[i], (unsigned long long)out->base);
    lab_expect(t, out->of[i] == in->device,
               "%s: the new part lies in GPU %d's memory, expected GPU %d's: a vector's parts are "
               "all its own GPU's",
               call, out->of[i], in->device);
    if (wanted < before)
        wanted = before;
    lab_expect(t, out->mapped[i] >= wanted && out->mapped[i] < wanted + 2 * MIB,
               "%s: the vector has %llu bytes, expected %llu rounded up: the new part holds what "
               "is missing, no more than that",
               call, (unsigned long long)out->mapped[i], (unsigned long long)wanted);
    for (int d = 0; d < in->gpus; d++) {
        char what[160];
        int want = d == in->device ? BOTH : NONE, known = in->sharers - (i == 0 ? in->late : 0);
        for (int s = 0; s < known; s++)
            want = in->sharer[s] == d ? in->flags[s] : want;
        snprintf(what, sizeof what, "after %s, its last byte", call);
        lab_expect(t, !(want && !out->access[i][d] && d != in->device),
                   "%s: GPU %d shared the vector and has no access to the new part: growth must "
                   "not lose the sharers",
                   what, d);
        expect_access(t, what, d, out->access[i][d], want);
        snprintf(what, sizeof what, "after %s, its first byte", call);
        expect_access(t, what, d, out->first[i][d], want);
    }
}

static inline void check_grow(struct lab_test *t, const struct grow_in *in)
{
    struct lab_run *run = ask_grow(t, in);
    const struct grow_out *out = lab_output(run);
    const struct lab_witness *w = lab_witness(run);
    for (int i = 0; i < in->asked; i++)
        check_grown(t, in, i, out);
    lab_expect(t, out->wrong == 0,
               "%d ints of the vector are not what was put there before it grew", out->wrong);
    uint64_t inside = 0, onto = 0;
    for (int a = 0; w && a < LAB_MAX_GPUS; a++) {
        onto += w->copied[LAB_HOST][a] + w->copied[a][LAB_HOST];
        for (int b = 0; b < LAB_MAX_GPUS; b++)
            inside += w->copied[a][b];
    }
    lab_expect(t, !w || (inside == 0 && onto <= 2 * out->filled && w->launches == 0),
               "the node saw %llu bytes copied by GPUs, %llu from and to the host and %u kernels, "
               "expected 0, %llu (the test's own) and 0: growing copies nothing",
               (unsigned long long)inside, (unsigned long long)onto, w ? w->launches : 0,
               (unsigned long long)(2 * out->filled));
    lab_expect(t, !w || taken_bytes(w) >= out->mapped[in->asked - 1],
               "vec_grow: the vector has %llu bytes, and the node has given out %llu at most",
               (unsigned long long)out->mapped[in->asked - 1],
               (unsigned long long)(w ? taken_bytes(w) : 0));
    lab_nothing_leaked(t, run);
}

/* The last growth must fail with `want` and change nothing; those before it succeed. */
static inline void refuse_grow(struct lab_test *t, const struct grow_in *in, const char *call,
                               int want)
{
    struct lab_run *run = ask_grow(t, in);
    const struct grow_out *out = lab_output(run);
    int last = in->asked - 1;
    for (int i = 0; i < last; i++)
        expect_rc(t, "vec_grow before", out->rc[i], LAB_OK);
    lab_expect(t, want ? out->rc[last] == want : out->rc[last] != LAB_OK,
               "%s returned %d (%s), expected %s", call, out->rc[last], rc_name(out->rc[last]),
               want ? rc_name(want) : "an error");
    lab_expect(t, out->unchanged[last], "%s failed and changed the vector all the same", call);
    lab_refused_leaked_nothing(t, run);
}

/* ---- parcels ---- */

static inline const struct parcel_out *ask_parcel(struct lab_test *t, const struct parcel_in *in,
                                                  struct lab_run **run)
{
    *run = lab_run(t, "parcel", in, sizeof *in, sizeof(struct parcel_out));
    const struct parcel_out *out = lab_output(*run);
    lab_expect(t, out->child_status == 0, "the importing process died (status %#x)",
               (unsigned)out->child_status);
    lab_expect(t, out->setup == 0, "the parcel could not be set up (%d)", out->setup);
    expect_rc(t, "vmm_export", out->exported, LAB_OK);
    lab_expect(t, out->export_fd > 0,
               "vmm_export put descriptor %d into the parcel%s: an import takes it for a null "
               "pointer and refuses it; parcel_make moves it",
               out->export_fd, in->no_stdin ? " (the process has no stdin)" : "");
    expect_rc(t, "vmm_export once more, after parcel_drop of the first parcel,",
              out->exported_again, LAB_OK);
    lab_expect(
        t, out->again_open,
        "vmm_export once more gave a descriptor that parcel_drop had closed: each parcel has "
        "a descriptor of its own");
    lab_expect(t, out->export_fds == 1 || !lab_is_virtual(t),
               "vmm_export left %d new descriptors open, expected the parcel's and no other",
               out->export_fds);
    lab_expect(t, out->export_bytes == out->parcel_bytes,
               "vmm_export put %llu bytes into the parcel, the allocation has %llu",
               (unsigned long long)out->export_bytes, (unsigned long long)out->parcel_bytes);
    expect_rc(t, "parcel_recv", out->child.received, LAB_OK);
    return out;
}

/* Kernels of the importer were in the exporter's memory, and there is one such memory. (16 MiB
 * more: what the adapters take.) */
static inline void expect_one_memory(struct lab_test *t, const struct lab_run *run,
                                     const struct parcel_in *in, const struct parcel_out *out)
{
    const struct lab_witness *w = lab_witness(run);
    lab_expect(t, !w || in->importer == in->device || among_peers(w) > 0,
               "no kernel of GPU %d, which imported, has used memory of GPU %d, which exported",
               in->importer, in->device);
    lab_expect(t,
               !w || (taken_bytes(w) >= out->parcel_bytes &&
                      taken_bytes(w) <= out->parcel_bytes + 16 * MIB),
               "%llu bytes of GPUs' memory were taken for a parcel of %llu: an import is the "
               "exporter's memory, not a copy of it",
               (unsigned long long)(w ? taken_bytes(w) : 0), (unsigned long long)out->parcel_bytes);
}

static inline void check_parcel(struct lab_test *t, const struct parcel_in *in)
{
    struct lab_run *run;
    const struct parcel_out *out = ask_parcel(t, in, &run);
    const struct parcel_child *c = &out->child;
    lab_expect(t, c->imported != LAB_ECUDA,
               "vmm_import returned LAB_ECUDA for a good parcel: is it the descriptor itself that "
               "is cast to a pointer, not its address?");
    expect_rc(t, "vmm_import", c->imported, LAB_OK);
    lab_expect(
        t, c->device == in->device && c->bytes == out->parcel_bytes && c->base != 0,
        "vmm_import: v says %llu bytes on GPU %d at %#llx, expected %llu on GPU %d (v->device "
        "says whose memory it is)",
        (unsigned long long)c->bytes, c->device, (unsigned long long)c->base,
        (unsigned long long)out->parcel_bytes, in->device);
    for (int d = 0; d < in->gpus; d++)
        expect_access(t, "after vmm_import", d, c->access[d], d == in->importer ? BOTH : NONE);
    lab_expect(t, c->value == PARCEL_SENT,
               "the importer read %d, the exporter had written %d: not the same memory", c->value,
               PARCEL_SENT);
    lab_expect(t, in->free_early || out->value == PARCEL_BACK,
               "the exporter read %d, the importer had written %d: not the same memory", out->value,
               PARCEL_BACK);
    lab_expect(t, c->fd_after == -1,
               "vmm_import left parcel->fd at %d: the descriptor is its to close (parcel_drop)",
               c->fd_after);
    expect_no_fds(t, LAB_LEAK, "vmm_import and vmm_free", c->fds);
    expect_rc(t, "vmm_free of an import", c->freed, LAB_OK);
    expect_one_memory(t, run, in, out);
    lab_expect(t, out->freed == LAB_OK,
               "the exporter's vmm_free returned %s: an export moves nothing, v keeps its handle "
               "until then (was it released twice?)",
               rc_name(out->freed));
    lab_nothing_leaked(t, run);
}

/* `want` 0: any error will do. */
static inline void refuse_parcel(struct lab_test *t, const struct parcel_in *in, const char *call,
                                 int want)
{
    struct lab_run *run;
    const struct parcel_child *c = &ask_parcel(t, in, &run)->child;
    lab_expect(t, want ? c->imported == want : c->imported != LAB_OK,
               "%s returned %d (%s), expected %s", call, c->imported, rc_name(c->imported),
               want ? rc_name(want) : "an error");
    lab_expect(t, c->untouched, "%s failed and wrote *v all the same", call);
    lab_expect(t, c->fd_after >= 0, "%s failed and closed the caller's descriptor", call);
    expect_no_fds(t, LAB_NOT_GRAVE, call, c->fds);
    lab_refused_leaked_nothing(t, run);
}

/* Each CUDA call that the function makes fails once. */
static inline void refuse_calls(struct lab_test *t, enum refused what, const char *call)
{
    struct refused_in in = {.what = (int)what};
    if (!lab_is_virtual(t) || lab_gpus(t) < 2)
        return;
    struct lab_run *run = lab_run(t, "refused", &in, sizeof in, sizeof(struct lab_refusals));
    lab_expect_refused(t, call, lab_output(run), -1);
    lab_refused_leaked_nothing(t, run);
}

#endif
