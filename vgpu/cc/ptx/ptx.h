/* SPDX-License-Identifier: MIT
 * ptx.h: one statement of inline PTX, and its instructions.
 */
#ifndef VGPU_CC_PTX_H
#define VGPU_CC_PTX_H

#include "lower_ptx.h"

enum { CC_PTX_WORDS = 12, CC_PTX_REGISTERS = 32 };

struct cc_ptx {     /* one instruction: @!p name.qualifier... operand, {operand, ...}, [operand]; */
    char guard[32]; /* the predicate's name; "": none */
    bool guard_negated;
    char name[24];
    char qualifier[CC_PTX_WORDS][40];
    int qualifiers;
    char operand[CC_PTX_WORDS][96]; /* "$0", a number, a register's name */
    int group[CC_PTX_WORDS];        /* number of the operand's pair of braces; 0: not in braces */
    int operands;
    char predicate[32]; /* q of the first operand d|q; "": it has none */
};

struct cc_ptx_register { /* .reg .pred p; */
    char name[32];
    LLVMValueRef value; /* of its type; initially undefined */
};

struct cc_ptx_statement {
    struct cc_lowering *l;
    LLVMValueRef call; /* of the asm statement */
    LLVMBuilderRef b;  /* before the asm statement */
    LLVMValueRef *output, *input;
    int outputs, inputs;
    struct cc_ptx_register reg[CC_PTX_REGISTERS];
    int registers;
    LLVMValueRef guard; /* of the current instruction; null: none */
};

/* ---- ptx_values.c ---- */

bool cc_ptx_is(const struct cc_ptx *in, const char *name);

/* The operand's value; null if it has none. */
LLVMValueRef cc_ptx_value(struct cc_ptx_statement *s, const char *operand);

/* Assigns to an output or a register a value of its type; with a guard, only where that is true.
 * False: the operand is neither. */
bool cc_ptx_assign(struct cc_ptx_statement *s, const char *operand, LLVMValueRef value);

/* The value's bits as an integer of `bits` bits, truncated or zero-extended. */
LLVMValueRef cc_ptx_bits(struct cc_ptx_statement *s, LLVMValueRef value, unsigned bits);

/* The same for an operand; null: it has no value, or is a predicate. */
LLVMValueRef cc_ptx_operand(struct cc_ptx_statement *s, const char *operand, unsigned bits);

/* A predicate, or !p; null if it is neither. */
LLVMValueRef cc_ptx_predicate(struct cc_ptx_statement *s, const char *operand);

/* Assigns bits to an output or register, converted to its type. `operand` "_": discards them. */
bool cc_ptx_assign_bits(struct cc_ptx_statement *s, const char *operand, LLVMValueRef bits);

/* Assigns the predicate value != 0. */
bool cc_ptx_assign_predicate(struct cc_ptx_statement *s, const char *operand, LLVMValueRef value);

LLVMValueRef cc_ptx_number(struct cc_ptx_statement *s, uint64_t value, unsigned bits);

/* The address in an operand, "$4" or "$4+16", plus `offset` bytes; `shared`: in the form of shared
 * memory's addresses. As a byte pointer; null if it is no address. */
LLVMValueRef cc_ptx_address(struct cc_ptx_statement *s, const char *operand, uint64_t offset,
                            bool shared);

/* A call of vgpu-exec. */
LLVMValueRef cc_ptx_call(struct cc_ptx_statement *s, const char *name, LLVMTypeRef result,
                         LLVMValueRef *argument, unsigned count);

/* "file:line" of the statement, for diagnoses. */
LLVMValueRef cc_ptx_site(struct cc_ptx_statement *s);

/* A PTX type: "s32", 32 bits of kind 's'; kinds: signed, 'u' (and bits), 'f', 'p' (a predicate).
 * False if it is none. */
struct cc_ptx_type {
    unsigned bits;
    char kind;
};
bool cc_ptx_type(const char *word, struct cc_ptx_type *type);

/* ---- lowering of instructions ---- */

enum cc_ptx_known { CC_PTX_UNKNOWN, CC_PTX_DONE, CC_PTX_NOT_MINE };

/* ptx_arithmetic.c: without side effects, so that a guard is possible. */
enum cc_ptx_known cc_ptx_arithmetic(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_warp.c: operations of a warp's lanes, and of a block. */
enum cc_ptx_known cc_ptx_warp(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_async.c: mbarrier, cp.async. */
enum cc_ptx_known cc_ptx_async(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_memory.c: loads, stores, atomics, fences. */
enum cc_ptx_known cc_ptx_memory(struct cc_ptx_statement *s, const struct cc_ptx *in);

#endif
