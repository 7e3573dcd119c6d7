/* SPDX-License-Identifier: MIT
 * ask.h: the questions of lab 02's tests, one pair of functions for each TODO: ask_... runs a list
 * of calls in one process, expect_... judges one of them. What is right comes from shapes.h.
 */
#ifndef LAB02_ASK_H
#define LAB02_ASK_H

#include "dot.h"
#include "shapes.h"

/* Each call of CUDA that the function of this TODO makes fails once. */
static inline void refuse_calls(struct lab_test *t, int todo, const char *call)
{
    struct refused_in in = {.todo = todo, .current = 1};
    if (!lab_is_virtual(t))
        return;
    struct lab_run *run = lab_run(t, "refused", &in, sizeof in, sizeof(struct lab_refusals));
    lab_expect_refused(t, call, lab_output(run), in.current);
    lab_refused_leaked_nothing(t, run);
}

/* ---- peer_matrix ---- */

static inline void expect_matrix(struct lab_test *t, const struct machine *m,
                                 const struct matrix_in *in, const struct matrix_out *out)
{
    char what[64];
    bool bad = in->n < 0 || in->n > PEER_MAX_GPUS || (in->no_table && in->n > 0);
    int want = bad ? LAB_EINVAL : in->n > m->gpus ? LAB_ENOGPU : LAB_OK;
    snprintf(what, sizeof what, "peer_matrix(%d, %s)", in->n, in->no_table ? "NULL" : "can");
    expect_call(t, m, &out->call, want, in->current, what);
    if (want != LAB_OK) {
        lab_expect(t, untouched(out->can, sizeof out->can),
                   "%s on %s is an error, yet it wrote into the table", what, m->name);
        return;
    }
    for (int from = 0; from < in->n; from++)
        for (int to = 0; to < in->n; to++)
            lab_expect(
                t, out->can[from * in->n + to] == attr_of(m, from, to)->access,
                "%s on %s: can[%d * %d + %d] is %d, expected %d: GPU %d %s GPU %d (a row for "
                "each `from`)",
                what, m->name, from, in->n, to, out->can[from * in->n + to],
                attr_of(m, from, to)->access, from,
                attr_of(m, from, to)->access ? "can access"
                : from == to                 ? "is not a peer of itself,"
                                             : "cannot access",
                to);
    size_t used = (size_t)in->n * (size_t)in->n;
    lab_expect(t, untouched(out->can + used, sizeof out->can - used),
               "%s on %s wrote behind the %zu bytes of the table", what, m->name, used);
}

static inline void ask_matrix(struct lab_test *t, const struct machine *m,
                              const struct matrix_in *in, size_t n)
{
    struct lab_run *run = lab_run(t, "matrix", in, n * sizeof *in, n * sizeof(struct matrix_out));
    const struct matrix_out *out = lab_output(run);
    for (size_t i = 0; i < n; i++)
        expect_matrix(t, m, &in[i], &out[i]);
    lab_nothing_leaked(t, run);
}

/* ---- peer_attrs ---- */

/* What a pair of numbers must come to before anything else is looked at. */
static inline int pair_result(const struct machine *m, int from, int to)
{
    if (from < 0 || to < 0 || from == to)
        return LAB_EINVAL;
    return from < m->gpus && to < m->gpus ? LAB_OK : LAB_ENOGPU;
}

static inline void expect_attrs(struct lab_test *t, const struct machine *m,
                                const struct attrs_in *in, const struct attrs_out *out)
{
    char what[64];
    int want = in->no_attr ? LAB_EINVAL : pair_result(m, in->from, in->to);
    snprintf(what, sizeof what, "peer_attrs(%d, %d, %s)%s", in->from, in->to,
             in->no_attr ? "NULL" : "attr", in->from == in->to ? ", the same GPU twice," : "");
    expect_call(t, m, &out->call, want, in->current, what);
    if (want != LAB_OK) {
        lab_expect(t, untouched(&out->attr, sizeof out->attr),
                   "%s on %s is an error, yet it wrote into *attr", what, m->name);
        return;
    }
    const struct peer_attr *a = attr_of(m, in->from, in->to);
    lab_expect(t, out->attr.access == a->access, "%s on %s: access is %d, expected %d", what,
               m->name, out->attr.access, a->access);
    lab_expect(t, out->attr.atomics == a->atomics, "%s on %s: atomics is %d, expected %d", what,
               m->name, out->attr.atomics, a->atomics);
    lab_expect(t, !a->access || out->attr.rank == a->rank,
               "%s on %s: rank is %d, expected %d (0 is the best)", what, m->name, out->attr.rank,
               a->rank);
}

