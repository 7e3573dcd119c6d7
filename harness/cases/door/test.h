/* SPDX-License-Identifier: MIT
 * test.h: one test as the verifier sees it: its options, its set-up and its outcome. Labs include
 * case.h, never this.
 */
#ifndef LAB_TEST_H
#define LAB_TEST_H

#include "about.h"
#include "case.h"
#include "output.h"
#include "status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/types.h>

#define LAB_TEXT_MAX 4096
#define LAB_ENV_MAX 32
#define LAB_NODES_MAX 16
#define LAB_LAUNCHER_MAX 8

/* ---- command line ---- */

#define LAB_NODE_DEFAULT "hgx-h200-4"
#define LAB_NODE_OTHER "dgx-h100" /* 8 GPUs of another model: no constant is right on both */
enum { LAB_ORDERS = 3 };          /* verifier/orders.c: number of orders besides the default one */

struct lab_options {
    const char *runner;    /* a program, or a prefix: PREFIX-<todo> is then the program */
    const char *as;        /* prefix of the tests' names: "lab03", "solution03.hidden" */
    const char *only;      /* one case, or NULL */
    const char *source;    /* the student's file, for the line to look at */
    const char *node;      /* the node for cases that choose none */
    const char *json;      /* appended to */
    const char *results;   /* folder: one file per test */
    uint64_t seed, secret; /* secret: seed of the numbers that programs do not see (lab_secret) */
    int orders;            /* 0 to LAB_ORDERS */
    const char *launcher[LAB_LAUNCHER_MAX]; /* words before the runner: a sandbox */
    int launcher_words;
    bool own; /* PREFIX-<todo>-own is the program */
    bool all, list, list_json, color;
    bool guarded; /* end, with all descendants, when the parent ends */
};

/* ---- one case ---- */

struct lab_variable {
    char *name, *value; /* value NULL: unset */
};

struct lab_text {
    char at[LAB_TEXT_MAX];
};

struct lab_sealed { /* sealed memory of the next run: input (whole pages), then output; or none */
    int fd;
    uint8_t *at;
    size_t input_bytes, bytes;
};

struct lab_told { /* what is told of one run's finding */
    struct lab_text explained, found;
    int found_line;
};

struct lab_test {
    const struct lab_case *info;
    const struct lab_options *options;
    char name[128]; /* "lab03.split" */
    char runner[4096];

    /* set-up */
    bool wants_node;
    char node[256];
    struct lab_variable env[LAB_ENV_MAX];
    int env_count;
    bool chose_node; /* by lab_node */
    bool elsewhere;  /* it runs a second time, on a node other than the default */
    uint64_t random, secret;
    struct lab_sealed sealed;

    /* owned by the case and freed with it */
    struct lab_run *runs;   /* newest first */
    struct lab_node *ready; /* started early by lab_gpus, used by the next lab_run */

    /* how it ended */
    sigjmp_buf end;
    enum lab_verdict verdict;
    bool trapped; /* it ended with a call that is not allowed in this test */
    bool judged;  /* failed by lab_fail: `rule` is the reason; false after a crash or a loop */
    uint64_t builds_on;         /* bits of the TODOs whose student versions it failed with */
    enum lab_grave grave;       /* what kind of grave mistake the failure tells */
    bool raced;                 /* a run of it had a finding about the order of accesses */
    const char *ending;         /* how the program ended, if abnormally: "crash" */
    struct lab_text message;    /* what failed, for the user */
    struct lab_text said;       /* last output of the program, sanitised */
    struct lab_text explained;  /* the node's explanation */
    char finding[160];          /* the node's first finding: "CODE at FILE:LINE" */
    struct lab_told first;      /* what was told of the run that had it */
    char unsteady[800];         /* why times depend on the operating system; "" if they do not */
    bool timed;                 /* times were judged */
    uint64_t timed_ps, payload; /* lab_timed: how long the work took, and of how many bytes */
    struct lab_text found; /* the finding that says most of the student's file, as a sentence */
    int found_line;        /* the line of that file which it names, 0: none */
    char compared[300];    /* which simple mistake makes what happened of what must happen */
    bool compares;         /* the failure was compared, whether it gave a sentence or not */
    bool reasons;          /* the message ends in a reason: the case's rule would be another one */
    bool results;          /* results of lab.h were */
    bool promised;         /* it broke a promise that all contracts have: outputs, current device */
    bool refused;          /* the call had to be refused: what the node saw came of going on */
    char check[256];       /* "public.c:41: condition", for authors of labs */
    int todo, line;        /* where to look, if known */
    char file[256];
    char nodes[LAB_NODES_MAX][64];
    int node_count;
    uint64_t now_ps;
    double cpu_seconds;
    double charged_seconds; /* of all its runs: charged against a submission's deadline */
};

struct lab_run {
    struct lab_run *next;
    const char *what;
    void *output;
    size_t output_bytes;
    struct lab_status status;
    struct lab_stream printed[2]; /* stdout, stderr */
    struct lab_sealed sealed;     /* after the run: results that the GPUs wrote (lab_seal) */
    struct lab_witness *witness;
    struct lab_node *node; /* NULL once it is stopped */
};

/* Runs the case from start to end; never longjmps out. Leaves no process behind. */
void lab__case_run(struct lab_test *t, const struct lab_case *info,
                   const struct lab_options *options);
void lab__case_free(struct lab_test *t);

/* Ends the running case with a verdict and a sentence. */
void lab__end(struct lab_test *t, enum lab_verdict verdict, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void lab__vend(struct lab_test *t, enum lab_verdict verdict, const char *format, va_list args)
    __attribute__((noreturn));
/* The same for an error of the harness; appends the text of errno value `error` unless that is
 * 0. */
void lab__broken(struct lab_test *t, int error, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* The number of the TODO that the lab's function `name` is; 0: it is no function of a task. */
int lab__todo_of(const char *name);

/* Sets CUDA_VISIBLE_DEVICES to the GPUs that ctest's resource specification gave this test. Does
 * nothing on the virtual node. */
void lab__take_gpus(void);

#endif
