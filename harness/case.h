/* SPDX-License-Identifier: MIT
 * case.h: the interface with which a lab's tests are written, on the trusted side (the verifier).
 *
 * The verifier never loads student code. A case makes its inputs, passes them to the runner (a
 * separate process, on a separate node) and judges the bytes that come back. Expected values exist
 * only here.
 *
 *     static void check_split(struct lab_test *t)
 *     {
 *         struct split_in in = {.n = 10, .parts = 3};
 *         struct lab_run *run = lab_run(t, "split", &in, sizeof in, sizeof(struct split_out));
 *         const struct split_out *out = lab_output(run);
 *         lab_expect(t, out->rc == 0, "split(10, 3, 0) returned %d, expected 0", out->rc);
 *     }
 *     LAB_CASES = {
 *         {.name = "split", .todo = 1, .check = check_split, .title = "parts cover n, once each"},
 *     };
 *
 * A failed expectation ends the case (longjmp): only the first failure is shown, unless --all is
 * given. lab_run does not return when the runner crashed, hung, exited early, met a TODO or wrote
 * too much: it ends the case with that verdict.
 */
#ifndef LAB_CASE_H
#define LAB_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "witness.h"

enum lab_verdict { /* exit statuses of a verifier */
                   LAB_PASS = 0,
                   LAB_FAIL = 1,
                   LAB_NOT_WRITTEN = 3,
                   LAB_HARNESS_ERROR = 4, /* an error of the harness, never the student's */
                   LAB_CANNOT_RUN = 77,
};

struct lab_test;
struct lab_run;

struct lab_case {
    const char *name; /* ctest name: lab03.<name> and solution03.<name> */
    int todo; /* the function under test; the other functions come from the reference. 0: all are
                 the student's */
    const char *title; /* what must hold, as a sentence */
    const char *rule;  /* why, shown when an expectation fails about which nothing else is known */
    const char *about; /* words of the messages that the rule explains, "clock_mhz|bytes"; NULL: of
                          all but those about a result of lab.h */
    int points;
    bool quick;          /* carries the label quick */
    bool needs_witness;  /* judges what only the virtual node records */
    const char *also_on; /* NULL, or a node on which the case runs a second time, so that an answer
                            that fits only the default node fails. Without it, a case that does not
                            choose its nodes (lab_node) runs on LAB_NODE_OTHER, too */
    int min_gpus;        /* on real hardware: cannot run here below this */
    int wants_gpus;   /* on real hardware: uses up to this many if there are more than min_gpus */
    bool timed;       /* on real hardware: it measures time, so no other test may run meanwhile */
    bool no_memcheck; /* not run under compute-sanitizer: it hides the GPUs, which the tool needs,
                         or faults on purpose, or cannot wait for processes that start so slowly */
    bool one_order;   /* judges costs, or repeats a smaller case on a large scale: not run in other
                         orders */
    void (*check)(struct lab_test *t);
};

extern const struct lab_case lab_cases[]; /* ends with name == NULL */
extern const char lab_name[];             /* "lab03" */

/* ---- set-up, before lab_run ---- */
void lab_node(struct lab_test *t,
              const char *node); /* "pcie-4090-2"; default hgx-h200-4; NULL: the run has no node,
                                    and so no GPU. Real GPUs: ignored */
void lab_env(struct lab_test *t, const char *name,
             const char *value); /* for the runner; NULL unsets */
/* Faults injected into the nodes of the runs that follow (VGPU_FAULT: docs/virtual-node.md); NULL:
 * none from here on. The virtual node only. */
void lab_fault(struct lab_test *t, const char *words);
uint64_t lab_random(struct lab_test *t); /* from --seed and the case's name */
uint64_t lab_secret(struct lab_test *t); /* the same, derived from LAB_SECRET */
int lab_gpus(struct lab_test *t);        /* GPUs of the chosen node (real GPUs: of the machine) */
bool lab_is_virtual(struct lab_test *t);

/* One GPU of the chosen node, as the node reports it: no process with student code is involved.
 * False on real GPUs, and if there is no such GPU. */