static inline void ask_attrs(struct lab_test *t, const struct machine *m, const struct attrs_in *in,
                             size_t n)
{
    struct lab_run *run = lab_run(t, "attrs", in, n * sizeof *in, n * sizeof(struct attrs_out));
    const struct attrs_out *out = lab_output(run);
    for (size_t i = 0; i < n; i++)
        expect_attrs(t, m, &in[i], &out[i]);
    lab_nothing_leaked(t, run);
}

/* ---- peer_enable and peer_disable ---- */

static inline bool in_pairs(const struct peer_pair *pairs, int n, int from, int to)
{
    for (int i = 0; i < n; i++)
        if (pairs[i].from == from && pairs[i].to == to)
            return true;
    return false;
}

static inline int position(const struct enable_in *in, int gpu)
{
    for (int i = 0; i < in->n; i++)
        if (in->gpu[i] == gpu)
            return i;
    return -1;
}

/* What peer_enable must return. */
static inline int enable_result(const struct machine *m, const struct enable_in *in)
{
    int want = LAB_OK;
    if (in->no_undo || in->n < 0 || in->n > PEER_MAX_GPUS || (in->no_list && in->n > 0))
        return LAB_EINVAL;
    for (int i = 0; i < in->n; i++)
        if (in->gpu[i] < 0 || position(in, in->gpu[i]) != i)
            return LAB_EINVAL;
    for (int i = 0; i < in->n; i++)
        if (in->gpu[i] >= m->gpus)
            return LAB_ENOGPU;
    for (int a = 0; a < in->n; a++)
        for (int b = 0; b < in->n; b++)
            if (a != b && !attr_of(m, in->gpu[a], in->gpu[b])->access)
                want = LAB_ENOPEER;
    return want;
}

/* Compares the directions that are on with those that should be. `listed`: those of the list are
 * on; `off`: those switched off by hand are not. */
static inline void expect_on(struct lab_test *t, const struct machine *m,
                             const struct enable_in *in, const uint8_t *on, bool listed, bool off,
                             const char *when)
{
    for (int from = 0; from < m->gpus; from++) {
        for (int to = 0; to < m->gpus; to++) {
            bool pre = in_pairs(in->pre, in->pre_count, from, to);
            bool want =
                from != to && (pre || (listed && position(in, from) >= 0 && position(in, to) >= 0));
            if (off && in_pairs(in->off, in->off_count, from, to))
                want = false;
            lab_expect(t, on[from * m->gpus + to] == want,
                       "%s on %s: access from GPU %d to GPU %d is %s, expected %s%s", when, m->name,
                       from, to, on[from * m->gpus + to] ? "on" : "off", want ? "on" : "off",
                       pre ? " (it was on before the call)"
                       : position(in, from) < 0 || position(in, to) < 0 ? " (no pair of the list)"
                                                                        : "");
        }
    }
}

static inline void expect_undo(struct lab_test *t, const struct machine *m,
                               const struct enable_in *in, const struct peer_undo *undo)
{
    int want = 0;
    for (int a = 0; a < in->n; a++)
        for (int b = 0; b < in->n; b++)
            want += a != b && !in_pairs(in->pre, in->pre_count, in->gpu[a], in->gpu[b]);
    lab_expect(t, undo->count == want,
               "peer_enable on %s noted %d directions, expected %d: every pair of the list both "
               "ways, without those that were on before",
               m->name, undo->count, want);
    for (int i = 0; i < undo->count; i++) {
        int from = undo->pair[i].from, to = undo->pair[i].to;
        lab_expect(t, position(in, from) >= 0 && position(in, to) >= 0 && from != to,
                   "peer_enable on %s noted the direction %d -> %d, which is not of the list",
                   m->name, from, to);
        lab_expect(t, !in_pairs(in->pre, in->pre_count, from, to),
                   "peer_enable on %s noted the direction %d -> %d, which was on before the call",
                   m->name, from, to);
        lab_expect(t, !in_pairs(undo->pair, i, from, to),
                   "peer_enable on %s noted the direction %d -> %d twice", m->name, from, to);
    }
}

