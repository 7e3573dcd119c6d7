/* SPDX-License-Identifier: MIT
 * check.h: the book's programs end at the first error, and say where and which.
 */
#ifndef BOOK_CHECK_H
#define BOOK_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t check_error = (call);                                                          \
        if (check_error != cudaSuccess) {                                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(check_error));   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
