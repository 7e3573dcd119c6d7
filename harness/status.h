/* SPDX-License-Identifier: MIT
 * status.h: the page on which the runner reports its state to the verifier.
 *
 * The page lies in the student's address space, so its contents are not trusted. Nothing on it can
 * make a test pass: "finished" only means that the output is worth judging.
 */
#ifndef LAB_STATUS_H
#define LAB_STATUS_H

#include <stdint.h>

#define LAB_STATUS_MAGIC 0x4c414253u

/* Descriptors of the runner, given by the verifier. */
enum lab_fd { LAB_FD_INPUT = 3, LAB_FD_OUTPUT = 4, LAB_FD_STATUS = 5, LAB_FD_SEALED = 7 };

/* Exit statuses of a runner. The verifier accepts none of them unless the page agrees. */
enum lab_runner_exit {
    LAB_RUNNER_FINISHED = 0,
    LAB_RUNNER_NOT_WRITTEN = 3,
    LAB_RUNNER_BROKEN = 4,
    LAB_RUNNER_TRAPPED = 5,
};

enum lab_state {
    LAB_STATE_RUNNING = 0,
    LAB_STATE_FINISHED = 1,
    LAB_STATE_NOT_WRITTEN = 2, /* todo, file, line */
    LAB_STATE_BROKEN = 3,      /* the adapter does not fit the case: see text */
    LAB_STATE_TRAPPED = 4,     /* it called `trapped`, a function that this test forbids */
};

struct lab_status {
    uint32_t magic, state;
    int32_t todo, line;
    char file[256];
    char text[256];   /* while it runs: the last text of lab_doing, of any of its processes */
    char trapped[64]; /* a function's name; not in `text`, as its other processes may go on */
    /* Of the first crash, of the runner or of what it forked: signal, line, what the address is
     * near to. */
    int32_t crash_signal, crash_line;
    char crash_file[256], crash_near[200];
    char crash_doing[256];       /* the last text of lab_doing in the process that crashed */
    uint64_t sealed_input_bytes; /* of this run (lab_seal); the sealed output follows */
    /* Real GPUs only: bytes in use after the run minus bytes in use before it, over all GPUs. */
    int64_t leaked_bytes;
    int32_t leak_known;
};

extern struct lab_status *lab__status; /* NULL outside a runner */

#endif