static inline void expect_enable(struct lab_test *t, const struct machine *m,
                                 const struct enable_in *in, const struct enable_out *out)
{
    int want = enable_result(m, in);
    char what[128];
    int used = snprintf(what, sizeof what, "peer_enable({");
    for (int i = 0; i < in->n && i < 8; i++)
        used +=
            snprintf(what + used, sizeof what - (size_t)used, "%s%d", i ? ", " : "", in->gpu[i]);
    snprintf(what + used, sizeof what - (size_t)used, "%s}, %d)", in->n > 8 ? ", ..." : "", in->n);
    expect_call(t, m, &out->enable, want, in->current, what);
    expect_on(t, m, in, out->on_enabled, want == LAB_OK, false,
              want == LAB_OK ? "after peer_enable" : "after a peer_enable that failed");
    if (want == LAB_OK)
        expect_undo(t, m, in, &out->undo);
    else
        lab_expect(t, untouched(&out->undo, sizeof out->undo),
                   "%s on %s is an error, yet it wrote into *undo", what, m->name);
}

static inline void expect_disable(struct lab_test *t, const struct machine *m,
                                  const struct enable_in *in, const struct enable_out *out)
{
    if (enable_result(m, in) != LAB_OK)
        return;
    expect_call(t, m, &out->disable, LAB_OK, in->current, "peer_disable");
    expect_on(t, m, in, out->on_disabled, false, true, "after peer_disable");
    lab_expect(t, out->left == 0, "after peer_disable on %s undo->count is %d, expected 0", m->name,
               out->left);
    expect_call(t, m, &out->again, LAB_OK, in->current, "a second peer_disable");
}

/* Directions that there are and that are off: to find that out the adapter switches each one on. */
static inline unsigned tried(const struct machine *m, const uint8_t *on)
{
    unsigned count = 0;
    for (int from = 0; from < m->gpus; from++)
        for (int to = 0; to < m->gpus; to++)
            count += attr_of(m, from, to)->access && !on[from * m->gpus + to];
    return count;
}

/* How often the node must have switched a direction on in enable_one (runner.c), if these answers
 * are true: by hand, by peer_enable, and wherever the adapter looked. */
static inline unsigned switched(const struct machine *m, const struct enable_in *in,
                                const struct enable_out *out)
{
    bool good = enable_result(m, in) == LAB_OK;
    unsigned looks = tried(m, out->on_enabled) +
                     (good ? 2 * tried(m, out->on_disabled) : tried(m, out->on_enabled));
    return (unsigned)in->pre_count + looks + (good ? (unsigned)out->undo.count : 0);
}

/* Directions that were on at once after peer_enable, by what was reported. */
static inline unsigned on_at_once(const struct machine *m, const struct enable_out *out)
{
    unsigned count = 0;
    for (int i = 0; i < m->gpus * m->gpus; i++)
        count += out->on_enabled[i];
    return count;
}

static inline void expect_switched(struct lab_test *t, const struct lab_run *run,
                                   const struct machine *m, const struct enable_in *in,
                                   const struct enable_out *out, size_t n)
{
    const struct lab_witness *w = lab_witness(run);
    unsigned least = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned on = on_at_once(m, &out[i]);
        least += switched(m, &in[i], &out[i]);
        most = on > most ? on : most;
    }
    lab_expect(t, !w || w->peers_enabled >= least,
               "on %s the node has switched directions on %u times in all; by what was reported it "
               "was %u times: some access was reported and never switched on",
               m->name, w->peers_enabled, least);
    lab_expect(t, !w || w->peers_most >= most,
               "on %s %u directions were on at once, by what was reported; the node has had %u at "
               "most: the others were reported and never switched on",
               m->name, most, w->peers_most);
}

enum enable_part { JUDGE_ENABLE = 1, JUDGE_DISABLE = 2 };

static inline void ask_enable(struct lab_test *t, const struct machine *m,
                              const struct enable_in *in, size_t n, int parts)
{
    struct lab_run *run = lab_run(t, "enable", in, n * sizeof *in, n * sizeof(struct enable_out));
    const struct enable_out *out = lab_output(run);
    for (size_t i = 0; i < n; i++) {
        if (parts & JUDGE_ENABLE)
            expect_enable(t, m, &in[i], &out[i]);
        if (parts & JUDGE_DISABLE)
            expect_disable(t, m, &in[i], &out[i]);
    }
    expect_switched(t, run, m, in, out, n);
    lab_nothing_leaked(t, run);
}

