/* SPDX-License-Identifier: MIT
 * atomic.c: CUDA's and PTX's atomics, and the compilers' callbacks for atomic builtins.
 *
 * No other GPU's code runs at the same time (the node ensures that), but the program may write
 * pinned host memory meanwhile: so these are the processor's atomics. An atomic that does not
 * change memory (a lock that is taken, a compare that fails) counts as a poll, if its result is
 * used.
 */
#include "access.h"
#include "float_bits.h"
#include "release_acquire.h"
#include "memory_signals.h"
#include "counters.h"
#include "polling.h"
#include "weak.h"
#include "work.h"

#include <math.h>
#include <string.h>

#define CALLER ((uint64_t)__builtin_return_address(0) - 1)

static bool atomic_less(enum vgpu_atomic_type type, uint64_t a, uint64_t b)
{
    switch (type) {
    case VGPU_I32:
        return (int32_t)a < (int32_t)b;
    case VGPU_I64:
        return (int64_t)a < (int64_t)b;
    case VGPU_F32:
        return to_f32(a) < to_f32(b);
    case VGPU_F64:
        return to_f64(a) < to_f64(b);
    default:
        return a < b;
    }
}

static uint64_t atomic_sum(enum vgpu_atomic_type type, uint64_t a, uint64_t b)
{
    if (type == VGPU_F32)
        return from_f32(to_f32(a) + to_f32(b));
    if (type == VGPU_F64)
        return from_f64(to_f64(a) + to_f64(b));
    return a + b;
}

static uint64_t atomic_difference(enum vgpu_atomic_type type, uint64_t a, uint64_t b)
{
    if (type == VGPU_F32)
        return from_f32(to_f32(a) - to_f32(b));
    if (type == VGPU_F64)
        return from_f64(to_f64(a) - to_f64(b));
    return a - b;
}

/* The new value for `old`. */
static uint64_t atomic_result(enum vgpu_atomic_op op, enum vgpu_atomic_type type, uint64_t old,
                              uint64_t value, uint64_t compare)
{
    switch (op) {
    case VGPU_ATOMIC_ADD:
        return atomic_sum(type, old, value);
    case VGPU_ATOMIC_SUB:
        return atomic_difference(type, old, value);
    case VGPU_ATOMIC_EXCH:
        return value;
    case VGPU_ATOMIC_MIN:
        return atomic_less(type, value, old) ? value : old;
    case VGPU_ATOMIC_MAX:
        return atomic_less(type, old, value) ? value : old;
    case VGPU_ATOMIC_INC:
        return old >= value ? 0 : old + 1;
    case VGPU_ATOMIC_DEC:
        return old == 0 || old > value ? value : old - 1;
    case VGPU_ATOMIC_AND:
        return old & value;
    case VGPU_ATOMIC_OR:
        return old | value;
    case VGPU_ATOMIC_XOR:
        return old ^ value;
    default:
        return old == compare ? value : old;
    }
}

static void note_atomic(uint64_t address, bool is_float)
{
    now.run->counts.atomics++;
    contention_note(address, is_float);
}

static inline void atomic_done(const void *p, uint64_t old, uint64_t new, uint32_t bytes)
{
    if (new == old)
        poll_note((uint64_t)p, old, bytes);
    else {
        signal_stored((uint64_t)p);
        poll_changed();
    }
}

/* Nothing waits for what it finds: so that blocks may run side by side (lane_sums.c), what it does
 * here does not depend on that either. */
static inline void unused_done(const void *p, bool changed)
{
    signal_stored((uint64_t)p);
    if (changed)
        poll_changed();
}

