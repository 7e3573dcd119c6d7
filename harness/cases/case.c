/* SPDX-License-Identifier: MIT
 * case.c: one case, from its set-up to the verdict.
 *
 * A case ends by returning (pass) or by siglongjmp to lab__case_run from where the verdict was
 * reached. A crash of the case's own code jumps there too, and is a harness error.
 */
#include "process.h"
#include "root.h"
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define OWN_CPU_SECONDS 120 /* CPU time of a case's own code; beyond that it is an endless loop */

static struct lab_test *running_case; /* for the signal handler; only one case runs at a time */

static void on_crash(int signal)
{
    if (running_case) {
        running_case->verdict = LAB_HARNESS_ERROR;
        siglongjmp(running_case->end, 256 + signal);
    }
    _exit(LAB_HARNESS_ERROR);
}

static void catch_crashes(void)
{
    static char stack[64 << 10];
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGVTALRM};
    const struct itimerval limit = {.it_value = {.tv_sec = OWN_CPU_SECONDS}};
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaltstack(&alternate, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static uint64_t mix_bits(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

static uint64_t seed_of(uint64_t seed, const char *name)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
    return mix_bits(seed) ^ hash;
}

uint64_t lab_random(struct lab_test *t)
{
    t->random += 0x9e3779b97f4a7c15ull;
    return mix_bits(t->random);
}

uint64_t lab_secret(struct lab_test *t)
{
    t->secret += 0x9e3779b97f4a7c15ull;
    return mix_bits(t->secret);
}

void lab_node(struct lab_test *t, const char *node)
{
    lab__node_stop(t->ready); /* lab_gpus started it with another description */
    t->ready = NULL;
    t->wants_node = node != NULL && lab__node_virtual();
    t->chose_node = true;
    snprintf(t->node, sizeof t->node, "%s", node ? node : "");
}

void lab_env(struct lab_test *t, const char *name, const char *value)
{
    if (t->env_count == LAB_ENV_MAX)
        lab__broken(t, 0, "more than %d calls of lab_env in one case", LAB_ENV_MAX);
    struct lab_variable *v = &t->env[t->env_count++];
    v->name = strdup(name);
    v->value = value ? strdup(value) : NULL;
}

void lab_fault(struct lab_test *t, const char *words)
{
    if (words && !lab__node_virtual())
        lab__broken(t, 0,
                    "lab_fault(\"%s\"): real GPUs have no faults to order; ask lab_is_virtual",
                    words);
    lab__node_stop(t->ready);
    t->ready = NULL;
    if (words)
        setenv("VGPU_FAULT", words, 1); /* nodes inherit it */
    else
        unsetenv("VGPU_FAULT");
}

bool lab_is_virtual(struct lab_test *t)
{
    (void)t;
    return lab__node_virtual();
}

/* ---- the ways to end ---- */

void lab__vend(struct lab_test *t, enum lab_verdict verdict, const char *format, va_list args)
{
    t->verdict = verdict;
    vsnprintf(t->message.at, sizeof t->message.at, format, args);
    siglongjmp(t->end, 1);
}

void lab__end(struct lab_test *t, enum lab_verdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lab__vend(t, verdict, format, args);
}

void lab__broken(struct lab_test *t, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->message.at, sizeof t->message.at, format, args);
    va_end(args);
    if (error && n >= 0 && (size_t)n < sizeof t->message.at)
        snprintf(t->message.at + n, sizeof t->message.at - (size_t)n, ": %s", strerror(error));
    t->verdict = LAB_HARNESS_ERROR;
    siglongjmp(t->end, 1);
}

void lab_fail(struct lab_test *t, const char *file, int line, const char *condition,
              const char *format, ...)
{
    const char *base = strrchr(file, '/');
    if (line > 0)
        snprintf(t->check, sizeof t->check, "%s:%d: %s", base ? base + 1 : file, line, condition);
    va_list args;
    va_start(args, format);
    t->judged = true;
    lab__vend(t, LAB_FAIL, format, args);
}

void lab_is_grave(struct lab_test *t, enum lab_grave kind)
{
    t->grave = kind;
}

void lab_cannot_run(struct lab_test *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    lab__vend(t, LAB_CANNOT_RUN, format, args);
}

