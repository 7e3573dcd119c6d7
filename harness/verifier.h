/* SPDX-License-Identifier: MIT
 * verifier.h: the verifier's own parts and who may use which. Labs include case.h, never this.
 *
 *     main.c     the command line, the loop over the cases
 *     case.c     one case: set-up, the ways it can end, what belongs to it
 *     judge.c    lab_expect's comparisons
 *     seen.c     what a program reports against what the node saw
 *     marks.c    those of times, and how near they come to their limits
 *     run.c      lab_run: one runner on one node, from the memfds to the verdict
 *     own.c      the same case once more, with the student's own functions around
 *     trap.c     the verdict on a call that a test does not allow
 *     environment.c  what the runner finds in its environment
 *     device.c   the GPUs of a case's node
 *     launcher.c the sandbox that a grader puts around the runner, and what it reports
 *     memory.c   how much memory all of a submission has
 *     guard.c    whoever stays outside and ends what is left when a grader dies
 *     process.c  spawning, reading /proc, killing what is left
 *     watch.c    is it still getting on? deadlines that count progress
 *     output.c   what a runner prints: capped, cleaned
 *     node.c     the node and the witness's connection (real GPUs: nonode.c)
 *     where.c    the line of a function in the student's file
 *     report.c   the terminal;  record.c  JSON
 */
#ifndef LAB_VERIFIER_H
#define LAB_VERIFIER_H

#include "case.h"
#include "status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/types.h>

#define LAB_TEXT_MAX 4096
#define LAB_ENV_MAX 32
#define LAB_VISIBLE_MAX 256
#define LAB_NODES_MAX 16
#define LAB_LAUNCHER_MAX 8

/* ---- what the build knows about the lab (a generated file; labcheck has an empty one) ---- */

struct lab_function {
    int todo;
    const char *name;
};

struct lab_about {
    const char *number, *folder, *file;   /* "03", "03-p2p-copy", "p2p_copy.c" */
    const struct lab_function *functions; /* ends with name == NULL */
    const struct lab_function *needs; /* others' functions that a TODO's may call; ends likewise */
};
extern const struct lab_about lab_about;

/* ---- command line ---- */

#define LAB_NODE_DEFAULT "hgx-h200-4"
#define LAB_NODE_OTHER "dgx-h100" /* 8 GPUs of another kind: no constant is right on both */
enum { LAB_ORDERS = 3 };          /* orders.c: that a case runs in besides the usual one */

struct lab_options {
    const char *runner;  /* a program, or a prefix: PREFIX-<todo> is then the program */
    const char *as;      /* prefix of the tests' names: "lab03", "solution03.hidden" */
    const char *only;    /* one case, or NULL */
    const char *source;  /* the student's file, for "where" */
    const char *node;    /* the description of the node for cases that choose none */
    const char *json;    /* appended to */
    const char *results; /* folder: one file a test */
    uint64_t seed;
    int orders;                             /* 0 to LAB_ORDERS */
    const char *launcher[LAB_LAUNCHER_MAX]; /* words before the runner: a sandbox */
    int launcher_words;
    bool own; /* PREFIX-<todo>-own is the program */
    bool all, list, list_json, color;
    bool guarded; /* end, with all that was started, when whoever started us has ended */
};

/* ---- one case ---- */

struct lab_variable {
    char *name, *value; /* value NULL: unset */
};

struct lab_text {
    char at[LAB_TEXT_MAX];
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
    bool elsewhere;  /* it runs once more, on another node than the usual one */
    uint64_t random;

    /* what belongs to the case and goes with it */
    struct lab_run *runs;   /* newest first */
    struct lab_node *ready; /* started early by lab_gpus, used by the next lab_run */

    /* how it ended */
    sigjmp_buf end;
    enum lab_verdict verdict;
    bool trapped;              /* it called what it may not: that is why */
    bool judged;               /* by lab_fail: its rule is why; not so a crash or a loop */
    uint64_t builds_on;        /* TODOs whose own answers made it fail, as bits */
    const char *ending;        /* how the program ended, when that was not well: "crash" */
    struct lab_text message;   /* what, for a person */
    struct lab_text said;      /* what the program printed last, cleaned */
    struct lab_text explained; /* what the node said */
    char finding[160];         /* the first mistake that the node found: "CODE at FILE:LINE" */
    char unsteady[800];        /* why times depend on the operating system; "": they do not */
    bool timed;                /* times were judged */
    struct lab_text found;     /* the first mistake that the node has named */
    char check[256];           /* "public.c:41: condition", for whoever writes labs */
    int todo, line;            /* where, when it is known */
    char file[256];
    char nodes[LAB_NODES_MAX][64];
    int node_count;
    uint64_t now_ps;
    double cpu_seconds;
    double charged_seconds; /* of all its runs: what a submission's deadline counts */
};

