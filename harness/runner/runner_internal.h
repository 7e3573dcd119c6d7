/* SPDX-License-Identifier: MIT
 * runner_internal.h: the part of a runner that differs between the virtual node and real GPUs.
 */
#ifndef LAB_RUNNER_INTERNAL_H
#define LAB_RUNNER_INTERNAL_H

#include "status.h"

/* GPUs of this machine, 0 without a driver; -1 where the node has to be asked instead. */
int lab__count_gpus(void);
/* Prints `ok`, or which GPU fails and how. Returns the exit status. */
int lab__check_each_gpu(void);

/* Start of the sealed memory. */
char *lab__sealed(void);

/* Records in *status what is in use on the GPUs, before and after the student's function. */
void lab__count_before(struct lab_status *status);
void lab__count_after(struct lab_status *status);

#endif
