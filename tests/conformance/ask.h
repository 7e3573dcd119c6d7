/* SPDX-License-Identifier: MIT
 * ask.h: cases for conformance: what every call answers, right and wrong, in words that are the
 * same on each run. One source for real GPUs (nvcc) and the virtual node (vgpu-cc).
 *
 * A case is a function made by CASE(name); main.cu carries out one of them in a process of its own.
 * It prints each call with the code it gave, and values that do not depend on addresses or time.
 * What a library may answer by crashing is asked at the end of a case, or in one of its own.
 */
#ifndef CONFORMANCE_ASK_H
#define CONFORMANCE_ASK_H

#include "../cuda12.h"

#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void ask_body(void);

/* Puts a case into the list; says if the name is there already, and ends the program. */
bool ask_register(const char *name, ask_body *body);

/* One line for one call of the runtime, and its last error where that is not what the call gave. */
void ask_runtime(const char *what, cudaError_t code);
void ask_driver(const char *what, CUresult code);

#define CASE(name)                                                                                 \
    static void name();                                                                            \
    static const bool registered_##name = ask_register(#name, name);                               \
    static void name()

#define R(...) ask_runtime(#__VA_ARGS__, __VA_ARGS__)
#define D(...) ask_driver(#__VA_ARGS__, __VA_ARGS__)
#define V(...)                                                                                     \
    do {                                                                                           \
        printf("    " __VA_ARGS__);                                                                \
        printf("\n");                                                                              \
        fflush(stdout);                                                                            \
    } while (0)

/* Set-up, which is no question: what fails there ends the case. */
#define OK(...) ask_needed(#__VA_ARGS__, (int)(__VA_ARGS__))
void ask_needed(const char *what, int code);

/* The first int at an address, wherever it is. */
int ask_peek(const void *at);
/* What fills so many ints at an address. */
cudaMemsetParams ask_fill(void *at, unsigned value, size_t count);
/* A stream that waits for nobody. */
cudaStream_t ask_stream(void);
/* cuInit, and the primary context of a device, which becomes current. */
CUcontext ask_context(int device);
CUdeviceptr ask_memory(size_t bytes);

#endif
