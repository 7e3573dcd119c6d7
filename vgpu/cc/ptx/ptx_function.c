/* SPDX-License-Identifier: MIT
 * ptx_function.c: the body of a PTX function: blocks, labels, branches and scopes. Registers and
 * variables of .param space are on the stack; LLVM's passes turn them into values.
 */
#include "ptx_body.h"

#include <string.h>

/* ---- blocks and labels ---- */

static void start_block(struct cc_ptx_body *body, LLVMBasicBlockRef block)
{
    if (LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(body->s.b)) == NULL)
        LLVMBuildBr(body->s.b, block);
    LLVMPositionBuilderAtEnd(body->s.b, block);
}

static struct cc_ptx_label *add_label(struct cc_ptx_body *body, const char *name)
{
    body->label = cc_grow(body->label, body->labels, &body->label_room, sizeof *body->label);
    body->label[body->labels] = (struct cc_ptx_label){
        .name = name, .block = cc_add_block(body->m->l, body->s.function), .depth = body->depth};
    return &body->label[body->labels++];
}

static struct cc_ptx_label *find_label(struct cc_ptx_body *body, const char *name)
{
    for (size_t i = body->labels; i-- > 0;)
        if (body->label[i].name != NULL && strcmp(body->label[i].name, name) == 0)
            return &body->label[i];
    return NULL;
}

LLVMBasicBlockRef cc_ptx_target(struct cc_ptx_body *body, const char *name)
{
    struct cc_ptx_label *found = find_label(body, name);

    return (found != NULL ? found : add_label(body, name))->block;
}

static void define_label(struct cc_ptx_body *body, const char *name)
{
    struct cc_ptx_label *label = find_label(body, name);

    if (label == NULL || label->defined)
        label = add_label(body, name);
    label->defined = true;
    label->depth = body->depth;
    start_block(body, label->block);
}

/* Labels and registers of a pair of braces end with it; a branch may leave it. */
static void close_scope(struct cc_ptx_body *body)
{
    for (size_t i = 0; i < body->labels; i++) {
        struct cc_ptx_label *label = &body->label[i];
        if (label->depth == body->depth && label->defined)
            label->name = NULL;
        else if (label->depth == body->depth)
            label->depth--;
    }
    body->depth--;
    body->s.registers = body->scope[body->depth];
}

static bool open_scope(struct cc_ptx_body *body)
{
    if (body->depth == CC_PTX_DEPTH)
        return false;
    body->scope[body->depth++] = body->s.registers;
    return true;
}

/* ---- variables ---- */

void cc_ptx_add_memory(struct cc_ptx_statement *s, const char *name, LLVMValueRef pointer,
                       bool shared)
{
    LLVMTypeRef byte = cc_byte_pointer(s->l, 0);

    cc_ptx_declare(s, name, byte);
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) != 0)
        pointer = LLVMConstAddrSpaceCast(
            LLVMConstPointerCast(
                pointer, cc_byte_pointer(s->l, LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)))),
            byte);
    s->reg[s->registers - 1].memory = LLVMBuildPointerCast(s->entry, pointer, byte, "");
    s->reg[s->registers - 1].shared = shared;
}

/* The place of a parameter. */
static LLVMValueRef add_param_place(struct cc_ptx_body *body, const struct cc_ptx_param *param)
{
    struct cc_ptx_statement *s = &body->s;
    LLVMValueRef place = LLVMBuildAlloca(s->entry, cc_ptx_param_type(body->m->l, param), "");

    LLVMSetAlignment(place, param->align > 8 ? param->align : 8);
    cc_ptx_add_memory(s, param->name, place, false);
    return place;
}

static bool declare_param(struct cc_ptx_body *body)
{
    struct cc_ptx_param param = {.align = 1};

    if (!cc_ptx_read_param(body->m, &param))
        return false;
    add_param_place(body, &param);
    return cc_ptx_take(body->m, ";");
}

static bool declare_variable(struct cc_ptx_body *body, const char *word)
{
    enum cc_ptx_space space = strcmp(word, ".local") == 0    ? CC_PTX_LOCAL
                              : strcmp(word, ".shared") == 0 ? CC_PTX_SHARED
                              : strcmp(word, ".const") == 0  ? CC_PTX_CONST
                                                             : CC_PTX_GLOBAL;
    const char *name;
    LLVMValueRef made = cc_ptx_variable(body->m, space, false, body->s.entry, &name);

    if (made != NULL)
        cc_ptx_add_memory(&body->s, name, made, space == CC_PTX_SHARED);
    return made != NULL;
}

