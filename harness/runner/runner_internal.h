/* SPDX-License-Identifier: MIT
 * runner_internal.h: the part of a runner that differs between the virtual node and real GPUs.
 */
#ifndef LAB_RUNNER_INTERNAL_H
#define LAB_RUNNER_INTERNAL_H

#include "status.h"

/* GPUs of this machine, 0 where there is no driver; -1 where the node is the one to ask. */
int lab__count_gpus(void);
/* Prints `ok`, or what is wrong with a GPU. The exit status. */
int lab__check_each_gpu(void);

/* Where the sealed memory begins. */
char *lab__sealed(void);

/* Before and after the student's function: what is in use on the GPUs, into *status. */
void lab__count_before(struct lab_status *status);
void lab__count_after(struct lab_status *status);

#endif
