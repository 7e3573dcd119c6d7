/* SPDX-License-Identifier: MIT
 * access.c: the callbacks that the compiler inserts before every access of device code
 * (-fsanitize=thread), in place of a race detector's runtime.
 *
 * They run before the access and cannot change it. They count bytes for each memory, check what the
 * MMU does not (alignment, addresses of this process's own memory), and pass volatile loads to
 * polling.c. This is the hottest code of the project: the common path is a shift, two tests, one
 * add.
 *
 * Compilers also report two-member structs of 8-byte alignment as 16-byte accesses, so an alignment
 * of only 8 is checked for these; instructions that need 16 trap in the processor (traps.c).
 */
#include "access.h"
#include "bounds.h"
#include "bounds_table.h"
#include "builtins.h"
#include "counters.h"
#include "device_image.h"
#include "fault.h"
#include "fiber.h"
#include "footprint.h"
#include "mapped_memory.h"
#include "memory_signals.h"
#include "polling.h"
#include "race.h"
#include "release_acquire.h"
#include "sample.h"
#include "unwritten.h"
#include "weak.h"

#include <string.h>

#define CALLER ((uint64_t)__builtin_return_address(0) - 1)

static void check_aligned(uint64_t address, uint32_t bytes, bool write, uint64_t pc)
{
    uint32_t need = bytes < 8 ? bytes : 8;
    if ((address & (need - 1)) != 0)
        fault_raise(VGPU_FAULT_MISALIGNED, address, write, pc,
                    "a misaligned %s: %u bytes at 0x%llx, which is not a multiple of %u",
                    write ? "store" : "load", bytes, (unsigned long long)address, need);
    if (bytes == 16 && address % 16 != 0)
        access_wide = address;
}

/* The last index of the counters, for an address beyond the windows; faults if the address belongs
 * to no allocation. */
static uint64_t other_process_address(uint64_t address, bool write, uint64_t pc)
{
    if (is_builtin_variable(address) && !write)
        return WINDOW_STACK;
    if (window_of(address) == window_of(OWN_VA) && (!write || !images_have_two_stacks))
        return WINDOW_STACK;
    int window = image_window(address);
    if (window < 0 && memory_is_registered(address))
        return WINDOW_HOST;
    if (window < 0)
        fault_raise(VGPU_FAULT_ADDRESS, address, write, pc, "%s", memory_describe(address, write));
    return (uint64_t)window;
}

/* Passes the access to the detectors in kernels. */
static inline void watch_location(uint64_t address, uint64_t bytes, bool write, uint64_t pc)
{
    race_access(address, bytes, write, pc);
    if (!write && unwritten_suspect(address, bytes))
        unwritten_read(address, bytes, pc);
}

/* The current read repeats the thread's last one with the same value: the thread polls. The number
 * of polls depends on the host, so they are not counted; nor is the read that finds a new value,
 * since with an earlier change there would have been only one read. */
static bool again;

/* Passes the access to the checks and counters that observe every access. */
static void show_access(uint64_t window, uint64_t address, uint64_t bytes, bool write)
{
    if (access_watchers.lap && window != WINDOW_STACK)
        poll_lap_read(address, (uint32_t)bytes, write);
    if (access_watchers.sample && window <= WINDOW_SHARED && !again)
        sample_note(window, address, bytes, write);
    if (access_watchers.look && window < WINDOW_STACK)
        watch_location(address, bytes, write, access_pc);
}

static bool wants_footprint(uint64_t window, enum vgpu_use use)
{
    return footprint_on && use != VGPU_USES && window <= WINDOW_HOST;
}

/* VGPU_SCHEDULE=weak: the last access is over before this one is looked at, and the value that this
 * one loads is put in place when nothing else looks at memory any more. */
static inline void weak_begins(void)
{
    if (UNLIKELY(access_watchers.weak))
        weak_settle();
}

static inline void weak_follows(uint64_t address, uint64_t bytes, bool write)
{
    if (UNLIKELY(access_watchers.weak))
        weak_access(address, bytes, write);
}

static void observed_access(uint64_t address, uint32_t kind, bool write, uint64_t pc,
                            enum vgpu_use use)
{
    uint64_t window = window_of(address);
    uint32_t bytes = access_kind_bytes[kind];
    access_pc = pc;
    if (!(address & (bytes - 1)) && wants_footprint(window, use))
        footprint_note(address, bytes, use);
    check_aligned(address, bytes, write, pc);
    if (window >= WINDOW_IMAGE)
        window = other_process_address(address, write, pc);
    access_count[write][kind][window]++;
    if (window_of(address) < VGPU_MAX_GPUS)
        bounds_check(address, bytes, write, pc);
    if (access_limit == 0)
        show_access(window, address, bytes, write);
}

