/* SPDX-License-Identifier: MIT
 * shapes.h: which GPUs reach which, on the machines that the tests of lab 02 run on, and what every
 * function of the lab promises after every call.
 */
#ifndef LAB02_SHAPES_H
#define LAB02_SHAPES_H

#include <string.h>

#include "case.h"
#include "io.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct shape {
    const char *name;
    int gpus;
    bool nvlink;        /* native atomics and rank 0; over PCIe neither */
    const char *can[8]; /* can[from][to], '1' or '0' */
};

static const struct shape shapes[] = {
    {"hgx-h200-4", 4, true, {"0111", "1011", "1101", "1110"}},
    {"single", 1, true, {"0"}},
    {"none", 0, false, {0}},
    {"pcie-4090-2", 2, false, {"00", "00"}},
    {"pcie-dual-socket-4", 4, false, {"0100", "1000", "0001", "0010"}},
    {"oneway-2", 2, false, {"01", "00"}},
    {"dgx-a100",
     8,
     true,
     {"01111111", "10111111", "11011111", "11101111", "11110111", "11111011", "11111101",
      "11111110"}},
    {"dgx1-v100", /* its ranks differ, by the number of links: no test asks for them */
     8,
     true,
     {"01111000", "10110100", "11010010", "11100001", "10000111", "01001011", "00101101",
      "00011110"}},
};

/* A machine as the tests know it: attr[from * gpus + to]. */
struct machine {
    const char *name;
    int gpus;
    struct peer_attr attr[SQUARE];
};

static inline void machine_from_shape(struct machine *m, const struct shape *s)
{
    memset(m, 0, sizeof *m);
    m->name = s->name;
    m->gpus = s->gpus;
    for (int from = 0; from < s->gpus; from++) {
        for (int to = 0; to < s->gpus; to++) {
            struct peer_attr *a = &m->attr[from * s->gpus + to];
            a->access = s->can[from][to] == '1';
            a->atomics = a->access && s->nvlink;
            a->rank = a->access && !s->nvlink;
        }
    }
}

/* Runs what follows on the named machine. On real GPUs it is the one at hand, asked by plain CUDA
 * calls, and only where the test wants four equal GPUs: other shapes cannot be had there. */
static inline void use_machine(struct lab_test *t, const char *name, struct machine *m)
{
    if (lab_is_virtual(t)) {
        for (size_t i = 0; i < COUNT(shapes); i++)
            if (strcmp(shapes[i].name, name) == 0)
                machine_from_shape(m, &shapes[i]);
        lab_node(t, name);
        return;
    }
    if (strcmp(name, "hgx-h200-4") != 0)
        lab_cannot_run(t, "this machine does not have the peer access of the machine '%s'", name);
    const struct facts_out *facts =
        lab_output(lab_run(t, "facts", NULL, 0, sizeof(struct facts_out)));
    m->name = "this machine";
    m->gpus = facts->gpus;
    memcpy(m->attr, facts->attr, sizeof m->attr);
}

static inline const struct peer_attr *attr_of(const struct machine *m, int from, int to)
{
    return &m->attr[from * m->gpus + to];
}

static inline const char *result_name(int rc)
{
    static const char *const names[] = {"LAB_OK",     "LAB_EINVAL", "LAB_ENOGPU", "LAB_ENOPEER",
                                        "LAB_ENOMEM", "LAB_ECUDA",  "LAB_EPEER",  "LAB_ERANGE"};
    static char other[4][32]; /* a sentence names two at most */
    static unsigned turn;
    if (rc <= 0 && rc > -(int)COUNT(names))
        return names[-rc];
    turn = (turn + 1) % COUNT(other);
    snprintf(other[turn], sizeof other[turn], "%d", rc);
    return other[turn];
}

/* True when none of the bytes was written. */
static inline bool untouched(const void *at, size_t bytes)
{
    const unsigned char *b = at;
    for (size_t i = 0; i < bytes; i++)
        if (b[i] != UNTOUCHED)
            return false;
    return true;
}

/* What every function promises: the right result, the current device as before, no error left. */
static inline void expect_call(struct lab_test *t, const struct machine *m,
                               const struct outcome *call, int want, int current, const char *what)
{
    lab_expect(t, call->rc == want, "%s on %s returned %s, expected %s", what, m->name,
               result_name(call->rc), result_name(want));
    lab_expect(t, m->gpus == 0 || call->current == current,
               "%s on %s: the current device was %d before and is %d afterwards", what, m->name,
               current, call->current);
    lab_expect(t, call->error == 0,
               "%s on %s left CUDA error %d behind: the next cudaGetLastError(), after a correct "
               "kernel launch, would report it",
               what, m->name, call->error);
}

#endif
