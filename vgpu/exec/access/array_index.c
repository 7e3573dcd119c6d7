/* SPDX-License-Identifier: MIT
 * array_index.c: checks that an index is within an array, if vgpu-cc was given -check-indices: by
 * Clang's own check (-fsanitize=array-bounds), whose message has the type, and for accesses without
 * a callback, to local variables and constants (vgpu/cc/lower/lower_guards.c): there an index far
 * out of range would reach any memory unnoticed.
 */
#include "exec.h"
#include "fault.h"

/* The compiler's argument, in its layout. */
struct array_type {
    uint16_t kind, info;
    char name[];
};

struct array_access {
    const char *file;
    uint32_t line, column;
    const struct array_type *array, *index;
};

enum { INDEX_SIGNED = 1 }; /* lowest bit of `info`; the higher bits: log2 of the number of bits */

static bool is_wide(const struct array_type *type)
{
    return 1u << (type->info >> 1) > 64;
}

/* The compiler's names, which a build with sanitizers defines already. */
#ifdef __SANITIZE_ADDRESS__
#define HANDLER(name)
#else
#define HANDLER(name) __asm__("__ubsan_handle_" name "_abort")
#endif

OFFERED void array_index_fault(const struct array_access *access, uint64_t index)
    HANDLER("out_of_bounds");
OFFERED void array_object_fault(const void *access, uint64_t address) HANDLER("type_mismatch_v1");

OFFERED void array_index_fault(const struct array_access *access, uint64_t index)
{
    uint64_t pc = (uint64_t)__builtin_return_address(0) - 1;
    const char *type = access->array->name;
    if (is_wide(access->index))
        fault_raise(VGPU_FAULT_TRAP, 0, false, pc, "an index out of the range of an array %s",
                    type);
    if (access->index->info & INDEX_SIGNED)
        fault_raise(VGPU_FAULT_TRAP, 0, false, pc, "index %lld is out of the range of an array %s",
                    (long long)index, type);
    fault_raise(VGPU_FAULT_TRAP, 0, false, pc, "index %llu is out of the range of an array %s",
                (unsigned long long)index, type);
}

/* An address that was derived from a variable's and lies outside of it. */
static void raise_outside(uint64_t address, uint64_t pc)
{
    fault_raise(
        VGPU_FAULT_TRAP, address, false, pc,
        "an access to a variable that is outside of it: an index out of range, or a cast to "
        "a larger type");
}

OFFERED void array_object_fault(const void *access, uint64_t address)
{
    (void)access;
    raise_outside(address, (uint64_t)__builtin_return_address(0) - 1);
}

/* `bytes` at `address`, which was derived from that of a variable of `all` bytes. */
OFFERED void vgpu_variable_access(uint64_t address, uint64_t variable, uint64_t all,
                                  uint64_t bytes);
OFFERED void vgpu_variable_access(uint64_t address, uint64_t variable, uint64_t all, uint64_t bytes)
{
    if (bytes > all || address - variable > all - bytes)
        raise_outside(address, (uint64_t)__builtin_return_address(0) - 1);
}
