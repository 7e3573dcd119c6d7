/* SPDX-License-Identifier: MIT
 * public.c: the tests of lab 02 that come with the lab.
 */
#include "ask.h"

/* Asks on the usual machine and, where one can be chosen, on another one: an answer that knows the
 * usual one by heart is wrong there. */
static void on_two_machines(struct lab_test *t, void (*ask)(struct lab_test *, const char *),
                            const char *other)
{
    ask(t, "hgx-h200-4");
    if (lab_is_virtual(t))
        ask(t, other);
}

/* ---- TODO(1) ---- */

static void ask_whole_matrix(struct lab_test *t, const char *name)
{
    struct machine m;
    struct matrix_in in[10] = {{.current = 1}, {.n = 1}};
    size_t n = 2;
    use_machine(t, name, &m);
    for (int k = 2; k <= m.gpus && n < 5; k++)
        in[n++] = (struct matrix_in){.current = k - 1, .n = k};
    in[n++] = (struct matrix_in){.n = -1};
    in[n++] = (struct matrix_in){.n = 2, .no_table = 1};
    in[n++] = (struct matrix_in){.n = 1, .no_table = 1};
    in[n++] = (struct matrix_in){.n = PEER_MAX_GPUS};
    in[n++] = (struct matrix_in){.n = m.gpus + 1};
    ask_matrix(t, &m, in, n);
}

static void check_matrix(struct lab_test *t)
{
    on_two_machines(t, ask_whole_matrix, "pcie-dual-socket-4");
    refuse_calls(t, 1, "peer_matrix(2, can)");
}

static void check_matrix_oneway(struct lab_test *t)
{
    struct machine m;
    struct matrix_in in[] = {{.current = 1, .n = 2}, {.n = 1}};
    use_machine(t, "oneway-2", &m);
    ask_matrix(t, &m, in, COUNT(in));
}

/* ---- TODO(2) ---- */

static void ask_all_attrs(struct lab_test *t, const char *name)
{
    struct machine m;
    struct attrs_in in[24];
    size_t n = 0;
    use_machine(t, name, &m);
    for (int from = 0; from < m.gpus && from < 4; from++)
        for (int to = 0; to < m.gpus && to < 4; to++)
            in[n++] = (struct attrs_in){.current = m.gpus - 1, .from = from, .to = to};
    in[n++] = (struct attrs_in){.from = -1, .to = 1};
    in[n++] = (struct attrs_in){.from = 0, .to = m.gpus};
    in[n++] = (struct attrs_in){.from = 0, .to = 1, .no_attr = 1};
    ask_attrs(t, &m, in, n);
}

static void check_attrs(struct lab_test *t)
{
    on_two_machines(t, ask_all_attrs, "oneway-2");
    refuse_calls(t, 2, "peer_attrs(0, 1, &attr)");
}

static void check_attrs_pcie(struct lab_test *t)
{
    ask_all_attrs(t, "pcie-dual-socket-4");
}

/* ---- TODO(3) and TODO(4) ---- */

static void ask_enables(struct lab_test *t, const char *name)
{
    struct machine m;
    struct enable_in in[] = {
        {.current = 1, .n = 2, .gpu = {0, 1}},
        {.current = 0, .n = 3, .gpu = {2, 0, 3}},
        {.current = 1, .n = 1, .gpu = {1}},
        {.n = 0},
    };
    use_machine(t, name, &m);
    ask_enable(t, &m, in, COUNT(in), JUDGE_ENABLE);
}

static void check_enable(struct lab_test *t)
{
    on_two_machines(t, ask_enables, "dgx-a100");
}

static void ask_enable_again(struct lab_test *t, const char *name)
{
    struct machine m;
    struct enable_in in[] = {
        {.current = 1, .n = 2, .gpu = {0, 1}, .pre_count = 1, .pre = {{1, 0}}},
        {.current = 0, .n = 2, .gpu = {1, 0}, .pre_count = 2, .pre = {{1, 0}, {0, 1}}},
    };
    use_machine(t, name, &m);
    ask_enable(t, &m, in, COUNT(in), JUDGE_ENABLE);
}