struct lab_device {
    char name[64], bus_id[16];
    unsigned char uuid[16];
    int major, minor, sms, copy_engines, clock_khz;
    uint64_t memory_bytes, l2_bytes;
    uint64_t vmm_granule; /* cuMemGetAllocationGranularity */
};
bool lab_device(struct lab_test *t, int gpu, struct lab_device *to);

/* ---- running the student's code ---- */

/* Runs function `what` of the runner on a copy of the input, with room for `output_bytes` of output
 * (filled with 0xA5, so that bytes that were never written are seen). Ends the case unless the
 * runner finished. The result lives until the case ends. */
struct lab_run *lab_run(struct lab_test *t, const char *what, const void *input, size_t input_bytes,
                        size_t output_bytes);
const void *lab_output(const struct lab_run *run);
/* Seals data for the GPUs of the next lab_run, for numbers whose sums the host could compute as
 * well: the program can copy `input` to GPUs and their results back to the sealed memory
 * (lab_sealed_input and lab_sealed_result of runner.h), but can read neither. `output_bytes` of
 * output follow the input, filled with 0xA5. Draw the numbers with lab_secret: a program may know
 * the seed of lab_random. */
void lab_seal(struct lab_test *t, const void *input, size_t input_bytes, size_t output_bytes);
const void *lab_sealed_output(const struct lab_run *run);
const char *lab_stdout(const struct lab_run *run); /* what the runner printed, cut at 64 KiB */

/* What the node recorded (NULL on real GPUs: needs_witness cases do not run there). */
const struct lab_witness *lab_witness(const struct lab_run *run);

/* ---- what a program reports, against what the node saw (real GPUs: no answer, no effect) ---- */

/* The record after `after` (NULL: the first of this run) of a cudaEventElapsedTime call that
 * returned `seconds`: the time from start_ps to end_ps. NULL if there is none. A time that decides
 * points must have such a record: a program can replace the clocks of its own process.
 */
const struct lab_record *lab_told(const struct lab_run *run, double seconds,
                                  const struct lab_record *after);

/* Bytes of copies, and a GPU's kernels, that began and ended within a window (NULL: the whole run).
 * LAB_HOST is the host's memory, pinned or not. Bytes moved by kernels are advisory. */
struct lab_kernels {
    unsigned count, read, written; /* read, written: of which GPUs, as in lab_record */
    uint64_t bytes, atomics, barriers, shared_accesses, shuffles; /* sums over all kernels */
    uint64_t threads; /* sum over all kernels' launches */
    uint64_t busiest; /* the most accesses of any thread of a kernel's first block */
};
uint64_t lab_copied_within(const struct lab_run *run, const struct lab_record *window, int from,
                           int to);
struct lab_kernels lab_kernels_within(const struct lab_run *run, const struct lab_record *window,
                                      int gpu);

/* Fails if more bytes were copied to the host, or from it, than the test itself and the contract
 * need, or if a kernel used host memory: work that the host did in place of a GPU shows as one of
 * these.
 */
void lab_host_bytes(struct lab_test *t, const struct lab_run *run, const char *what, uint64_t down,
                    uint64_t up);
/* Fails if host memory was allocated that kernels can use: accesses to it are counted only in the
 * student's process. */
void lab_no_host_memory(struct lab_test *t, const struct lab_run *run, const char *what);

/* ---- a time that submissions are compared by (tests/timed.c) ---- */

/* What the test itself copies: bytes from sealed memory to each GPU, and from each GPU to it. */
struct lab_moved {
    uint64_t loaded[LAB_MAX_GPUS], stored[LAB_MAX_GPUS];
    bool graph; /* it launches the work as a graph, which costs the host next to nothing */
    /* What no way of doing the task can do without, on all GPUs together: bytes that kernels read
     * and write, and bytes that go from one GPU to another, by copies and kernels. */
    uint64_t kernels, between;
};
/* Makes the time of the work between the two the case's time, by the node's records: from the last
 * byte that was loaded (or from the first work's issue, if that was before) to the end of the last
 * copy or kernel. The numbers are sealed, so nothing can be done with them before they are loaded.
 * Fails where other bytes were loaded or stored, where fewer bytes were moved between the two than
 * the task needs, where something had not ended, and where the operating system had a part in the
 * times. `payload` is what the bound is computed from: bytes of
 * one GPU. Real GPUs have no records: there the time is `seconds`, which the adapter took. */
