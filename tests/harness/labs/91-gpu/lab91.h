/* SPDX-License-Identifier: MIT
 * lab91.h: one function that uses GPUs, for the tests of the harness with a node.
 */
#ifndef LAB91_H
#define LAB91_H

#include <cuda_runtime_api.h>

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* 1. Copies `bytes` bytes from pinned host memory to GPU 0 and on to the last GPU; *gpus is how
 * many there are. Everything is given back. */
int gpu_relay(int bytes, int *gpus);

#ifdef __cplusplus
}
#endif

#endif