static void check_enable_again(struct lab_test *t)
{
    on_two_machines(t, ask_enable_again, "dgx-a100");
}

/* CUDA says that access is possible, and cannot switch on the nth direction all the same. */
static void expect_refused_enable(struct lab_test *t, int nth)
{
    struct enable_in in = {.current = 1, .n = 3, .gpu = {2, 0, 1}};
    char fault[60];
    lab_node(t, nth % 2 ? "dgx-a100" : "hgx-h200-4");
    snprintf(fault, sizeof fault, "call:cudaDeviceEnablePeerAccess=%d", nth);
    lab_fault(t, fault);
    struct lab_run *run = lab_run(t, "enable", &in, sizeof in, sizeof(struct enable_out));
    const struct enable_out *out = lab_output(run);
    bool kept = untouched(&out->undo, sizeof out->undo);
    lab_expect(t, out->enable.rc != LAB_OK && kept,
               "peer_enable of GPUs 2, 0 and 1, where CUDA cannot switch on direction %d, returned "
               "%s and %s *undo, expected an error and *undo as it was",
               nth, result_name(out->enable.rc), kept ? "did not write" : "wrote");
    for (size_t i = 0; i < SQUARE; i++)
        lab_expect(t, !out->on_enabled[i],
                   "peer_enable of GPUs 2, 0 and 1, where CUDA cannot switch on direction %d, left "
                   "access on: what this call switched on is switched off again",
                   nth);
    lab_fault(t, NULL);
    lab_refused_leaked_nothing(t, run);
}

static void check_enable_rollback(struct lab_test *t)
{
    struct machine m;
    struct enable_in in[] = {
        {.current = 3, .n = 3, .gpu = {0, 1, 2}},
        {.current = 0, .n = 3, .gpu = {3, 2, 1}, .pre_count = 1, .pre = {{2, 3}}},
        {.current = 1, .n = 2, .gpu = {0, 1}},
    };
    use_machine(t, "pcie-dual-socket-4", &m);
    ask_enable(t, &m, in, COUNT(in), JUDGE_ENABLE);
    /* 0 and 5 are no peers, and 4 is a peer of both: what is tried last works */
    struct enable_in last_works = {.current = 7, .n = 3, .gpu = {0, 5, 4}};
    use_machine(t, "dgx1-v100", &m);
    ask_enable(t, &m, &last_works, 1, JUDGE_ENABLE);
    for (int nth = 1; nth <= 6; nth++)
        expect_refused_enable(t, nth);
}

static void ask_enable_arguments(struct lab_test *t, const char *name)
{
    struct machine m;
    use_machine(t, name, &m);
    struct enable_in in[] = {
        {.current = 1, .n = 2, .gpu = {0, 1}, .no_undo = 1},
        {.current = 1, .n = 2, .no_list = 1},
        {.current = 1, .n = 3, .gpu = {0, 1, 0}},
        {.current = 1, .n = 3, .gpu = {0, 1, -1}},
        {.current = 1, .n = 3, .gpu = {0, 1, m.gpus}},
        {.current = 1, .n = -1, .gpu = {0, 1}},
    };
    ask_enable(t, &m, in, COUNT(in), JUDGE_ENABLE);
}

static void check_enable_arguments(struct lab_test *t)
{
    on_two_machines(t, ask_enable_arguments, "dgx-a100");
    refuse_calls(t, 3, "peer_enable({0, 1}, 2, &undo)");
}

static void ask_disables(struct lab_test *t, const char *name)
{
    struct machine m;
    struct enable_in in[] = {
        {.current = 1, .n = 2, .gpu = {0, 1}},
        {.current = 2, .n = 3, .gpu = {0, 1, 3}, .pre_count = 3, .pre = {{0, 1}, {3, 1}, {1, 2}}},
        {.current = 0, .n = 2, .gpu = {0, 1}, .pre_count = 1, .pre = {{1, 0}}},
        {.current = 1, .n = 2, .gpu = {0, 1}, .off_count = 2, .off = {{0, 1}, {1, 0}}},
    };
    use_machine(t, name, &m);
    ask_enable(t, &m, in, COUNT(in), JUDGE_DISABLE);
}

