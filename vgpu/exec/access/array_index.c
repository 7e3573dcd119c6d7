/* SPDX-License-Identifier: MIT
 * array_index.c: an index out of an array's range, where vgpu-cc was given -check-indices: by
 * Clang's own check (-fsanitize=array-bounds), whose message has the type, and for each access that
 * is not reported as others are, to local variables and to constants
 * (vgpu/cc/lower/lower_guards.c): an index that is wrong by enough would reach any memory, unseen.
 */
#include "exec.h"
#include "fault.h"

/* What the compiler hands over, in its layout. */
struct array_type {
    uint16_t kind, info;
    char name[];
};

struct array_access {
    const char *file;
    uint32_t line, column;
    const struct array_type *array, *index;
};

enum { INDEX_SIGNED = 1 }; /* the lowest bit of `info`; those above: log2 of its bits */

static bool is_wide(const struct array_type *type)
{
    return 1u << (type->info >> 1) > 64;
}

/* The compiler's names; a build with sanitizers has these already. */
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

/* An address that was made from a variable's, and is not in it. */
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

/* `bytes` at `address`, which was made from that of a variable of `all` bytes. */
OFFERED void vgpu_variable_access(uint64_t address, uint64_t variable, uint64_t all,
                                  uint64_t bytes);
OFFERED void vgpu_variable_access(uint64_t address, uint64_t variable, uint64_t all, uint64_t bytes)
{
    if (bytes > all || address - variable > all - bytes)
        raise_outside(address, (uint64_t)__builtin_return_address(0) - 1);
}
