/* SPDX-License-Identifier: MIT
 * ptx_memory.h: what the qualifiers of an access say.
 */
#ifndef VGPU_CC_PTX_MEMORY_H
#define VGPU_CC_PTX_MEMORY_H

#include "ptx.h"

struct cc_ptx_access {
    int order, scope, operation; /* -2: not given */
    struct cc_ptx_type type;     /* of 0 bits: not given */
    int elements;
    bool shared, has_policy; /* a policy of the cache is the last operand */
};

/* The address of an element, as a pointer to an integer of its size. */
LLVMValueRef cc_ptx_element(struct cc_ptx_statement *s, const char *operand,
                            const struct cc_ptx_access *a, int element);
/* A slot on the stack for `elements` integers. */
LLVMValueRef cc_ptx_slot(struct cc_ptx_statement *s, unsigned bits, int elements);
bool cc_ptx_fence(struct cc_ptx_statement *s, int scope);
/* What a fence's scope is joined with, by the access's order. */
int cc_ptx_sequential(const struct cc_ptx_access *a);

/* ptx_atomic.c: what cp.reduce.async.bulk does with each element; false: not understood. */
struct cc_ptx_bulk {
    int operation, type; /* enum vgpu_atomic_op, and of vgpu_atomic_bulk */
    bool halves;
};
bool cc_ptx_bulk_of(const struct cc_ptx *in, struct cc_ptx_bulk *bulk);

/* ptx_memory.c: all qualifiers of an access, of which words that name no access are left out;
 * false: an unknown one. */
bool cc_ptx_read_access(const struct cc_ptx *in, struct cc_ptx_access *a);

/* ptx_atomic.c: atom, red */
bool cc_ptx_update(struct cc_ptx_statement *s, const struct cc_ptx *in,
                   const struct cc_ptx_access *a);

#endif