/* ---- peer_class ---- */

static inline void ask_class(struct lab_test *t, const struct class_in *in, size_t n)
{
    static const char *const names[] = {"PEER_NONE", "PEER_PLAIN", "PEER_ATOMIC"};
    struct lab_run *run = lab_run(t, "classify", in, n * sizeof *in, n * sizeof(struct class_out));
    const struct class_out *out = lab_output(run);
    for (size_t i = 0; i < n; i++) {
        const struct peer_attr *a = &in[i].attr;
        bool bad = in[i].no_attr || in[i].no_kind;
        int kind = !a->access ? PEER_NONE : a->atomics ? PEER_ATOMIC : PEER_PLAIN;
        lab_expect(t, out[i].rc == (bad ? LAB_EINVAL : LAB_OK),
                   "peer_class(%s, %s) returned %s, expected %s", in[i].no_attr ? "NULL" : "attr",
                   in[i].no_kind ? "NULL" : "kind", result_name(out[i].rc),
                   result_name(bad ? LAB_EINVAL : LAB_OK));
        lab_expect(t, !bad || out[i].kind == UNTOUCHED,
                   "peer_class returned an error, yet it wrote into *kind");
        lab_expect(t, bad || out[i].kind == kind,
                   "peer_class of {access %d, rank %d, atomics %d} said %s (%d), expected %s (%d)",
                   a->access, a->rank, a->atomics,
                   out[i].kind >= 0 && out[i].kind < 3 ? names[out[i].kind] : "no kind",
                   out[i].kind, names[kind], kind);
    }
}

/* ---- peer_probe ---- */

static inline void expect_probe(struct lab_test *t, const struct machine *m,
                                const struct probe_in *in, const struct probe_out *out)
{
    char what[64];
    int want = in->no_works ? LAB_EINVAL : pair_result(m, in->from, in->to);
    int works = UNTOUCHED;
    snprintf(what, sizeof what, "peer_probe(%d, %d, %s)", in->from, in->to,
             in->no_works ? "NULL" : "works");
    expect_call(t, m, &out->call, want, in->current, what);
    if (want == LAB_OK) {
        const struct peer_attr *a = attr_of(m, in->from, in->to);
        works = (a->access ? PEER_STORES_ARRIVE : 0) | (a->atomics ? PEER_ATOMICS_ADD_UP : 0);
    }
    lab_expect(t, out->works == works,
               want == LAB_OK ? "%s on %s: *works is 0x%x, expected 0x%x (1: stores arrive, 2: "
                                "atomics add up, where they are native)"
                              : "%s on %s is an error: *works is 0x%x, should still be 0x%x",
               what, m->name, (unsigned)out->works, (unsigned)works);
    for (int i = 0; i < m->gpus * m->gpus; i++)
        lab_expect(t, out->on_after[i] == out->on_before[i],
                   "%s on %s: access from GPU %d to GPU %d was %s before and is %s afterwards",
                   what, m->name, i / m->gpus, i % m->gpus, out->on_before[i] ? "on" : "off",
                   out->on_after[i] ? "on" : "off");
}

/* An answer comes from trying: for each direction that there is, a kernel of `from` used memory of
 * `to`; where atomics are native, kernels of both made some. */
static inline void expect_probe_work(struct lab_test *t, const struct lab_run *run,
                                     const struct machine *m, const struct probe_in *in, size_t n)
{
    const struct lab_witness *w = lab_witness(run);
    for (size_t i = 0; i < n && w; i++) {
        if (in[i].no_works || pair_result(m, in[i].from, in[i].to) != LAB_OK)
            continue;
        const struct peer_attr *a = attr_of(m, in[i].from, in[i].to);
        lab_expect(t, !a->access || w->kernel_bytes[in[i].from][in[i].to] > 0,
                   "peer_probe(%d, %d) on %s: no kernel of GPU %d has used memory of GPU %d: it "
                   "answered without trying",
                   in[i].from, in[i].to, m->name, in[i].from, in[i].to);
        const uint64_t by_from = lab_kernels_within(run, NULL, in[i].from).atomics,
                       by_to = lab_kernels_within(run, NULL, in[i].to).atomics;
        lab_expect(t, !a->atomics || (by_from > 0 && by_to > 0),
                   "peer_probe(%d, %d) on %s: the kernels of GPU %d made %zu atomic additions, "
                   "those of GPU %d %zu, expected some of each: both GPUs add to one counter",
                   in[i].from, in[i].to, m->name, in[i].from, (size_t)by_from, in[i].to,
                   (size_t)by_to);
        /* of the machines here, all directions have native atomics or none has */
        lab_expect(t, a->atomics || by_from + by_to == 0,
                   "peer_probe(%d, %d) on %s made %zu atomic additions, expected none: no atomics "
                   "are native "
                   "there, and they are tried only where they are",
                   in[i].from, in[i].to, m->name, (size_t)(by_from + by_to));
    }
}

