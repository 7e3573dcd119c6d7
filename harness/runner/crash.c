/* SPDX-License-Identifier: MIT
 * crash.c: says on the status page where a program crashed: the signal, the line of the innermost
 * function that has one, and what the address is near to. The process ends of its signal all the
 * same. What it forks inherits the handlers; of several crashes the first counts.
 */
#include "runner_internal.h"

#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { FRAMES = 48, STACK_BYTES = 256 << 10, NEAR_STACK = 1 << 20, SECONDS = 10 };

static uint64_t address_of_code(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

static uint64_t address_of_stack(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    return context->uc_mcontext.sp;
#else
    (void)context;
    return 0;
#endif
}

bool lab__is_ours(const char *path)
{
    const char *slash = strrchr(path, '/'), *folder = slash;
    while (folder && folder > path && folder[-1] != '/')
        folder--;
    return folder && (strncmp(folder, "tests/", 6) == 0 || strncmp(folder, "runner/", 7) == 0);
}

/* given.c of a lab: learners call it, and do not edit it. */
static bool is_given(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "given.", 6) == 0;
}

/* The innermost frame with a line that is not the harness's or the tests' (libraries have none):
 * the learner's, if there is one, and not that of a function which comes with the lab. */
static void place_crash(const ucontext_t *context)
{
    void *frame[FRAMES];
    char path[sizeof lab__status->crash_file];
    uint64_t code = address_of_code(context);
    for (int i = 0, count = backtrace(frame, FRAMES); i < count; i++) {
        uint64_t at = (uint64_t)(uintptr_t)frame[i];
        uint64_t line = lab__line_of(at == code ? at + 1 : at, path, sizeof path);
        if (!line || lab__is_ours(path) || (lab__status->crash_line && is_given(path)))
            continue;
        snprintf(lab__status->crash_file, sizeof lab__status->crash_file, "%s", path);
        lab__status->crash_line = (int32_t)line;
        if (!is_given(path))
            return;
    }
}

/* The mapping next to an address, as ", right behind the heap"; "": none is near. */
static void find_mapping(uint64_t address, char *text, size_t room)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], name[256];
    unsigned long long first, end;
    uint64_t nearest = 1 << 20;
    text[0] = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        name[0] = 0;
        if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %255s", &first, &end, name) < 2)
            continue;
        uint64_t away = address < first ? first - address : address >= end ? address - end + 1 : 0;
        if (away >= nearest)
            continue;
        nearest = away;
        const char *what = strcmp(name, "[heap]") == 0    ? "the heap"
                           : strcmp(name, "[stack]") == 0 ? "the stack"
                           : name[0] == '/'               ? "the code and data of a file"
                                                          : "allocated memory";
        if (away) /* without its bytes: they are others in every run */
            snprintf(text, room, ", %s %s %s", away <= 4096 ? "right" : "not far",
                     address < first ? "before" : "behind", what);
        else
            snprintf(text, room, ", in %s, which may not be used so", what);
    }
    if (maps)
        fclose(maps);
}

static void say_address(uint64_t address, bool known, const ucontext_t *context)
{
    char *text = lab__status->crash_near, near[100];
    const size_t room = sizeof lab__status->crash_near;
    const uint64_t stack = address_of_stack(context);
    if (known && address == address_of_code(context))
        snprintf(
            text, room,
            "it jumped to address %#llx, which is not code: the stack was overwritten (an array "
            "written past its end?), or the function's pointer was never set",
            (unsigned long long)address);
    else if (!known)
        snprintf(text, room, "an address that no memory has: was the pointer ever set?");
    else if (address == 0)
        snprintf(text, room, "address 0, a null pointer");
    else if (address < 4096)
        snprintf(text, room, "address %#llx: a field or an element of a null pointer",
                 (unsigned long long)address);
    else if (stack && address < stack + NEAR_STACK && address + NEAR_STACK > stack)
        snprintf(text, room, "address %#llx, at the end of the stack: a recursion without an end?",
                 (unsigned long long)address);
    else {
        find_mapping(address, near, sizeof near);
        snprintf(text, room, "address %#llx%s", (unsigned long long)address,
                 near[0] ? near : ", near to no memory of the program");
    }
}

/* Only the first crash of all processes is told. */
static bool is_first_crash(int number)
{
    int32_t none = 0;
    _Atomic int32_t *first = (_Atomic int32_t *)&lab__status->crash_signal;
    return atomic_compare_exchange_strong(first, &none, number);
}

void lab__index_outside(const char *file, int line, const char *what)
{
    struct lab_status *s = lab__status;
    if (!is_first_crash(SIGTRAP))
        return;
    memcpy(s->crash_doing, lab__own_step, sizeof s->crash_doing);
    snprintf(s->crash_near, sizeof s->crash_near, "%s", what);
    snprintf(s->crash_file, sizeof s->crash_file, "%s", file);
    s->crash_line = line;
}

void lab__crashed(int number, siginfo_t *info, void *context)
{
    if (!is_first_crash(number))
        return;
    memcpy(lab__status->crash_doing, lab__own_step, sizeof lab__status->crash_doing);
    alarm(SECONDS); /* what follows is not made for a broken process */
    if ((number == SIGSEGV || number == SIGBUS) && info->si_code > 0)
        say_address((uint64_t)(uintptr_t)info->si_addr, info->si_code != SI_KERNEL, context);
    place_crash(context);
}

static void on_crash_signal(int number, siginfo_t *info, void *context)
{
    lab__crashed(number, info, context);
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
        raise(number);
}

void lab__catch_crashes(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static void *frame[2];
    struct sigaction now,
        ours = {.sa_sigaction = on_crash_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
    backtrace(frame, 2); /* loads what it needs: later malloc may be broken */
    if (stack.ss_sp)
        sigaltstack(&stack, NULL);
    lab__watch_runtime();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL)
            sigaction(numbers[i], &ours, NULL);
}
