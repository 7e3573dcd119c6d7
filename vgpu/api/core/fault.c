/* SPDX-License-Identifier: MIT
 * fault.c: what happens when host code touches device memory. Nothing is mapped there, so the MMU
 * catches it; this handler says which GPU's memory it was, and the process then dies of signal 11
 * as it does on hardware. A program with a handler of its own keeps it. Pages of the host's memory
 * that a GPU uses are observers'.
 */
#include "observer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

/* Only async-signal-safe pieces from here to the handler. */

static char *put_text(char *at, const char *text)
{
    size_t length = strlen(text);
    memcpy(at, text, length);
    return at + length;
}

static char *put_number(char *at, uint64_t value, unsigned base)
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

/* " (byte 4 of an allocation of 4096 bytes (allocated at sum.cu:12))". What reads the line
 * allocates nothing and takes no lock of ours; the process ends in any case. */
static char *put_allocation(char *at, uint64_t address)
{
    struct vgpu__allocation found;
    char where[160];
    if (!vgpu__allocation_at(address, &found))
        return at;
    at = put_text(at, " (byte ");
    at = put_number(at, address - found.base, 10);
    at = put_text(at, " of an allocation of ");
    at = put_number(at, found.bytes, 10);
    at = put_text(at, " bytes");
    where[0] = '\0';
    if (found.caller)
        vgpu__symbolize(found.caller, where, sizeof where);
    if (where[0])
        at = put_text(put_text(put_text(at, " (allocated at "), where), ")");
    return put_text(at, found.freed ? " that was freed)" : ")");
}

static void explain_fault(uint64_t address)
{
    char line[512], *at = line;
    int physical = (int)((address - VGPU_ARENA_VA) / VGPU_DEVICE_STRIDE);
    int logical = vgpu__logical(physical);
    at = put_text(at, "vgpu: host code touched address 0x");
    at = put_number(at, address, 16);
    at = put_text(at, logical >= 0 ? ", memory of GPU " : ", memory of physical GPU ");
    at = put_number(at, (uint64_t)(logical >= 0 ? logical : physical), 10);
    at = put_allocation(at, address);
    at = put_text(at, ": device memory cannot be read or written by host code; "
                      "copy it with cudaMemcpy\n");
    ssize_t written = write(STDERR_FILENO, line, (size_t)(at - line));
    (void)written; /* nothing can be done about it here */
}

/* With the default action back in place the faulting instruction runs again and ends the process; a
 * signal that somebody sent has no such instruction and is sent again. */
static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    bool fault = info->si_code > 0;
    int before = errno; /* of the code that goes on */
    bool again = fault && vgpu__host_fault(address, context);
    errno = before;
    if (again)
        return;
    if (fault && address >= VGPU_ARENA_VA && address < VGPU_ARENA_END && !vgpu__quiet())
        explain_fault(address);
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

/* Set once, before ours is there. */
static struct sigaction theirs;
static bool (*ours_too)(uint64_t address);

/* Ours for what `ours_too` knows; everything else is theirs. */
static void on_their_fault(int signal_number, siginfo_t *info, void *context)
{
    int before = errno;
    bool again = info->si_code > 0 && ours_too((uint64_t)(uintptr_t)info->si_addr);
    errno = before;
    if (again)
        return;
    if (theirs.sa_flags & SA_SIGINFO) {
        theirs.sa_sigaction(signal_number, info, context);
    } else if (theirs.sa_handler == SIG_DFL || theirs.sa_handler == SIG_IGN) {
        sigaction(signal_number, &theirs, NULL);
        if (info->si_code <= 0)
            raise(signal_number);
    } else {
        theirs.sa_handler(signal_number);
    }
}

void vgpu__fault_handler_need(bool (*ours)(uint64_t address))
{
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now) != 0 ||
        ((now.sa_flags & SA_SIGINFO) &&
         (now.sa_sigaction == on_fault || now.sa_sigaction == on_their_fault)))
        return;
    theirs = now;
    ours_too = ours;
    now.sa_sigaction = on_their_fault;
    now.sa_flags = (now.sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    sigaction(SIGSEGV, &now, NULL);
}

/* ---- stacks ---- */

/* Where the thread's stack is, which the handler must not ask. */
static void learn_stack(void)
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

/* A stack of its own, so that the sentence also comes out of a thread that ran out of stack. */
void vgpu__fault_stack_install(struct vgpu__wire *wire)
{
    stack_t now, stack = {.ss_sp = wire->signal_stack, .ss_size = sizeof wire->signal_stack};
    if (vgpu__fault_handler_is_ours() && sigaltstack(NULL, &now) == 0 &&
        (now.ss_flags & SS_DISABLE))
        sigaltstack(&stack, NULL);
    if (vgpu__process.checks & VGPU_CHECK_ORDER)
        learn_stack();
}

void vgpu__fault_stack_remove(struct vgpu__wire *wire)
{
    stack_t now, off = {.ss_flags = SS_DISABLE};
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == (void *)wire->signal_stack)
        sigaltstack(&off, NULL);
}