void lab_timed(struct lab_test *t, const struct lab_run *run, const struct lab_moved *moved,
               uint64_t payload, double seconds);

/* ---- judging ---- */
#define lab_expect(t, condition, ...)                                                              \
    ((condition) ? (void)0 : lab_fail((t), __FILE__, __LINE__, #condition, __VA_ARGS__))
void lab_fail(struct lab_test *t, const char *file, int line, const char *condition,
              const char *format, ...) __attribute__((noreturn, format(printf, 5, 6)));
void lab_cannot_run(struct lab_test *t, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Mistakes that cost a lab more than the points of the tests that see them (docs/grading.md). Races
 * are found by the node, leaks by lab_nothing_leaked, lost data by lab_same_*; the other
 * expectations that tell such a mistake say so: data that did not come through as it must, or bytes
 * that were overwritten; a wait of the host where the contract has none. */
enum lab_grave { LAB_NOT_GRAVE, LAB_RACE, LAB_LOST_DATA, LAB_LEAK, LAB_HOST_WAIT };
#define lab_expect_data(t, condition, ...)                                                         \
    lab_expect_grave((t), LAB_LOST_DATA, condition, __VA_ARGS__)
#define lab_expect_no_wait(t, condition, ...)                                                      \
    lab_expect_grave((t), LAB_HOST_WAIT, condition, __VA_ARGS__)
#define lab_expect_grave(t, kind, condition, ...)                                                  \
    ((condition) ? (void)0                                                                         \
                 : (lab_is_grave((t), (kind)),                                                     \
                    lab_fail((t), __FILE__, __LINE__, #condition, __VA_ARGS__)))
void lab_is_grave(struct lab_test *t, enum lab_grave kind);

/* Compares element by element and prints the first five mismatches with index, got and expected.
 * `what` names the array in the message: "chunk of rank 2". */
void lab_same_int(struct lab_test *t, const char *what, const int32_t *got, const int32_t *want,
                  size_t n);
void lab_same_bytes(struct lab_test *t, const char *what, const void *got, const void *want,
                    size_t n);
void lab_close(struct lab_test *t, const char *what, double got, double want, double tolerance);

/* The same for values of the virtual clock, which depend slightly on how a program was compiled:
 * marks.c reports how close an answer comes to each limit. As conditions of lab_expect:
 *     lab_expect(t, LAB_LEAST(t, out->speedup, 3), "a speedup of %.2f, ...", out->speedup); */
#define LAB_LEAST(t, value, least) lab_mark_least((t), LAB_HERE, (value), (least))
#define LAB_MOST(t, value, most) lab_mark_most((t), LAB_HERE, (value), (most))
#define LAB_CLOSE(t, what, got, want, tolerance)                                                   \
    lab_mark_close((t), LAB_HERE, (what), (got), (want), (tolerance))
#define LAB_HERE __FILE__ ":" LAB_TEXT_OF(__LINE__)
#define LAB_TEXT_OF(line) LAB_TEXT_OF_IT(line)
#define LAB_TEXT_OF_IT(line) #line
bool lab_mark_least(struct lab_test *t, const char *where, double value, double least);
bool lab_mark_most(struct lab_test *t, const char *where, double value, double most);
void lab_mark_close(struct lab_test *t, const char *where, const char *what, double got,
                    double want, double tolerance);

/* Fails if the runner left anything allocated on the node: memory, streams, events, enabled peers.
 * On real GPUs it compares what the runner can count. */
void lab_nothing_leaked(struct lab_test *t, const struct lab_run *run);
/* The same after calls that had to be refused: what only these leave behind is no grave mistake. */
void lab_refused_leaked_nothing(struct lab_test *t, const struct lab_run *run);

/* Each call of CUDA that `call` makes has failed once: it returned an error, wrote nothing, left no
 * error behind and `current` current (-1: not looked at), or its outputs are right all the same. */
struct lab_refusals; /* refusals.h */
void lab_expect_refused(struct lab_test *t, const char *call, const struct lab_refusals *told,
                        int current);

#define LAB_CASES const struct lab_case lab_cases[]

#endif