static inline __attribute__((always_inline)) uint64_t
update_number(enum vgpu_atomic_op op, enum vgpu_atomic_type type, void *address, uint64_t value,
              uint64_t compare, int scope, uint64_t pc)
{
    bool wide = type == VGPU_I64 || type == VGPU_U64 || type == VGPU_F64;
    int width = scope & VGPU_SCOPE_MASK;
    access_atomic(address, wide ? 8 : 4, true, true, pc, width);
    if (scope & VGPU_ACQUIRES)
        weak_acquire(width);
    note_atomic((uint64_t)address, type == VGPU_F32 || type == VGPU_F64);
    uint64_t new;
    if (wide) {
        uint64_t *p = address, old = __atomic_load_n(p, __ATOMIC_RELAXED);
        do
            new = atomic_result(op, type, old, value, compare);
        while (
            !__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
        if (scope & VGPU_UNUSED)
            unused_done(p, new != old);
        else
            atomic_done(p, old, new, 8);
        return old;
    }
    uint32_t *p = address, old = __atomic_load_n(p, __ATOMIC_RELAXED);
    do
        new = (uint32_t)atomic_result(op, type, old, (uint32_t)value, (uint32_t)compare);
    while (!__atomic_compare_exchange_n(p, &old, (uint32_t) new, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED));
    if (scope & VGPU_UNUSED)
        unused_done(p, new != old);
    else
        atomic_done(p, old, new, 4);
    return old;
}

OFFERED uint64_t vgpu_atomic(enum vgpu_atomic_op op, enum vgpu_atomic_type type, void *address,
                             uint64_t value, uint64_t compare, int scope)
{
    return update_number(op, type, address, value, compare, scope, CALLER);
}

/* ---- of 16 bits, and of 128 ---- */

static double half_value(bool is_f16, uint32_t bits)
{
    return is_f16 ? from_f16((uint16_t)bits) : to_f32((uint64_t)(bits & 0xffff) << 16);
}

/* Of a number and a NaN the number; -0 is less than +0. */
static bool half_is_better(bool max, double value, double old)
{
    if (isnan(value) || isnan(old))
        return isnan(old);
    if (value == old)
        return max ? signbit(old) && !signbit(value) : signbit(value) && !signbit(old);
    return max ? value > old : value < old;
}

static uint32_t half_result(enum vgpu_atomic_op op, bool is_f16, uint32_t old, uint32_t value)
{
    double a = half_value(is_f16, old), b = half_value(is_f16, value);
    if (op != VGPU_ATOMIC_ADD)
        return half_is_better(op == VGPU_ATOMIC_MAX, b, a) ? value : old;
    return (uint32_t)vgpu_ptx_narrow(is_f16 ? VGPU_NARROW_F16 : VGPU_NARROW_BF16,
                                     VGPU_ROUND_NEAREST, from_f64(a + b));
}

static uint32_t halves_result(enum vgpu_atomic_op op, enum vgpu_half_type type, uint32_t old,
                              uint32_t value, uint32_t compare)
{
    bool is_f16 = type == VGPU_HALF_F16 || type == VGPU_TWO_F16;
    if (op == VGPU_ATOMIC_EXCH || op == VGPU_ATOMIC_CAS)
        return op == VGPU_ATOMIC_EXCH || old == compare ? value : old;
    uint32_t low = half_result(op, is_f16, old & 0xffff, value & 0xffff) & 0xffff;
    return type < VGPU_TWO_F16 ? low : low | half_result(op, is_f16, old >> 16, value >> 16) << 16;
}

static uint32_t update_half(enum vgpu_atomic_op op, enum vgpu_half_type type, void *address,
                            uint32_t value, uint32_t compare, int scope, uint64_t pc)
{
    int width = scope & VGPU_SCOPE_MASK;
    uint32_t bytes = type < VGPU_TWO_F16 ? 2 : 4, old, new;
    access_atomic(address, bytes, true, true, pc, width);
    if (scope & VGPU_ACQUIRES)
        weak_acquire(width);
    note_atomic((uint64_t)address, type != VGPU_HALF_BITS);
    if (bytes == 2) {
        uint16_t *p = address, was = __atomic_load_n(p, __ATOMIC_RELAXED);
        do
            new = halves_result(op, type, was, value & 0xffff, compare & 0xffff);
        while (!__atomic_compare_exchange_n(p, &was, (uint16_t) new, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_RELAXED));
        old = was;
    } else {
        uint32_t *p = address;
        old = __atomic_load_n(p, __ATOMIC_RELAXED);
        do
            new = halves_result(op, type, old, value, compare);
        while (
            !__atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    }
    atomic_done(address, old, new, bytes);
    return old;
}

OFFERED uint32_t vgpu_atomic_half(enum vgpu_atomic_op op, enum vgpu_half_type type, void *address,
                                  uint32_t value, uint32_t compare, int scope)
{
    return update_half(op, type, address, value, compare, scope, CALLER);
}

OFFERED void vgpu_atomic_bulk(enum vgpu_atomic_op op, int halves, int type, void *to,
                              const void *from, uint64_t bytes)
{
    bool wide = type == VGPU_I64 || type == VGPU_U64 || type == VGPU_F64;
    uint32_t each = halves ? (type < VGPU_TWO_F16 ? 2 : 4) : wide ? 8 : 4;
    uint64_t pc = CALLER;
    for (uint64_t at = 0; at + each <= bytes; at += each) {
        uint64_t value = 0;
        access_load((const char *)from + at, each, pc);
        memcpy(&value, (const char *)from + at, each);
        if (halves)
            update_half(op, (enum vgpu_half_type)type, (char *)to + at, (uint32_t)value, 0, 1, pc);
        else
            update_number(op, (enum vgpu_atomic_type)type, (char *)to + at, value, 0, 1, pc);
    }
}

/* Host code does not see it half done: it has no atomics of 128 bits either. */
OFFERED void vgpu_atomic_wide(enum vgpu_atomic_op op, void *address, uint64_t low, uint64_t high,
                              uint64_t compare_low, uint64_t compare_high, uint64_t *old, int scope)
{
    int width = scope & VGPU_SCOPE_MASK;
    uint64_t *p = address;
    access_atomic(address, 16, true, true, CALLER, width);
    if (scope & VGPU_ACQUIRES)
        weak_acquire(width);
    note_atomic((uint64_t)address, false);
    memcpy(old, p, 16);
    if (op == VGPU_ATOMIC_CAS && (old[0] != compare_low || old[1] != compare_high)) {
        uint64_t differs = old[0] == compare_low; /* the half for which a loop waits */
        atomic_done(p + differs, old[differs], old[differs], sizeof *p);
        return;
    }
    atomic_done(p, old[0], old[0] == low && old[1] == high ? low : ~old[0], sizeof *p);
    p[0] = low;
    p[1] = high;
}

/* Reads a whole vector: a thread that waits for it to change continues with the values it had
 * read. */
OFFERED void vgpu_load_vector(void *to, const void *from, uint32_t bytes, uint32_t count)
{
    const char *part = from;
    for (uint32_t i = 0; i < count; i++) {
        weak_kind.newest = true; /* all parts are read at once */
        access_atomic((void *)(part + i * bytes), bytes, true, false, CALLER, 2);
    }
    memcpy(to, from, (uint64_t)bytes * count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = 0;
        memcpy(&value, (const char *)to + i * bytes, bytes);
        signal_polled((uint64_t)part + i * bytes, value, bytes);
        poll_note((uint64_t)part + i * bytes, value, bytes);
    }
}

/* ---- __atomic and std::atomic in device code: the signatures are the compilers' ---- */

/* An order with release semantics includes a fence before the operation. Returns the scope. */
static int begin_atomic(int order)
{
    int scope = weak_take_scope();
    if (order < __ATOMIC_RELEASE)
        return scope;
    weak_fence(scope, order == __ATOMIC_SEQ_CST);
    visibility_fence(scope);
    now.run->fenced |= scope == 2;
    return scope;
}

/* One with acquire semantics includes one behind it. */
static void end_atomic(int order, int scope)
{
    if (order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE)
        weak_acquire(scope);
}

#define FETCH(bits, type, name, result)                                                            \
    OFFERED type __tsan_atomic##bits##_fetch_##name(volatile void *at, type value, int order)      \
    {                                                                                              \
        volatile type *p = at;                                                                     \
        int scope = begin_atomic(order);                                                           \
        access_atomic((void *)p, bits / 8, true, true, CALLER, scope);                             \
        end_atomic(order, scope);                                                                  \
        note_atomic((uint64_t)p, false);                                                           \
        type old = __atomic_fetch_##name(p, value, __ATOMIC_SEQ_CST);                              \
        atomic_done((void *)p, old, (type)(result), bits / 8);                                     \
        return old;                                                                                \
    }

#define LOAD_STORE(bits, type)                                                                     \
    OFFERED type __tsan_atomic##bits##_load(const volatile void *at, int order)                    \
    {                                                                                              \
        const volatile type *p = at;                                                               \
        int scope = weak_take_scope();                                                             \
        if (order == __ATOMIC_SEQ_CST)                                                             \
            weak_fence(scope, true);                                                               \
        access_atomic((void *)p, bits / 8, true, false, CALLER, scope);                            \
        type value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                         \
        signal_polled((uint64_t)p, value, bits / 8);                                               \
        poll_note((uint64_t)p, value, bits / 8);                                                   \
        end_atomic(order, scope);                                                                  \
        return value;                                                                              \
    }                                                                                              \
    static void store##bits(volatile type *p, type value, int scope, uint64_t pc)                  \
    {                                                                                              \
        access_atomic((void *)p, bits / 8, false, true, pc, scope);                                \
        signal_stored((uint64_t)p);                                                                \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    OFFERED void __tsan_atomic##bits##_store(volatile void *at, type value, int order)             \
    {                                                                                              \
        int scope = begin_atomic(order);                                                           \
        if (!access_watchers.weak || !weak_was_early((uint64_t)at))                                \
            store##bits(at, value, scope, CALLER);                                                 \
    }                                                                                              \
    OFFERED type __tsan_atomic##bits##_exchange(volatile void *at, type value, int order)          \
    {                                                                                              \
        volatile type *p = at;                                                                     \
        int scope = begin_atomic(order);                                                           \
        access_atomic((void *)p, bits / 8, true, true, CALLER, scope);                             \
        end_atomic(order, scope);                                                                  \
        note_atomic((uint64_t)p, false);                                                           \
        type old = __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                \
        atomic_done((void *)p, old, value, bits / 8);                                              \
        return old;                                                                                \
    }

#define COMPARE(bits, type)                                                                        \
    static type compare##bits(volatile type *p, type expected, type value, int order, uint64_t pc) \
    {                                                                                              \
        int scope = begin_atomic(order);                                                           \
        access_atomic((void *)p, bits / 8, true, true, pc, scope);                                 \
        end_atomic(order, scope);                                                                  \
        note_atomic((uint64_t)p, false);                                                           \
        type old = expected;                                                                       \
        bool done = __atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_SEQ_CST,           \
                                                __ATOMIC_SEQ_CST);                                 \
        atomic_done((void *)p, old, done ? value : old, bits / 8);                                 \
        return old;                                                                                \
    }                                                                                              \
    OFFERED type __tsan_atomic##bits##_compare_exchange_val(volatile void *at, type expected,      \
                                                            type value, int order, int failed)     \
    {                                                                                              \
        (void)failed;                                                                              \
        return compare##bits(at, expected, value, order, CALLER);                                  \
    }                                                                                              \
    OFFERED bool __tsan_atomic##bits##_compare_exchange_strong(volatile void *at, void *expected,  \
                                                               type value, int order, int failed)  \
    {                                                                                              \
        (void)failed;                                                                              \
        type *to = expected, wanted = *to;                                                         \
        *to = compare##bits(at, wanted, value, order, CALLER);                                     \
        return *to == wanted;                                                                      \
    }                                                                                              \
    OFFERED bool __tsan_atomic##bits##_compare_exchange_weak(volatile void *at, void *expected,    \
                                                             type value, int order, int failed)    \
    {                                                                                              \
        (void)failed;                                                                              \
        type *to = expected, wanted = *to;                                                         \
        *to = compare##bits(at, wanted, value, order, CALLER);                                     \
        return *to == wanted;                                                                      \
    }

