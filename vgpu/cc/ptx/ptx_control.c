/* SPDX-License-Identifier: MIT
 * ptx_control.c: branches, calls and returns of PTX functions.
 */
#include <string.h>

#include "ptx_body.h"

/* What follows a branch is reached by a label only. */
static enum cc_ptx_known end_block(struct cc_ptx_body *body)
{
    LLVMPositionBuilderAtEnd(body->s.b, cc_add_block(body->m->l, body->s.function));
    return CC_PTX_DONE;
}

void cc_ptx_return(struct cc_ptx_body *body)
{
    struct cc_ptx_statement *s = &body->s;
    const struct cc_ptx_param *result = &body->signature->result;
    LLVMTypeRef type = cc_ptx_param_type(s->l, result);

    if (!body->signature->has_result)
        LLVMBuildRetVoid(s->b);
    else if (body->result != NULL)
        LLVMBuildRet(s->b, LLVMBuildLoad2(s->b, type, body->result, ""));
    else
        LLVMBuildRet(s->b, cc_ptx_value(s, result->name));
}

static const struct cc_ptx_table *find_table(const struct cc_ptx_body *body, const char *name)
{
    for (size_t i = body->tables; i-- > 0;)
        if (strcmp(body->table[i].name, name) == 0)
            return &body->table[i];
    return NULL;
}

/* brx.idx index, table */
static enum cc_ptx_known branch_by_index(struct cc_ptx_body *body, const struct cc_ptx *in)
{
    struct cc_ptx_statement *s = &body->s;
    const struct cc_ptx_table *table = in->operands == 2 ? find_table(body, in->operand[1]) : NULL;
    LLVMValueRef index = table != NULL ? cc_ptx_operand(s, in->operand[0], 32) : NULL;

    if (index == NULL || table->targets.count == 0)
        return CC_PTX_UNKNOWN;
    unsigned count = (unsigned)table->targets.count;
    LLVMValueRef to =
        LLVMBuildSwitch(s->b, index, cc_ptx_target(body, table->targets.item[count - 1]), count);
    for (unsigned i = 0; i + 1 < count; i++)
        LLVMAddCase(to, cc_ptx_number(s, i, 32), cc_ptx_target(body, table->targets.item[i]));
    return end_block(body);
}

/* ---- calls ---- */

struct call {
    const char *function, *result; /* result null: none */
    int first, count;              /* arguments among the operands */
    const char *prototype;         /* null: none */
};

/* call.uni (r), f, (a, b), prototype; each in parentheses is a group. */
static bool read_call(const struct cc_ptx *in, struct call *call)
{
    int at = 0;

    *call = (struct call){0};
    if (in->operands > 1 && in->group[0] != 0)
        call->result = in->operand[at++];
    if (at >= in->operands || in->group[at] != 0)
        return false;
    call->function = in->operand[at++];
    call->first = at;
    while (at < in->operands && in->group[at] != 0)
        at++;
    call->count = at - call->first;
    if (at < in->operands)
        call->prototype = in->operand[at++];
    return at == in->operands;
}

/* The value of an argument or the place of a result: a variable of .param space, or a register. */
static LLVMValueRef read_argument(struct cc_ptx_statement *s, const char *name, LLVMTypeRef type)
{
    LLVMValueRef memory = cc_ptx_symbol(s, name);

    if (memory == NULL)
        return LLVMGetTypeKind(type) == LLVM_TYPE_INTEGER
                   ? cc_ptx_operand(s, name, LLVMGetIntTypeWidth(type))
                   : NULL;
    return LLVMBuildLoad2(s->b, type,
                          LLVMBuildPointerCast(s->b, memory, LLVMPointerType(type, 0), ""), "");
}

static bool write_result(struct cc_ptx_statement *s, const char *name, LLVMValueRef value)
{
    LLVMValueRef memory = cc_ptx_symbol(s, name);

    if (memory == NULL)
        return cc_ptx_assign_bits(s, name, value);
    LLVMTypeRef type = LLVMPointerType(LLVMTypeOf(value), 0);
    LLVMBuildStore(s->b, value, LLVMBuildPointerCast(s->b, memory, type, ""));
    return true;
}

