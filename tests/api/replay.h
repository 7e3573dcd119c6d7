/* SPDX-License-Identifier: MIT
 * replay.h: how a recorded case is written: R(call) prints the call and what it returned, V(...) a
 * value, in the recording's own form. SKIP(n, why) stands for n recorded lines that this program
 * cannot repeat.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

#define R(x) replay_say(#x, (x))
#define V(...)                                                                                     \
    do {                                                                                           \
        printf("    " __VA_ARGS__);                                                                \
        printf("\n");                                                                              \
        fflush(stdout);                                                                            \
    } while (0)
#define SKIP(lines, why)                                                                           \
    do {                                                                                           \
        printf("~skip %d %s\n", lines, why);                                                       \
        fflush(stdout);                                                                            \
    } while (0)

static inline void replay_say(const char *call, cudaError_t error)
{
    printf("    %-90s -> %d %s\n", call, (int)error, cudaGetErrorName(error));
    fflush(stdout);
}

struct replay_case {
    const char *name;
    void (*run)();
};

/* Runs the case named in argv[1] in a process of its own and compares what it prints with the
 * recording in the folder argv[2]. The test's exit status. */
int replay_main(int argc, char **argv, const replay_case *cases, int count);

#endif
