/* SPDX-License-Identifier: MIT
 * call_filter.c: see call_filter.h. The call's number is loaded in front of every rule.
 */
#include "call_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <stddef.h>
#include <sys/prctl.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the numbers of system calls of this architecture are not known here"
#endif

#define X32_BIT 0x40000000u
#define FIRST_NEWER 463 /* setxattrat, on every architecture */

static void add_instruction(struct call_filter *f, struct sock_filter instruction)
{
    if (f->length < CALL_FILTER_MAX)
        f->code[f->length++] = instruction;
}

static void load_field(struct call_filter *f, size_t offset)
{
    add_instruction(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void load_number(struct call_filter *f)
{
    load_field(f, offsetof(struct seccomp_data, nr));
}

/* Skips so many instructions after a test that holds, or fails. */
static void jump_if(struct call_filter *f, uint16_t test, uint32_t k, uint8_t holds, uint8_t fails)
{
    add_instruction(
        f, (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), k, holds, fails));
}

void call_filter_rest(struct call_filter *f, uint32_t answer)
{
    add_instruction(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

void call_filter_start(struct call_filter *f)
{
    f->length = 0;
    load_field(f, offsetof(struct seccomp_data, arch));
    jump_if(f, BPF_JEQ, ARCHITECTURE, 1, 0);
    call_filter_rest(f, SECCOMP_RET_KILL_PROCESS);
    load_number(f);
    jump_if(f, BPF_JGE, X32_BIT, 0, 1);
    call_filter_rest(f, SECCOMP_RET_KILL_PROCESS);
}

void call_filter_range(struct call_filter *f, int first, int last, uint32_t answer)
{
    jump_if(f, BPF_JGE, (uint32_t)first, 0, 2);
    jump_if(f, BPF_JGT, (uint32_t)last, 1, 0);
    call_filter_rest(f, answer);
}

void call_filter_newer(struct call_filter *f, uint32_t answer)
{
    call_filter_range(f, FIRST_NEWER, (int)(X32_BIT - 1), answer);
}

void call_filter_if(struct call_filter *f, int number, int index, uint16_t test, uint32_t k,
                    bool wanted, uint32_t answer)
{
    jump_if(f, BPF_JEQ, (uint32_t)number, 0, 4);
    load_field(f, offsetof(struct seccomp_data, args) + 8 * (size_t)index);
    jump_if(f, test, k, !wanted, wanted);
    call_filter_rest(f, answer);
    load_number(f);
}

void call_filter_masked(struct call_filter *f, int number, uint32_t mask, uint32_t k,
                        uint32_t answer)
{
    jump_if(f, BPF_JEQ, (uint32_t)number, 0, 5);
    load_field(f, offsetof(struct seccomp_data, args));
    add_instruction(f, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    jump_if(f, BPF_JEQ, k, 0, 1);
    call_filter_rest(f, answer);
    load_number(f);
}

bool call_filter_apply(struct call_filter *f)
{
    const struct sock_fprog whole = {f->length, f->code};
    errno = E2BIG;
    return f->length < CALL_FILTER_MAX && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0;
}