/* The arguments of a function of vgpu-exec: 'p' a pointer, 'i' 32 bits. */
static LLVMValueRef call_own(struct cc_ptx_statement *s, const struct cc_ptx *in,
                             const struct call *call, const char *name, const char *types,
                             LLVMTypeRef result)
{
    LLVMValueRef argument[4];
    unsigned count = (unsigned)strlen(types);

    if ((unsigned)call->count < count)
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        unsigned bits = types[i] == 'p' ? 64 : 32;
        argument[i] = read_argument(s, in->operand[call->first + (int)i], cc_int_type(s->l, bits));
        if (argument[i] == NULL)
            return NULL;
        if (types[i] == 'p')
            argument[i] =
                LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, argument[i], cc_byte_pointer(s->l, 0), "");
    }
    return cc_ptx_call(s, name, result, argument, count);
}

/* Functions that CUDA has without a body; *called null: not one of them. */
static enum cc_ptx_known call_system(struct cc_ptx_body *body, const struct cc_ptx *in,
                                     const struct call *call)
{
    struct cc_ptx_statement *s = &body->s;

    if (strcmp(call->function, "vprintf") == 0) {
        LLVMValueRef made = call_own(s, in, call, "vprintf", "pp", cc_int_type(s->l, 32));
        return made != NULL && (call->result == NULL || write_result(s, call->result, made))
                   ? CC_PTX_DONE
                   : CC_PTX_UNKNOWN;
    }
    if (strcmp(call->function, "__assertfail") != 0)
        return CC_PTX_NOT_MINE;
    if (call_own(s, in, call, "__assert_fail", "ppip", LLVMVoidTypeInContext(s->l->context)) ==
        NULL)
        return CC_PTX_UNKNOWN;
    LLVMBuildUnreachable(s->b);
    return end_block(body);
}

/* The function and its type; null: there is none. */
static LLVMValueRef find_called(struct cc_ptx_body *body, const struct call *call,
                                LLVMTypeRef *type)
{
    struct cc_ptx_statement *s = &body->s;
    LLVMValueRef function = LLVMGetNamedFunction(s->l->module, call->function);
    const struct cc_ptx_table *table =
        call->prototype != NULL ? find_table(body, call->prototype) : NULL;

    if (function != NULL) {
        *type = LLVMGlobalGetValueType(function);
        return function;
    }
    LLVMValueRef address = table != NULL ? cc_ptx_operand(s, call->function, 64) : NULL;
    if (address == NULL)
        return NULL;
    *type = cc_ptx_function_type(s->l, &table->prototype);
    return LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, address, LLVMPointerType(*type, 0), "");
}

static enum cc_ptx_known call_function(struct cc_ptx_body *body, const struct cc_ptx *in)
{
    struct cc_ptx_statement *s = &body->s;
    struct call call;
    LLVMTypeRef type, parameter[CC_PTX_OPERANDS];
    LLVMValueRef argument[CC_PTX_OPERANDS];

    if (!read_call(in, &call))
        return CC_PTX_UNKNOWN;
    enum cc_ptx_known known = call_system(body, in, &call);
    if (known != CC_PTX_NOT_MINE)
        return known;
    LLVMValueRef function = find_called(body, &call, &type);
    if (function == NULL || LLVMCountParamTypes(type) != (unsigned)call.count)
        return CC_PTX_UNKNOWN;
    LLVMGetParamTypes(type, parameter);
    for (int i = 0; i < call.count; i++)
        if ((argument[i] = read_argument(s, in->operand[call.first + i], parameter[i])) == NULL)
            return CC_PTX_UNKNOWN;
    LLVMValueRef made = LLVMBuildCall2(s->b, type, function, argument, (unsigned)call.count, "");
    if (call.result != NULL && !write_result(s, call.result, made))
        return CC_PTX_UNKNOWN;
    return CC_PTX_DONE;
}

enum cc_ptx_known cc_ptx_control(struct cc_ptx_body *body, const struct cc_ptx *in)
{
    struct cc_ptx_statement *s = &body->s;

    if (cc_ptx_is(in, "bra") && in->operands == 1) {
        LLVMBuildBr(s->b, cc_ptx_target(body, in->operand[0]));
        return end_block(body);
    }
    if (cc_ptx_is(in, "brx"))
        return branch_by_index(body, in);
    if (cc_ptx_is(in, "call"))
        return call_function(body, in);
    if (cc_ptx_is(in, "ret") || (cc_ptx_is(in, "exit") && body->signature->is_kernel)) {
        cc_ptx_return(body);
        return end_block(body);
    }
    return cc_ptx_is(in, "brkpt") || cc_ptx_is(in, "pmevent") ? CC_PTX_DONE : CC_PTX_NOT_MINE;
}