/* An access to a chunk that is only partly allocated. */
static __attribute__((noinline)) void in_part(uint64_t address, uint64_t mask, bool write,
                                              uint64_t pc)
{
    if (UNLIKELY(address % VGPU_GRANULE_BYTES + mask >= bounds_granule(address)))
        bounds_stray(address, (uint32_t)mask + 1, write, pc);
}

/* An aligned access that only the detectors and the footprint look at: most of a lab's. */
static inline void looked_at_access(uint64_t address, uint32_t kind, bool write, uint64_t pc,
                                    enum vgpu_use use)
{
    const uint64_t window = window_of(address);
    const uint32_t bytes = 1u << kind;
    access_pc = pc;
    if (wants_footprint(window, use))
        footprint_note(address, bytes, use);
    access_count[write][kind][window]++;
    if (UNLIKELY(bounds_partial(address)))
        in_part(address, bytes - 1, write, pc);
    if (!access_watchers.look || window >= WINDOW_STACK)
        return;
    if (!write && unwritten_suspect(address, bytes))
        watch_location(address, bytes, write, pc);
    else if (kind == ACCESS_4)
        race_word(address, write, pc);
    else
        race_access(address, bytes, write, pc);
}

static __attribute__((noinline)) void slow_access(uint64_t address, uint32_t kind, bool write,
                                                  uint64_t pc, enum vgpu_use use)
{
    if (access_watchers.only_looking && !(address & ((1u << kind) - 1)) &&
        window_of(address) < WINDOW_IMAGE) {
        looked_at_access(address, kind, write, pc, use);
        return;
    }
    weak_begins();
    observed_access(address, kind, write, pc, use);
    weak_follows(address, access_kind_bytes[kind], write);
}

/* `use`: the use for the footprint; VGPU_USES: none, since the access is volatile. */
static inline __attribute__((always_inline)) void
report_access_of(void *p, uint32_t kind, uint64_t mask, bool write, uint64_t pc, enum vgpu_use use)
{
    uint64_t address = (uint64_t)p, window = window_of(address);
    if (UNLIKELY(window >= access_limit || (address & mask)))
        slow_access(address, kind, write, pc, use);
    else {
        access_count[write][kind][window]++;
        if (UNLIKELY(bounds_partial(address)))
            in_part(address, mask, write, pc);
    }
}

static void read_that_may_poll(void *p, uint32_t kind, uint64_t pc)
{
    uint64_t address = (uint64_t)p, window = window_of(address);
    again = window <= WINDOW_HOST && poll_again(address, access_kind_bytes[kind]);
    report_access_of(p, kind, access_kind_bytes[kind] - 1, false, pc, VGPU_USES);
    if (again)
        access_count[false][kind][window]--;
    again = false;
}

static void access_range(void *p, uint64_t bytes, bool write, uint64_t pc, enum vgpu_use use)
{
    uint64_t address = (uint64_t)p, window = window_of(address);
    if (bytes == 0)
        return;
    weak_begins();
    if (wants_footprint(window, use))
        footprint_range(address, bytes, use);
    access_pc = pc;
    if (window >= WINDOW_IMAGE)
        window = other_process_address(address, write, pc);
    access_count[write][ACCESS_RANGE][window]++;
    access_count[write][ACCESS_BYTES][window] += bytes;
    if (window_of(address) < VGPU_MAX_GPUS)
        bounds_check(address, bytes, write, pc);
    if (access_limit == 0)
        show_access(window, address, bytes, write);
    weak_follows(address, bytes, write);
}

/* The thread has read what it polls; if others have run since, it reads the value of now. */
static void note_poll(void *p, uint32_t bytes, uint64_t pc)
{
    uint64_t address = (uint64_t)p, mark = weak_mark();
    access_pc = pc;
    if (window_of(address) < WINDOW_STACK || image_window(address) >= 0 ||
        memory_is_registered(address)) {
        uint64_t value = peek(address, bytes);
        signal_polled(address, value, bytes);
        poll_note(address, value, bytes);
    }
    if (weak_mark() != mark) {
        weak_begins();
        weak_kind = (struct weak_access){.scope = 2, .newest = true};
        weak_follows(address, bytes, false);
        weak_kind = weak_plain;
    }
    visibility_load(address); /* here, since it may have waited */
}