/* ---- instructions ---- */

static void set_location(struct cc_ptx_body *body)
{
    if (!body->has_loc)
        LLVMSetCurrentDebugLocation2(
            body->s.b, cc_ptx_location(body->m, body->info, 0, (unsigned)body->place.line, 1));
}

/* .loc 1 7 40 */
static void read_loc(struct cc_ptx_body *body)
{
    int file;
    unsigned line, column;

    if (cc_ptx_read_loc(body->m->at, &file, &line, &column)) {
        LLVMMetadataRef at = cc_ptx_location(body->m, body->info, file, line, column);
        body->has_loc = true;
        LLVMSetCurrentDebugLocation2(body->s.b, at);
        body->s.place = cc_ptx_source_place(body->m, file, (int)line, (int)column);
    }
    body->m->at += strcspn(body->m->at, "\n");
}

static bool carry_out(struct cc_ptx_body *body, const struct cc_ptx *in)
{
    enum cc_ptx_known known = cc_ptx_control(body, in);

    if (known == CC_PTX_NOT_MINE)
        known = cc_ptx_instruction(&body->s, in);
    return known == CC_PTX_DONE;
}

/* With a guard, in a block of its own. */
static bool carry_out_guarded(struct cc_ptx_body *body, const struct cc_ptx *in)
{
    struct cc_ptx_statement *s = &body->s;
    LLVMValueRef guard =
        cc_ptx_predicate(s, cc_format("%s%s", in->guard_negated ? "!" : "", in->guard));
    bool branch = strcmp(in->name, "bra") == 0 && in->operands == 1;

    if (guard == NULL)
        return false;
    LLVMBasicBlockRef then =
        branch ? cc_ptx_target(body, in->operand[0]) : cc_add_block(body->m->l, s->function);
    LLVMBasicBlockRef next = cc_add_block(body->m->l, s->function);
    LLVMBuildCondBr(s->b, guard, then, next);
    if (!branch) {
        LLVMPositionBuilderAtEnd(s->b, then);
        if (!carry_out(body, in))
            return false;
    }
    start_block(body, next);
    return true;
}

enum { REFUSED_MAX = 20 };

static bool read_instruction(struct cc_ptx_body *body, const char *word, const char *from)
{
    struct cc_ptx in;

    set_location(body);
    bool sound = cc_ptx_read(&body->m->at, word, &in), known = false;
    if (sound && *in.name == 0)
        sound = known = cc_ptx_declare_all(&body->s, &in);
    else if (sound)
        known = *in.guard != 0 ? carry_out_guarded(body, &in) : carry_out(body, &in);
    if (known)
        return true;
    cc_ptx_refuse(body->m, body->place, from, CC_PTX_NOT_KNOWN);
    return sound && cc_error_count() < REFUSED_MAX; /* goes on, to name the others, too */
}

/* ts: .branchtargets a, b; proto: .callprototype (.param .b32 _) _ (.param .b64 _); */
static bool read_labelled(struct cc_ptx_body *body, const char *name)
{
    struct cc_ptx_module *m = body->m;
    struct cc_ptx_table table = {.name = name};

    if (cc_ptx_take(m, ".callprototype")) {
        if (!cc_ptx_read_signature(m, &table.prototype))
            return false;
        cc_ptx_skip_past(m, ";");
    } else if (cc_ptx_take(m, ".branchtargets")) {
        while (!cc_ptx_take(m, ";") && *cc_ptx_peek(m) != 0)
            if (!cc_ptx_take(m, ","))
                cc_add(&table.targets, cc_ptx_next(m));
    } else if (cc_ptx_take(m, ".calltargets")) {
        cc_ptx_skip_past(m, ";");
    } else {
        define_label(body, name);
        return true;
    }
    body->table = cc_grow(body->table, body->tables, &body->table_room, sizeof table);
    body->table[body->tables++] = table;
    return true;
}