/* ---- from start to end ---- */

/* PREFIX-<todo> where such a program exists, else the name as it is. */
static void choose_runner(struct lab_test *t)
{
    const char *given = t->options->runner;
    FILE *there;
    const char *own = t->options->own ? "-own" : "";
    snprintf(t->runner, sizeof t->runner, "%s-%d%s", given, t->info->todo, own);
    there = fopen(t->runner, "rb");
    if (there)
        fclose(there);
    else
        snprintf(t->runner, sizeof t->runner, "%s", given);
}

static void need_hardware(struct lab_test *t)
{
    if (lab__node_virtual())
        return;
    if (t->info->needs_witness)
        lab_cannot_run(t, "only the virtual node sees what this test judges");
    if (t->info->min_gpus > 0 && lab_gpus(t) < t->info->min_gpus)
        lab_cannot_run(t, "it needs %d GPU%s, this machine has %d", t->info->min_gpus,
                       t->info->min_gpus == 1 ? "" : "s", lab_gpus(t));
}

void lab__place(struct lab_test *t, int line)
{
    if (t->line)
        return;
    t->line = line;
    t->todo = t->info->todo;
    snprintf(t->file, sizeof t->file, "%s", lab__from_root(t->options->source));
}

/* The function that a message names first, of all or of one task; NULL: none. */
static const struct lab_function *named_function(const char *message, int todo)
{
    const struct lab_function *found = NULL;
    const char *first = NULL;
    for (const struct lab_function *f = lab_about.functions; f->name; f++) {
        const char *at = todo && f->todo != todo ? NULL : strstr(message, f->name);
        if (at &&
            (!first || at < first || (at == first && strlen(f->name) > strlen(found->name)))) {
            first = at;
            found = f;
        }
    }
    return found;
}

/* A function of a task: where to look for a failure of which no line is known. */
static bool place_function(struct lab_test *t, const struct lab_function *f)
{
    int line = f ? lab__definition_line(t->options->source, f->name) : 0;
    if (line == 0)
        return false;
    t->line = line;
    t->todo = f->todo;
    snprintf(t->file, sizeof t->file, "%s", lab__from_root(t->options->source));
    return true;
}

/* The line that a finding names; else the function that the message names, or under test. */
static void find_case_place(struct lab_test *t)
{
    const int todo = t->info->todo;
    if (t->verdict == LAB_FAIL && t->found_line)
        lab__place(t, t->found_line);
    if (t->verdict != LAB_FAIL || t->line || !t->options->source || !lab_about.functions ||
        place_function(t, named_function(t->message.at, todo)))
        return;
    for (const struct lab_function *f = lab_about.functions; todo && f->name; f++)
        if (f->todo == todo && place_function(t, f))
            return;
}

/* "rank 0 ended with status 0xb": how it crashed says more. */
static void tell_crash(struct lab_test *t)
{
    if (!strstr(t->message.at, " ended with status ") ||
        strncmp(t->explained.at, LAB_CRASHED_CHILD, sizeof LAB_CRASHED_CHILD - 1) != 0)
        return;
    t->message = t->explained;
    t->explained.at[0] = t->found.at[0] = t->said.at[0] = t->compared[0] = 0;
    t->judged = false;
    t->ending = "crash";
}

/* A call that had to be refused was not, or one that had to fail failed by order: what the node
 * found then came of that, and is no mistake of its own. */
static void drop_consequences(struct lab_test *t)
{
    const bool ordered = strstr(t->message.at, " fails,") || strstr(t->message.at, " call fails") ||
                         strstr(t->message.at, " failed at ") ||
                         strstr(t->message.at, " refuses to ") ||
                         strstr(t->message.at, " has gone ");
    if (!t->refused && !((t->promised || ordered) && strstr(t->found.at, "[api.")))
        return;
    t->explained.at[0] = t->found.at[0] = 0;
    t->found_line = 0;
    if (t->refused)
        t->said.at[0] = 0;
}

