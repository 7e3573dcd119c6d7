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

/* Reads LLVM's quoted text at *at, with escapes \HH, and advances *at. Null: there is none. */
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

/* Skips white space in a line, and comments. */
static const char *skip_blank(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r");
        if (cc_starts(at, "//")) {
            at += strcspn(at, "\n");
        } else if (cc_starts(at, "/*")) {
            const char *end = strstr(at + 2, "*/");
            at = end != NULL ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

/* Reads a word of `ptx`; white space, commas and the characters that begin a new word separate
 * them: "ld.u32" "$0" "[" ...
 */
static bool next_word(const char **at, char *word, size_t room)
{
    *at = skip_blank(*at);
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

/* "@!p" */
static bool take_guard(const char **at, char *word, size_t room, struct cc_ptx *in)
{
    if (*word != '@')
        return true;
    in->guard_negated = word[1] == '!';
    if (strlen(word) - 1 - in->guard_negated >= sizeof in->guard)
        return false;
    strcpy(in->guard, word + 1 + in->guard_negated);
    return next_word(at, word, room);
}

static void split_name(const char *word, struct cc_ptx *in)
{
    snprintf(in->name, sizeof in->name, "%.*s", (int)strcspn(word, "."), word);
    for (const char *q = strchr(word, '.'); q != NULL; q = strchr(q, '.')) {
        q++;
        if (in->qualifiers < CC_PTX_WORDS)
            snprintf(in->qualifier[in->qualifiers++], sizeof *in->qualifier, "%.*s",
                     (int)strcspn(q, "."), q);
    }
}

/* d|q is d, with the predicate q beside it. */
static bool add_operand(struct cc_ptx *in, const char *word, int group)
{
    const char *bar = strchr(word, '|');

    if (in->operands == CC_PTX_WORDS || (bar != NULL && in->operands != 0))
        return false;
    if (bar != NULL)
        snprintf(in->predicate, sizeof in->predicate, "%s", bar + 1);
    in->group[in->operands] = group;
    snprintf(in->operand[in->operands++], sizeof *in->operand, "%.*s", (int)strcspn(word, "|"),
             word);
    return true;
}

/* Reads "name.q1.q2 operands;" from *at. False: the text has ended, or is not understood (then
 * ->name is not empty). A line feed does not end an instruction: those of several lines are
 * usual. */
static bool read_instruction(const char **at, struct cc_ptx *in)
{
    char word[96];
    int group = 0, groups = 0;

    *in = (struct cc_ptx){0};
    do {
        if (!next_word(at, word, sizeof word))
            return false;
    } while (is_end(word) || *word == '{' || *word == '}');
    if (!take_guard(at, word, sizeof word, in))
        return false;
    split_name(word, in);
    while (next_word(at, word, sizeof word) && strcmp(word, ";") != 0) {
        if (*word == '{')
            group = ++groups;
        else if (*word == '}')
            group = 0;
        else if (strchr("[],\n", *word) == NULL && !add_operand(in, word, group))
            return false;
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

/* ---- .reg ---- */

static bool add_register(struct cc_ptx_statement *s, const char *name, const char *number,
                         LLVMTypeRef type)
{
    if (s->registers == CC_PTX_REGISTERS || strlen(name) + strlen(number) >= sizeof s->reg->name)
        return false;
    struct cc_ptx_register *added = &s->reg[s->registers++];
    snprintf(added->name, sizeof added->name, "%s%s", name, number);
    added->value = LLVMGetUndef(type);
    return true;
}

/* .reg .b32 a, b, r<4>; */
static bool declare_registers(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct cc_ptx_type type;

    if (in->operands < 2 || *in->operand[0] != '.' || !cc_ptx_type(in->operand[0] + 1, &type))
        return false;
    for (int i = 1; i < in->operands; i++) {
        const char *name = in->operand[i], *many = strchr(name, '<');
        LLVMTypeRef held = cc_int_type(s->l, type.bits);
        int count = many != NULL ? atoi(many + 1) : 1;
        for (int k = 0; k < count; k++)
            if (!add_register(s, cc_copy(name, strcspn(name, "<")),
                              many != NULL ? cc_format("%d", k) : "", held))
                return false;
    }
    return true;
}

/* ---- instructions ---- */

static bool carry_out_instruction(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static enum cc_ptx_known (*const rooms[])(struct cc_ptx_statement *, const struct cc_ptx *) = {
        cc_ptx_arithmetic, cc_ptx_warp, cc_ptx_async, cc_ptx_memory};
    enum cc_ptx_known known = CC_PTX_NOT_MINE;

    if (*in->name == 0)
        return in->qualifiers == 1 && strcmp(in->qualifier[0], "reg") == 0 &&
               declare_registers(s, in);
    s->guard = NULL;
    if (*in->guard != 0) {
        s->guard = cc_ptx_predicate(s, cc_format("%s%s", in->guard_negated ? "!" : "", in->guard));
        return s->guard != NULL && cc_ptx_arithmetic(s, in) == CC_PTX_DONE;
    }
    for (size_t i = 0; known == CC_PTX_NOT_MINE && i < sizeof rooms / sizeof *rooms; i++)
        known = rooms[i](s, in);
    return known == CC_PTX_DONE;
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

    while (*(next = skip_blank(from) + strspn(skip_blank(from), "\n;{}")) != 0 && next != from)
        from = next;
    cc_error(cc_place_of(s->call), "inline PTX that the virtual node does not know: \"%.*s\"",
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
    struct cc_ptx_statement s = {.l = l, .call = call};
    struct cc_ptx in;

    if (constraints == NULL)
        return unknown(&s, printed);
    if (text[strspn(text, " \t\r\n;")] == 0) /* a compiler barrier: LLVM handles it */
        return true;
    s.b = LLVMCreateBuilderInContext(l->context);
    LLVMPositionBuilderBefore(s.b, call);
    LLVMSetCurrentDebugLocation2(s.b, LLVMInstructionGetDebugLoc(call));
    read_operands(&s, constraints);
    for (const char *from = rest; read_instruction(&rest, &in); from = rest)
        if (!carry_out_instruction(&s, &in))
            return unknown(&s, from);
    if (*in.name != 0 || rest[strspn(rest, " \t\r\n;{}")] != 0)
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