/* ---- the callbacks: names and semantics are the compilers' ---- */

#define ACCESS(bytes, kind, mask)                                                                  \
    OFFERED void __tsan_read##bytes(void *p)                                                       \
    {                                                                                              \
        report_access_of(p, kind, mask, false, CALLER, VGPU_USE_READ);                             \
    }                                                                                              \
    OFFERED void __tsan_write##bytes(void *p)                                                      \
    {                                                                                              \
        report_access_of(p, kind, mask, true, CALLER, VGPU_USE_WRITE);                             \
    }                                                                                              \
    OFFERED void __tsan_read_write##bytes(void *p)                                                 \
    {                                                                                              \
        report_access_of(p, kind, mask, false, CALLER, VGPU_USE_READ);                             \
        report_access_of(p, kind, mask, true, CALLER, VGPU_USE_WRITE);                             \
    }                                                                                              \
    OFFERED void __tsan_volatile_read##bytes(void *p)                                              \
    {                                                                                              \
        race_mode = VGPU_VOLATILE;                                                                 \
        weak_kind.scope = 2;                                                                       \
        read_that_may_poll(p, kind, CALLER);                                                       \
        weak_kind = weak_plain;                                                                    \
        race_mode = VGPU_PLAIN;                                                                    \
        note_poll(p, bytes, CALLER);                                                               \
    }                                                                                              \
    OFFERED void __tsan_volatile_write##bytes(void *p)                                             \
    {                                                                                              \
        race_mode = VGPU_VOLATILE;                                                                 \
        weak_kind.scope = 2;                                                                       \
        report_access_of(p, kind, mask, true, CALLER, VGPU_USES);                                  \
        weak_kind = weak_plain;                                                                    \
        race_mode = VGPU_PLAIN;                                                                    \
        visibility_store((uint64_t)p, false);                                                      \
        signal_stored((uint64_t)p);                                                                \
    }                                                                                              \
    OFFERED void __tsan_unaligned_read##bytes(void *p)                                             \
    {                                                                                              \
        access_range(p, bytes, false, CALLER, VGPU_USE_READ);                                      \
    }                                                                                              \
    OFFERED void __tsan_unaligned_write##bytes(void *p)                                            \
    {                                                                                              \
        access_range(p, bytes, true, CALLER, VGPU_USE_WRITE);                                      \
    }                                                                                              \
    OFFERED void __tsan_unaligned_read_write##bytes(void *p)                                       \
    {                                                                                              \
        access_range(p, bytes, false, CALLER, VGPU_USE_READ);                                      \
        access_range(p, bytes, true, CALLER, VGPU_USE_WRITE);                                      \
    }                                                                                              \
    OFFERED void __tsan_unaligned_volatile_read##bytes(void *p)                                    \
    {                                                                                              \
        weak_kind.scope = 2;                                                                       \
        access_range(p, bytes, false, CALLER, VGPU_USES);                                          \
        weak_kind = weak_plain;                                                                    \
        note_poll(p, bytes, CALLER);                                                               \
    }                                                                                              \
    OFFERED void __tsan_unaligned_volatile_write##bytes(void *p)                                   \
    {                                                                                              \
        weak_kind.scope = 2;                                                                       \
        access_range(p, bytes, true, CALLER, VGPU_USES);                                           \
        weak_kind = weak_plain;                                                                    \
        signal_stored((uint64_t)p);                                                                \
    }

ACCESS(1, ACCESS_1, 0)
ACCESS(2, ACCESS_2, 1)
ACCESS(4, ACCESS_4, 3)
ACCESS(8, ACCESS_8, 7)
ACCESS(16, ACCESS_16, 15)

OFFERED void __tsan_read_range(void *p, long bytes)
{
    access_range(p, (uint64_t)bytes, false, CALLER, VGPU_USE_READ);
}

OFFERED void __tsan_write_range(void *p, long bytes)
{
    access_range(p, (uint64_t)bytes, true, CALLER, VGPU_USE_WRITE);
}

OFFERED void __tsan_vptr_read(void *p)
{
    report_access_of(p, ACCESS_8, 7, false, CALLER, VGPU_USE_READ);
}

OFFERED void __tsan_vptr_update(void *p, void *value)
{
    (void)value;
    report_access_of(p, ACCESS_8, 7, true, CALLER, VGPU_USE_WRITE);
}