static bool is_space(const char *word)
{
    return strcmp(word, ".local") == 0 || strcmp(word, ".shared") == 0 ||
           strcmp(word, ".global") == 0 || strcmp(word, ".const") == 0;
}

/* One statement. */
static bool read_statement(struct cc_ptx_body *body)
{
    struct cc_ptx_module *m = body->m;
    body->place = cc_ptx_here(m);
    const char *from = m->at, *word = cc_ptx_next(m);
    size_t length = strlen(word);

    if (!body->has_loc)
        body->s.place = body->place;
    if (*word == ';')
        return true;
    if (*word == '{')
        return open_scope(body) || cc_ptx_refuse(m, body->place, from, CC_PTX_NOT_KNOWN);
    if (*word == '}') {
        close_scope(body);
        return true;
    }
    if (word[length - 1] == ':')
        return read_labelled(body, cc_copy(word, length - 1));
    if (strcmp(cc_ptx_peek(m), ":") == 0)
        return cc_ptx_next(m), read_labelled(body, word);
    if (strcmp(word, ".loc") == 0)
        return read_loc(body), true;
    if (strcmp(word, ".pragma") == 0)
        return cc_ptx_skip_past(m, ";"), true;
    if (strcmp(word, ".param") == 0)
        return declare_param(body);
    return is_space(word) ? declare_variable(body, word) : read_instruction(body, word, from);
}

/* ---- the whole body ---- */

/* Stores the parameters in their places. */
static void take_params(struct cc_ptx_body *body)
{
    const struct cc_ptx_signature *signature = body->signature;
    struct cc_ptx_statement *s = &body->s;

    for (unsigned i = 0; i < signature->params; i++) {
        const struct cc_ptx_param *param = &signature->param[i];
        LLVMValueRef value = LLVMGetParam(s->function, i);
        if (signature->is_kernel && param->bits == 0) {
            cc_ptx_add_memory(s, param->name, value, false);
        } else if (param->is_register) {
            cc_ptx_declare(s, param->name, cc_int_type(s->l, param->bits));
            cc_ptx_assign(s, param->name, value);
        } else {
            LLVMBuildStore(s->b, value, add_param_place(body, param));
        }
    }
    if (signature->has_result && signature->result.is_register)
        cc_ptx_declare(s, signature->result.name, cc_int_type(s->l, signature->result.bits));
    else if (signature->has_result)
        body->result = add_param_place(body, &signature->result);
}

static void start_body(struct cc_ptx_body *body)
{
    struct cc_lowering *l = body->m->l;
    struct cc_ptx_statement *s = &body->s;

    body->first = cc_add_block(l, s->function);
    s->entry = LLVMCreateBuilderInContext(l->context);
    s->b = LLVMCreateBuilderInContext(l->context);
    LLVMPositionBuilderAtEnd(s->entry, body->first);
    body->start = cc_add_block(l, s->function);
    LLVMPositionBuilderAtEnd(s->b, body->start);
    cc_ptx_declare(s, CC_PTX_CARRY, cc_int_type(l, 1));
    take_params(body);
}

/* False: a branch leads to a label that there is not. */
static bool check_labels(struct cc_ptx_body *body)
{
    for (size_t i = 0; i < body->labels; i++)
        if (!body->label[i].defined)
            return cc_ptx_refuse(body->m, body->place, body->label[i].name,
                                 "a branch to a label that is not in the function");
    return true;
}

bool cc_ptx_read_body(struct cc_ptx_module *m, const struct cc_ptx_signature *signature,
                      LLVMValueRef function)
{
    struct cc_ptx_body body = {.m = m, .signature = signature};

    body.s = (struct cc_ptx_statement){.l = m->l, .function = function};
    body.info = cc_ptx_place_function(m, function, signature->name);
    start_body(&body);
    while (body.depth > 0 || strcmp(cc_ptx_peek(m), "}") != 0) {
        if (*cc_ptx_peek(m) == 0)
            return cc_ptx_refuse(m, body.place, signature->name, "the PTX ends inside a function");
        if (!read_statement(&body))
            return false;
    }
    cc_ptx_next(m);
    if (LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(body.s.b)) == NULL)
        cc_ptx_return(&body);
    LLVMBuildBr(body.s.entry, body.start);
    return check_labels(&body);
}