/* Between two directions that are on stands one that CUDA refuses. */
static void expect_rest_off(struct lab_test *t)
{
    struct machine m;
    use_machine(t, "hgx-h200-4", &m);
    const struct rest_out *out = lab_output(lab_run(t, "disable_rest", NULL, 0, sizeof *out));
    const char *what = "peer_disable of 0 -> 1, of a GPU that is not there, and of 1 -> 0";
    lab_expect(t, out->call.rc != LAB_OK, "%s returned LAB_OK: an error is returned at the end",
               what);
    expect_call(t, &m, &out->call, out->call.rc, 0, what);
    lab_expect(
        t, !out->on[0] && !out->on[1],
        "%s left %s on: if one direction fails, the others must be switched off all the same", what,
        out->on[0] ? "0 -> 1" : "1 -> 0");
    lab_expect(t, out->left == 0, "after %s undo->count is %d, expected 0", what, out->left);
}

static void check_disable(struct lab_test *t)
{
    expect_rest_off(t);
    on_two_machines(t, ask_disables, "dgx-a100");
    refuse_calls(t, 4, "peer_disable(&undo)");
}

/* ---- TODO(5) ---- */

static void check_class(struct lab_test *t)
{
    static const struct class_in in[] = {
        {.attr = {.access = 0, .rank = 0, .atomics = 0}},
        {.attr = {.access = 1, .rank = 0, .atomics = 0}},
        {.attr = {.access = 1, .rank = 0, .atomics = 1}},
        {.attr = {.access = 1, .rank = 3, .atomics = 1}},
        {.attr = {.access = 0, .rank = 0, .atomics = 1}},
        {.no_attr = 1},
        {.no_kind = 1},
    };
    ask_class(t, in, COUNT(in));
}

/* ---- TODO(6) ---- */

static void ask_all_probes(struct lab_test *t, const char *name)
{
    struct machine m;
    struct probe_in in[24];
    size_t n = 0;
    use_machine(t, name, &m);
    for (int from = 0; from < m.gpus && from < 4; from++)
        for (int to = 0; to < m.gpus && to < 4; to++)
            if (from != to && (from == 0 || to == 0 || from == 3))
                in[n++] =
                    (struct probe_in){.current = (from + 2) % m.gpus,
                                      .from = from,
                                      .to = to,
                                      .pre = (from + to) % 2 && attr_of(&m, from, to)->access};
    in[n++] = (struct probe_in){.current = 1, .from = 1, .to = 1};
    in[n++] = (struct probe_in){.current = 1, .from = 0, .to = m.gpus};
    in[n++] = (struct probe_in){.from = 0, .to = 1, .no_works = 1};
    ask_probe(t, &m, in, n);
}

/* On a machine whose runtime says yes, and whose stores do not arrive, or not all. */
static void expect_no_stores(struct lab_test *t, const struct probe_in *in, const char *fault,
                             const char *lost)
{
    lab_fault(t, fault);
    struct lab_run *run = lab_run(t, "probe", in, sizeof *in, sizeof(struct probe_out));
    const struct probe_out *out = lab_output(run);
    lab_expect(t, out->call.rc == LAB_OK && out->works == 0,
               "on a machine whose runtime says yes and where %s stores from GPU 3 to GPU 1 get "
               "lost, peer_probe(3, 1) gave %d and works = %d, expected 0 and 0: look from GPU "
               "1's side whether all words have arrived",
               lost, out->call.rc, out->works);
}

