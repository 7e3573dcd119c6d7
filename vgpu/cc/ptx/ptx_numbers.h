/* SPDX-License-Identifier: MIT
 * ptx_numbers.h: integers and floating-point numbers as LLVM values.
 */
#ifndef VGPU_CC_PTX_NUMBERS_H
#define VGPU_CC_PTX_NUMBERS_H

#include "image.h"
#include "ptx.h"

struct cc_ptx_modes { /* .rn, .rzi, .ftz ... */
    int round;        /* as VGPU_ROUND_*; .rn: 0 */
    bool rounds, to_integer, ftz, sat, satfinite, nan, relu;
    bool xorsign; /* .xorsign.abs */
    bool oob;
};

/* Reads the qualifiers before the last `types`; false: another one. */
bool cc_ptx_modes(const struct cc_ptx *in, int types, struct cc_ptx_modes *modes);

LLVMTypeRef cc_ptx_float_type(struct cc_ptx_statement *s, unsigned bits);
LLVMValueRef cc_ptx_as_float(struct cc_ptx_statement *s, LLVMValueRef bits);
/* An f32 or f64 as an integer. */
LLVMValueRef cc_ptx_float_bits(struct cc_ptx_statement *s, LLVMValueRef value);
LLVMValueRef cc_ptx_half_flushed(struct cc_ptx_statement *s, LLVMValueRef bits, char kind);
LLVMValueRef cc_ptx_flushed(struct cc_ptx_statement *s, LLVMValueRef value);
/* .relu: at least +0, also of -0; a NaN stays. */
LLVMValueRef cc_ptx_not_negative(struct cc_ptx_statement *s, LLVMValueRef value);
LLVMValueRef cc_ptx_saturated(struct cc_ptx_statement *s, LLVMValueRef value);
/* An f32 or f64 as a number of 16 or 8 bits: its bits, in 16. */
LLVMValueRef cc_ptx_narrowed(struct cc_ptx_statement *s, LLVMValueRef value, enum vgpu_narrow to,
                             int round);
/* f16 ('F') and bf16 ('G'): bits to f32, and f32 or f64 to bits. */
LLVMValueRef cc_ptx_from_half(struct cc_ptx_statement *s, LLVMValueRef bits, char kind);
LLVMValueRef cc_ptx_to_half(struct cc_ptx_statement *s, LLVMValueRef value, char kind, int round);

/* cvt of e4m3x2 and e5m2x2. */
enum cc_ptx_known cc_ptx_convert_fp8(struct cc_ptx_statement *s, const struct cc_ptx *in);

#endif
