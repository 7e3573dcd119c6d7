/* SPDX-License-Identifier: MIT
 * own.c: a test that passed with the course's versions of the functions that its TODO may call is
 * repeated with the student's own versions, in whatever files they are (PREFIX-<todo>-own,
 * labcc.sh).
 *
 * A failure then counts, unless one of the TODOs that it builds on fails its own tests: that bug
 * has cost its points already. A grader has more of these tests than this verifier and checks again
 * (the record's "builds_on").
 */
#include "verifier.h"

#include <stdio.h>
#include <stdlib.h>

enum { TODOS_MAX = 64 };

/* All bits but one: which of them a given function calls is not recorded. */
static uint64_t all_but(int todo)
{
    uint64_t all = 0;
    for (const struct lab_function *f = lab_about.functions; f && f->name; f++)
        all |= UINT64_C(1) << f->todo;
    return all & ~(UINT64_C(1) << todo);
}

/* Bits of the TODOs whose functions those of TODO(todo) may call, transitively. */
static uint64_t builds_on(int todo)
{
    uint64_t on = 0, before;
    do {
        before = on;
        for (const struct lab_function *f = lab_about.needs; f && f->name; f++) {
            int needed = lab__todo_of(f->name);
            if (f->todo != todo && !(on >> f->todo & 1))
                continue;
            on |= needed ? UINT64_C(1) << needed : all_but(f->todo);
        }
    } while (on != before);
    return on & ~(UINT64_C(1) << todo);
}

static bool has_own(const struct lab_case *info, const struct lab_options *options)
{
    char path[4096];
    snprintf(path, sizeof path, "%s-%d-own", options->runner, info->todo);
    FILE *there = fopen(path, "rb");
    if (there)
        fclose(there);
    return there != NULL;
}

/* Whether a TODO of the set fails one of the tests that this verifier has. */
static bool fails_itself(uint64_t todos, const struct lab_options *options)
{
    struct lab_test *other = calloc(1, sizeof *other);
    bool fails = false;
    for (const struct lab_case *c = lab_cases; other && c->name && !fails; c++) {
        if (c->todo <= 0 || c->todo >= TODOS_MAX || !(todos >> c->todo & 1))
            continue;
        lab__case_run(other, c, options);
        fails = other->verdict == LAB_FAIL;
        lab__case_free(other);
    }
    free(other);
    return fails;
}

static void say_own(struct lab_test *t)
{
    char first[sizeof t->message.at - 200];
    snprintf(first, sizeof first, "%.*s", (int)sizeof first - 1, t->message.at);
    snprintf(t->message.at, sizeof t->message.at,
             "with your own answers to the TODOs that it builds on (with the course's it was "
             "right): %s",
             first);
}

void lab__with_own(struct lab_test *t, const struct lab_case *info,
                   const struct lab_options *options)
{
    struct lab_options own = *options;
    struct lab_test *first;
    if (!has_own(info, options))
        return;
    own.own = true;
    lab__case_free(t);
    first = malloc(sizeof *first);
    if (!first)
        return;
    *first = *t;
    lab__case_run(t, info, &own);
    t->options = options;
    t->charged_seconds += first->charged_seconds;
    first->charged_seconds = t->charged_seconds;
    bool failed = t->verdict == LAB_FAIL;
    t->builds_on = failed ? builds_on(info->todo) : 0;
    if ((!failed && t->verdict != LAB_HARNESS_ERROR) ||
        (failed && fails_itself(t->builds_on, options))) {
        lab__case_free(t);
        *t = *first;
    } else if (failed) {
        say_own(t);
    }
    free(first);
}
