/* SPDX-License-Identifier: MIT
 * host_variables.c: __device__ variables in host code. For the host's compiler they are variables
 * of the same name; reading or writing them compiles, but is almost always a mistake. Taking their
 * addresses, as for cudaMemcpyToSymbol and similar functions, is correct.
 */
#include <string.h>

#include "diag.h"
#include "lower.h"
#include "names.h"
#include "proc.h"

static bool is_access(LLVMValueRef user, LLVMValueRef address)
{
    int op = LLVMGetInstructionOpcode(user);

    return op == LLVM_OP_LOAD || (op == LLVM_OP_STORE && LLVMGetOperand(user, 1) == address);
}

/* Warns where the variable, or a part of it, is read or written. `value`: its address. */
static void warn_of_uses(LLVMValueRef value, const char *name)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool is_instruction = LLVMIsAInstruction(user) != NULL;
        bool is_part = is_instruction ? LLVMGetInstructionOpcode(user) == LLVM_OP_GEP
                                      : LLVMIsAConstantExpr(user) != NULL &&
                                            (LLVMGetConstOpcode(user) == LLVM_OP_GEP ||
                                             LLVMGetConstOpcode(user) == LLVM_OP_BIT_CAST);
        if (is_instruction && is_access(user, value))
            cc_warning(cc_place_of(user),
                       "__device__ variable '%s' is used in host code, where it is only a name; "
                       "copy it with cudaMemcpyFromSymbol or cudaMemcpyToSymbol",
                       name);
        else if (is_part)
            warn_of_uses(user, name);
    }
}

bool cc_check_host_variables(int release, const struct cc_list *compile, const char *bitcode,
                             const struct cc_device_code *code)
{
    struct cc_lowering l;

    if (cc_run(*compile) != 0 || !cc_read_host(release, bitcode, &l))
        return false;
    for (size_t i = 0; i < code->variable_count; i++) {
        LLVMValueRef variable = LLVMGetNamedGlobal(l.module, code->variable[i].symbol);
        const char *qualified;
        cc_plain_name(code->variable[i].symbol, &qualified);
        if (variable != NULL)
            warn_of_uses(variable, qualified);
    }
    return true;
}
