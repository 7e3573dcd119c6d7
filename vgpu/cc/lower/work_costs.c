/* SPDX-License-Identifier: MIT
 * work_costs.c: see work_costs.h. The numbers of instructions are those of nvcc 13.0 -O3 for sm_90.
 */
#include "work_costs.h"

#include <string.h>

enum { ALU = 4, SHARED = 29, STORE = 12, WIDE = 2 /* a 64-bit operation is two */ };

/* Functions of float; those of double cost DOUBLE_MORE instructions for each, of double. */
static const struct {
    const char *name;
    struct cc_cost cost;
} function_costs[] = {
    {"sqrt", {.slots = 11, .special = 1, .chain = 62}},
    {"rsqrt", {.slots = 4, .special = 1, .chain = 24}},
    {"exp", {.slots = 11, .special = 1, .chain = 46}},
    {"exp2", {.slots = 5, .special = 1, .chain = 30}},
    {"exp10", {.slots = 9, .special = 1, .chain = 46}},
    {"log", {.slots = 18, .chain = 70}},
    {"log2", {.slots = 18, .special = 1, .chain = 60}},
    {"log10", {.slots = 18, .chain = 70}},
    {"sin", {.slots = 32, .integers = 3, .chain = 136}},
    {"cos", {.slots = 32, .integers = 3, .chain = 136}},
    {"sincos", {.slots = 44, .integers = 4, .chain = 146}},
    {"tan", {.slots = 26, .special = 1, .chain = 100}},
    {"tanh", {.slots = 16, .special = 2, .chain = 70}},
    {"pow", {.slots = 50, .special = 2, .chain = 160}},
    {"fabs", {.slots = 0}},
    {"copysign", {.slots = 1, .integers = 1, .chain = ALU}},
    {"fma", {.slots = 1, .chain = ALU}},
    {"fmin", {.slots = 1, .integers = 1, .chain = ALU}},
    {"fmax", {.slots = 1, .integers = 1, .chain = ALU}},
    {"floor", {.slots = 1, .special = 1, .chain = 12}},
    {"ceil", {.slots = 1, .special = 1, .chain = 12}},
    {"trunc", {.slots = 1, .special = 1, .chain = 12}},
    {"rint", {.slots = 1, .special = 1, .chain = 12}},
    {"fmod", {.slots = 40, .integers = 10, .chain = 200}},
};
static const struct cc_cost other_function = {.slots = 30, .special = 1, .chain = 100};
enum { DOUBLE_MORE = 3 };

/* LLVM may have made one instruction out of several. */
static LLVMTypeRef element_type(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVM_TYPE_VECTOR ? LLVMGetElementType(type) : type;
}

static bool is_double(LLVMTypeRef type)
{
    return LLVMGetTypeKind(element_type(type)) == LLVM_TYPE_DOUBLE;
}

static uint32_t int_bits(LLVMTypeRef vector)
{
    LLVMTypeRef type = element_type(vector);

    return LLVMGetTypeKind(type) == LLVM_TYPE_INTEGER   ? LLVMGetIntTypeWidth(type)
           : LLVMGetTypeKind(type) == LLVM_TYPE_POINTER ? 64
                                                        : 32;
}

static struct cc_cost integer_cost(LLVMTypeRef type)
{
    uint32_t slots = int_bits(type) > 32 ? WIDE : 1;

    return (struct cc_cost){.slots = slots, .integers = slots, .chain = ALU * slots};
}

static struct cc_cost floating_cost(LLVMTypeRef type, uint32_t slots)
{
    struct cc_cost cost = {.slots = slots, .chain = ALU * slots};

    if (is_double(type)) {
        cost.doubles = slots;
        cost.chain *= 2;
    }
    return cost;
}

/* By a constant: multiplications and shifts. */
static struct cc_cost division_cost(LLVMValueRef instruction)
{
    bool wide = int_bits(LLVMTypeOf(instruction)) > 32;
    LLVMValueRef by = LLVMIsAConstantInt(LLVMGetOperand(instruction, 1));
    uint64_t value = by != NULL ? LLVMConstIntGetZExtValue(by) : 0;

