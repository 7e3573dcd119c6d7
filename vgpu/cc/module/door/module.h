/* SPDX-License-Identifier: MIT
 * module.h: the module of device code that is being lowered, and helpers for its values.
 *
 * Clang's CUDA mode for nvptx64 fits well: a kernel has one LLVM parameter for each CUDA parameter
 * (structures by value as `byval`), __shared__ variables are in address space 3, __device__ and
 * __constant__ ones in 1 and 4, inline PTX is a string. Sizes and layouts are those of x86-64 and
 * AArch64, as CUDA requires.
 */
#ifndef VGPU_CC_MODULE_H
#define VGPU_CC_MODULE_H

#include "device_code.h"
#include "diag.h"
#include "llvm.h"

/* A module that is being lowered. */
struct cc_lowering {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    LLVMTargetDataRef layout; /* this machine's */
    const char *source;       /* the (first) file's name, for keys */
    bool linked;              /* linked from several files: -rdc=true */
    bool no_lambdas, checks_indices, debug, fast_math;
    struct cc_device_code *code;
    LLVMDIBuilderRef info; /* debug information; null: not needed yet */
    LLVMMetadataRef unit;
};

/* ---- values.c ---- */

const char *cc_value_name(LLVMValueRef value);
LLVMTypeRef cc_int_type(const struct cc_lowering *l, unsigned bits);
LLVMTypeRef cc_byte_pointer(const struct cc_lowering *l, unsigned space);
LLVMValueRef cc_number(const struct cc_lowering *l, uint64_t value, unsigned bits);
LLVMBasicBlockRef cc_add_block(const struct cc_lowering *l, LLVMValueRef function);

typedef void cc_step(struct cc_lowering *l, LLVMValueRef instruction);
void cc_for_instructions(struct cc_lowering *l, cc_step *does);

/* The function of that name, declared if necessary. */
LLVMValueRef cc_declare(struct cc_lowering *l, const char *name, LLVMTypeRef type);

/* The source location of the instruction (or function). */
struct cc_place cc_place_of(LLVMValueRef value);

/* The size of the load, store or atomic operation. */
uint64_t cc_accessed_bytes(struct cc_lowering *l, LLVMValueRef instruction);

bool cc_run_passes(struct cc_lowering *l, const char *passes);

/* Prefix of the names of places where the address of a __managed__ variable is stored, and nothing
 * else. The optimizer must keep them. */
#define CC_PLACE_PREFIX "vgpu_place:"

/* indices.c: declares threadIdx and the like as external, defined by vgpu-exec. */
void cc_declare_indices(LLVMModuleRef module);
/* Reads of them are not reported. */
void cc_hide_indices(struct cc_lowering *l);

/* Which of threadIdx.x, .y, .z, blockIdx.x ... (enum vgpu_lane_index) is loaded; -1: none. */
int cc_index_read(struct cc_lowering *l, LLVMValueRef load);

#endif
