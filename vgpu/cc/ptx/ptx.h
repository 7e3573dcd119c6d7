/* SPDX-License-Identifier: MIT
 * ptx.h: one statement of inline PTX, and its instructions.
 */
#ifndef VGPU_CC_PTX_H
#define VGPU_CC_PTX_H

#include "image.h"
#include "lower_ptx.h"

enum { CC_PTX_WORDS = 12, CC_PTX_OPERANDS = 64 };

struct cc_ptx { /* one instruction: @!p name.qualifier... operand, {operand, ...}, [operand]; */
    const char *guard; /* the predicate's name; "": none */
    bool guard_negated;
    const char *name;
    const char *qualifier[CC_PTX_WORDS];
    int qualifiers;
    const char *operand[CC_PTX_OPERANDS]; /* "$0", a number, a register's name, "$4+16" */
    int group[CC_PTX_OPERANDS]; /* number of the operand's pair of braces; 0: not in braces */
    int operands;
    const char *predicate; /* q of the first operand d|q; "": it has none */
};

/* Registers of one name, or a range: .reg .b32 %r<9>. In a whole module each is a variable on the
 * stack, which LLVM turns into values; in a statement a value, initially undefined. */
struct cc_ptx_register {
    const char *name;
    int count; /* 0: of one name, without a number */
    LLVMTypeRef type;
    LLVMValueRef *value;
    LLVMValueRef memory; /* not a register: variables of .param or .local space, say; else null */
    bool shared;         /* memory: in shared space */
};

struct cc_ptx_statement { /* the instructions of a statement of inline PTX, or of a function */
    struct cc_lowering *l;
    LLVMValueRef call; /* of the asm statement; null: a function of a module */
    LLVMValueRef function;
    struct cc_place place;
    LLVMBuilderRef b;     /* before the asm statement */
    LLVMBuilderRef entry; /* at the function's start; null in a statement */
    LLVMValueRef *output, *input;
    int outputs, inputs;
    struct cc_ptx_register *reg;
    size_t registers, register_room;
    LLVMValueRef guard; /* of the current instruction; null: none */
};

/* The register of add.cc and addc: no other has such a name. */
#define CC_PTX_CARRY ".carry"

/* Its call is the address of a variable as a number, until ptx_pointers.c looks at its uses. */
#define CC_PTX_PLACE "vgpu_ptx_place"

/* ---- ptx_text.c ---- */

/* Reads a word at *at: a name with its qualifiers, a number, a string in its quotes, or one of the
 * characters []{}(),;= and the line feed. Null: the text has ended. */
const char *cc_ptx_word(const char **at);

/* Skips white space in a line, and comments. */
const char *cc_ptx_skip_blank(const char *at);

/* Reads "name.q1.q2 operands;" from *at, where `word` was read already. False: it is not
 * understood. */
bool cc_ptx_read(const char **at, const char *word, struct cc_ptx *in);

/* ---- ptx_values.c ---- */

bool cc_ptx_is(const struct cc_ptx *in, const char *name);
/* Whether it has the qualifier. */
bool cc_ptx_has(const struct cc_ptx *in, const char *word);

LLVMValueRef cc_ptx_op(struct cc_ptx_statement *s, int op, LLVMValueRef a, LLVMValueRef b);
/* An integer of other bits. */
LLVMValueRef cc_ptx_resized(struct cc_ptx_statement *s, LLVMValueRef value, unsigned bits,
                            bool sign);

/* The operand's value; null if it has none. */
LLVMValueRef cc_ptx_value(struct cc_ptx_statement *s, const char *operand);

/* The address of a variable or a function, as a byte pointer; null: there is none of that name. */
LLVMValueRef cc_ptx_symbol(struct cc_ptx_statement *s, const char *name);

/* Declares a variable of the function, at the pointer. */
void cc_ptx_add_memory(struct cc_ptx_statement *s, const char *name, LLVMValueRef pointer,
                       bool shared);

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

/* Declares registers: "a", or a range: "r<4>". */
void cc_ptx_declare(struct cc_ptx_statement *s, const char *name, LLVMTypeRef type);

/* .reg .b32 a, b, r<4>; False: it is not understood. */
bool cc_ptx_declare_all(struct cc_ptx_statement *s, const struct cc_ptx *in);

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