/* Runs the case from start to end; never longjmps out. Leaves no process behind. */
void lab__case_run(struct lab_test *t, const struct lab_case *info,
                   const struct lab_options *options);
void lab__case_free(struct lab_test *t);

/* Runs a case that passed in other orders, until one does not pass. A case whose program leaves no
 * order open, or that wants one_order, is left as it is. */
void lab__other_orders(struct lab_test *t, const struct lab_case *info,
                       const struct lab_options *options);

/* Runs a case that passed with the student's own functions, where there is such a program. */
void lab__with_own(struct lab_test *t, const struct lab_case *info,
                   const struct lab_options *options);
/* The TODOs whose functions those of TODO(todo) may call, and theirs, as bits. */
uint64_t lab__builds_on(int todo);

/* Ends the running case with a verdict and a sentence. */
void lab__end(struct lab_test *t, enum lab_verdict verdict, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));
void lab__vend(struct lab_test *t, enum lab_verdict verdict, const char *format, va_list args)
    __attribute__((noreturn));
/* The same for a failure of ours; errno's text is added when `error` is not 0. */
void lab__broken(struct lab_test *t, int error, const char *format, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* ---- a runner and its output ---- */

struct lab_stream { /* one pipe */
    int fd;
    char *text; /* at most LAB_KEEP_BYTES, ends with 0 */
    size_t kept;
    uint64_t total;
};
#define LAB_KEEP_BYTES (64u << 10)
#define LAB_FLOOD_BYTES (1u << 20)

struct lab_run {
    struct lab_run *next;
    const char *what;
    void *output;
    size_t output_bytes;
    struct lab_status status;
    struct lab_stream printed[2]; /* stdout, stderr */
    struct lab_witness *witness;
    struct lab_node *node; /* NULL once it was stopped */
};

/* Ends the case: the runner says that it called what it may not. */
void lab__judge_trapped(struct lab_test *t, const struct lab_run *run) __attribute__((noreturn));

/* Reads what is there. Returns 0 when the other side has closed, else 1. */
int lab__stream_read(struct lab_stream *stream);
/* The last lines of what was printed, cleaned for a terminal: at most five. */
void lab__stream_tail(const struct lab_stream *stream, char *text, size_t room);
void lab__stream_finding(const struct lab_stream *stream, char *text, size_t room);
/* Makes text that students can influence harmless: no control characters, no broken UTF-8, none of
 * the words that ctest or our own verdict lines mean something by. In place. */
void lab__clean(char *text);

/* ---- a runner's launcher ---- */

/* The words of a runner's command line, its launcher's before them. */
void lab__launch_words(const struct lab_test *t, const char *what, char **argv);
#define LAB_FD_REPORT 6 /* of a launcher: where it says what it did; the runner never has it */
/* Ends the case as our failure when the launcher did not come to start the runner. `report` is the
 * pipe's end, which is closed; `status` as wait() gave it. */
void lab__check_launcher(struct lab_test *t, int report, int status);

/* ---- a runner's environment ---- */

/* A short list of harmless variables, the node's, and the case's own. */
char **lab__environment(struct lab_test *t, const struct lab_node *node);
void lab__environment_free(char **env);

/* ---- processes ---- */

struct lab_usage {      /* of all processes below this one */
    bool running;       /* a thread is runnable, or waits for a disk */
    bool sleeping;      /* a thread has set itself an alarm: nanosleep */
    double cpu_seconds; /* used so far, the node not counted */
    uint64_t cpu_ticks;
    uint64_t node_ticks;   /* of processor time that the node used */
    uint64_t memory_bytes; /* the node's and the GPUs' not counted; 0 unless asked for */
};

/* Real GPUs (nonode.c); nothing to do on the virtual node. The GPUs that ctest's resource
 * specification gave this test become CUDA_VISIBLE_DEVICES; a case's own value of that variable
 * means numbers of those; after a runner was ended by force, the GPUs must still answer. */
void lab__take_gpus(void);
void lab__visible(const char *wanted, char *to, size_t room);
void lab__check_gpus(struct lab_test *t);

pid_t lab__spawn(char *const argv[], char *const envp[], const int *fds, int fd_count);
/* memory_limit: look at their memory, too, and exactly where it seems to be more; 0: do not. */
void lab__usage(pid_t node, uint64_t memory_limit, struct lab_usage *usage);

struct lab_family { /* who runs what for a submission */
    const pid_t *runners;
    int runner_count;
    const pid_t *contexts; /* what the node has started */
    int context_count;
    pid_t node; /* 0: none */
};
/* Bytes of memory that all of these have, the node's and the GPUs' not counted. */
uint64_t lab__memory(const struct lab_family *family, uint64_t limit);
/* Kills everything below this process but `spare`, and waits for it. */
void lab__kill_all(pid_t spare);
void lab__close_from(int first); /* all open descriptors from this one on */
/* Divides this process in two. It returns 0 in the one that goes on. The other waits for it, ends
 * everything below it, and exits with its status, as a shell tells it; SIGTERM, the death of
 * whoever started us, and too_much() (asked four times a second; may be NULL) end it early. -1: it
 * could not be, or our parent is gone already. */
int lab__guard(bool (*too_much)(void));
int lab__pidfd(pid_t pid); /* -1 where the kernel has none */
/* A sealed memory file: read-only with `bytes` of `data`, or writable and of fixed size. */
int lab__memory_input(const void *data, size_t bytes);
int lab__memory_shared(size_t bytes, void **at);

/* ---- deadlines ---- */

struct lab_watch {
    struct lab_node *node;
    double cpu_limit, idle_limit;
    double wall_limit;
    uint64_t memory_limit; /* bytes, 0: none */
    uint64_t ticks, progress;
    double began, quiet_since, last; /* wall seconds; last: of the last sample */
    double idle;                     /* seconds in which everything was asleep, in all */
    double blocked;                  /* seconds in which nothing wanted a processor, in all */
    double charged;                  /* those, and the processor time, the node's too */
    double limit;                    /* how long it may be quiet, as of the last sample */
    int quiet_samples;
    double cpu_seconds, node_seconds; /* processor time of the program, and of the node */
};

enum lab_watched { LAB_ALIVE, LAB_HUNG, LAB_ASLEEP, LAB_BUSY, LAB_LATE, LAB_FAT };

void lab__watch_start(struct lab_watch *watch, struct lab_node *node);
enum lab_watched lab__watch_sample(struct lab_watch *watch);
double lab__seconds(void); /* monotonic */

/* ---- the node ---- */

struct vgpu_summary;
/* NULL after `error` was filled. The node runs and is held by a witness. */
struct lab_node *lab__node_start(const char *description, char *error, size_t room);
const char *lab__node_id(const struct lab_node *node);
pid_t lab__node_pid(const struct lab_node *node);
int lab__node_gpus(const struct lab_node *node);
struct vgpu_node_info;
const struct vgpu_node_info *lab__node_info(const struct lab_node *node);
/* The node's counter of progress, and what it says about who waits for whom. 0 when there was no
 * answer within `seconds`; the next call goes on waiting for it. */
int lab__node_progress(struct lab_node *node, double seconds, uint64_t *progress, char *waiting,
                       size_t room);
/* Everything that it saw, when the runner has gone. NULL: `error` says why. Caller frees. */
struct lab_witness *lab__node_witness(struct lab_node *node, char *error, size_t room);
/* The explanation of the last fault, "" without one. Valid after lab__node_witness. */
const char *lab__node_fault(const struct lab_node *node);
/* Notes whether the node has ended, while that can still be asked. */
void lab__node_note(struct lab_node *node);
/* How a node failed that did not say what it saw, with its last words: "was ended by signal 11". */
void lab__node_failure(const struct lab_node *node, char *text, size_t room);
/* Ends the connection and the node; NULL is fine. */
void lab__node_stop(struct lab_node *node);
bool lab__node_virtual(void);

/* ---- telling ---- */

/* Line of the definition of `function` in a C file, 0 when it is not there. */
int lab__where(const char *path, const char *function);
/* Why a failed case must not be so: a sentence, or "". */
const char *lab__why(const struct lab_test *t);
void lab__report(const struct lab_test *t, bool whole);
/* Appends the record to options->json and writes options->results/NAME.json. 0, or -1 after a
 * sentence on stderr. */
int lab__record(const struct lab_test *t);
void lab__json_string(FILE *to, const char *text);
const char *lab__verdict_name(enum lab_verdict verdict);
/* The next step for the student, without a newline. */
void lab__next_step(const struct lab_test *t, char *text, size_t room);

#endif
