/* SPDX-License-Identifier: MIT
 * fault.c: ends a kernel that cannot continue.
 *
 * Such a kernel is abandoned: nothing is unwound, no destructor runs; its stacks return to the pool
 * when its blocks are abandoned.
 */
#include "fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device_image.h"
#include "kernel_timeout.h"

struct fault fault_last;

static jmp_buf anchor;
static char next_place[sizeof fault_last.where]; /* place of the next fault without a pc */

static _Noreturn void leave_kernel(void)
{
    memcpy(fault_last.where, next_place, sizeof next_place);
    next_place[0] = '\0';
    _longjmp(anchor, 1);
}

_Noreturn void fault_raise(enum vgpu_fault_kind kind, uint64_t address, bool write, uint64_t pc,
                           const char *format, ...)
{
    va_list arguments;
    fault_last =
        (struct fault){.kind = (int32_t)kind, .write = write, .address = address, .pc = pc};
    va_start(arguments, format);
    vsnprintf(fault_last.text, sizeof fault_last.text, format, arguments);
    va_end(arguments);
    leave_kernel();
}

_Noreturn void fault_raise_hang(uint64_t pc, bool idle)
{
    fault_last = (struct fault){.kind = VGPU_FAULT_HANG, .pc = pc, .idle = idle};
    snprintf(fault_last.text, sizeof fault_last.text,
             "the kernel makes no progress: an endless loop? It was ended after %d s of processor "
             "time (VGPU_KERNEL_SECONDS sets the limit)",
             vgpu_kernel_seconds());
    leave_kernel();
}

void fault_place(const char *where)
{
    snprintf(next_place, sizeof next_place, "%s", where);
}

bool fault_guard(void (*body)(void *), void *argument)
{
    if (_setjmp(anchor)) {
        /* Here, not in fault_raise: the kernel's stack may be exhausted. */
        if (fault_last.pc)
            image_place(fault_last.pc, fault_last.where, sizeof fault_last.where);
        return true;
    }
    body(argument);
    return false;
}