static inline struct lab_run *ask_probe(struct lab_test *t, const struct machine *m,
                                        const struct probe_in *in, size_t n)
{
    struct lab_run *run = lab_run(t, "probe", in, n * sizeof *in, n * sizeof(struct probe_out));
    const struct probe_out *out = lab_output(run);
    for (size_t i = 0; i < n; i++)
        expect_probe(t, m, &in[i], &out[i]);
    expect_probe_work(t, run, m, in, n);
    lab_nothing_leaked(t, run);
    return run;
}

/* ---- peer_dot ---- */

static inline void expect_edge(struct lab_test *t, const struct dot_in *in,
                               const struct dot_graph *g, int from, int to)
{
    const struct peer_attr *a = &in->attr[from * in->n + to];
    bool want = from != to && a->access;
    const char *label = a->atomics ? "atomics" : "peer";
    lab_expect(t, g->edges[from][to] == (want ? 1 : 0),
               "the graph has the edge gpu%d -> gpu%d %s, expected %s: GPU %d %s GPU %d", from, to,
               g->edges[from][to] > 1    ? "more than once"
               : g->edges[from][to] == 1 ? "once"
                                         : "not at all",
               want ? "once" : "not at all", from,
               from == to  ? "is not its own peer, whatever the table's diagonal says of"
               : a->access ? "can access"
                           : "cannot access",
               to);
    lab_expect(t, !want || strcmp(g->label[from][to], label) == 0,
               "the edge gpu%d -> gpu%d is labelled \"%s\", expected \"%s\"", from, to,
               g->label[from][to], label);
}

static inline void expect_dot(struct lab_test *t, const struct dot_in *in,
                              const struct dot_out *out)
{
    static struct dot_graph g;
    bool bad = in->n < 0 || in->n > PEER_MAX_GPUS || (in->no_attr && in->n > 0) ||
               in->stream == DOT_MISSING;
    int want = bad ? LAB_EINVAL : in->stream != DOT_MEMORY ? LAB_ERANGE : LAB_OK;
    lab_expect(t, out->rc == want, "peer_dot(%d, %s, %s) returned %s, expected %s", in->n,
               in->no_attr ? "NULL" : "attr",
               in->stream == DOT_MISSING     ? "NULL"
               : in->stream == DOT_TINY      ? "a stream that is full after 16 bytes"
               : in->stream == DOT_READ_ONLY ? "a stream opened for reading"
                                             : "out",
               result_name(out->rc), result_name(want));
    if (want != LAB_OK)
        return;
    lab_expect(t, !out->closed,
               "peer_dot closed the stream: it is the caller's, who may want to write more");
    lab_expect(t, dot_read(out->text, (size_t)out->bytes, &g),
               "what peer_dot wrote for %d GPUs is not a graph that `dot` can draw as required: %s",
               in->n, g.error);
    for (int gpu = 0; gpu < DOT_GPUS; gpu++)
        lab_expect(t, g.node[gpu] == (gpu < in->n), "the graph of %d GPU%s %s a node gpu%d", in->n,
                   in->n == 1 ? "" : "s", g.node[gpu] ? "has" : "lacks", gpu);
    for (int from = 0; from < in->n; from++)
        for (int to = 0; to < in->n; to++)
            expect_edge(t, in, &g, from, to);
}

static inline void ask_dot(struct lab_test *t, const struct dot_in *in, size_t n)
{
    const struct dot_out *out =
        lab_output(lab_run(t, "dot", in, n * sizeof *in, n * sizeof(struct dot_out)));
    for (size_t i = 0; i < n; i++)
        expect_dot(t, &in[i], &out[i]);
}

#endif
