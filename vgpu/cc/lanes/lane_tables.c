/* SPDX-License-Identifier: MIT
 * lane_tables.c: constants of the module that hold a kernel's tables (lanes.h).
 */
#include <string.h>

#include "lane_plan.h"

static LLVMValueRef add_bytes(struct cc_lowering *l, const void *data, size_t bytes)
{
    LLVMValueRef text =
        LLVMConstStringInContext(l->context, (const char *)data, (unsigned)bytes, 1);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(text), "");

    LLVMSetInitializer(global, text);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetAlignment(global, 8);
    LLVMSetLinkage(global, LLVM_LINKAGE_PRIVATE);
    return LLVMConstPointerCast(global, cc_byte_pointer(l, 0));
}

static LLVMValueRef add_rows(struct cc_lowering *l, LLVMValueRef *row, size_t count)
{
    LLVMTypeRef pointer = cc_byte_pointer(l, 0);

    if (count == 0)
        return LLVMConstNull(pointer);
    LLVMValueRef all = LLVMConstArray(LLVMTypeOf(row[0]), row, (unsigned)count);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(all), "");
    LLVMSetInitializer(global, all);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVM_LINKAGE_PRIVATE);
    return LLVMConstPointerCast(global, pointer);
}

/* Rows with the layout of struct vgpu_lane_object. */
static LLVMValueRef objects_table(struct cc_lowering *l, const struct cc_lane_plan *plan)
{
    LLVMTypeRef pointer = cc_byte_pointer(l, 0);
    LLVMValueRef *row = cc_alloc((plan->object_count + 1) * sizeof *row);

    for (size_t i = 0; i < plan->object_count; i++) {
        const struct cc_lane_object *o = &plan->object[i];
        bool argument = LLVMIsAArgument(o->global) != NULL;
        LLVMValueRef field[] = {argument ? LLVMConstNull(pointer)
                                         : LLVMConstPointerCast(o->global, pointer),
                                cc_number(l, o->bytes, 64), cc_number(l, o->argument, 64)};
        row[i] = LLVMConstStructInContext(l->context, field, 3, 0);
    }
    _Static_assert(sizeof(struct vgpu_lane_object) == 24, "objects_table writes this layout");
    return add_rows(l, row, plan->object_count);
}

static LLVMValueRef place_text(struct cc_lowering *l, LLVMValueRef instruction)
{
    struct cc_place place = cc_place_of(instruction);
    const char *slash = strrchr(place.file, '/');
    const char *text = place.line == 0
                           ? ""
                           : cc_format("%s:%d", slash != NULL ? slash + 1 : place.file, place.line);

    return add_bytes(l, text, strlen(text) + 1);
}

/* Rows with the layout of struct vgpu_lane_division. */
static LLVMValueRef divisions_table(struct cc_lowering *l, const struct cc_lane_plan *p)
{
    LLVMValueRef *row = cc_alloc((p->guarded.count + 1) * sizeof *row);

    _Static_assert(sizeof(struct vgpu_lane_division) == 16, "divisions_table writes this layout");
    for (size_t i = 0; i < p->guarded.count; i++) {
        LLVMValueRef field[] = {place_text(l, p->guarded.at[i]),
                                cc_number(l, p->counted_count + i, 64)};
        row[i] = LLVMConstStructInContext(l->context, field, 2, 0);
    }
    return add_rows(l, row, p->guarded.count);
}

#define ADD_ROWS(l, row, count) add_bytes(l, row, (count) * sizeof *(row))

static LLVMValueRef address_or_null(struct cc_lowering *l, LLVMValueRef function)
{
    LLVMTypeRef pointer = cc_byte_pointer(l, 0);

    return function != NULL ? LLVMConstPointerCast(function, pointer) : LLVMConstNull(pointer);
}

/* Has the layout of struct vgpu_lanes. */
LLVMValueRef cc_lanes_table(struct cc_lowering *l, const struct cc_lane_plan *p,
                            LLVMValueRef const run[3])
{
    LLVMValueRef field[] = {address_or_null(l, run[0]),
                            address_or_null(l, run[1]),
                            address_or_null(l, run[2]),
                            ADD_ROWS(l, p->step, p->step_count),
                            ADD_ROWS(l, p->demand, p->demand_count),
                            ADD_ROWS(l, p->access, p->access_count),
                            ADD_ROWS(l, p->shared, p->shared_count),
                            ADD_ROWS(l, p->apart, p->apart_count),
                            objects_table(l, p),
                            divisions_table(l, p),
                            cc_number(l, p->step_count, 32),
                            cc_number(l, p->demand_count, 32),
                            cc_number(l, p->access_count, 32),
                            cc_number(l, p->counted_count + p->guarded.count, 32),
                            cc_number(l, p->shared_count, 32),
                            cc_number(l, p->apart_count, 32),
                            cc_number(l, p->object_count, 32),
                            cc_number(l, p->guarded.count, 32)};
    _Static_assert(sizeof(struct vgpu_lanes) == 112, "lanes_table writes this layout");
    LLVMValueRef row = LLVMConstStructInContext(l->context, field, sizeof field / sizeof *field, 0);
    LLVMValueRef global = LLVMAddGlobal(l->module, LLVMTypeOf(row), "");

    LLVMSetInitializer(global, row);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVM_LINKAGE_PRIVATE);
    return LLVMConstPointerCast(global, cc_byte_pointer(l, 0));
}
