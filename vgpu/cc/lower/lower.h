/* SPDX-License-Identifier: MIT
 * lower.h: lowers device code as Clang compiles it for GPUs (LLVM's bitcode for nvptx64) to an
 * object for this machine's processor, which is linked to a device image (image.h).
 */
#ifndef VGPU_CC_LOWER_H
#define VGPU_CC_LOWER_H

#include "add_lanes.h"
#include "lowering.h"
#include "module.h"

/* ---- parts, one file each ---- */

/* lower_kernel.c: finds the kernels. Runs first, since it reads Clang's annotations. */
bool cc_find_kernels(struct cc_lowering *l);
/* Adds the entry of each kernel and the tables of image.h. */
void cc_add_tables(struct cc_lowering *l);
/* In the optimized module: sets the kernel's fast form: a table, or the reason why it has none. */
cc_set_lanes cc_set_kernel_lanes;
/* Notes that the kernel's blocks may run in any order. */
void cc_set_any_order(struct cc_lowering *l, size_t kernel);
/* The same, if no parameter of one set points to the same allocation as one of the other. */
void cc_set_sums(struct cc_lowering *l, size_t kernel, uint64_t summed, uint64_t others);
/* Records a file of our own headers, for readers of debug information
 * (vgpu/common/dwarf_lines.c). */
void cc_add_headers(struct cc_lowering *l, const char *file);

/* lower_rules.c: rejects what nvcc rejects. */
bool cc_check_rules(struct cc_lowering *l);

/* text_rules.c: rules that can only be checked in the source. */
void cc_check_text(const struct cc_lowering *l);

/* lower_link.c: reads the files and links them to one module. */
bool cc_read_bitcode(struct cc_lowering *l, const struct cc_bitcode *file, size_t count);
/* The same for a file of the host's bitcode. */
bool cc_read_host(int release, const char *bitcode, struct cc_lowering *l);

/* lower_uses.c: replaces the variable in the function by the pointer that `ask` computes at the
 * function's start (of the variable's own type). False: the function does not use it. */
typedef LLVMValueRef cc_ask(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                            unsigned id);
bool cc_replace_in(struct cc_lowering *l, LLVMValueRef variable, LLVMValueRef function, cc_ask *ask,
                   unsigned id);

/* Deletes the variable. False: it is still in use. */
bool cc_delete_unused(LLVMValueRef variable);

/* lower_fast.c: -use_fast_math */
void cc_use_fast_functions(struct cc_lowering *l);

/* lower_managed.c: replaces __managed__ variables by memory whose address is stored in the
 * image. */
#define CC_MANAGED_SECTION "vgpu_managed" /* vgpu/include/vgpu/attributes.h */
bool cc_is_managed(LLVMValueRef global);
bool cc_lower_managed(struct cc_lowering *l);

/* lower_shared.c: replaces __shared__ variables by memory of the block. */
bool cc_lower_shared(struct cc_lowering *l);

/* lower_globals.c: moves the other variables to the single address space. */
bool cc_lower_globals(struct cc_lowering *l);

/* lower_debug.c: -G: debug information. In this function `pointer`, which was just built, points to
 * the __shared__ variable. */
void cc_tell_shared(struct cc_lowering *l, LLVMBuilderRef b, LLVMValueRef variable,
                    LLVMValueRef pointer);
/* The variable was replaced by `global`. */
void cc_tell_global(struct cc_lowering *l, LLVMValueRef old, LLVMValueRef global);
/* Ends the debug information. */
void cc_end_info(struct cc_lowering *l);

/* lower_reports.c: rejects names that only vgpu-exec's callbacks may have; LLVM's own functions. */
void cc_check_reports(struct cc_lowering *l);
void cc_check_intrinsics(struct cc_lowering *l);
/* Reports the accesses that ThreadSanitizer's pass omits. */
void cc_report_rest(struct cc_lowering *l);

/* lower_guards.c: device code runs and accesses only what vgpu-exec checks. */
/* In the optimized module; false: an access cannot be reported, which is an error. */
bool cc_guard_module(struct cc_lowering *l);
/* -check-indices: checks that accesses which ThreadSanitizer's pass omits stay within their
 * variables. */
void cc_guard_variables(struct cc_lowering *l);
/* -check-indices: LLVM's SafeStack, for which set_functions() sets the attribute. */
bool cc_has_two_stacks(const struct cc_lowering *l);
void cc_declare_stack(struct cc_lowering *l);
/* Index of the address among the operands of an instruction that accesses memory; -1: it does
 * not. */
int cc_address_operand(LLVMValueRef instruction);
/* Whether the address is that of a local variable or a constant, to which accesses are not
 * reported. */
bool cc_is_unreported(LLVMValueRef address);

/* lower_copies.c: turns copies of 16 aligned bytes into one access. */
void cc_lower_copies(struct cc_lowering *l);

/* lower_work.c: counts what the careful form's instructions would take on a GPU. */
void cc_count_work(struct cc_lowering *l);
/* Whether the function is the careful form's, with a body. */
bool cc_is_careful(LLVMValueRef function);

/* lower_sweeps.c: in the careful form, counts and checks the accesses of some loops together. Runs
 * behind cc_count_work(). */
void cc_join_sweeps(struct cc_lowering *l);

/* lower_order.c: in the module with all its callbacks: finds the kernels whose blocks cannot tell
 * in which order they run. */
void cc_find_order(struct cc_lowering *l);

/* lower_early.c: in the module with all its callbacks: tells vgpu-exec of stores that may take
 * effect before a load in front of them. */
void cc_note_early(struct cc_lowering *l);

/* emit_object.c: writes the module's code to the file. False: an error was reported. */
bool cc_emit_object(struct cc_lowering *l, const char *object);

/* lower_check.c: checks that vgpu-exec defines all undefined symbols. */
bool cc_check_module(struct cc_lowering *l);
/* The first instruction that uses the value; null: there is none. */
LLVMValueRef cc_first_user(LLVMValueRef value);

#endif
