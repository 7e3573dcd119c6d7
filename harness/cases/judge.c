/* SPDX-License-Identifier: MIT
 * judge.c: comparisons that print where two arrays differ: index, got, expected, at most five.
 */
#include "lab.h"
#include "refusals.h"
#include "run.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 5
/* A real driver keeps memory that it allocated for streams, events, graphs and copies: on two H200s
 * about 2 MiB per GPU, on one GPU with the streams of all four ranks of lab 07 up to 26 MiB. */
#define REAL_SLACK (64ll << 20)

struct difference { /* a message under construction */
    char text[LAB_TEXT_MAX];
    size_t used, count;
};

__attribute__((format(printf, 2, 3))) static void say(struct difference *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(d->text + d->used, sizeof d->text - d->used, format, args);
    va_end(args);
    if (n > 0)
        d->used += (size_t)n < sizeof d->text - d->used ? (size_t)n : sizeof d->text - d->used - 1;
}

static void fail_if_different(struct lab_test *t, const char *what, const void *got,
                              const void *want, size_t n, size_t each, const struct difference *d)
{
    if (d->count == 0)
        return;
    lab__compare_arrays(t, got, want, n, each);
    lab_is_grave(t, LAB_LOST_DATA);
    lab_fail(t, "", 0, what, "%s: %zu of %zu elements are wrong%s%s", what, d->count, n, d->text,
             d->count > SHOWN ? "\n..." : "");
}

void lab_same_int(struct lab_test *t, const char *what, const int32_t *got, const int32_t *want,
                  size_t n)
{
    struct difference d = {.used = 0};
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i] && d.count++ < SHOWN)
            say(&d, "\n[%zu] got %" PRId32 " (0x%08" PRIx32 "), expected %" PRId32 "%s", i, got[i],
                (uint32_t)got[i], want[i],
                (uint32_t)got[i] == 0xA5A5A5A5u   ? ": never written by the test's runner"
                : (uint32_t)got[i] == 0xCBCBCBCBu ? ": GPU memory that was never written"
                                                  : "");
    fail_if_different(t, what, got, want, n, sizeof *got, &d);
}

void lab_same_bytes(struct lab_test *t, const char *what, const void *got, const void *want,
                    size_t n)
{
    const unsigned char *g = got, *w = want;
    struct difference d = {.used = 0};
    if (memcmp(got, want, n) == 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (g[i] != w[i] && d.count++ < SHOWN)
            say(&d, "\nbyte %zu: got 0x%02x, expected 0x%02x", i, g[i], w[i]);
    fail_if_different(t, what, got, want, n, 1, &d);
}

void lab_close(struct lab_test *t, const char *what, double got, double want, double tolerance)
{
    /* Not true for a NaN on either side, which therefore fails. */
    if (fabs(got - want) <= tolerance)
        return;
    lab_fail(t, "", 0, what, "%s: got %.9g, expected %.9g, allowed difference %.3g", what, got,
             want, tolerance);
}

static void add_leak(struct difference *d, unsigned count, const char *what)
{
    if (count == 0)
        return;
    int head = (int)strcspn(what, " "); /* "ranges of addresses", but "pinned host allocations" */
    if (strncmp(what + head, " of ", 4) != 0)
        head = (int)strlen(what);
    say(d, "%s%u %.*s%s%s", d->count++ ? ", " : "", count, head, what, count == 1 ? "" : "s",
        what + head);
}

void lab_nothing_leaked(struct lab_test *t, const struct lab_run *run)
{
    if (!getenv("VGPU_FAULT")) /* what is left where a call of CUDA failed is not left every time */
        lab_is_grave(t, LAB_LEAK);
    lab_refused_leaked_nothing(t, run);
    lab_is_grave(t, LAB_NOT_GRAVE);
}

void lab_refused_leaked_nothing(struct lab_test *t, const struct lab_run *run)
{
    struct difference d = {.used = 0};
    const struct lab_witness *w = lab_witness(run);
    if (!w && run->status.leak_known && run->status.leaked_bytes > REAL_SLACK)
        lab_fail(t, "", 0, "nothing leaked", "%" PRId64 " bytes of GPU memory were not given back",
                 run->status.leaked_bytes);
    if (!w)
        return;
    add_leak(&d, w->live_allocations, "allocation");
    add_leak(&d, w->live_host_allocations, "pinned host allocation");
    add_leak(&d, w->live_streams, "stream");
    add_leak(&d, w->live_events, "event");
    add_leak(&d, w->live_peers, "enabled peer");
    add_leak(&d, w->live_mappings, "mapping");
    add_leak(&d, w->live_ranges, "range of addresses");
    if (d.count == 0)
        return;
    snprintf(t->compared, sizeof t->compared,
             "what was made before a call fails, or is refused, is given back on the way out");
    t->compares = true;
    lab_fail(t, "", 0, "nothing leaked", "left behind when the program ended: %s", d.text);
}

void lab_expect_refused(struct lab_test *t, const char *call, const struct lab_refusals *told,
                        int current)
{
    lab_expect(t, !lab__node_virtual() || told->calls > 0,
               "%s made no call of CUDA: its answer would be the same on every machine", call);
    lab_expect(t, told->calls < LAB_REFUSALS, "%s made %d calls of CUDA, expected %d at most", call,
               told->calls, LAB_REFUSALS - 1);
    lab_expect(t, told->ended == 0, "%s, after it has failed, returned %d, expected 0 (LAB_OK)",
               call, told->ended);
    for (int i = 0; i < told->calls && i < LAB_REFUSALS; i++) {
        const struct lab_refusal *r = &told->of[i];
        char what[200];
        snprintf(what, sizeof what, "%s, in which a call of %.39s fails,", call, r->name);
        lab_expect(t, r->rc != 0 || r->right, "%s returned LAB_OK, expected LAB_ECUDA", what);
        lab_expect(t, r->rc != LAB_EINVAL && r->rc != LAB_ERANGE,
                   "%s returned %s, expected LAB_ECUDA", what,
                   r->rc == LAB_EINVAL ? "LAB_EINVAL" : "LAB_ERANGE");
        lab_expect(t, r->rc == 0 || !r->access,
                   "%s failed and left other peer access on than before: what was switched before "
                   "the failure is switched back",
                   what);
        lab_expect(t, r->rc == 0 || !r->wrote, "%s failed and wrote its outputs all the same",
                   what);
        lab_expect(t, current < 0 || r->current == current,
                   "GPU %d was current before %s GPU %d after it", current, what, r->current);
        lab_expect(t, r->error == 0, "after %s CUDA's last error was still %d", what, r->error);
    }
}
