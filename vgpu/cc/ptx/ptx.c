/* SPDX-License-Identifier: MIT
 * ptx.c: inline PTX. LLVM keeps an asm statement as text with constraints; each known instruction
 * is lowered to its equivalent: loads and stores with an order, atomics, fences, special registers.
 * An unknown one is an error at its place, never a guess.
 *
 *     ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];
 *     st.release.sys.global.u32 [%0], %1;
 *     red.release.gpu.global.add.u32 [%0], %1;
 *
 * A vector is accessed element by element: PTX guarantees no more (memory consistency model,
 * "Vector Data-types"). Instructions and their qualifiers: PTX ISA 9.0, chapter 9.7.
 */
#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the text of an asm statement ---- */

static int hex_digit(char c)
{
    const char *digits = "0123456789ABCDEF", *at = strchr(digits, c);

    return c != 0 && at != NULL ? (int)(at - digits) : -1;
}

/* Reads LLVM's quoted text at *at, with escapes \HH, and advances *at. Null if none follows. */
static const char *take_quoted(const char **at)
{
    const char *from = strchr(*at, '"');
    struct cc_text text = {0};

    cc_puts(&text, "");
    for (const char *c = from != NULL ? from + 1 : ""; *c != 0; c++) {
        if (*c == '"') {
            *at = c + 1;
            return text.data;
        }
        char one = *c;
        if (*c == '\\' && hex_digit(c[1]) >= 0 && hex_digit(c[2]) >= 0) {
            one = (char)(hex_digit(c[1]) * 16 + hex_digit(c[2]));
            c += 2;
        }
        cc_put(&text, &one, 1);
    }
    return NULL;
}

/* ---- the statement ---- */

/* "=r,=l,r,~{memory}": how many outputs. */
static int count_outputs(const char *constraints)
{
    int count = 0;

    while (*constraints != 0) {
        count += *constraints == '=';
        constraints += strcspn(constraints, ",");
        constraints += *constraints == ',';
    }
    return count;
}

/* ---- instructions ---- */

enum cc_ptx_known cc_ptx_instruction(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static enum cc_ptx_known (*const rooms[])(struct cc_ptx_statement *, const struct cc_ptx *) = {
        cc_ptx_cluster, cc_ptx_mma,   cc_ptx_arithmetic, cc_ptx_warp,
        cc_ptx_matrix,  cc_ptx_async, cc_ptx_texture,    cc_ptx_memory};
    enum cc_ptx_known known = CC_PTX_NOT_MINE;

    for (size_t i = 0; known == CC_PTX_NOT_MINE && i < sizeof rooms / sizeof *rooms; i++)
        known = rooms[i](s, in);
    return known;
}

static bool carry_out_instruction(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    if (*in->name == 0)
        return cc_ptx_declare_all(s, in);
    s->guard = NULL;
    if (*in->guard != 0) {
        s->guard = cc_ptx_predicate(s, cc_format("%s%s", in->guard_negated ? "!" : "", in->guard));
        return s->guard != NULL && cc_ptx_arithmetic(s, in) == CC_PTX_DONE;
    }
    return cc_ptx_instruction(s, in) == CC_PTX_DONE;
}

static void finish(struct cc_ptx_statement *s)
{
    LLVMTypeRef type = LLVMTypeOf(s->call);

    if (s->outputs == 1) {
        LLVMReplaceAllUsesWith(s->call, s->output[0]);
    } else if (s->outputs > 1) {
        LLVMValueRef all = LLVMGetUndef(type);
        for (int i = 0; i < s->outputs; i++)
            all = LLVMBuildInsertValue(s->b, all, s->output[i], (unsigned)i, "");
        LLVMReplaceAllUsesWith(s->call, all);
    }
    LLVMInstructionEraseFromParent(s->call);
}

