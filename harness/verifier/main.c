/* SPDX-License-Identifier: MIT
 * main.c: the command line of every lab's verifier.
 *
 *     lab03-check --runner PATH [--case NAME] [--seed N] [--json FILE] [--results FOLDER] [--all]
 *     lab03-check --list | --list-json
 *
 * PATH is a program, or a prefix: a case of TODO(2) is then run with PATH-2. Exit statuses are
 * those of enum lab_verdict; over several cases the worst counts.
 */
#include "process.h"
#include "verifier.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void print_usage(FILE *to, const char *program)
{
    fprintf(
        to,
        "usage: %s --runner PATH [options]   tests of %s\n"
        "  --runner PATH      the program with the student's code, or its prefix: PATH-<todo>\n"
        "  --case NAME        only this case\n"
        "  --seed N           other inputs (default 1)\n"
        "  --orders N         other orders in which what passed runs again, 0 to 3 (default 3)\n"
        "  --node NAME        the virtual node of cases that choose none (default hgx-h200-4)\n"
        "  --all              details of every failure, not of the first only\n"
        "  --source FILE      the student's file, to say where a function stands\n"
        "  --as NAME          what the tests are called in front of the dot (default %s)\n"
        "  --json FILE        append one line of JSON a test (also: LAB_JSON)\n"
        "  --results FOLDER   write FOLDER/TEST.json\n"
        "  --launcher WORD    start the runner as WORD... RUNNER: a sandbox (may be repeated)\n"
        "  --color WHEN       auto, always or never\n"
        "  --die-with-parent  end, and end all processes, when the parent process has ended\n"
        "  --list             the cases: name, todo, points, quick, title\n"
        "  --list-json        the same as JSON\n"
        "exit status: 0 pass, 1 fail, 3 not written, 4 harness error, 77 cannot run here,\n"
        "             2 wrong use of this command\n",
        program, lab_name, lab_name);
}

static int list_cases(const struct lab_options *options)
{
    if (options->list_json)
        putchar('[');
    for (const struct lab_case *c = lab_cases; c->name; c++) {
        if (!options->list_json) {
            printf("%s\t%d\t%d\t%s\t%s\n", c->name, c->todo, c->points, c->quick ? "quick" : "-",
                   c->title ? c->title : "");
            continue;
        }
        printf("%s{\"case\":", c == lab_cases ? "" : ",\n ");
        lab__json_string(stdout, c->name);
        printf(",\"todo\":%d,\"points\":%d,\"quick\":%s,\"needs_witness\":%s,\"title\":", c->todo,
               c->points, c->quick ? "true" : "false", c->needs_witness ? "true" : "false");
        lab__json_string(stdout, c->title);
        putchar('}');
    }
    if (options->list_json)
        puts("]");
    return 0;
}

/* The worse of two verdicts: harness errors, then failures, then "not written". */
static enum lab_verdict worse_verdict(enum lab_verdict a, enum lab_verdict b)
{
    static const enum lab_verdict order[] = {LAB_HARNESS_ERROR, LAB_FAIL, LAB_NOT_WRITTEN, LAB_PASS,
                                             LAB_CANNOT_RUN};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return LAB_HARNESS_ERROR;
}

static enum lab_verdict run_one(const struct lab_case *info, const struct lab_options *options,
                                bool *shown)
{
    struct lab_test *t = calloc(1, sizeof *t);
    if (!t) {
        fprintf(stderr, "%s: there is no memory for the test\n", info->name);
        return LAB_HARNESS_ERROR;
    }
    lab__case_run(t, info, options);
    if (t->verdict == LAB_PASS)
        lab__other_orders(t, info, options);
    if (t->verdict == LAB_PASS)
        lab__with_own(t, info, options);
    enum lab_verdict verdict = t->verdict;
    lab__report(t, options->all || options->only || !*shown);
    *shown |= verdict != LAB_PASS && verdict != LAB_CANNOT_RUN;
    if (lab__record(t) != 0)
        verdict = LAB_HARNESS_ERROR;
    lab__case_free(t);
    free(t);
    return verdict;
}

static int run_cases(const struct lab_options *options)
{
    enum lab_verdict total = LAB_CANNOT_RUN;
    bool found = false, shown = false;
    for (const struct lab_case *c = lab_cases; c->name; c++) {
        if (options->only && strcmp(options->only, c->name) != 0)
            continue;
        found = true;
        total = worse_verdict(total, run_one(c, options, &shown));
    }
    if (found)
        return (int)total;
    fprintf(stderr, "%s has no case '%s'. Its cases:\n", lab_name,
            options->only ? options->only : "");
    list_cases(options);
    return LAB_HARNESS_ERROR;
}

