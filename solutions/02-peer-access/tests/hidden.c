/* SPDX-License-Identifier: MIT
 * hidden.c: the grader's tests of lab 02: other machines, other lists, tables from the seed.
 */
#include "ask.h"

/* ---- TODO(1) and TODO(2) ---- */

static void check_matrix(struct lab_test *t)
{
    static const char *const on[] = {"dgx-a100", "pcie-dual-socket-4", "pcie-4090-2", "single",
                                     "none"};
    for (size_t k = 0; k < COUNT(on); k++) {
        struct machine m;
        struct matrix_in in[6] = {{.n = 0}, {.n = 17}};
        use_machine(t, on[k], &m);
        in[2] = (struct matrix_in){.current = m.gpus / 2, .n = m.gpus};
        in[3] = (struct matrix_in){.n = m.gpus + 1};
        in[4] = (struct matrix_in){.n = m.gpus > 2 ? m.gpus - 1 : m.gpus};
        in[5] = (struct matrix_in){.n = 0, .no_table = 1};
        ask_matrix(t, &m, in, COUNT(in));
    }
}

static void check_attrs(struct lab_test *t)
{
    static const char *const on[] = {"dgx-a100", "oneway-2", "single", "none"};
    for (size_t k = 0; k < COUNT(on); k++) {
        struct machine m;
        struct attrs_in in[12];
        use_machine(t, on[k], &m);
        for (size_t i = 0; i < COUNT(in); i++) {
            int some = m.gpus + 1;
            in[i] = (struct attrs_in){.from = (int)(lab_random(t) % (unsigned)some),
                                      .to = (int)(lab_random(t) % (unsigned)some)};
        }
        in[0] = (struct attrs_in){.from = 0, .to = 1};
        in[1] = (struct attrs_in){.from = 1, .to = 0};
        in[2] = (struct attrs_in){.from = 0, .to = -2};
        ask_attrs(t, &m, in, COUNT(in));
    }
}

/* ---- TODO(3) and TODO(4) ---- */

static void check_enable_oneway(struct lab_test *t)
{
    struct machine m;
    struct enable_in in[] = {
        {.current = 1, .n = 2, .gpu = {0, 1}},
        {.current = 0, .n = 2, .gpu = {1, 0}, .pre_count = 1, .pre = {{0, 1}}},
        {.current = 1, .n = 1, .gpu = {0}},
    };
    use_machine(t, "oneway-2", &m);
    ask_enable(t, &m, in, COUNT(in), JUDGE_ENABLE);
}

