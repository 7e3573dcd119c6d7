/* SPDX-License-Identifier: MIT
 * runner.h: the interface with which a lab's adapters are written, in the runner (the process that
 * is linked with the student's code).
 *
 *     LAB_RUN(split)
 *     {
 *         const struct split_in *in = lab_input(io, sizeof *in);
 *         struct split_out *out = lab_result(io, sizeof *out);
 *         out->rc = split(in->n, in->parts, 0, &out->first, &out->count);
 *     }
 *     LAB_RUNS = {LAB_ENTRY(split), LAB_END};
 *
 * Adapters translate arguments and results. They neither judge nor catch the student's mistakes.
 */
#ifndef LAB_RUNNER_H
#define LAB_RUNNER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lab_io;
struct lab_entry {
    const char *name;
    void (*run)(struct lab_io *io);
    int forks; /* its work is done by child processes: no CUDA call may come before fork */
};

const void *lab_input(struct lab_io *io,
                      size_t bytes); /* ends the runner when the input is shorter */
size_t lab_input_bytes(const struct lab_io *io);
void *lab_result(struct lab_io *io, size_t bytes); /* ends the runner when there is less room */

/* The sealed memory of this run: valid only as source of copies to GPUs and destination of copies
 * from GPUs; the program cannot read or write it (on real GPUs: pinned memory). */
const void *lab_sealed_input(void);
void *lab_sealed_result(void);

/* Seconds of this computer's clock, for times on real GPUs (on the virtual node they mean nothing).
 */
double lab_seconds(void);

/* How often the work of a timed task is done; the last time counts. Once on the virtual node. On
 * real GPUs twice: the first time also loads kernels and opens the way to peers. */
int lab_timed_rounds(void);

/* Describes the current step, for the message if it never ends: "it waits forever in 'ring':
 * TEXT". */
void lab_doing(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Makes a call, which is the current step as it stands in the adapter: "vmm_free(NULL)". */
#define LAB_CALL(call) (lab_doing("%s", #call), (call))

/* What is called with `on` is to be refused, or to fail: what the runtime says of it is nothing to
 * read, until it is called with 0. */
void lab_refusing(int on);

/* The k-th call of CUDA from here on fails with cudaErrorUnknown and does nothing, until
 * lab_call_failed. Calls that give something back, and cudaSetDevice, are not counted. On real GPUs
 * none fails. */
void lab_fail_call(int k);
/* The name of the call that failed; NULL: there were fewer. */
const char *lab_call_failed(void);

/* The k-th malloc, calloc or realloc of the student's file from here on returns NULL. */
void lab_fail_malloc(int k);
/* Whether one has; from here on none does. */
int lab_malloc_failed(void);

#define LAB_RUN(what) static void lab_run_##what(struct lab_io *io)
#define LAB_ENTRY(what)                                                                            \
    {                                                                                              \
#what, lab_run_##what, 0                                                                   \
    }
#define LAB_ENTRY_FORKS(what)                                                                      \
    {                                                                                              \
#what, lab_run_##what, 1                                                                   \
    }
#define LAB_END                                                                                    \
    {                                                                                              \
        0, 0, 0                                                                                    \
    }
#define LAB_RUNS                                                                                   \
    extern const struct lab_entry lab_runs[];                                                      \
    const struct lab_entry lab_runs[]

#ifdef __cplusplus
}
#endif
#endif
