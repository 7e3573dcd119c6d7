/* SPDX-License-Identifier: MIT
 * traps.c: turns signals from the processor and the node into faults of the running kernel.
 *
 * Handlers run on a separate stack, since the current one may be exhausted. Outside of device code
 * a signal is our own bug, and kills the process.
 */
#include "counters.h"
#include "device_image.h"
#include "divide.h"
#include "exec.h"
#include "fault.h"
#include "fiber.h"
#include "finding.h"
#include "mapped_memory.h"
#include "race_shadow.h"
#include "traps.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { SIGNAL_STACK_BYTES = 128 << 10, HANG_RETRY_US = 1000, HANG_LOOKS = 20 };

static volatile sig_atomic_t hang_asked;
static bool idle; /* the hanging thread has not used memory since the last signal */

/* The processor's description of a signal. */
struct cause {
    uint64_t pc;
    bool write;
    bool addressless; /* x86: a general protection fault, which has no address */
};

#if defined(__x86_64__)

static struct cause cause_of(const ucontext_t *machine)
{
    const greg_t *regs = machine->uc_mcontext.gregs;
    return (struct cause){.pc = (uint64_t)regs[REG_RIP],
                          .write = (regs[REG_ERR] & 2) != 0,
                          .addressless = regs[REG_TRAPNO] == 13};
}

#else

enum { SYNDROME_WRITE = 1 << 6 };

static struct cause cause_of(const ucontext_t *machine)
{
    struct cause cause = {.pc = machine->uc_mcontext.pc};
    const uint8_t *at = (const uint8_t *)machine->uc_mcontext.__reserved;
    struct esr_context record;
    for (memcpy(&record, at, sizeof record); record.head.magic && record.head.size;
         at += record.head.size, memcpy(&record, at, sizeof record))
        if (record.head.magic == ESR_MAGIC)
            cause.write = (record.esr & SYNDROME_WRITE) != 0;
    return cause;
}

#endif

/* ---- signals ---- */

static uint64_t device_pc(uint64_t pc)
{
    return image_code(pc) ? pc : access_pc;
}

static void segment_fault(const struct cause *cause, uint64_t address)
{
    uint64_t pc = device_pc(cause->pc);
    if (cause->addressless && access_wide)
        fault_raise(VGPU_FAULT_MISALIGNED, access_wide, cause->write, pc,
                    "a misaligned access: 16 bytes at 0x%llx, which is not a multiple of 16",
                    (unsigned long long)access_wide);
    if (cause->addressless)
        fault_raise(VGPU_FAULT_ADDRESS, 0, cause->write, pc,
                    "an address that no memory can have: a pointer that was never set?");
    if (window_of(address) == WINDOW_STACK || window_of(address) == window_of(OWN_VA))
        fault_raise(VGPU_FAULT_STACK, address, true, pc,
                    "a thread left its stack of %d KiB: endless recursion, or a local array that "
                    "is too large or indexed out of range",
                    STACK_BYTES >> 10);
    fault_raise(VGPU_FAULT_ADDRESS, address, cause->write, pc, "%s",
                memory_describe(address, cause->write));
}

static void classify_signal(int signal_number, const siginfo_t *info, const struct cause *cause)
{
    uint64_t address = (uint64_t)info->si_addr, pc = device_pc(cause->pc);
    if (signal_number == SIGSEGV)
        segment_fault(cause, address);
    if (signal_number == SIGBUS && info->si_code == BUS_ADRALN)
        fault_raise(VGPU_FAULT_MISALIGNED, address, cause->write, pc,
                    "a misaligned access at 0x%llx", (unsigned long long)address);
    if (signal_number == SIGBUS)
        fault_raise(VGPU_FAULT_MEMORY, address, cause->write, pc,
                    "this machine has no memory left for what the GPUs hold");
    fault_raise(VGPU_FAULT_TRAP, 0, false, pc,
                "a trap: __trap(), or code that the compiler found impossible");
}

void traps_tell_division(const char *where)
{
    run_finding(FINDING_DIVISION,
                "an integer division by zero%s%s: a GPU goes on with a meaningless value",
                where[0] ? " in " : "", where);
}

/* A GPU continues after a division by zero: so does this, with a finding. */
static bool is_division(ucontext_t *machine, uint64_t pc)
{
    bool by_zero;
    char where[96];
    if (!divide_step(machine, &by_zero))
        return false;
    if (!by_zero || run_has_finding(FINDING_DIVISION))
        return true;
    image_place(pc, where, sizeof where);
    traps_tell_division(where);
    return true;
}

static void on_signal(int signal_number, siginfo_t *info, void *machine)
{
    int error = errno;
    struct cause cause = cause_of(machine);
    if (!now.thread) {
        signal(signal_number, SIG_DFL);
        return; /* the signal recurs and kills the process */
    }
    if (signal_number == SIGSEGV && !cause.addressless) {
        bool note = shadow_touch((uint64_t)info->si_addr);
        enum touch touch = note ? TOUCH_OPENED : memory_touch((uint64_t)info->si_addr);
        if (touch == TOUCH_OPENED) {
            errno = error;
            return;
        }
        if (touch == TOUCH_LIMIT)
            fault_raise(VGPU_FAULT_MEMORY, (uint64_t)info->si_addr, cause.write,
                        device_pc(cause.pc),
                        "the virtual GPUs hold more than this machine's limit of %llu MiB: use "
                        "smaller arrays",
                        (unsigned long long)context.limits.memory_bytes >> 20);
    }
    if (signal_number == SIGFPE && is_division(machine, cause.pc)) {
        errno = error;
        return;
    }
    classify_signal(signal_number, info, &cause);
}

static void hang_fault(uint64_t pc)
{
    struct itimerval off = {0};
    hang_asked = 0;
    setitimer(ITIMER_REAL, &off, NULL);
    fault_raise_hang(pc, idle);
}

/* Grows with every use of memory by the running thread; repeated polls do not count as accesses. */
static uint64_t used_memory(void)
{
    const struct thread *t = now.thread;
    return access_total() + t->poll.reads + t->poll.unchanged + t->poll.laps + now.run->events;
}

/* Our own code must not be interrupted half-way: if it runs, the handler retries soon; at least
 * twice, to compare memory use, and a few times more to find an instruction that has a line. */
static void on_hang(int signal_number, siginfo_t *info, void *machine)
{
    static int looks;
    static uint64_t used_before;
    char where[16];
    (void)info;
    uint64_t pc = cause_of(machine).pc;
    if (signal_number == VGPU_EXEC_HANG_SIGNAL && now.run && !hang_asked) {
        hang_asked = 1;
        looks = 0;
        used_before = 0;
    }
    if (!hang_asked)
        return;
    if (now.thread && image_code(pc)) {
        uint64_t used = used_memory();
        image_place(pc, where, sizeof where);
        idle = used == used_before;
        used_before = used;
        if ((where[0] && looks > 0) || ++looks > HANG_LOOKS)
            hang_fault(pc);
    }
    struct itimerval soon = {.it_value.tv_usec = HANG_RETRY_US};
    setitimer(ITIMER_REAL, &soon, NULL);
}

void traps_check_hang(void)
{
    if (UNLIKELY(hang_asked))
        hang_fault(0);
}

void traps_setup(void)
{
    static char stack[SIGNAL_STACK_BYTES];
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaltstack(&other, NULL);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    action.sa_sigaction = on_hang;
    sigaction(VGPU_EXEC_HANG_SIGNAL, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}