static void raise_stack(uint64_t address, uint64_t pc)
{
    fault_raise(VGPU_FAULT_STACK, address, true, pc,
                "the stack of a thread (%d KiB for calls and local arrays) is used up: endless "
                "recursion, or a local array that is too large",
                (STACK_BYTES - STACK_RESERVE) >> 10);
}

OFFERED void __tsan_func_entry(void *pc)
{
    (void)pc;
    if (UNLIKELY((char *)__builtin_frame_address(0) < now.stack_limit))
        raise_stack((uint64_t)__builtin_frame_address(0), CALLER);
}

/* Called before alloca() takes that many bytes. */
OFFERED void vgpu_local_array(uint64_t bytes);
OFFERED void vgpu_local_array(uint64_t bytes)
{
    const char *at = __builtin_frame_address(0);
    if (at < now.stack_limit || bytes > (uint64_t)(at - now.stack_limit) ||
        bytes > locals_room(now.thread))
        raise_stack((uint64_t)at, CALLER);
}

/* A function begins that has variables on the second stack; it changes the pointer itself, and
 * restores it at its end. */
OFFERED char **__safestack_pointer_address(void);
OFFERED char **__safestack_pointer_address(void)
{
    struct thread *thread = now.thread;
    bool plenty = (uint64_t)thread->locals % STACK_BYTES > STACK_RESERVE; /* not NULL, too */
    if (UNLIKELY(!plenty) && !locals_room(thread))
        raise_stack((uint64_t)thread->locals, CALLER);
    return &thread->locals;
}

OFFERED void __tsan_func_exit(void *pc)
{
    (void)pc;
}

OFFERED void __tsan_init(void) {}

OFFERED void __tsan_ignore_thread_begin(void) {}

OFFERED void __tsan_ignore_thread_end(void) {}

/* memcpy and similar functions, which compilers call without a callback: images are linked with
 * --wrap for them. */
static void copy_access(void *to, const void *from, size_t bytes, uint64_t pc)
{
    weak_kind.newest = true;
    access_range((void *)from, bytes, false, pc, VGPU_USE_READ);
    weak_kind = weak_plain;
    access_range(to, bytes, true, pc, VGPU_USE_WRITE);
}

OFFERED void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    copy_access(to, from, bytes, CALLER);
    return memcpy(to, from, bytes);
}

OFFERED void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    copy_access(to, from, bytes, CALLER);
    return memmove(to, from, bytes);
}

OFFERED void *__wrap_memset(void *to, int value, size_t bytes)
{
    access_range(to, bytes, true, CALLER, VGPU_USE_WRITE);
    return memset(to, value, bytes);
}

OFFERED void *__tsan_memcpy(void *to, const void *from, size_t bytes)
    __attribute__((alias("__wrap_memcpy")));
OFFERED void *__tsan_memmove(void *to, const void *from, size_t bytes)
    __attribute__((alias("__wrap_memmove")));
OFFERED void *__tsan_memset(void *to, int value, size_t bytes)
    __attribute__((alias("__wrap_memset")));

/* The read of a read-modify-write: banks of shared memory serve both as one access. */
static void read_to_change(void *p, uint32_t kind, uint32_t bytes, uint64_t pc)
{
    again = window_of((uint64_t)p) == WINDOW_SHARED;
    report_access_of(p, kind, bytes - 1, false, pc, VGPU_USES);
    if (again)
        access_count[false][kind][WINDOW_SHARED]--;
    again = false;
}

void access_load(const void *p, uint32_t bytes, uint64_t pc)
{
    report_access_of((void *)p, (uint32_t)__builtin_ctz(bytes), bytes - 1, false, pc,
                     VGPU_USE_READ);
}

void access_atomic(void *p, uint32_t bytes, bool read, bool write, uint64_t pc, int scope)
{
    uint32_t kind = (uint32_t)__builtin_ctz(bytes);
    access_pc = pc;
    race_mode = scope == 0 ? VGPU_ATOMICALLY_IN_BLOCK : VGPU_ATOMICALLY;
    weak_kind.scope = scope;
    weak_kind.change = read && write;
    if (read && !write)
        read_that_may_poll(p, kind, pc);
    else if (read)
        read_to_change(p, kind, bytes, pc);
    footprint_atomics |= write;
    if (write)
        report_access_of(p, kind, bytes - 1, true, pc,
                         scope == 2 ? VGPU_USE_ATOMIC_SYSTEM : VGPU_USE_ATOMIC);
    race_mode = VGPU_PLAIN;
    weak_kind = weak_plain;
    if (read)
        visibility_load((uint64_t)p);
    if (write)
        visibility_store((uint64_t)p, read);
}