    if (by != NULL && (value & (value - 1)) == 0)
        return integer_cost(LLVMTypeOf(instruction));
    if (by != NULL)
        return (struct cc_cost){
            .slots = wide ? 12 : 4, .integers = wide ? 12 : 4, .chain = wide ? 40 : 16};
    return wide ? (struct cc_cost){.slots = 80, .integers = 60, .special = 1, .chain = 300}
                : (struct cc_cost){.slots = 14, .integers = 10, .special = 1, .chain = 76};
}

static struct cc_cost float_division_cost(LLVMTypeRef type)
{
    if (is_double(type))
        return (struct cc_cost){
            .slots = 18, .integers = 3, .doubles = 13, .special = 1, .chain = 122};
    return (struct cc_cost){.slots = 16, .integers = 1, .special = 1, .chain = 60};
}

/* A product, or a number that is shifted, becomes one instruction with the addition that alone uses
 * it. */
static bool is_fused(LLVMValueRef product)
{
    LLVMUseRef use = LLVMGetFirstUse(product);
    int op =
        use != NULL && LLVMGetNextUse(use) == NULL && LLVMIsAInstruction(LLVMGetUser(use)) != NULL
            ? LLVMGetInstructionOpcode(LLVMGetUser(use))
            : 0;

    return op == LLVM_OP_FADD || op == LLVM_OP_FSUB ||
           (op == LLVM_OP_ADD && int_bits(LLVMTypeOf(product)) == 32);
}

bool cc_is_rounded_twice(LLVMValueRef instruction)
{
    return LLVMGetInstructionOpcode(instruction) == LLVM_OP_FMUL && is_fused(instruction);
}

/* An address with a variable index; constants are part of the access. */
static struct cc_cost address_cost(LLVMValueRef gep)
{
    for (int i = 1; i < LLVMGetNumOperands(gep); i++)
        if (LLVMIsAConstant(LLVMGetOperand(gep, (unsigned)i)) == NULL)
            return (struct cc_cost){.slots = 1, .integers = 1, .chain = ALU};
    return (struct cc_cost){0};
}

/* One over a root is one instruction, about. */
static bool is_root(LLVMValueRef value)
{
    LLVMValueRef called = LLVMIsACallInst(value) != NULL ? LLVMGetCalledValue(value) : NULL;
    const char *name = called != NULL ? cc_value_name(called) : "";

    return cc_starts(name, "sqrt") || cc_starts(name, "llvm.sqrt");
}

/* rsqrtf (vgpu/include) is computed in double. */
static bool is_extended(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) != NULL &&
           LLVMGetInstructionOpcode(value) == LLVM_OP_FP_EXTEND;
}

static bool is_inverted(LLVMValueRef root)
{
    LLVMUseRef use = LLVMGetFirstUse(root);

    return use != NULL && LLVMGetNextUse(use) == NULL &&
           LLVMIsAInstruction(LLVMGetUser(use)) != NULL &&
           LLVMGetInstructionOpcode(LLVMGetUser(use)) == LLVM_OP_FDIV &&
           LLVMGetOperand(LLVMGetUser(use), 1) == root;
}

/* ---- memory ---- */

enum { DEEPEST = 8 };

static bool is_call_of(LLVMValueRef value, const char *name)
{
    LLVMValueRef called = LLVMIsACallInst(value) != NULL ? LLVMGetCalledValue(value) : NULL;

    return called != NULL && strcmp(cc_value_name(called), name) == 0;
}

/* Where the variable comes from that the address is in: null if it is not known. */
static LLVMValueRef base_of(LLVMValueRef address)
{
    for (int i = 0; i < DEEPEST; i++) {
        int op = LLVMIsAInstruction(address) != NULL    ? LLVMGetInstructionOpcode(address)
                 : LLVMIsAConstantExpr(address) != NULL ? LLVMGetConstOpcode(address)
                                                        : 0;
        if (op != LLVM_OP_GEP && op != LLVM_OP_BIT_CAST && op != LLVM_OP_ADDR_SPACE_CAST &&
            op != LLVM_OP_PHI)
            return address;
        address = LLVMGetOperand(address, 0);
    }
    return NULL;
}

