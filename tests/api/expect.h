/* SPDX-License-Identifier: MIT
 * expect.h: what the small programs here check with: the first thing that is wrong ends the program
 * with its place and both values.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define EXPECT_IS(got, want)                                                                       \
    do {                                                                                           \
        long long expect_got = (long long)(got), expect_want = (long long)(want);                  \
        if (expect_got != expect_want) {                                                           \
            fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, #got,        \
                    expect_got, expect_want);                                                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define OK(call) EXPECT_IS(call, cudaSuccess)

#endif