#define ATOMICS(bits, type)                                                                        \
    LOAD_STORE(bits, type)                                                                         \
    COMPARE(bits, type)                                                                            \
    FETCH(bits, type, add, old + value)                                                            \
    FETCH(bits, type, sub, old - value)                                                            \
    FETCH(bits, type, and, old &value)                                                             \
    FETCH(bits, type, or, old | value)                                                             \
    FETCH(bits, type, xor, old ^ value)                                                            \
    FETCH(bits, type, nand, ~(old & value))

ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

/* Makes the store now, and lets others run before the load. */
OFFERED void vgpu_early_store(void *to, uint64_t value, const void *from, uint32_t how)
{
    uint32_t bytes = how & 15, loaded = how >> 4 & 15;
    int scope = (int)(how >> 8) & VGPU_SCOPE_MASK;
    if (!access_watchers.weak || !weak_may_be_early((uint64_t)to, (uint64_t)from))
        return;
    if (bytes == sizeof(uint32_t))
        store32(to, (uint32_t)value, scope, CALLER);
    else
        store64(to, value, scope, CALLER);
    weak_settle();
    poll_late((uint64_t)from, loaded);
}

OFFERED void __tsan_atomic_thread_fence(int order)
{
    int scope = begin_atomic(order);
    if (order < __ATOMIC_RELEASE)
        weak_fence(scope, false);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

OFFERED void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
