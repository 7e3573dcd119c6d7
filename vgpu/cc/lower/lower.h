/* SPDX-License-Identifier: MIT
 * lower.h: device code as Clang compiles it for GPUs (LLVM's bitcode for nvptx64) becomes an object
 * for this machine's processor, which is linked to a device image (image.h).
 */
#ifndef VGPU_CC_LOWER_H
#define VGPU_CC_LOWER_H

#include "add_lanes.h"
#include "lowering.h"
#include "module.h"

/* ---- its parts, a file each ---- */

/* lower_kernel.c: finds the kernels. Before anything else: the marks are Clang's. */
bool cc_find_kernels(struct cc_lowering *l);
/* Adds the entry of each kernel and the tables of image.h. */
void cc_add_tables(struct cc_lowering *l);
/* In the optimized module: the kernel's fast form, a table, or why it has none. */
cc_set_lanes cc_set_kernel_lanes;
/* Names a file of our own headers, for what reads debug information (vgpu/common/dwarf_lines.c). */
void cc_add_headers(struct cc_lowering *l, const char *file);

/* lower_rules.c: what nvcc refuses. */
bool cc_check_rules(struct cc_lowering *l);

/* text_rules.c: what only the source shows. */
void cc_check_text(const struct cc_lowering *l);

/* lower_link.c: reads the files and links them to one module. */
bool cc_read_bitcode(struct cc_lowering *l, const struct cc_bitcode *file, size_t count);

/* lower_uses.c: wherever the function names the variable, it gets the pointer that `ask` makes at
 * the function's start (of the variable's own type). False: it does not name it. */
typedef LLVMValueRef cc_ask(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                            unsigned id);
bool cc_replace_in(struct cc_lowering *l, LLVMValueRef variable, LLVMValueRef function, cc_ask *ask,
                   unsigned id);

/* Deletes the variable. False: something still names it. */
bool cc_delete_unused(LLVMValueRef variable);

/* lower_managed.c: __managed__ variables become memory whose address the image is told. */
#define CC_MANAGED_SECTION "vgpu_managed" /* vgpu/include/vgpu/attributes.h */
#define CC_PLACE_PREFIX "vgpu_place:"     /* of the names of what the optimizer is to leave whole */
bool cc_is_managed(LLVMValueRef global);
bool cc_lower_managed(struct cc_lowering *l);

/* lower_shared.c: __shared__ variables become memory of the block. */
bool cc_lower_shared(struct cc_lowering *l);

/* lower_globals.c: the other variables come into the one address space that there is. */
bool cc_lower_globals(struct cc_lowering *l);

/* lower_debug.c: -G: what is told debuggers. In this function the __shared__ variable is what the
 * pointer, which was just made, points to. */
void cc_tell_shared(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                    LLVMValueRef pointer);
/* The variable has become another one. */
void cc_tell_global(struct cc_lowering *l, LLVMValueRef old, LLVMValueRef global);
/* All has been told. */
void cc_end_info(struct cc_lowering *l);

/* lower_reports.c: names that only vgpu-exec's reports may have; what LLVM has of its own. */
void cc_check_reports(struct cc_lowering *l);
void cc_check_intrinsics(struct cc_lowering *l);
/* Reports the accesses that ThreadSanitizer's pass will not. */
void cc_report_rest(struct cc_lowering *l);

/* lower_guards.c: device code runs and reaches only what vgpu-exec looks at. */
/* In the optimized module; false: an access cannot be reported, which was told. */
bool cc_guard_module(struct cc_lowering *l);
/* -check-indices: what ThreadSanitizer's pass has left out stays within its variables. */
void cc_guard_variables(struct cc_lowering *l);
/* Where the address is among the operands of what accesses memory; -1: it does not. */
int cc_address_operand(LLVMValueRef instruction);
/* Is it of a local variable or a constant, to which no access is reported? */
bool cc_is_unreported(LLVMValueRef address);

/* lower_copies.c: copies of 16 aligned bytes become one access. */
void cc_lower_copies(struct cc_lowering *l);

/* lower_check.c: what is left undefined must be offered by vgpu-exec. */
bool cc_check_module(struct cc_lowering *l);

#endif