static void check_enable_eight(struct lab_test *t)
{
    struct machine m;
    struct enable_in in[] = {
        {.current = 5, .n = 8, .gpu = {7, 0, 6, 1, 5, 2, 4, 3}},
        {.current = 7, .n = 3, .gpu = {6, 2, 4}, .pre_count = 2, .pre = {{4, 2}, {7, 6}}},
        {.current = 7, .n = 9, .gpu = {0, 1, 2, 3, 4, 5, 6, 7, 8}},
        {.current = 7, .n = 17, .gpu = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
    };
    use_machine(t, "dgx-a100", &m);
    ask_enable(t, &m, in, COUNT(in), JUDGE_ENABLE);
}

static void check_enable_few(struct lab_test *t)
{
    static const char *const on[] = {"single", "none", "pcie-4090-2"};
    for (size_t k = 0; k < COUNT(on); k++) {
        struct machine m;
        struct enable_in in[] = {
            {.n = 0},
            {.n = 1, .gpu = {0}},
            {.n = 2, .gpu = {0, 1}},
        };
        use_machine(t, on[k], &m);
        ask_enable(t, &m, in, COUNT(in), JUDGE_ENABLE | JUDGE_DISABLE);
    }
}

static void check_disable_others(struct lab_test *t)
{
    struct machine m;
    struct enable_in in[] = {
        /* somebody switched one direction off meanwhile; the others must still be switched off */
        {.current = 1, .n = 3, .gpu = {3, 1, 0}, .off_count = 2, .off = {{1, 3}, {0, 1}}},
        {.current = 2,
         .n = 2,
         .gpu = {2, 3},
         .pre_count = 2,
         .pre = {{2, 3}, {3, 2}},
         .off_count = 1,
         .off = {{2, 3}}},
    };
    use_machine(t, "hgx-h200-4", &m);
    ask_enable(t, &m, in, COUNT(in), JUDGE_DISABLE);
    if (!lab_is_virtual(t))
        return;
    use_machine(t, "dgx-a100", &m);
    ask_enable(t, &m, in, COUNT(in), JUDGE_DISABLE);
}

static void check_disable_bad(struct lab_test *t)
{
    static const char *const on[] = {"hgx-h200-4", "none"};
    for (size_t k = 0; k < COUNT(on); k++) {
        static const struct disable_in in[] = {{.no_undo = 1},
                                               {.count = -1},
                                               {.count = PEER_MAX_PAIRS + 1},
                                               {.count = 0},
                                               {.count = PEER_MAX_PAIRS}};
        struct machine m;
        use_machine(t, on[k], &m);
        const size_t asked =
            m.gpus > 1 ? COUNT(in) : COUNT(in) - 1; /* the last one names two GPUs */
        const struct outcome *out =
            lab_output(lab_run(t, "disable_bad", in, asked * sizeof *in, asked * sizeof *out));
        for (size_t i = 0; i < asked; i++)
            expect_call(t, &m, &out[i], i >= 3 ? LAB_OK : LAB_EINVAL, 0,
                        in[i].no_undo ? "peer_disable(NULL)"
                        : i == 3      ? "peer_disable of an empty list"
                        : i == 4      ? "peer_disable of the longest list, of what is off already,"
                                      : "peer_disable of a list with an impossible count");
    }
}

/* ---- TODO(5) ---- */

static void check_class(struct lab_test *t)
{
    struct class_in in[16];
    memset(in, 0, sizeof in);
    for (size_t i = 0; i < COUNT(in); i++) {
        uint64_t bits = lab_random(t);
        in[i].attr.access = (int)(bits & 1);
        in[i].attr.atomics = (int)(bits >> 1 & 1);
        in[i].attr.rank = (int)(bits >> 2 & 7);
        in[i].no_attr = i == 3;
        in[i].no_kind = i == 5;
    }
    ask_class(t, in, COUNT(in));
}

/* ---- TODO(6) ---- */

static void check_probe_oneway(struct lab_test *t)
{
    struct machine m;
    struct probe_in in[] = {
        {.current = 1, .from = 0, .to = 1},
        {.current = 0, .from = 1, .to = 0},
        {.current = 0, .from = 0, .to = 1, .pre = 1},
        {.current = 1, .from = 0, .to = -1},
    };
    use_machine(t, "oneway-2", &m);
    ask_probe(t, &m, in, COUNT(in));
}

static void check_probe_eight(struct lab_test *t)
{
    struct machine m;
    struct probe_in in[] = {
        {.current = 5, .from = 7, .to = 0},
        {.current = 0, .from = 2, .to = 6, .pre = 1},
        {.current = 6, .from = 2, .to = 6},
        {.current = 0, .from = 8, .to = 6},
    };
    use_machine(t, "dgx-a100", &m);
    ask_probe(t, &m, in, COUNT(in));
}

static void check_probe_few(struct lab_test *t)
{
    static const char *const on[] = {"single", "none", "pcie-4090-2"};
    for (size_t k = 0; k < COUNT(on); k++) {
        static const struct probe_in in[] = {
            {.from = 0, .to = 1}, {.from = 1, .to = 0}, {.from = 0, .to = 0}};
        struct machine m;
        use_machine(t, on[k], &m);
        ask_probe(t, &m, in, COUNT(in));
    }
}

/* ---- TODO(7) ---- */

static void check_dot(struct lab_test *t)
{
    static struct dot_in in[9];
    static const int sizes[] = {0, 1, 2, 3, 5, 8, 11, 16, PEER_MAX_GPUS};
    for (size_t i = 0; i < COUNT(in); i++) {
        in[i].n = sizes[i];
        for (int k = 0; k < in[i].n * in[i].n; k++) {
            uint64_t bits = lab_random(t);
            in[i].attr[k].access = (int)(bits & 1);
            in[i].attr[k].atomics = (int)(bits >> 1 & 1);
            in[i].attr[k].rank = (int)(bits >> 2 & 3);
            if (i + 1 == COUNT(in)) /* as many edges as there can be, with the longer label */
                in[i].attr[k].access = in[i].attr[k].atomics = 1;
        }
    }
    ask_dot(t, in, COUNT(in));
}

static void check_dot_stream(struct lab_test *t)
{
    static struct dot_in in[6];
    for (size_t i = 0; i < COUNT(in); i++)
        in[i].n = 2;
    in[0].stream = DOT_TINY;
    in[1].stream = DOT_READ_ONLY;
    in[2].stream = DOT_MISSING;
    in[3].no_attr = 1;
    in[4].n = -1;
    in[5].n = 17;
    ask_dot(t, in, COUNT(in));
}

#define EVERYWHERE "machines have no GPU, one, or more than you thought of"

const char lab_name[] = "lab02";

LAB_CASES = {
    {.name = "matrix",
     .todo = 1,
     .title = "the table is right on every machine",
     .rule = EVERYWHERE,
     .points = 3,
     .check = check_matrix},
    {.name = "attrs",
     .todo = 2,
     .title = "attributes of any two numbers",
     .rule = EVERYWHERE,
     .points = 2,
     .check = check_attrs},
    {.name = "enable_oneway",
     .todo = 3,
     .title = "a pair that reaches one way only is refused, and left as it was",
     .rule = "what was switched on before the failure has to be switched off again",
     .points = 4,
     .check = check_enable_oneway},
    {.name = "enable_eight",
     .todo = 3,
     .title = "eight GPUs in any order",
     .rule = "every pair of the list is two directions, 56 here; access is not passed on from one "
             "GPU to the next",
     .points = 2,
     .check = check_enable_eight},
    {.name = "enable_few",
     .todo = 3,
     .title = "no GPU, one GPU, no peers",
     .rule = EVERYWHERE,
     .points = 2,
     .check = check_enable_few},
    {.name = "disable_others",
     .todo = 4,
     .title = "a direction that another part of the program switched off is not an error",
     .rule = "a direction that is off already is not an error; switch off the others of the list",
     .about = "is on, expected off|returned LAB_",
     .points = 3,
     .min_gpus = 4,
     .check = check_disable_others},
    {.name = "disable_bad",
     .todo = 4,
     .title = "an invalid list is refused, an empty one is allowed",
     .rule = EVERYWHERE,
     .points = 2,
     .check = check_disable_bad},
    {.name = "class",
     .todo = 5,
     .title = "any attributes",
     .rule = "without access the other attributes mean nothing",
     .points = 1,
     .check = check_class},
    {.name = "probe_oneway",
     .todo = 6,
     .title = "one direction can be tried without the other",
     .rule = "a probe needs one direction, the one that it probes: the other may not exist",
     .about = "returned LAB_ENOPEER",
     .points = 2,
     .check = check_probe_oneway},
    {.name = "probe_eight",
     .todo = 6,
     .title = "far numbers, and a direction that was on before stays on",
     .rule = "a probe leaves the machine as it found it",
     .points = 1,
     .check = check_probe_eight},
    {.name = "probe_few",
     .todo = 6,
     .title = "no GPU, one GPU, no peers",
     .rule = EVERYWHERE,
     .points = 1,
     .check = check_probe_few},
    {.name = "dot",
     .todo = 7,
     .title = "tables from the seed, 0 to 16 GPUs",
     .rule = "what has no access has no edge, whatever else its attributes say",
     .about = "cannot access",
     .points = 1,
     .check = check_dot},
    {.name = "dot_stream",
     .todo = 7,
     .title = "a stream that does not take it all is an error",
     .rule = "output is buffered: a failure shows when it is flushed, not when it is written",
     .about = "LAB_ERANGE",
     .points = 1,
     .check = check_dot_stream},
    {0},
};