static bool is_block_memory(LLVMValueRef base)
{
    return is_call_of(base, "vgpu_shared") || is_call_of(base, "vgpu_dynamic_shared");
}

static struct cc_cost load_cost(struct cc_lowering *l, LLVMValueRef instruction)
{
    LLVMValueRef base = base_of(LLVMGetOperand(instruction, 0));

    if (cc_index_read(l, instruction) >= 0 || (base != NULL && LLVMIsAInstruction(base) != NULL &&
                                               LLVMGetInstructionOpcode(base) == LLVM_OP_ALLOCA))
        return (struct cc_cost){0};
    if (base != NULL && (is_block_memory(base) || LLVMIsAGlobalVariable(base) != NULL))
        return (struct cc_cost){.slots = 1, .chain = SHARED};
    return (struct cc_cost){.slots = 1, .loads = 1};
}

static struct cc_cost store_cost(LLVMValueRef instruction)
{
    LLVMValueRef base = base_of(LLVMGetOperand(instruction, 1));

    return (struct cc_cost){.slots = 1, .chain = base != NULL && is_block_memory(base) ? STORE : 0};
}

/* ---- calls ---- */

static struct cc_cost of_function(const char *name, bool doubled)
{
    struct cc_cost cost = other_function;
    size_t length = strlen(name) - (name[strlen(name) - 1] == 'f' && !doubled);

    for (size_t i = 0; i < sizeof function_costs / sizeof *function_costs; i++)
        if (strlen(function_costs[i].name) == length &&
            strncmp(function_costs[i].name, name, length) == 0)
            cost = function_costs[i].cost;
    if (doubled) {
        cost.doubles = cost.slots * DOUBLE_MORE;
        cost.slots *= DOUBLE_MORE;
        cost.chain *= 2 * DOUBLE_MORE;
    }
    return cost;
}

/* "sqrt" of "llvm.sqrt.f32". */
static const char *intrinsic_stem(const char *name)
{
    const char *stem = name + strlen("llvm."), *dot = strchr(stem, '.');

    return dot != NULL ? cc_copy(stem, (size_t)(dot - stem)) : stem;
}

static struct cc_cost intrinsic_cost(LLVMValueRef call, const char *name)
{
    const char *stem = intrinsic_stem(name);
    LLVMTypeRef type = LLVMTypeOf(call);
    int kind = LLVMGetTypeKind(element_type(type));

    if (strcmp(stem, "fma") == 0 || strcmp(stem, "fmuladd") == 0)
        return floating_cost(type, 1);
    if (cc_starts(stem, "minnum") || cc_starts(stem, "maxnum"))
        return floating_cost(type, 1);
    if (kind == LLVM_TYPE_FLOAT || kind == LLVM_TYPE_DOUBLE)
        return of_function(stem, kind == LLVM_TYPE_DOUBLE);
    return kind == LLVM_TYPE_INTEGER ? integer_cost(type) : (struct cc_cost){0};
}

static struct cc_cost call_cost(LLVMValueRef instruction)
{
    LLVMValueRef called = LLVMGetCalledValue(instruction);
    const char *name = cc_value_name(called);
    int kind = LLVMGetTypeKind(LLVMTypeOf(instruction));

    if (is_root(instruction) && is_inverted(instruction))
        return of_function("rsqrt", is_double(LLVMTypeOf(instruction)) &&
                                        !is_extended(LLVMGetOperand(instruction, 0)));
    if (cc_starts(name, "llvm."))
        return intrinsic_cost(instruction, name);
    if (strcmp(name, "vgpu_syncthreads") == 0 || cc_starts(name, "vgpu_barrier"))
        return (struct cc_cost){.slots = 1, .chain = 4, .orders = true};
    if (cc_starts(name, "vgpu_shfl") || cc_starts(name, "vgpu_vote"))
        return (struct cc_cost){.slots = 1, .chain = 24};
    if (cc_starts(name, "vgpu_atomic"))
        return (struct cc_cost){.slots = 1, .loads = LLVMGetFirstUse(instruction) != NULL};
    if (LLVMIsAFunction(called) == NULL || !LLVMIsDeclaration(called) || cc_starts(name, "vgpu_") ||
        cc_starts(name, "__"))
        return (struct cc_cost){0};
    return kind == LLVM_TYPE_FLOAT || kind == LLVM_TYPE_DOUBLE
               ? of_function(name, kind == LLVM_TYPE_DOUBLE)
               : other_function;
}

