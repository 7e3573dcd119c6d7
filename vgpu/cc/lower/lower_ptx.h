/* SPDX-License-Identifier: MIT
 * lower_ptx.h: one statement of inline PTX, and its instructions.
 */
#ifndef VGPU_CC_LOWER_PTX_H
#define VGPU_CC_LOWER_PTX_H

#include "lower.h"

enum { CC_PTX_WORDS = 12 };

struct cc_ptx { /* one instruction */
    char name[24];
    char qualifier[CC_PTX_WORDS][24];
    int qualifiers;
    char operand[CC_PTX_WORDS][96]; /* "$0", a number, a register's name */
    int operands;
    int elements; /* v2, v4 */
};

struct cc_ptx_statement {
    struct cc_lowering *l;
    LLVMValueRef call; /* of the asm statement */
    LLVMBuilderRef b;  /* in front of it */
    LLVMValueRef *output, *input;
    int outputs, inputs;
};

/* The operand's value; null: it has none. */
LLVMValueRef cc_ptx_value(struct cc_ptx_statement *s, const char *operand);

/* Gives an output its value. False: the operand is no output. */
bool cc_ptx_assign(struct cc_ptx_statement *s, const char *operand, LLVMValueRef value);

/* ptx_instruction.c: what the instruction means. False: it is not known. */
bool cc_ptx_instruction(struct cc_ptx_statement *s, struct cc_ptx *in);

#endif
