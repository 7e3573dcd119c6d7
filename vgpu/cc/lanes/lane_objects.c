/* SPDX-License-Identifier: MIT
 * lane_objects.c: what a kernel names: variables, constants, and arguments that are structures.
 * Where they lie is known when the kernel is launched, and so are the contents of arguments and of
 * the places with __managed__ variables' addresses, which nothing changes.
 */
#include <string.h>

#include "image.h"
#include "lane_values.h"

static uint16_t object_step(struct cc_planner *p, struct cc_lane_object object, int kind)
{
    struct cc_lane_plan *plan = p->plan;
    size_t i = 0;

    while (i < plan->object_count &&
           (plan->object[i].global != object.global || plan->object[i].argument != object.argument))
        i++;
    if (i == plan->object_count) {
        plan->object = cc_grow(plan->object, i, &plan->object_capacity, sizeof object);
        plan->object[plan->object_count++] = object;
    }
    return cc_add_step(
        plan, (struct vgpu_step_of_lanes){.kind = (uint8_t)kind, .bits = 64, .value = (int64_t)i});
}

/* ---- variables and constants ---- */

/* No access to it is counted. */
static bool is_constant(LLVMValueRef global)
{
    return LLVMIsGlobalConstant(global) && !LLVMIsExternallyInitialized(global) &&
           LLVMGetInitializer(global) != NULL;
}

static bool is_device_variable(LLVMValueRef global)
{
    const char *section = LLVMGetSection(global);

    return section != NULL && strcmp(section, VGPU_DEVICE_VAR_SECTION) == 0 &&
           !LLVMIsGlobalConstant(global);
}

uint16_t cc_global_step(struct cc_planner *p, LLVMValueRef value)
{
    LLVMValueRef global = LLVMIsAGlobalVariable(value);

    if (global == NULL || (!is_constant(global) && !is_device_variable(global)))
        return cc_unknown_step(p, value);
    struct cc_lane_object object = {
        .global = global, .bytes = LLVMABISizeOfType(p->l->layout, LLVMGlobalGetValueType(global))};
    return object_step(p, object, VGPU_STEP_OBJECT);
}

/* ---- arguments ---- */

static LLVMTypeRef structure_of(const struct cc_planner *p, unsigned parameter)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    LLVMAttributeRef by_value = LLVMGetEnumAttributeAtIndex(p->kernel, parameter + 1, kind);

    return by_value != NULL ? LLVMGetTypeAttributeValue(by_value) : NULL;
}

uint16_t cc_structure_step(struct cc_planner *p, LLVMValueRef argument, unsigned index)
{
    for (unsigned i = 0; i < LLVMCountParams(p->kernel); i++)
        if (LLVMGetParam(p->kernel, i) == argument && structure_of(p, i) != NULL) {
            struct cc_lane_object object = {.global = argument,
                                            .bytes =
                                                LLVMABISizeOfType(p->l->layout, structure_of(p, i)),
                                            .argument = index};
            return object_step(p, object, VGPU_STEP_OBJECT);
        }
    return cc_unknown_step(p, argument);
}

/* ---- addresses ---- */

static int opcode_of(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) != NULL    ? LLVMGetInstructionOpcode(value)
           : LLVMIsAConstantExpr(value) != NULL ? LLVMGetConstOpcode(value)
                                                : 0;
}

LLVMValueRef cc_object_of(LLVMValueRef address)
{
    for (;;) {
        int op = opcode_of(address);
        if (op != LLVM_OP_GEP && op != LLVM_OP_BIT_CAST && op != LLVM_OP_ADDR_SPACE_CAST)
            return address;
        address = LLVMGetOperand(address, 0);
    }
}

bool cc_is_uncounted(LLVMValueRef object)
{
    return LLVMIsAArgument(object) != NULL ||
           (LLVMIsAGlobalVariable(object) != NULL && is_constant(object));
}

/* ---- loads of what is known ---- */

/* Adds what the GEP adds to *offset; false: it is not constant. */
static bool add_offset(struct cc_lowering *l, LLVMValueRef gep, int64_t *offset)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);

    for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
        LLVMValueRef by = LLVMIsAConstantInt(LLVMGetOperand(gep, (unsigned)i));
        if (by == NULL)
            return false;
        if (i > 1 && LLVMGetTypeKind(type) == LLVM_TYPE_STRUCT) {
            unsigned field = (unsigned)LLVMConstIntGetZExtValue(by);
            *offset += (int64_t)LLVMOffsetOfElement(l->layout, type, field);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        if (i > 1)
            type = LLVMGetElementType(type);
        *offset += LLVMConstIntGetSExtValue(by) * (int64_t)LLVMABISizeOfType(l->layout, type);
    }
    return true;
}

static bool find_offset(struct cc_lowering *l, LLVMValueRef address, int64_t *offset)
{
    bool constant = true;

    for (*offset = 0; constant && cc_object_of(address) != address;
         address = LLVMGetOperand(address, 0))
        constant = opcode_of(address) != LLVM_OP_GEP || add_offset(l, address, offset);
    return constant;
}

bool cc_is_managed_place(LLVMValueRef load)
{
    LLVMValueRef object = cc_object_of(LLVMGetOperand(load, 0));

    return LLVMIsAGlobalVariable(object) != NULL &&
           cc_starts(cc_value_name(object), CC_PLACE_PREFIX);
}

static bool is_within(struct cc_lowering *l, LLVMValueRef load, uint64_t bytes, int64_t *offset)
{
    return find_offset(l, LLVMGetOperand(load, 0), offset) && *offset >= 0 &&
           (uint64_t)*offset + LLVMABISizeOfType(l->layout, LLVMTypeOf(load)) <= bytes;
}

bool cc_is_known_load(struct cc_lowering *l, const struct cc_lane_plan *plan,
                      LLVMValueRef *structure, LLVMValueRef load, int64_t *offset)
{
    LLVMValueRef object = cc_object_of(LLVMGetOperand(load, 0));

    if (cc_is_managed_place(load))
        return is_within(l, load, 8, offset);
    for (size_t i = 0; i < plan->object_count; i++)
        if (structure[i] != NULL && structure[i] == object)
            return is_within(l, load, plan->object[i].bytes, offset);
    return false;
}

/* A field of an argument. */
static uint16_t field_step(struct cc_planner *p, LLVMValueRef load, size_t object)
{
    const struct cc_lane_object *o = &p->plan->object[object];
    uint8_t bits = cc_step_bits(p->l, load);
    int64_t offset;

    if (bits == 0 || !is_within(p->l, load, o->bytes, &offset))
        return cc_unknown_step(p, load);
    return cc_add_step(p->plan, (struct vgpu_step_of_lanes){.kind = VGPU_STEP_ARGUMENT,
                                                            .bits = bits,
                                                            .a = (uint16_t)o->argument,
                                                            .value = offset});
}

uint16_t cc_loaded_step(struct cc_planner *p, LLVMValueRef load, int number)
{
    LLVMValueRef object = cc_object_of(LLVMGetOperand(load, 0));

    if (cc_is_managed_place(load) && cc_step_bits(p->l, load) == 64)
        return object_step(p, (struct cc_lane_object){.global = object, .bytes = 8},
                           VGPU_STEP_CONTENTS);
    return number >= 0 && LLVMIsAArgument(object) != NULL ? field_step(p, load, (size_t)number)
                                                          : cc_unknown_step(p, load);
}
