/* SPDX-License-Identifier: MIT
 * fault.c: the SIGSEGV handler for host code that accesses device memory. No device memory is
 * mapped in this process, so the access faults; the handler prints which GPU's memory it was, and
 * the process then dies of signal 11, as on hardware. If the program has installed a handler of its
 * own, that one stays. Faults in host memory that a GPU uses are passed to the observers.
 */
#include "observer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

/* From here to the handler all code must be async-signal-safe. */

static char *append_string(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *append_number(char *at, uint64_t value, unsigned base)
{
    char digits[24];
    int count = 0;
    do
        digits[count++] = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

/* Appends " (byte 4 of an allocation of 4096 bytes (allocated at sum.cu:12))". vgpu__symbolize
 * neither allocates nor takes a lock of the runtime; besides, the process ends in any case. */
static char *append_allocation(char *at, uint64_t address)
{
    struct vgpu__allocation found;
    char where[160];
    if (!vgpu__allocation_at(address, &found))
        return at;
    at = append_string(at, " (byte ");
    at = append_number(at, address - found.base, 10);
    at = append_string(at, " of an allocation of ");
    at = append_number(at, found.bytes, 10);
    at = append_string(at, " bytes");
    where[0] = '\0';
    if (found.caller)
        vgpu__symbolize(found.caller, where, sizeof where);
    if (where[0])
        at = append_string(append_string(append_string(at, " (allocated at "), where), ")");
    return append_string(at, found.freed ? " that was freed)" : ")");
}

static void explain_fault(uint64_t address)
{
    char line[512], *at = line;
    int physical = (int)((address - VGPU_ARENA_VA) / VGPU_DEVICE_STRIDE);
    int logical = vgpu__logical(physical);
    at = append_string(at, "vgpu: host code touched address 0x");
    at = append_number(at, address, 16);
    at = append_string(at, logical >= 0 ? ", memory of GPU " : ", memory of physical GPU ");
    at = append_number(at, (uint64_t)(logical >= 0 ? logical : physical), 10);
    at = append_allocation(at, address);
    at = append_string(at, ": device memory cannot be read or written by host code; "
                           "copy it with cudaMemcpy\n");
    ssize_t written = write(STDERR_FILENO, line, (size_t)(at - line));
    (void)written; /* a failure cannot be handled here */
}

/* With the default action restored, the faulting instruction runs again and ends the process. A
 * signal that was sent by kill has no such instruction, so it is raised again. */
void (*vgpu__crash_hook)(int, siginfo_t *, void *);

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    bool fault = info->si_code > 0;
    int before = errno; /* errno of the interrupted code */
    bool again = fault && vgpu__host_fault(address, context);
    errno = before;
    if (again)
        return;
    if (fault && address >= VGPU_ARENA_VA && address < VGPU_ARENA_END && !vgpu__quiet())
        explain_fault(address);
    if (vgpu__crash_hook)
        vgpu__crash_hook(signal_number, info, context);
    signal(signal_number, SIG_DFL);
    if (!fault)
        raise(signal_number);
}

bool vgpu__fault_handler_is_ours(void)
{
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
           now.sa_sigaction == on_fault;
}

void vgpu__fault_handler_install(void)
{
    struct sigaction now, handler = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (sigaction(SIGSEGV, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) ||
        now.sa_handler != SIG_DFL)
        return;
    sigemptyset(&handler.sa_mask);
    sigaction(SIGSEGV, &handler, NULL);
}

/* ---- a program with a handler of its own ---- */

/* Set once, before on_program_fault is installed. */
static struct sigaction program_action;
static bool (*is_runtime_fault)(uint64_t address);

/* Handles faults for which `is_runtime_fault` returns true, and passes all others to the program's
 * handler.
 */
static void on_program_fault(int signal_number, siginfo_t *info, void *context)
{
    int before = errno;
    bool again = info->si_code > 0 && is_runtime_fault((uint64_t)(uintptr_t)info->si_addr);
    errno = before;
    if (again)
        return;
    if (program_action.sa_flags & SA_SIGINFO) {
        program_action.sa_sigaction(signal_number, info, context);
    } else if (program_action.sa_handler == SIG_DFL || program_action.sa_handler == SIG_IGN) {
        sigaction(signal_number, &program_action, NULL);
        if (info->si_code <= 0)
            raise(signal_number);
    } else {
        program_action.sa_handler(signal_number);
    }
}

void vgpu__fault_handler_need(bool (*ours)(uint64_t address))
{
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now) != 0 ||
        ((now.sa_flags & SA_SIGINFO) &&
         (now.sa_sigaction == on_fault || now.sa_sigaction == on_program_fault)))
        return;
    program_action = now;
    is_runtime_fault = ours;
    now.sa_sigaction = on_program_fault;
    now.sa_flags = (now.sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    sigaction(SIGSEGV, &now, NULL);
}

/* ---- stacks ---- */

/* Stores the bounds of the thread's stack, which cannot be queried in a signal handler. */
static void store_stack_bounds(void)
{
    pthread_attr_t attributes;
    void *first;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &first, &bytes) == 0) {
        vgpu__self.stack_first = (uintptr_t)first;
        vgpu__self.stack_end = vgpu__self.stack_first + bytes;
    }
    pthread_attr_destroy(&attributes);
}

/* Installs an alternate signal stack, so that a stack overflow is reported, too. */
void vgpu__fault_stack_install(struct vgpu__wire *wire)
{
    stack_t now, stack = {.ss_sp = wire->signal_stack, .ss_size = sizeof wire->signal_stack};
    if (vgpu__fault_handler_is_ours() && sigaltstack(NULL, &now) == 0 &&
        (now.ss_flags & SS_DISABLE))
        sigaltstack(&stack, NULL);
    if (vgpu__process.checks & VGPU_CHECK_ORDER)
        store_stack_bounds();
}

void vgpu__fault_stack_remove(struct vgpu__wire *wire)
{
    stack_t now, off = {.ss_flags = SS_DISABLE};
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == (void *)wire->signal_stack)
        sigaltstack(&off, NULL);
}