/* Where the probe's memory cannot be had, everything stays as it was. */
static void expect_no_room(struct lab_test *t, const struct probe_in *in)
{
    struct machine m;
    use_machine(t, "hgx-h200-4", &m);
    lab_fault(t, "alloc:1");
    struct lab_run *run = lab_run(t, "probe", in, sizeof *in, sizeof(struct probe_out));
    const struct probe_out *out = lab_output(run);
    expect_call(t, &m, &out->call, LAB_ENOMEM, in->current,
                "peer_probe(3, 1), when no memory is left,");
    lab_expect(t, lab_witness(run)->faults == 0,
               "peer_probe(3, 1), when no memory is left, launched a kernel on memory that it has "
               "not got");
    lab_expect(t, out->works == UNTOUCHED, "peer_probe(3, 1) failed, yet it wrote *works");
    lab_expect(t, memcmp(out->on_before, out->on_after, sizeof out->on_before) == 0,
               "peer_probe(3, 1) failed and changed which directions are on");
    lab_fault(t, NULL);
}

/* Where a GPU is lost in the middle of the probe, there is no answer. */
static void expect_error(struct lab_test *t, const struct probe_in *in)
{
    lab_fault(t, "gpu-lost:3@op=1");
    const struct probe_out *out =
        lab_output(lab_run(t, "probe", in, sizeof *in, sizeof(struct probe_out)));
    lab_expect(t, out->call.rc == LAB_ECUDA,
               "peer_probe(3, 1), when GPU 3 is lost at its kernel, returned %s, expected "
               "LAB_ECUDA: a kernel's error is returned by the next call that waits for it",
               result_name(out->call.rc));
    lab_expect(t, out->works == UNTOUCHED, "peer_probe(3, 1) failed, yet it wrote *works");
    lab_fault(t, NULL);
}

/* Where access cannot be switched off again, it is not as it was, and that is no success. The
 * adapter has switched every direction off once before (look). */
static void expect_told(struct lab_test *t, const struct probe_in *in)
{
    char fault[60];
    int n = lab_gpus(t);
    snprintf(fault, sizeof fault, "call:cudaDeviceDisablePeerAccess=%d", n * (n - 1) + 1);
    lab_fault(t, fault);
    const struct probe_out *out =
        lab_output(lab_run(t, "probe", in, sizeof *in, sizeof(struct probe_out)));
    lab_expect(t, out->call.rc == LAB_ECUDA && out->works == UNTOUCHED,
               "peer_probe(3, 1), where CUDA refuses to switch access from GPU 3 to GPU 1 off "
               "again, returned %s and %s *works, expected LAB_ECUDA and *works as it was",
               result_name(out->call.rc), out->works == UNTOUCHED ? "did not write" : "wrote");
    lab_fault(t, NULL);
}

/* The last question opens all points of this task: who never looks at what arrived, and says what
 * the runtime says, is wrong there. */
static void check_probe(struct lab_test *t)
{
    const struct probe_in lost = {.current = 0, .from = 3, .to = 1};
    on_two_machines(t, ask_all_probes, "dgx-a100");
    refuse_calls(t, 6, "peer_probe(0, 1, &works)");
    if (!lab_is_virtual(t))
        return;
    expect_no_room(t, &lost);
    expect_error(t, &lost);
    expect_told(t, &lost);
    expect_no_stores(t, &lost, "peer-drop:3-1", "all");
}

static void check_probe_pcie(struct lab_test *t)
{
    ask_all_probes(t, "pcie-dual-socket-4");
}

static bool met(const struct lab_record *a, const struct lab_record *b)
{
    return a->kind == LAB_KERNEL && b->kind == LAB_KERNEL && a->start_ps < b->end_ps &&
           b->start_ps < a->end_ps;
}

/* Additions get lost when they meet. Processors at a hundredth of their clock take 150 us for any
 * kernel, so two that are launched one after the other run together; unless somebody waits. */
static void expect_meeting(struct lab_test *t, const struct machine *m, const struct probe_in *in)
{
    lab_fault(t, "clock:3=0.01,clock:1=0.01");
    const struct lab_witness *w = lab_witness(ask_probe(t, m, in, 1));
    unsigned meetings = 0;
    for (unsigned i = 0; i < w->record_count; i++)
        for (unsigned k = 0; k < w->record_count; k++)
            meetings += w->records[i].gpu == in->from && w->records[k].gpu == in->to &&
                        met(&w->records[i], &w->records[k]);
    lab_expect(t, meetings > 0,
               "peer_probe(%d, %d): no kernel of GPU %d ran at the same time as one of GPU %d. "
               "Additions of two GPUs get lost when they meet: launch both kernels before you wait",
               in->from, in->to, in->from, in->to);
}

