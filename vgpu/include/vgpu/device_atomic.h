/* SPDX-License-Identifier: MIT
 * device_atomic.h: CUDA's atomic functions, each for the types that CUDA has it for, with its
 * _block and _system forms.
 */
#ifndef VGPU_DEVICE_ATOMIC_H
#define VGPU_DEVICE_ATOMIC_H

/* What is passed on: the raw bits of a value, and the number of its type. */
#define VGPU_ATOMIC_TYPE(type, number)                                                             \
    VGPU_INLINE type vgpu_atomic_call(enum vgpu_atomic_op op, int scope, type *address,            \
                                      type value, type compare)                                    \
    {                                                                                              \
        uint64_t bits = vgpu_atomic(op, number, (void *)address, vgpu_to_bits(value),              \
                                    vgpu_to_bits(compare), scope);                                 \
        return vgpu_from_bits<type>(bits);                                                         \
    }

VGPU_ATOMIC_TYPE(int, VGPU_I32)
VGPU_ATOMIC_TYPE(unsigned int, VGPU_U32)
VGPU_ATOMIC_TYPE(long long, VGPU_I64)
VGPU_ATOMIC_TYPE(unsigned long long, VGPU_U64)
VGPU_ATOMIC_TYPE(float, VGPU_F32)
VGPU_ATOMIC_TYPE(double, VGPU_F64)
#undef VGPU_ATOMIC_TYPE

/* Scopes: 0 the block, 1 the device, 2 the system. */
#define VGPU_ATOMIC(name, op, type)                                                                \
    VGPU_INLINE type name(type *address, type value)                                               \
    {                                                                                              \
        return vgpu_atomic_call(op, 1, address, value, (type)0);                                   \
    }                                                                                              \
    VGPU_INLINE type name##_block(type *address, type value)                                       \
    {                                                                                              \
        return vgpu_atomic_call(op, 0, address, value, (type)0);                                   \
    }                                                                                              \
    VGPU_INLINE type name##_system(type *address, type value)                                      \
    {                                                                                              \
        return vgpu_atomic_call(op, 2, address, value, (type)0);                                   \
    }

VGPU_ATOMIC(atomicAdd, VGPU_ATOMIC_ADD, int)
VGPU_ATOMIC(atomicAdd, VGPU_ATOMIC_ADD, unsigned int)
VGPU_ATOMIC(atomicAdd, VGPU_ATOMIC_ADD, unsigned long long)
VGPU_ATOMIC(atomicAdd, VGPU_ATOMIC_ADD, float)
VGPU_ATOMIC(atomicAdd, VGPU_ATOMIC_ADD, double)
VGPU_ATOMIC(atomicSub, VGPU_ATOMIC_SUB, int)
VGPU_ATOMIC(atomicSub, VGPU_ATOMIC_SUB, unsigned int)
VGPU_ATOMIC(atomicExch, VGPU_ATOMIC_EXCH, int)
VGPU_ATOMIC(atomicExch, VGPU_ATOMIC_EXCH, unsigned int)
VGPU_ATOMIC(atomicExch, VGPU_ATOMIC_EXCH, unsigned long long)
VGPU_ATOMIC(atomicExch, VGPU_ATOMIC_EXCH, float)
VGPU_ATOMIC(atomicInc, VGPU_ATOMIC_INC, unsigned int)
VGPU_ATOMIC(atomicDec, VGPU_ATOMIC_DEC, unsigned int)

#define VGPU_ATOMIC_INTEGERS(name, op)                                                             \
    VGPU_ATOMIC(name, op, int)                                                                     \
    VGPU_ATOMIC(name, op, unsigned int)                                                            \
    VGPU_ATOMIC(name, op, unsigned long long)

VGPU_ATOMIC_INTEGERS(atomicMin, VGPU_ATOMIC_MIN)
VGPU_ATOMIC_INTEGERS(atomicMax, VGPU_ATOMIC_MAX)
VGPU_ATOMIC_INTEGERS(atomicAnd, VGPU_ATOMIC_AND)
VGPU_ATOMIC_INTEGERS(atomicOr, VGPU_ATOMIC_OR)
VGPU_ATOMIC_INTEGERS(atomicXor, VGPU_ATOMIC_XOR)
VGPU_ATOMIC(atomicMin, VGPU_ATOMIC_MIN, long long)
VGPU_ATOMIC(atomicMax, VGPU_ATOMIC_MAX, long long)

#define VGPU_ATOMIC_CAS_OF(type)                                                                   \
    VGPU_INLINE type atomicCAS(type *address, type compare, type value)                            \
    {                                                                                              \
        return vgpu_atomic_call(VGPU_ATOMIC_CAS, 1, address, value, compare);                      \
    }                                                                                              \
    VGPU_INLINE type atomicCAS_block(type *address, type compare, type value)                      \
    {                                                                                              \
        return vgpu_atomic_call(VGPU_ATOMIC_CAS, 0, address, value, compare);                      \
    }                                                                                              \
    VGPU_INLINE type atomicCAS_system(type *address, type compare, type value)                     \
    {                                                                                              \
        return vgpu_atomic_call(VGPU_ATOMIC_CAS, 2, address, value, compare);                      \
    }

VGPU_ATOMIC_CAS_OF(int)
VGPU_ATOMIC_CAS_OF(unsigned int)
VGPU_ATOMIC_CAS_OF(unsigned long long)

#undef VGPU_ATOMIC
#undef VGPU_ATOMIC_INTEGERS
#undef VGPU_ATOMIC_CAS_OF

#endif