/* A run with findings does not pass, even if its results are right. */
static void no_findings(struct lab_test *t)
{
    int code = (int)strcspn(t->finding, " ");
    if (!t->finding[0])
        return;
    t->explained = t->first.explained; /* of the run that had it, which need not be the last */
    t->found = t->first.found;
    t->found_line = t->first.found_line;
    t->compares = true;
    lab_fail(t, "", 0, "",
             "the results are right, but by luck: the virtual node found %s. On a GPU, or in "
             "another order, they need not be. ./lab explain %.*s says what it means",
             t->finding, code, t->finding);
}

static void set_up(struct lab_test *t, const struct lab_case *info,
                   const struct lab_options *options)
{
    memset(t, 0, sizeof *t);
    t->info = info;
    t->options = options;
    t->wants_node = lab__node_virtual();
    snprintf(t->node, sizeof t->node, "%s", options->node);
    snprintf(t->name, sizeof t->name, "%s.%s", options->as, info->name);
    t->random = seed_of(options->seed, info->name);
    t->secret = seed_of(options->secret, info->name);
    choose_runner(t);
}

static void free_variables(struct lab_test *t)
{
    for (int i = 0; i < t->env_count; i++) {
        free(t->env[i].name);
        free(t->env[i].value);
    }
    t->env_count = 0;
}

static const char *other_node(const struct lab_test *t)
{
    return t->info->also_on ? t->info->also_on : !t->chose_node ? LAB_NODE_OTHER : NULL;
}

/* Runs the case once more on another node, in the default order and with the course's other
 * functions. Does nothing on real GPUs, which cannot be exchanged. */
static void check_elsewhere(struct lab_test *t)
{
    const char *other = other_node(t), *order = getenv("VGPU_SCHEDULE");
    if (!other || !lab__node_virtual() || t->options->own || (order && *order))
        return;
    free_variables(t);
    lab_fault(t, NULL);
    lab_node(t, other);
    t->elsewhere = true;
    const uint64_t now_ps = t->now_ps, timed_ps = t->timed_ps, payload = t->payload;
    t->info->check(t);
    t->now_ps = now_ps; /* reported times are those of the default node */
    t->timed_ps = timed_ps;
    t->payload = payload;
}

/* Prefixes the message with the node's name. */
static void name_machine(struct lab_test *t)
{
    char first[sizeof t->message.at - 400];
    snprintf(first, sizeof first, "%.*s", (int)sizeof first - 1, t->message.at);
    snprintf(t->message.at, sizeof t->message.at,
             "on another machine (the node %s; on the usual one it was right): %s", t->node, first);
}

void lab__case_run(struct lab_test *t, const struct lab_case *info,
                   const struct lab_options *options)
{
    set_up(t, info, options);
    catch_crashes();
    running_case = t;
    int jumped = sigsetjmp(t->end, 1);
    if (jumped == 0) {
        need_hardware(t);
        info->check(t);
        no_findings(t);
        check_elsewhere(t);
        no_findings(t);
        t->verdict = LAB_PASS;
    } else if (jumped > 256) {
        snprintf(t->message.at, sizeof t->message.at,
                 "the test's own code was ended by signal %d (%s)", jumped - 256,
                 strsignal(jumped - 256));
    }
    running_case = NULL;
    if (t->verdict == LAB_FAIL && t->judged) {
        lab__compare_message(t);
        drop_consequences(t);
        tell_crash(t);
    }
    if (t->elsewhere && t->verdict == LAB_FAIL)
        name_machine(t);
    if (t->verdict != LAB_NOT_WRITTEN) /* the message may quote output of a student's program */
        lab__clean(t->message.at);
    if (t->verdict == LAB_FAIL && t->raced) /* whatever the race then led to */
        t->grave = LAB_RACE;
    find_case_place(t);
}

static void free_run(struct lab_run *run)
{
    if (run->witness)
        free((void *)run->witness->records);
    free(run->witness);
    free(run->printed[0].text);
    free(run->printed[1].text);
    free(run->output);
    lab__unseal(&run->sealed);
    free(run);
}

void lab__case_free(struct lab_test *t)
{
    while (t->runs) {
        struct lab_run *run = t->runs;
        t->runs = run->next;
        lab__node_stop(run->node);
        free_run(run);
    }
    lab__unseal(&t->sealed);
    lab_fault(t, NULL);
    free_variables(t);
    lab__kill_all(0);
}