/* The answer must come from trying: the node saw a kernel of `from` write into memory of `to`. */
static void ask_probe_tries(struct lab_test *t, const char *name)
{
    struct machine m;
    struct probe_in in = {.current = 0, .from = 3, .to = 1};
    use_machine(t, name, &m);
    const struct lab_witness *w = lab_witness(ask_probe(t, &m, &in, 1));
    unsigned kernels = 0;
    for (unsigned i = 0; i < w->record_count; i++)
        kernels += w->records[i].kind == LAB_KERNEL && w->records[i].gpu == in.from;
    lab_expect(t, kernels > 0,
               "peer_probe(3, 1) launched no kernel on GPU 3: it answered without trying");
    lab_expect(t, w->kernel_bytes[in.from][in.to] > 0,
               "peer_probe(3, 1) launched kernels, but none on GPU 3 touched memory of GPU 1");
    expect_meeting(t, &m, &in);
    expect_no_stores(t, &in, "peer-tear:3-1", "some");
    expect_no_stores(t, &in, "peer-clip:3-1", "the first four");
    lab_fault(t, NULL);
}

static void check_probe_tries(struct lab_test *t)
{
    on_two_machines(t, ask_probe_tries, "dgx-a100");
}

/* ---- TODO(7) ---- */

static void check_dot(struct lab_test *t)
{
    static const char *const drawn[] = {"hgx-h200-4", "pcie-dual-socket-4", "oneway-2", "single"};
    struct dot_in in[COUNT(drawn) + 3];
    memset(in, 0, sizeof in);
    for (size_t k = 0; k < COUNT(drawn); k++) {
        for (size_t i = 0; i < COUNT(shapes); i++) {
            struct machine m;
            if (strcmp(shapes[i].name, drawn[k]) != 0)
                continue;
            machine_from_shape(&m, &shapes[i]);
            in[k].n = m.gpus;
            memcpy(in[k].attr, m.attr, sizeof m.attr);
            for (int past = m.gpus * m.gpus; past < SQUARE; past++)
                in[k].attr[past].access = 1; /* not of the table any more */
        }
    }
    in[COUNT(drawn)] = (struct dot_in){.n = 1, .stream = DOT_MISSING};
    in[COUNT(drawn) + 1] = (struct dot_in){.n = 1, .no_attr = 1};
    in[COUNT(drawn) + 2] = (struct dot_in){.no_attr = 1}; /* of no GPUs nothing is asked */
    ask_dot(t, in, COUNT(in));
}

/* ---- all of them together, all yours ---- */

static void ask_together(struct lab_test *t, const char *name)
{
    struct machine m;
    struct matrix_in table = {.current = 1, .n = 4};
    struct enable_in both = {.gpu = {0, 1, 2, 3}, .pre = {{2, 0}}};
    struct probe_in probe = {.current = 1, .from = 2, .to = 0, .pre = 1};
    use_machine(t, name, &m);
    table.n = both.n = m.gpus < 4 ? m.gpus : 4;
    both.current = both.n - 1;
    both.pre_count = m.gpus > 2;
    ask_matrix(t, &m, &table, 1);
    ask_enable(t, &m, &both, 1, JUDGE_ENABLE | JUDGE_DISABLE);
    if (m.gpus > 2)
        ask_probe(t, &m, &probe, 1);
}

static void check_together(struct lab_test *t)
{
    on_two_machines(t, ask_together, "dgx-a100");
}

#define DIRECTIONS "peer access has a direction: from -> to and to -> from take one call each"
#define AS_BEFORE "a function that fails must leave everything as it was"

const char lab_name[] = "lab02";

