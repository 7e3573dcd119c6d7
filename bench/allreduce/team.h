/* SPDX-License-Identifier: MIT
 * team.h: one host thread per rank, from which collectives are called, and a barrier between them.
 */
#ifndef AR_TEAM_H
#define AR_TEAM_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>

/* For programs: prints what failed and ends all ranks. */
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s (%d)\n", __FILE__, __LINE__, #call,                     \
                    cudaGetErrorString(error_), (int)error_);                                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct team;

/* Runs body(team, rank, argument) on n threads whose current device is their rank's GPU (rank r on
 * GPU r), and returns when all have ended. If no rank reaches a barrier for `patience` seconds, the
 * program exits with status 3 and prints which ranks were missing. */
void team_run(int n, unsigned patience, void (*body)(struct team *, int rank, void *argument),
              void *argument);

/* Returns when all ranks have called it. */
void team_barrier(struct team *team, int rank);

/* Microseconds since an arbitrary moment. */
double team_now(void);

#endif
