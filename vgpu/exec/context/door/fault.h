/* SPDX-License-Identifier: MIT
 * fault.h: faults, which end a kernel early.
 */
#ifndef VGPU_EXEC_FAULT_H
#define VGPU_EXEC_FAULT_H

#include "exec.h"

struct fault {
    int32_t kind, write;
    bool idle; /* VGPU_FAULT_HANG: the loop accesses no memory */
    uint64_t address, pc;
    char where[96];
    char text[400];
};
extern struct fault fault_last;

/* Ends the running kernel: never returns, never unwinds. pc: the place to report, or 0. */
_Noreturn void fault_raise(enum vgpu_fault_kind kind, uint64_t address, bool write, uint64_t pc,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same for a kernel that makes no progress; idle: its loop accesses no memory. */
_Noreturn void fault_raise_hang(uint64_t pc, bool idle);

/* Sets the place ("file:line") of the next fault that has no pc. */
void fault_place(const char *where);

/* Runs `body`; returns true (and fills fault_last) if it faulted. */
bool fault_guard(void (*body)(void *), void *argument);

#endif