LAB_CASES = {
    {.name = "matrix",
     .todo = 1,
     .title = "the table has CUDA's answer for every pair",
     .rule = "can[from * n + to]; a GPU is not a peer of itself",
     .about = "can[",
     .points = 5,
     .quick = true,
     .min_gpus = 2,
     .check = check_matrix},
    {.name = "matrix_oneway",
     .todo = 1,
     .title = "the two directions of a pair are asked one by one",
     .rule = DIRECTIONS,
     .points = 3,
     .check = check_matrix_oneway},
    {.name = "attrs",
     .todo = 2,
     .title = "access, rank and native atomics of a direction",
     .rule = "cudaDeviceGetP2PAttribute answers one question a call; rank 0 is the best",
     .about = "rank is",
     .points = 4,
     .min_gpus = 2,
     .check = check_attrs},
    {.name = "attrs_pcie",
     .todo = 2,
     .title = "no access is an answer, not an error",
     .rule = "no access is an answer, not an error; and access over PCIe has no native atomics",
     .about = "atomics is|LAB_ENOPEER",
     .points = 3,
     .check = check_attrs_pcie},
    {.name = "enable",
     .todo = 3,
     .title = "afterwards access is on for every pair of the list, in both directions",
     .rule = DIRECTIONS ", each made with its own GPU current",
     .about = "is off, expected on|returned LAB_ENOPEER",
     .points = 8,
     .quick = true,
     .min_gpus = 4,
     .check = check_enable},
    {.name = "enable_again",
     .todo = 3,
     .title = "a direction that was on already is not noted, and leaves no error behind",
     .rule = "cudaErrorPeerAccessAlreadyEnabled stays the last error until cudaGetLastError() "
             "clears it",
     .about = "returned LAB_ECUDA|left CUDA error",
     .points = 6,
     .min_gpus = 2,
     .check = check_enable_again},
    {.name = "enable_rollback",
     .todo = 3,
     .title = "if one direction cannot be switched on, none is left on",
     .rule = AS_BEFORE,
     .points = 6,
     .check = check_enable_rollback},
    {.name = "enable_arguments",
     .todo = 3,
     .title = "bad lists are refused before anything is switched",
     .rule = AS_BEFORE,
     .points = 3,
     .min_gpus = 2,
     .check = check_enable_arguments},
    {.name = "disable",
     .todo = 4,
     .title = "afterwards exactly the noted directions are off",
     .rule = "a direction that was on before must not be switched off here: another part of the "
             "program may rely on it",
     .about = "is off, expected on",
     .points = 7,
     .min_gpus = 4,
     .check = check_disable},
    {.name = "class",
     .todo = 5,
     .title = "none, peer, peer with atomics",
     .rule = "without access the other attributes mean nothing",
     .about = "{access 0",
     .points = 4,
     .quick = true,
     .check = check_class},
    {.name = "probe",
     .todo = 6,
     .title = "stores arrive and additions add up, in every direction",
     .rule = "GPU `to` looks at every word after both GPUs were waited for: cudaMemset may return "
             "before it has run, and no stream orders two GPUs",
     .about = "works is",
     .points = 7,
     .min_gpus = 2,
     .check = check_probe},
    {.name = "probe_pcie",
     .todo = 6,
     .title = "without access nothing is tried, without native atomics only stores",
     .rule = "a store without access ends the whole program's use of CUDA (error 700)",
     .points = 5,
     .check = check_probe_pcie},
    {.name = "probe_tries",
     .todo = 6,
     .title = "the answer comes from a real test",
     .rule = "CUDA can report access although stores do not arrive",
     .points = 4,
     .needs_witness = true,
     .check = check_probe_tries},
    {.name = "dot",
     .todo = 7,
     .title = "the graph has every GPU, and one edge for each direction",
     .rule = "a GPU without peers is part of the machine too",
     .about = "lacks a node",
     .points = 6,
     .check = check_dot},
    {.name = "together",
     .todo = 0,
     .title = "your functions work together",
     .rule = "what one function leaves behind (an error, another current device) disturbs the next",
     .points = 4,
     .min_gpus = 2,
     .check = check_together},
    {0},
};
