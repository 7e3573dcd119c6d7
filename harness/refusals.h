/* SPDX-License-Identifier: MIT
 * refusals.h: what an adapter tells of a function that was called once for each call of CUDA that
 * it makes, which failed then (lab_fail_call of runner.h), and what a test expects of it.
 */
#ifndef LAB_REFUSALS_H
#define LAB_REFUSALS_H

#include <stdint.h>
#include <string.h>

#define LAB_REFUSALS 128

struct lab_refusal {
    char name[40]; /* the call that failed */
    int32_t rc;
    int32_t current, error; /* the current device and CUDA's last error afterwards */
    int32_t wrote;          /* the outputs are not what they were before */
    int32_t right;          /* they are what they are where nothing fails */
    int32_t access;         /* lab 02: which peer access is on is not what it was before */
};
struct lab_refusals {
    int32_t calls;
    int32_t ended; /* the result at last, when no call failed */
    struct lab_refusal of[LAB_REFUSALS];
};

/* The entry for the call that has failed; NULL: none has, and there is no more to ask. */
static inline struct lab_refusal *lab_note_refusal(struct lab_refusals *told, const char *failed,
                                                   int rc)
{
    told->ended = failed ? 0 : rc;
    if (!failed || told->calls == LAB_REFUSALS)
        return NULL;
    struct lab_refusal *entry = &told->of[told->calls++];
    strncpy(entry->name, failed, sizeof entry->name - 1);
    entry->rc = rc;
    entry->access = 0;
    return entry;
}

#endif
