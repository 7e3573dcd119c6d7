/* SPDX-License-Identifier: MIT
 * lower_ptx.c: inline PTX. LLVM keeps an asm statement as text with constraints; each instruction
 * that is known here becomes what it means: loads and stores with an order, atomics, fences,
 * special registers. One that is not known is an error at its place, never a guess.
 *
 *     ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];
 *     st.release.sys.global.u32 [%0], %1;
 *     red.release.gpu.global.add.u32 [%0], %1;
 *
 * A vector is its elements one after the other: PTX promises no more (memory consistency model,
 * "Vector Data-types"). Instructions and their qualifiers: PTX ISA 9.0, chapter 9.7.
 */
#include "lower_ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

/* ---- the text of an asm statement ---- */

static int hex_digit(char c)
{
    const char *digits = "0123456789ABCDEF", *at = strchr(digits, c);

    return c != 0 && at != NULL ? (int)(at - digits) : -1;
}

/* LLVM's quoted text at *at, whose escapes are \HH; *at goes behind it. Null: there is none. */
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

/* Splits `ptx` at white space, commas and the signs that lead a word's end: "ld.u32" "$0" "[" ...
 */
static bool next_word(const char **at, char *word, size_t room)
{
    *at += strspn(*at, " \t\r");
    size_t length =
        strchr("[]{};,\n", **at) != NULL && **at != 0 ? 1 : strcspn(*at, " \t\r[]{};,\n");

    if (length == 0 || length >= room)
        return false;
    memcpy(word, *at, length);
    word[length] = 0;
    *at += length;
    return true;
}

static bool is_end(const char *word)
{
    return strcmp(word, ";") == 0 || strcmp(word, "\n") == 0;
}

/* $0 or ${0:x} as 0; -1: it is no operand of the statement. */
static int operand_number(const char *word)
{
    return *word == '$' && word[1] >= '0' && word[1] <= '9' ? atoi(word + 1) : -1;
}

/* Reads "name.q1.q2 operands;" from *at. False: the text has ended, or is not understood (then
 * ->name is not empty). */
static bool read_instruction(const char **at, struct cc_ptx *in)
{
    char word[96];

    *in = (struct cc_ptx){.elements = 1};
    do {
        if (!next_word(at, word, sizeof word))
            return false;
    } while (is_end(word));
    snprintf(in->name, sizeof in->name, "%.*s", (int)strcspn(word, "."), word);
    for (char *q = strchr(word, '.'); q != NULL; q = strchr(q, '.')) {
        q++;
        if (in->qualifiers < CC_PTX_WORDS)
            snprintf(in->qualifier[in->qualifiers++], sizeof *in->qualifier, "%.*s",
                     (int)strcspn(q, "."), q);
    }
    while (next_word(at, word, sizeof word) && !is_end(word)) {
        if (strchr("[]{},", *word) != NULL)
            continue;
        if (in->operands == CC_PTX_WORDS)
            return false;
        snprintf(in->operand[in->operands++], sizeof *in->operand, "%s", word);
    }
    return true;
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

/* The value of an operand: an output that was assigned, an input, or a number. */
LLVMValueRef cc_ptx_value(struct cc_ptx_statement *s, const char *word)
{
    int number = operand_number(word);
    char *end;

    if (number >= 0 && number < s->outputs)
        return s->output[number];
    if (number >= 0)
        return number - s->outputs < s->inputs ? s->input[number - s->outputs] : NULL;
    unsigned long long value = strtoull(word, &end, 0);
    return *end == 0 && end != word ? LLVMConstInt(cc_int_type(s->l, 64), value, 0) : NULL;
}

bool cc_ptx_assign(struct cc_ptx_statement *s, const char *word, LLVMValueRef value)
{
    int number = operand_number(word);

    if (number < 0 || number >= s->outputs || value == NULL)
        return false;
    s->output[number] = value;
    return true;
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

static bool unknown(struct cc_ptx_statement *s, const char *text)
{
    const char *from = text + strspn(text, " \t\r\n");

    cc_error(cc_place_of(s->call), "inline PTX that the virtual node does not know: \"%.*s\"",
             (int)strcspn(from, "\n"), from);
    return false;
}

static void read_operands(struct cc_ptx_statement *s)
{
    s->inputs = LLVMGetNumOperands(s->call) - 1;
    s->input = cc_alloc((size_t)(s->inputs + 1) * sizeof *s->input);
    s->output = cc_alloc((size_t)(s->outputs + 1) * sizeof *s->output);
    for (int i = 0; i < s->inputs; i++)
        s->input[i] = LLVMGetOperand(s->call, (unsigned)i);
}

static LLVMTypeRef output_type(struct cc_ptx_statement *s, int number)
{
    LLVMTypeRef type = LLVMTypeOf(s->call);

    return s->outputs == 1 ? type : LLVMStructGetTypeAtIndex(type, (unsigned)number);
}

static bool lower_statement(struct cc_lowering *l, LLVMValueRef call)
{
    const char *printed = LLVMPrintValueToString(LLVMGetCalledValue(call));
    const char *at = strstr(printed, "asm "), *text = at != NULL ? take_quoted(&at) : NULL;
    const char *constraints = text != NULL ? take_quoted(&at) : NULL, *rest = text;
    struct cc_ptx_statement s = {.l = l, .call = call};
    struct cc_ptx in;

    if (constraints == NULL)
        return unknown(&s, printed);
    if (text[strspn(text, " \t\r\n;")] == 0) /* a barrier for the compiler: LLVM's own business */
        return true;
    s.b = LLVMCreateBuilderInContext(l->context);
    LLVMPositionBuilderBefore(s.b, call);
    LLVMSetCurrentDebugLocation2(s.b, LLVMInstructionGetDebugLoc(call));
    s.outputs = count_outputs(constraints);
    read_operands(&s);
    for (int i = 0; i < s.outputs; i++)
        s.output[i] = LLVMGetUndef(output_type(&s, i));
    while (read_instruction(&rest, &in))
        if (!cc_ptx_instruction(&s, &in))
            return unknown(&s, text);
    if (*in.name != 0 || rest[strspn(rest, " \t\r\n;")] != 0)
        return unknown(&s, text);
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
