/* SPDX-License-Identifier: MIT
 * test.h: one check macro and the list of cases, for the tests of vgpu-exec.
 */
#ifndef TEST_EXEC_TEST_H
#define TEST_EXEC_TEST_H

#include "rig.h"

extern int failures;
void check_failed(const char *file, int line, const char *what, unsigned long long got,
                  unsigned long long want);
void check_text(const char *file, int line, const char *text, const char *part);

/* Compares two integers; a case goes on after a failure. */
#define CHECK(got, want)                                                                           \
    do {                                                                                           \
        unsigned long long got_ = (unsigned long long)(got), want_ = (unsigned long long)(want);   \
        if (got_ != want_)                                                                         \
            check_failed(__FILE__, __LINE__, #got " == " #want, got_, want_);                      \
    } while (0)

/* `part` must occur in `text`. */
#define CHECK_TEXT(text, part) check_text(__FILE__, __LINE__, text, part)

#define ONE(threads) ((struct shape){{1}, {threads}, 0})
#define GRID(blocks, threads) ((struct shape){{blocks}, {threads}, 0})

struct test_case {
    const char *name;
    void (*body)(struct rig *rig); /* with a context whose own memory is mapped */
};

extern const struct test_case plain_cases[], sync_cases[], wait_cases[];

#endif
