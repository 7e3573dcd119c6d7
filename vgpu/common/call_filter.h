/* SPDX-License-Identifier: MIT
 * call_filter.h: a seccomp filter of system calls, as a program of classic BPF (seccomp(2)). The
 * first rule that knows a call gives its answer: SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO | EPERM ...
 */
#ifndef VGPU_CALL_FILTER_H
#define VGPU_CALL_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

enum { CALL_FILTER_MAX = 1024 };

struct call_filter {
    struct sock_filter code[CALL_FILTER_MAX];
    unsigned short length; /* CALL_FILTER_MAX: the rules did not fit */
};

/* Calls of another architecture, x32's among them, end the process. */
void call_filter_start(struct call_filter *f);

/* Calls `first` to `last`. */
void call_filter_range(struct call_filter *f, int first, int last, uint32_t answer);

/* Calls of Linux 6.13 and later. One of them may do what an older one is refused for (467,
 * open_tree_attr, is one of those for mounts), and no library needs them yet. */
void call_filter_newer(struct call_filter *f, uint32_t answer);

/* Call `number`, if `test` (BPF_JEQ, BPF_JGE, BPF_JSET) of the low half of argument `index` against
 * `k` has the result `wanted`. */
void call_filter_if(struct call_filter *f, int number, int index, uint16_t test, uint32_t k,
                    bool wanted, uint32_t answer);

/* Call `number`, if argument 0 of it, masked, is `k`. */
void call_filter_masked(struct call_filter *f, int number, uint32_t mask, uint32_t k,
                        uint32_t answer);

/* All others. */
void call_filter_rest(struct call_filter *f, uint32_t answer);

/* For this process and its children, from now on; PR_SET_NO_NEW_PRIVS must be set. False: errno. */
bool call_filter_apply(struct call_filter *f);

#endif