enum option_id {
    RUNNER = 1000,
    CASE,
    SEED,
    ORDERS,
    NODE,
    ALL,
    SOURCE,
    AS,
    JSON,
    RESULTS,
    LAUNCHER,
    DIE_WITH_PARENT,
    COLOR,
    LIST,
    LIST_JSON
};

static const struct option known[] = {
    {"runner", required_argument, NULL, RUNNER},
    {"case", required_argument, NULL, CASE},
    {"seed", required_argument, NULL, SEED},
    {"orders", required_argument, NULL, ORDERS},
    {"node", required_argument, NULL, NODE},
    {"all", no_argument, NULL, ALL},
    {"source", required_argument, NULL, SOURCE},
    {"as", required_argument, NULL, AS},
    {"json", required_argument, NULL, JSON},
    {"results", required_argument, NULL, RESULTS},
    {"launcher", required_argument, NULL, LAUNCHER},
    {"die-with-parent", no_argument, NULL, DIE_WITH_PARENT},
    {"color", required_argument, NULL, COLOR},
    {"list", no_argument, NULL, LIST},
    {"list-json", no_argument, NULL, LIST_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int set_color(struct lab_options *options, const char *when)
{
    if (strcmp(when, "always") == 0 || strcmp(when, "never") == 0) {
        options->color = when[0] == 'a';
        return 0;
    }
    return strcmp(when, "auto") == 0 ? 0 : -1;
}

static int set_seed(uint64_t *seed, const char *text)
{
    char *end;
    *seed = strtoull(text, &end, 10);
    return *text && !*end ? 0 : -1;
}

/* The secret comes in the environment, since other programs may read a command line. */
static int take_secret(struct lab_options *options)
{
    const char *text = getenv("LAB_SECRET");
    int rc = text ? set_seed(&options->secret, text) : 0;
    unsetenv("LAB_SECRET"); /* processes started later do not inherit it */
    return rc;
}

static int add_launcher(struct lab_options *options, const char *word)
{
    if (options->launcher_words == LAB_LAUNCHER_MAX)
        return -1;
    options->launcher[options->launcher_words++] = word;
    return 0;
}

static int set_option(struct lab_options *options, int id, const char *value)
{
    switch (id) {
    case RUNNER:
        options->runner = value;
        return 0;
    case CASE:
        options->only = value;
        return 0;
    case SEED:
        return set_seed(&options->seed, value);
    case ORDERS:
        options->orders = value[0] - '0';
        return value[0] >= '0' && options->orders <= LAB_ORDERS && !value[1] ? 0 : -1;
    case NODE:
        options->node = value;
        return 0;
    case ALL:
        options->all = true;
        return 0;
    case SOURCE:
        options->source = value;
        return 0;
    case AS:
        options->as = value;
        return 0;
    case JSON:
        options->json = value;
        return 0;
    case RESULTS:
        options->results = value;
        return 0;
    case LAUNCHER:
        return add_launcher(options, value);
    case DIE_WITH_PARENT:
        options->guarded = true;
        return 0;
    case COLOR:
        return set_color(options, value);
    case LIST:
        options->list = true;
        return 0;
    case LIST_JSON:
        options->list = options->list_json = true;
        return 0;
    }
    return -1;
}

int main(int argc, char **argv)
{
    const char *no = getenv("NO_COLOR"); /* no-color.org */
    struct lab_options options = {.as = lab_name,
                                  .node = LAB_NODE_DEFAULT,
                                  .seed = 1,
                                  .secret = 1,
                                  .orders = LAB_ORDERS,
                                  .json = getenv("LAB_JSON"),
                                  .color = isatty(STDOUT_FILENO) && !(no && no[0])};
    /* This process holds expected values: no descendant may debug it. ./lab debug attaches from
     * above. */
    if (!getenv("VGPU_DEBUGGER"))
        prctl(PR_SET_DUMPABLE, 0);
    for (int id; (id = getopt_long(argc, argv, "h", known, NULL)) != -1;) {
        if (id == 'h') {
            print_usage(stdout, argv[0]);
            return 0;
        }
        if (set_option(&options, id, optarg) != 0) {
            if (id != '?')
                fprintf(stderr, "%s: '%s' is not a value of that option\n", argv[0], optarg);
            print_usage(stderr, argv[0]);
            return 2;
        }
    }
    if (options.list)
        return list_cases(&options);
    if (take_secret(&options) != 0) {
        fprintf(stderr, "%s: LAB_SECRET is not a number\n", argv[0]);
        return 2;
    }
    if (options.guarded && lab__guard(NULL) != 0) /* the parent has ended: no verdict needed */
        return LAB_HARNESS_ERROR;
    lab__take_gpus();
    if (!options.runner || optind != argc) {
        print_usage(stderr, argv[0]);
        return 2;
    }
    return run_cases(&options);
}
