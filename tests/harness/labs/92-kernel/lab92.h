/* SPDX-License-Identifier: MIT
 * lab92.h: one function with a kernel, for the tests of the harness's verdicts on GPUs.
 */
#ifndef LAB92_H
#define LAB92_H

#include <cuda_runtime_api.h>

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1. Doubles n numbers on GPU 0. */
int kernel_double(int *data, int n);

#ifdef __cplusplus
}
#endif

#endif
