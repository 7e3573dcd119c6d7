/* SPDX-License-Identifier: MIT
 * ptx_body.h: the body of a PTX function, while it is read.
 */
#ifndef VGPU_CC_PTX_BODY_H
#define VGPU_CC_PTX_BODY_H

#include "ptx_module.h"

enum { CC_PTX_DEPTH = 32 }; /* of braces */

struct cc_ptx_label {
    const char *name; /* null: out of scope */
    LLVMBasicBlockRef block;
    int depth; /* of the braces around it */
    bool defined;
};

struct cc_ptx_table { /* .branchtargets or .callprototype */
    const char *name;
    struct cc_list targets;
    struct cc_ptx_signature prototype;
};

struct cc_ptx_body {
    struct cc_ptx_module *m;
    const struct cc_ptx_signature *signature;
    struct cc_ptx_statement s;
    struct cc_place place; /* of the current statement, in the PTX file */
    LLVMMetadataRef info;  /* the function's */
    bool has_loc;
    LLVMBasicBlockRef first, start;
    LLVMValueRef result; /* where the result is stored; null: none, or in a register */
    struct cc_ptx_label *label;
    size_t labels, label_room;
    struct cc_ptx_table *table;
    size_t tables, table_room;
    size_t scope[CC_PTX_DEPTH]; /* registers outside of each pair of braces */
    int depth;
};

/* ---- ptx_function.c ---- */

/* The block of a label, which may follow later. */
LLVMBasicBlockRef cc_ptx_target(struct cc_ptx_body *body, const char *name);

/* ---- ptx_control.c ---- */

/* bra, brx.idx, call, ret, exit */
enum cc_ptx_known cc_ptx_control(struct cc_ptx_body *body, const struct cc_ptx *in);
void cc_ptx_return(struct cc_ptx_body *body);

#endif