static struct cc_cost one_cost(struct cc_lowering *l, LLVMValueRef instruction)
{
    LLVMTypeRef type = LLVMTypeOf(instruction);

    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVM_OP_FMUL:
    case LLVM_OP_MULTIPLY:
    case LLVM_OP_SHL:
    case LLVM_OP_LSHR:
    case LLVM_OP_ASHR:
        if (is_fused(instruction))
            return (struct cc_cost){0};
        return LLVMGetInstructionOpcode(instruction) == LLVM_OP_FMUL ? floating_cost(type, 1)
                                                                     : integer_cost(type);
    case LLVM_OP_FADD:
    case LLVM_OP_FSUB:
        return floating_cost(type, 1);
    case LLVM_OP_FDIV:
        return is_root(LLVMGetOperand(instruction, 1)) ? (struct cc_cost){.slots = 1}
                                                       : float_division_cost(type);
    case LLVM_OP_FREM:
        return of_function("fmod", is_double(type));
    case LLVM_OP_ADD:
    case LLVM_OP_SUB:
    case LLVM_OP_AND:
    case LLVM_OP_OR:
    case LLVM_OP_XOR:
        return integer_cost(type);
    case LLVM_OP_UDIV:
    case LLVM_OP_SDIV:
    case LLVM_OP_UREM:
    case LLVM_OP_SREM:
        return division_cost(instruction);
    case LLVM_OP_COMPARE:
        return integer_cost(LLVMTypeOf(LLVMGetOperand(instruction, 0)));
    case LLVM_OP_FCOMPARE:
        return floating_cost(LLVMTypeOf(LLVMGetOperand(instruction, 0)), 1);
    case LLVM_OP_SELECT:
        return integer_cost(type);
    case LLVM_OP_BR:
        return (struct cc_cost){.slots = LLVMGetNumSuccessors(instruction) > 1};
    case LLVM_OP_FP_TO_UNSIGNED:
    case LLVM_OP_FP_TO_SIGNED:
    case LLVM_OP_UNSIGNED_TO_FP:
    case LLVM_OP_SIGNED_TO_FP:
    case LLVM_OP_FP_TRUNC:
    case LLVM_OP_FP_EXTEND:
        return (struct cc_cost){.slots = 1, .integers = 1, .chain = 6};
    case LLVM_OP_GEP:
        return address_cost(instruction);
    case LLVM_OP_LOAD:
        return load_cost(l, instruction);
    case LLVM_OP_STORE:
        return store_cost(instruction);
    case LLVM_OP_READ_MODIFY_WRITE:
    case LLVM_OP_COMPARE_EXCHANGE:
        return (struct cc_cost){.slots = 1, .loads = LLVMGetFirstUse(instruction) != NULL};
    case LLVM_OP_CALL:
        return call_cost(instruction);
    default:
        return (struct cc_cost){0};
    }
}

struct cc_cost cc_cost_of(struct cc_lowering *l, LLVMValueRef instruction)
{
    struct cc_cost cost = one_cost(l, instruction);
    LLVMTypeRef type = LLVMTypeOf(instruction);
    int op = LLVMGetInstructionOpcode(instruction);

    if (LLVMGetTypeKind(type) != LLVM_TYPE_VECTOR || op == LLVM_OP_LOAD)
        return cost;
    uint32_t times = (uint32_t)(LLVMABISizeOfType(l->layout, type) /
                                LLVMABISizeOfType(l->layout, LLVMGetElementType(type)));
    cost.slots *= times;
    cost.integers *= times;
    cost.doubles *= times;
    cost.special *= times;
    return cost;
}
