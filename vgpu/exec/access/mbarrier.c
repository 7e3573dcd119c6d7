/* SPDX-License-Identifier: MIT
 * mbarrier.c: mbarrier objects of inline PTX (PTX ISA 9.0, 9.7.13.15), on which libcu++'s barriers
 * and pipelines are built.
 *
 * An object is 64 bits of memory and is changed by a single store:
 *     63 phase   62..43 expected   42..23 pending   22..2 bytes in flight (signed)   1..0 mark
 */
#include "access.h"
#include "fault.h"
#include "memory_signals.h"
#include "polling.h"
#include "release_acquire.h"
#include "weak.h"

#define CALLER ((uint64_t)__builtin_return_address(0) - 1)

enum { MARK = 1, COUNT_MAX = (1 << 20) - 1, BYTES_MAX = (1 << 20) - 1 };

struct mbarrier {
    uint32_t phase, expected, pending;
    int32_t bytes;
    bool valid;
};

static struct mbarrier unpack_barrier(uint64_t word)
{
    struct mbarrier m = {.phase = (uint32_t)(word >> 63),
                         .expected = word >> 43 & COUNT_MAX,
                         .pending = word >> 23 & COUNT_MAX,
                         .bytes = (int32_t)(word >> 2 & (2 * BYTES_MAX + 1)),
                         .valid = (word & 3) == MARK};
    if (m.bytes > BYTES_MAX)
        m.bytes -= 2 * (BYTES_MAX + 1);
    return m;
}

static uint64_t pack_barrier(const struct mbarrier *m)
{
    return (uint64_t)m->phase << 63 | (uint64_t)m->expected << 43 | (uint64_t)m->pending << 23 |
           (uint64_t)((uint32_t)m->bytes & (2 * BYTES_MAX + 1)) << 2 | MARK;
}

static _Noreturn void refuse_misuse(uint64_t pc, const char *what)
{
    fault_raise(VGPU_FAULT_TRAP, 0, false, pc, "mbarrier: %s", what);
}

static void arrive_at(struct mbarrier *m, uint64_t count, uint64_t pc)
{
    if (count > m->pending)
        refuse_misuse(pc, "more threads arrive in a phase than the barrier expects");
    m->pending -= (uint32_t)count;
}

static void expect_bytes(struct mbarrier *m, int64_t bytes, uint64_t pc)
{
    int64_t sum = m->bytes + bytes;
    if (sum > BYTES_MAX || sum < -BYTES_MAX)
        refuse_misuse(pc, "more than 1,048,575 bytes are expected in a phase");
    m->bytes = (int32_t)sum;
}

/* The last arrival of a phase, with no bytes in flight, begins the next. */
static void turn_phase(struct mbarrier *m)
{
    if (m->pending != 0 || m->bytes != 0)
        return;
    m->phase ^= 1;
    m->pending = m->expected;
}

static void change_counts(struct mbarrier *m, enum vgpu_mbarrier_operation operation,
                          uint64_t value, uint64_t pc)
{
    bool drops =
        operation == VGPU_MBARRIER_ARRIVE_DROP || operation == VGPU_MBARRIER_ARRIVE_DROP_EXPECT_TX;
    bool expects = operation == VGPU_MBARRIER_EXPECT_TX ||
                   operation == VGPU_MBARRIER_ARRIVE_EXPECT_TX ||
                   operation == VGPU_MBARRIER_ARRIVE_DROP_EXPECT_TX;
    uint64_t count = operation == VGPU_MBARRIER_EXPECT_TX || operation == VGPU_MBARRIER_COMPLETE_TX
                         ? 0
                     : expects ? 1
                               : value;
    if (expects)
        expect_bytes(m, (int64_t)value, pc);
    if (operation == VGPU_MBARRIER_COMPLETE_TX)
        expect_bytes(m, -(int64_t)value, pc);
    if (drops && count > m->expected)
        refuse_misuse(pc, "more threads leave than the barrier expects");
    if (drops)
        m->expected -= (uint32_t)count;
    arrive_at(m, count, pc);
    turn_phase(m);
}

/* The scope of its accesses: a block, or the GPU where other blocks of a cluster can reach it. */
static int barrier_scope(void)
{
    return now.run->cluster_blocks > 1;
}

/* Preceded by a fence of that scope: an arrival releases the thread's writes. */
static void store_barrier(uint64_t *object, uint64_t word)
{
    signal_stored((uint64_t)object);
    poll_changed();
    *object = word;
}

static void begin_change(uint64_t *object, bool reads, uint64_t pc)
{
    weak_fence(1, false);
    visibility_fence(barrier_scope());
    access_atomic(object, sizeof *object, reads, true, pc, barrier_scope());
}

static uint64_t test_phase(uint64_t *object, uint32_t phase, uint64_t pc)
{
    access_atomic(object, sizeof *object, true, false, pc, barrier_scope());
    weak_acquire(1);
    uint64_t word = *(volatile uint64_t *)object;
    struct mbarrier m = unpack_barrier(word);
    if (!m.valid)
        refuse_misuse(pc, "it was not initialised");
    if (m.phase != phase)
        return 1;
    poll_note((uint64_t)object, word, sizeof *object);
    return 0;
}

OFFERED uint64_t vgpu_mbarrier(enum vgpu_mbarrier_operation operation, void *address,
                               uint64_t value)
{
    uint64_t *object = address, pc = CALLER, old;
    if (operation == VGPU_MBARRIER_PENDING)
        return unpack_barrier(value).pending;
    if ((uint64_t)address % sizeof *object != 0)
        refuse_misuse(pc, "its address is not a multiple of 8");
    if (operation == VGPU_MBARRIER_INIT && (value == 0 || value > COUNT_MAX))
        refuse_misuse(pc, "it is initialised for 0 threads, or more than 1,048,575");
    if (operation == VGPU_MBARRIER_TEST)
        return test_phase(object, unpack_barrier(value).phase, pc);
    if (operation == VGPU_MBARRIER_TEST_PARITY)
        return test_phase(object, value & 1, pc);
    struct mbarrier m = {0, (uint32_t)value, (uint32_t)value, 0, true};
    bool starts = operation == VGPU_MBARRIER_INIT, ends = operation == VGPU_MBARRIER_INVAL;
    begin_change(object, !starts && !ends, pc);
    if (starts || ends) {
        store_barrier(object, starts ? pack_barrier(&m) : 0);
        return 0;
    }
    old = *(volatile uint64_t *)object;
    m = unpack_barrier(old);
    if (!m.valid)
        refuse_misuse(pc, "it was not initialised");
    change_counts(&m, operation, value, pc);
    store_barrier(object, pack_barrier(&m));
    return old;
}