/* A PTX type: "s32", 32 bits of kind 's'; kinds: signed, 'u' (and bits), 'f', 'p' (a predicate),
 * 'F' (f16), 'G' (bf16), 'X' (f16x2), 'Y' (bf16x2).
 * False if it is none. */
struct cc_ptx_type {
    unsigned bits;
    char kind;
};
bool cc_ptx_type(const char *word, struct cc_ptx_type *type);

/* Carries an instruction out; CC_PTX_NOT_MINE: there is none of that name. */
enum cc_ptx_known cc_ptx_instruction(struct cc_ptx_statement *s, const struct cc_ptx *in);

/* LLVM's numbers of comparisons and operations of floating-point numbers. */
enum {
    CC_PTX_EQUAL = 32,
    CC_PTX_NOT_EQUAL = 33,
    CC_PTX_ABOVE = 34, /* of unsigned numbers */
    CC_PTX_BELOW = 36,
    CC_PTX_AT_MOST = 37,
    CC_PTX_GREATER = 38,
    CC_PTX_LESS = 40,
    CC_PTX_F_EQUAL = 1,
    CC_PTX_F_ABOVE = 2,
    CC_PTX_F_AT_LEAST = 3,
    CC_PTX_F_BELOW = 4,
    CC_PTX_F_AT_MOST = 5,
    CC_PTX_F_UNORDERED = 8,
    CC_PTX_F_ADD = 9,
    CC_PTX_F_SUB = 11,
    CC_PTX_F_MUL = 13,
    CC_PTX_F_DIV = 16,
    CC_PTX_F_FROM_UNSIGNED = 35,
    CC_PTX_F_FROM_SIGNED = 36,
    CC_PTX_F_TRUNC = 37,
    CC_PTX_F_EXTEND = 38
};

/* ptx_native.c: the result of an integer operation, of the operands in the bits in which it takes
 * them; null: LLVM has no instruction for it. */
LLVMValueRef cc_ptx_native(struct cc_ptx_statement *s, enum vgpu_ptx_operation is,
                           struct cc_ptx_type type, LLVMValueRef *value);
/* A call of llvm.NAME for the type of the first argument. */
LLVMValueRef cc_ptx_intrinsic(struct cc_ptx_statement *s, const char *name, LLVMTypeRef result,
                              LLVMValueRef *argument, unsigned count);

/* ---- lowering of instructions ---- */

enum cc_ptx_known { CC_PTX_UNKNOWN, CC_PTX_DONE, CC_PTX_NOT_MINE };

/* ptx_arithmetic.c: without side effects, so that a guard is possible. */
enum cc_ptx_known cc_ptx_arithmetic(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_float.c, ptx_convert.c, ptx_integer.c: the same. */
enum cc_ptx_known cc_ptx_float(struct cc_ptx_statement *s, const struct cc_ptx *in);
enum cc_ptx_known cc_ptx_convert(struct cc_ptx_statement *s, const struct cc_ptx *in);
enum cc_ptx_known cc_ptx_integer(struct cc_ptx_statement *s, const struct cc_ptx *in);

/* ptx_bits.c: modes of prmt, lop3 with a predicate, fns, cvt.pack. */
enum cc_ptx_known cc_ptx_bits_of(struct cc_ptx_statement *s, const struct cc_ptx *in);

/* ---- ptx_video.c ---- */

enum cc_ptx_known cc_ptx_video(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_warp.c: operations of a warp's lanes, and of a block. */
enum cc_ptx_known cc_ptx_warp(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* The thread's number in its block, modulo 32. */
LLVMValueRef cc_ptx_lane(struct cc_ptx_statement *s);
/* ptx_async.c: mbarrier, cp.async. */
enum cc_ptx_known cc_ptx_async(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_mma.c, ptx_matrix.c: products of matrices by a warp, and the matrices' loads and stores. */
enum cc_ptx_known cc_ptx_mma(struct cc_ptx_statement *s, const struct cc_ptx *in);
enum cc_ptx_known cc_ptx_matrix(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_cluster.c: clusters of blocks, and their shared memory. */
enum cc_ptx_known cc_ptx_cluster(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_texture.c: textures and surfaces. */
enum cc_ptx_known cc_ptx_texture(struct cc_ptx_statement *s, const struct cc_ptx *in);
/* ptx_memory.c: loads, stores, atomics, fences. */
enum cc_ptx_known cc_ptx_memory(struct cc_ptx_statement *s, const struct cc_ptx *in);

#endif