/* `text`: the rest of the statement from the instruction on. */
static bool unknown(struct cc_ptx_statement *s, const char *text)
{
    const char *from = text, *next;

    while (*(next = cc_ptx_skip_blank(from) + strspn(cc_ptx_skip_blank(from), "\n;{}")) != 0 &&
           next != from)
        from = next;
    cc_error(s->place, "inline PTX that the virtual node does not know: \"%.*s\"",
             (int)strcspn(from, "\n;"), from);
    return false;
}

static LLVMTypeRef output_type(struct cc_ptx_statement *s, int number)
{
    LLVMTypeRef type = LLVMTypeOf(s->call);

    return s->outputs == 1 ? type : LLVMStructGetTypeAtIndex(type, (unsigned)number);
}

/* "=r,=l,0,~{memory}": the first output is initialised with the first input, as for "+r". */
static void read_ties(struct cc_ptx_statement *s, const char *constraints)
{
    int number = -s->outputs;

    for (; *constraints != 0; number++) {
        if (number >= 0 && number < s->inputs && *constraints >= '0' && *constraints <= '9' &&
            atoi(constraints) < s->outputs)
            s->output[atoi(constraints)] = s->input[number];
        constraints += strcspn(constraints, ",");
        constraints += *constraints == ',';
    }
}

static void read_operands(struct cc_ptx_statement *s, const char *constraints)
{
    s->outputs = count_outputs(constraints);
    s->inputs = LLVMGetNumOperands(s->call) - 1;
    s->input = cc_alloc((size_t)(s->inputs + 1) * sizeof *s->input);
    s->output = cc_alloc((size_t)(s->outputs + 1) * sizeof *s->output);
    for (int i = 0; i < s->inputs; i++)
        s->input[i] = LLVMGetOperand(s->call, (unsigned)i);
    for (int i = 0; i < s->outputs; i++)
        s->output[i] = LLVMGetUndef(output_type(s, i));
    read_ties(s, constraints);
}

static bool lower_statement(struct cc_lowering *l, LLVMValueRef call)
{
    const char *printed = LLVMPrintValueToString(LLVMGetCalledValue(call));
    const char *at = strstr(printed, "asm "), *text = at != NULL ? take_quoted(&at) : NULL;
    const char *constraints = text != NULL ? take_quoted(&at) : NULL, *rest = text;
    struct cc_ptx_statement s = {.l = l,
                                 .call = call,
                                 .function =
                                     LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)),
                                 .place = cc_place_of(call)};
    const char *word;
    struct cc_ptx in;

    if (constraints == NULL)
        return unknown(&s, printed);
    if (text[strspn(text, " \t\r\n;")] == 0) /* a compiler barrier: LLVM handles it */
        return true;
    s.b = LLVMCreateBuilderInContext(l->context);
    LLVMPositionBuilderBefore(s.b, call);
    LLVMSetCurrentDebugLocation2(s.b, LLVMInstructionGetDebugLoc(call));
    read_operands(&s, constraints);
    cc_ptx_declare(&s, CC_PTX_CARRY, cc_int_type(l, 1));
    for (const char *from = rest; (word = cc_ptx_word(&rest)) != NULL; from = rest)
        if (strchr(";\n{}", *word) == NULL &&
            (!cc_ptx_read(&rest, word, &in) || !carry_out_instruction(&s, &in)))
            return unknown(&s, from);
    finish(&s);
    return true;
}

static bool lower_function(struct cc_lowering *l, LLVMValueRef function)
{
    bool sound = true;
    LLVMValueRef next;

    for (LLVMBasicBlockRef k = LLVMGetFirstBasicBlock(function); k; k = LLVMGetNextBasicBlock(k))
        for (LLVMValueRef i = LLVMGetFirstInstruction(k); i != NULL; i = next) {
            next = LLVMGetNextInstruction(i);
            if (LLVMIsACallInst(i) != NULL && LLVMIsAInlineAsm(LLVMGetCalledValue(i)) != NULL)
                sound &= lower_statement(l, i);
        }
    return sound;
}

bool cc_lower_ptx(struct cc_lowering *l)
{
    bool sound = true;

    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            sound &= lower_function(l, f);
    return sound;
}
