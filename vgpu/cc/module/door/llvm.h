/* SPDX-License-Identifier: MIT
 * llvm.h: the functions of LLVM's C interface (llvm-c/) that vgpu-cc uses. They are taken from the
 * shared library that Clang itself uses, when vgpu-cc runs: nothing of LLVM is needed to build
 * vgpu-cc, and one vgpu-cc works with every release from 14 on. Their contracts are LLVM's:
 * https://llvm.org/doxygen/group__LLVMC.html
 */
#ifndef VGPU_CC_LLVM_H
#define VGPU_CC_LLVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int LLVMBool;
typedef struct LLVMOpaqueContext *LLVMContextRef;
typedef struct LLVMOpaqueModule *LLVMModuleRef;
typedef struct LLVMOpaqueType *LLVMTypeRef;
typedef struct LLVMOpaqueValue *LLVMValueRef;
typedef struct LLVMOpaqueBasicBlock *LLVMBasicBlockRef;
typedef struct LLVMOpaqueBuilder *LLVMBuilderRef;
typedef struct LLVMOpaqueUse *LLVMUseRef;
typedef struct LLVMOpaqueMemoryBuffer *LLVMMemoryBufferRef;
typedef struct LLVMOpaqueMetadata *LLVMMetadataRef;
typedef struct LLVMOpaqueValueMetadataEntry LLVMValueMetadataEntry;
typedef struct LLVMOpaqueDIBuilder *LLVMDIBuilderRef;
typedef struct LLVMOpaqueAttributeRef *LLVMAttributeRef;
typedef struct LLVMTarget *LLVMTargetRef;
typedef struct LLVMOpaqueTargetMachine *LLVMTargetMachineRef;
typedef struct LLVMOpaqueTargetData *LLVMTargetDataRef;
typedef struct LLVMOpaquePassBuilderOptions *LLVMPassBuilderOptionsRef;
typedef struct LLVMOpaqueError *LLVMErrorRef;
typedef struct LLVMOpaqueDiagnosticInfo *LLVMDiagnosticInfoRef;
typedef void (*LLVMDiagnosticHandler)(LLVMDiagnosticInfoRef, void *);

/* Values of LLVM's enumerations, which never change. */
enum {
    LLVM_OP_RET = 1,
    LLVM_OP_BR = 2,
    LLVM_OP_ADD = 8,
    LLVM_OP_FADD = 9,
    LLVM_OP_SUB = 10,
    LLVM_OP_FSUB = 11,
    LLVM_OP_MULTIPLY = 12,
    LLVM_OP_FMUL = 13,
    LLVM_OP_UDIV = 14,
    LLVM_OP_SDIV = 15,
    LLVM_OP_FDIV = 16,
    LLVM_OP_UREM = 17,
    LLVM_OP_SREM = 18,
    LLVM_OP_FREM = 19,
    LLVM_OP_SHL = 20,
    LLVM_OP_LSHR = 21,
    LLVM_OP_ASHR = 22,
    LLVM_OP_AND = 23,
    LLVM_OP_OR = 24,
    LLVM_OP_XOR = 25,
    LLVM_OP_GEP = 29,
    LLVM_OP_TRUNC = 30,
    LLVM_OP_ZEXT = 31,
    LLVM_OP_SEXT = 32,
    LLVM_OP_FP_TO_UNSIGNED = 33,
    LLVM_OP_FP_TO_SIGNED = 34,
    LLVM_OP_UNSIGNED_TO_FP = 35,
    LLVM_OP_SIGNED_TO_FP = 36,
    LLVM_OP_FP_TRUNC = 37,
    LLVM_OP_FP_EXTEND = 38,
    LLVM_OP_PTR_TO_INT = 39,
    LLVM_OP_INT_TO_PTR = 40,
    LLVM_OP_BIT_CAST = 41,
    LLVM_OP_COMPARE = 42, /* of integers and pointers */
    LLVM_OP_FCOMPARE = 43,
    LLVM_OP_PHI = 44,
    LLVM_OP_SELECT = 46,
    LLVM_OP_FENCE = 55,
    LLVM_OP_ADDR_SPACE_CAST = 60,
    LLVM_OP_FREEZE = 68
};
enum { LLVM_OP_ALLOCA = 26, LLVM_OP_LOAD = 27, LLVM_OP_STORE = 28, LLVM_OP_CALL = 45 };
enum { LLVM_OP_INDIRECT_BRANCH = 4, LLVM_OP_INVOKE = 5, LLVM_OP_CALL_BRANCH = 67 };
enum { LLVM_OP_COMPARE_EXCHANGE = 56, LLVM_OP_READ_MODIFY_WRITE = 57 };
enum { LLVM_IS_NOT_EQUAL = 33 };
enum { LLVM_LINKAGE_EXTERNAL = 0, LLVM_LINKAGE_INTERNAL = 8, LLVM_LINKAGE_PRIVATE = 9 };
enum { LLVM_VISIBILITY_DEFAULT = 0, LLVM_VISIBILITY_HIDDEN = 1 };
enum {
    LLVM_TYPE_FLOAT = 2,
    LLVM_TYPE_DOUBLE = 3,
    LLVM_TYPE_INTEGER = 8,
    LLVM_TYPE_STRUCT = 10,
    LLVM_TYPE_ARRAY = 11,
    LLVM_TYPE_POINTER = 12,
    LLVM_TYPE_VECTOR = 13
};
enum {
    LLVM_CODEGEN_NONE = 0,
    LLVM_CODEGEN_DEFAULT = 2,
    LLVM_RELOC_PIC = 2,
    LLVM_CODE_MODEL_DEFAULT = 0
};
enum { LLVM_OBJECT_FILE = 1 };
enum { LLVM_ATTRIBUTE_FUNCTION = -1 };
enum {
    LLVM_ORDER_NONE = 0,
    LLVM_ORDER_MONOTONIC = 2,
    LLVM_ORDER_ACQUIRE = 4,
    LLVM_ORDER_RELEASE = 5,
    LLVM_ORDER_ACQ_REL = 6,
    LLVM_ORDER_SEQ_CST = 7
};

/* X(result, name, (parameters)) */
#define CC_LLVM_CALLS(X)                                                                           \
    X(LLVMContextRef, LLVMContextCreate, (void))                                                   \
    X(void, LLVMContextSetDiagnosticHandler,                                                       \
      (LLVMContextRef c, LLVMDiagnosticHandler handler, void *data))                               \
    X(int, LLVMGetDiagInfoSeverity, (LLVMDiagnosticInfoRef info))                                  \
    X(char *, LLVMGetDiagInfoDescription, (LLVMDiagnosticInfoRef info))                            \
    X(LLVMMemoryBufferRef, LLVMCreateMemoryBufferWithMemoryRangeCopy,                              \
      (const char *data, size_t length, const char *name))                                         \
    X(LLVMBool, LLVMParseBitcodeInContext2,                                                        \
      (LLVMContextRef c, LLVMMemoryBufferRef buffer, LLVMModuleRef * module))                      \
    X(LLVMBool, LLVMLinkModules2, (LLVMModuleRef to, LLVMModuleRef from))                          \
    X(void, LLVMSetTarget, (LLVMModuleRef module, const char *triple))                             \
    X(void, LLVMSetDataLayout, (LLVMModuleRef module, const char *layout))                         \
    X(char *, LLVMPrintValueToString, (LLVMValueRef value))                                        \
    X(LLVMValueRef, LLVMGetFirstGlobal, (LLVMModuleRef module))                                    \
    X(LLVMValueRef, LLVMGetNextGlobal, (LLVMValueRef global))                                      \
    X(LLVMValueRef, LLVMGetNamedGlobal, (LLVMModuleRef module, const char *name))                  \
    X(LLVMValueRef, LLVMGetFirstFunction, (LLVMModuleRef module))                                  \
    X(LLVMValueRef, LLVMGetNextFunction, (LLVMValueRef function))                                  \
    X(LLVMValueRef, LLVMGetNamedFunction, (LLVMModuleRef module, const char *name))                \
    X(LLVMValueRef, LLVMAddFunction, (LLVMModuleRef module, const char *name, LLVMTypeRef type))   \
    X(LLVMValueRef, LLVMAddGlobal, (LLVMModuleRef module, LLVMTypeRef type, const char *name))     \
    X(LLVMValueRef, LLVMAddGlobalInAddressSpace,                                                   \
      (LLVMModuleRef module, LLVMTypeRef type, const char *name, unsigned space))                  \
    X(void, LLVMDeleteGlobal, (LLVMValueRef global))                                               \
    X(void, LLVMDeleteFunction, (LLVMValueRef function))                                           \
    X(LLVMTypeRef, LLVMGlobalGetValueType, (LLVMValueRef global))                                  \
    X(LLVMValueRef, LLVMGetInitializer, (LLVMValueRef global))                                     \
    X(void, LLVMSetInitializer, (LLVMValueRef global, LLVMValueRef value))                         \
    X(LLVMBool, LLVMIsDeclaration, (LLVMValueRef global))                                          \
    X(LLVMBool, LLVMIsGlobalConstant, (LLVMValueRef global))                                       \
    X(void, LLVMSetGlobalConstant, (LLVMValueRef global, LLVMBool constant))                       \
    X(LLVMBool, LLVMIsExternallyInitialized, (LLVMValueRef global))                                \
    X(void, LLVMSetExternallyInitialized, (LLVMValueRef global, LLVMBool is))                      \
    X(int, LLVMGetLinkage, (LLVMValueRef global))                                                  \
    X(void, LLVMSetLinkage, (LLVMValueRef global, int linkage))                                    \
    X(void, LLVMSetVisibility, (LLVMValueRef global, int visibility))                              \
    X(const char *, LLVMGetSection, (LLVMValueRef global))                                         \
    X(void, LLVMSetSection, (LLVMValueRef global, const char *section))                            \
    X(unsigned, LLVMGetAlignment, (LLVMValueRef value))                                            \
    X(void, LLVMSetAlignment, (LLVMValueRef value, unsigned bytes))                                \
    X(void, LLVMSetComdat, (LLVMValueRef value, void *comdat))                                     \
    X(void, LLVMSetFunctionCallConv, (LLVMValueRef function, unsigned convention))                 \
    X(unsigned, LLVMGetFunctionCallConv, (LLVMValueRef function))                                  \
    X(void, LLVMSetInstructionCallConv, (LLVMValueRef call, unsigned convention))                  \
    X(unsigned, LLVMGetIntrinsicID, (LLVMValueRef function))                                       \
    X(const char *, LLVMGetValueName2, (LLVMValueRef value, size_t * length))                      \
    X(void, LLVMSetValueName2, (LLVMValueRef value, const char *name, size_t length))              \
    X(unsigned, LLVMCountParams, (LLVMValueRef function))                                          \
    X(LLVMValueRef, LLVMGetParam, (LLVMValueRef function, unsigned index))                         \
    X(LLVMTypeRef, LLVMTypeOf, (LLVMValueRef value))                                               \
    X(int, LLVMGetTypeKind, (LLVMTypeRef type))                                                    \
    X(unsigned, LLVMGetIntTypeWidth, (LLVMTypeRef type))                                           \
    X(unsigned, LLVMGetPointerAddressSpace, (LLVMTypeRef type))                                    \
    X(LLVMTypeRef, LLVMGetElementType, (LLVMTypeRef type))                                         \
    X(LLVMTypeRef, LLVMPointerType, (LLVMTypeRef element, unsigned space))                         \
    X(LLVMTypeRef, LLVMArrayType, (LLVMTypeRef element, unsigned count))                           \
    X(LLVMTypeRef, LLVMVectorType, (LLVMTypeRef element, unsigned count))                          \
    X(LLVMTypeRef, LLVMIntTypeInContext, (LLVMContextRef c, unsigned bits))                        \
    X(LLVMTypeRef, LLVMVoidTypeInContext, (LLVMContextRef c))                                      \
    X(LLVMTypeRef, LLVMFloatTypeInContext, (LLVMContextRef context))                               \
    X(LLVMTypeRef, LLVMDoubleTypeInContext, (LLVMContextRef context))                              \
    X(LLVMTypeRef, LLVMFunctionType,                                                               \
      (LLVMTypeRef result, LLVMTypeRef * parameter, unsigned count, LLVMBool variadic))            \
    X(LLVMTypeRef, LLVMStructGetTypeAtIndex, (LLVMTypeRef type, unsigned index))                   \
    X(LLVMBool, LLVMIsFunctionVarArg, (LLVMTypeRef function))                                      \
    X(LLVMValueRef, LLVMConstInt, (LLVMTypeRef type, unsigned long long value, LLVMBool sign))     \
    X(LLVMValueRef, LLVMConstReal, (LLVMTypeRef type, double value))                               \
    X(LLVMValueRef, LLVMConstNull, (LLVMTypeRef type))                                             \
    X(LLVMValueRef, LLVMGetUndef, (LLVMTypeRef type))                                              \
    X(LLVMValueRef, LLVMConstStringInContext,                                                      \
      (LLVMContextRef c, const char *text, unsigned length, LLVMBool no_zero))                     \
    X(LLVMValueRef, LLVMConstStructInContext,                                                      \
      (LLVMContextRef c, LLVMValueRef * element, unsigned count, LLVMBool packed))                 \
    X(LLVMValueRef, LLVMConstArray, (LLVMTypeRef element, LLVMValueRef * value, unsigned count))   \
    X(LLVMValueRef, LLVMConstInBoundsGEP2,                                                         \
      (LLVMTypeRef type, LLVMValueRef from, LLVMValueRef * index, unsigned count))                 \
    X(LLVMValueRef, LLVMConstPointerCast, (LLVMValueRef value, LLVMTypeRef type))                  \
    X(LLVMValueRef, LLVMConstAddrSpaceCast, (LLVMValueRef value, LLVMTypeRef type))                \
    X(unsigned long long, LLVMConstIntGetZExtValue, (LLVMValueRef value))                          \
    X(int, LLVMGetConstOpcode, (LLVMValueRef value))                                               \
    X(LLVMValueRef, LLVMIsAConstantExpr, (LLVMValueRef value))                                     \
    X(LLVMValueRef, LLVMIsAGlobalValue, (LLVMValueRef value))                                      \
    X(LLVMValueRef, LLVMIsAConstant, (LLVMValueRef value))                                         \
    X(LLVMValueRef, LLVMIsAConstantInt, (LLVMValueRef value))                                      \
    X(LLVMValueRef, LLVMIsAInstruction, (LLVMValueRef value))                                      \
    X(LLVMValueRef, LLVMIsAPHINode, (LLVMValueRef value))                                          \
    X(LLVMValueRef, LLVMIsACallInst, (LLVMValueRef value))                                         \
    X(LLVMValueRef, LLVMIsAInlineAsm, (LLVMValueRef value))                                        \
    X(LLVMValueRef, LLVMIsAFunction, (LLVMValueRef value))                                         \
    X(LLVMValueRef, LLVMIsAGlobalVariable, (LLVMValueRef value))                                   \
    X(long long, LLVMConstIntGetSExtValue, (LLVMValueRef value))                                   \
    X(LLVMValueRef, LLVMIsAArgument, (LLVMValueRef value))                                         \
    X(unsigned, LLVMCountIncoming, (LLVMValueRef phi))                                             \
    X(LLVMValueRef, LLVMGetIncomingValue, (LLVMValueRef phi, unsigned index))                      \
    X(unsigned, LLVMGetNumSuccessors, (LLVMValueRef terminator))                                   \
    X(LLVMBasicBlockRef, LLVMGetSuccessor, (LLVMValueRef terminator, unsigned index))              \
    X(LLVMBool, LLVMGetVolatile, (LLVMValueRef access))                                            \
    X(int, LLVMGetOrdering, (LLVMValueRef access))                                                 \
    X(unsigned long long, LLVMOffsetOfElement,                                                     \
      (LLVMTargetDataRef layout, LLVMTypeRef type, unsigned element))                              \
    X(unsigned long long, LLVMSizeOfTypeInBits, (LLVMTargetDataRef layout, LLVMTypeRef type))      \
    X(LLVMValueRef, LLVMBuildPhi, (LLVMBuilderRef b, LLVMTypeRef type, const char *name))          \
    X(void, LLVMAddIncoming,                                                                       \
      (LLVMValueRef phi, LLVMValueRef * value, LLVMBasicBlockRef * from, unsigned count))          \
    X(LLVMValueRef, LLVMInstructionClone, (LLVMValueRef instruction))                              \
    X(void, LLVMSetSuccessor, (LLVMValueRef terminator, unsigned index, LLVMBasicBlockRef to))     \
    X(LLVMValueRef, LLVMBuildAlloca, (LLVMBuilderRef b, LLVMTypeRef type, const char *name))       \
    X(LLVMValueRef, LLVMBuildBr, (LLVMBuilderRef b, LLVMBasicBlockRef to))                         \
    X(LLVMValueRef, LLVMBuildCondBr,                                                               \
      (LLVMBuilderRef b, LLVMValueRef is, LLVMBasicBlockRef then, LLVMBasicBlockRef otherwise))    \
    X(LLVMUseRef, LLVMGetFirstUse, (LLVMValueRef value))                                           \
    X(LLVMUseRef, LLVMGetNextUse, (LLVMUseRef use))                                                \
    X(LLVMValueRef, LLVMGetUser, (LLVMUseRef use))                                                 \
    X(LLVMValueRef, LLVMGetOperand, (LLVMValueRef user, unsigned index))                           \
    X(void, LLVMSetOperand, (LLVMValueRef user, unsigned index, LLVMValueRef value))               \
    X(int, LLVMGetNumOperands, (LLVMValueRef user))                                                \
    X(void, LLVMReplaceAllUsesWith, (LLVMValueRef old, LLVMValueRef by))                           \
    X(LLVMBasicBlockRef, LLVMGetIncomingBlock, (LLVMValueRef phi, unsigned index))                 \
    X(LLVMBasicBlockRef, LLVMGetEntryBasicBlock, (LLVMValueRef function))                          \
    X(LLVMBasicBlockRef, LLVMGetFirstBasicBlock, (LLVMValueRef function))                          \
    X(LLVMBasicBlockRef, LLVMGetNextBasicBlock, (LLVMBasicBlockRef block))                         \
    X(LLVMValueRef, LLVMGetBasicBlockTerminator, (LLVMBasicBlockRef block))                        \
    X(LLVMValueRef, LLVMGetBasicBlockParent, (LLVMBasicBlockRef block))                            \
    X(LLVMBasicBlockRef, LLVMGetInstructionParent, (LLVMValueRef instruction))                     \
    X(LLVMBasicBlockRef, LLVMAppendBasicBlockInContext,                                            \
      (LLVMContextRef c, LLVMValueRef function, const char *name))                                 \
    X(LLVMValueRef, LLVMGetFirstInstruction, (LLVMBasicBlockRef block))                            \
    X(LLVMValueRef, LLVMGetNextInstruction, (LLVMValueRef instruction))                            \
    X(LLVMValueRef, LLVMGetPreviousInstruction, (LLVMValueRef instruction))                        \
    X(int, LLVMGetInstructionOpcode, (LLVMValueRef instruction))                                   \
    X(void, LLVMInstructionEraseFromParent, (LLVMValueRef instruction))                            \
    X(void, LLVMInstructionRemoveFromParent, (LLVMValueRef instruction))                           \
    X(void, LLVMInsertIntoBuilder, (LLVMBuilderRef b, LLVMValueRef instruction))                   \
    X(LLVMValueRef, LLVMGetCalledValue, (LLVMValueRef call))                                       \
    X(LLVMTypeRef, LLVMGetGEPSourceElementType, (LLVMValueRef gep))                                \
    X(LLVMTypeRef, LLVMGetAllocatedType, (LLVMValueRef alloca))                                    \
    X(LLVMBuilderRef, LLVMCreateBuilderInContext, (LLVMContextRef c))                              \
    X(void, LLVMPositionBuilderBefore, (LLVMBuilderRef b, LLVMValueRef instruction))               \
    X(void, LLVMPositionBuilderAtEnd, (LLVMBuilderRef b, LLVMBasicBlockRef block))                 \
    X(void, LLVMSetCurrentDebugLocation2, (LLVMBuilderRef b, LLVMMetadataRef location))            \
    X(LLVMMetadataRef, LLVMInstructionGetDebugLoc, (LLVMValueRef instruction))                     \
    X(LLVMValueRef, LLVMBuildCall2,                                                                \
      (LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef function, LLVMValueRef * argument,         \
       unsigned count, const char *name))                                                          \
    X(LLVMValueRef, LLVMBuildLoad2,                                                                \
      (LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef from, const char *name))                   \
    X(LLVMValueRef, LLVMBuildAlloca, (LLVMBuilderRef b, LLVMTypeRef type, const char *name))       \
    X(LLVMValueRef, LLVMBuildStore, (LLVMBuilderRef b, LLVMValueRef value, LLVMValueRef to))       \
    X(LLVMValueRef, LLVMBuildAtomicRMW,                                                            \
      (LLVMBuilderRef b, int op, LLVMValueRef to, LLVMValueRef value, int order, LLVMBool single)) \
    X(LLVMValueRef, LLVMBuildGEP2,                                                                 \
      (LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef from, LLVMValueRef * index,                \
       unsigned count, const char *name))                                                          \
    X(LLVMValueRef, LLVMBuildCast,                                                                 \
      (LLVMBuilderRef b, int op, LLVMValueRef value, LLVMTypeRef type, const char *name))          \
    X(LLVMValueRef, LLVMBuildBinOp,                                                                \
      (LLVMBuilderRef b, int op, LLVMValueRef left, LLVMValueRef right, const char *name))         \
    X(LLVMValueRef, LLVMBuildNSWAdd,                                                               \
      (LLVMBuilderRef b, LLVMValueRef left, LLVMValueRef right, const char *name))                 \
    X(LLVMValueRef, LLVMBuildIntCast2,                                                             \
      (LLVMBuilderRef b, LLVMValueRef value, LLVMTypeRef type, LLVMBool sign, const char *name))   \
    X(LLVMValueRef, LLVMBuildPointerCast,                                                          \
      (LLVMBuilderRef b, LLVMValueRef value, LLVMTypeRef type, const char *name))                  \
    X(LLVMValueRef, LLVMBuildTrunc,                                                                \
      (LLVMBuilderRef b, LLVMValueRef value, LLVMTypeRef type, const char *name))                  \
    X(LLVMValueRef, LLVMBuildInsertValue,                                                          \
      (LLVMBuilderRef b, LLVMValueRef to, LLVMValueRef value, unsigned index, const char *name))   \
    X(int, LLVMGetICmpPredicate, (LLVMValueRef compare))                                           \
    X(LLVMValueRef, LLVMBuildICmp,                                                                 \
      (LLVMBuilderRef b, int predicate, LLVMValueRef left, LLVMValueRef right, const char *name))  \
    X(LLVMValueRef, LLVMBuildSelect,                                                               \
      (LLVMBuilderRef b, LLVMValueRef is, LLVMValueRef then, LLVMValueRef otherwise,               \
       const char *name))                                                                          \
    X(LLVMValueRef, LLVMBuildRetVoid, (LLVMBuilderRef b))                                          \
    X(LLVMValueRef, LLVMBuildRet, (LLVMBuilderRef b, LLVMValueRef value))                          \
    X(int, LLVMWriteBitcodeToFile, (LLVMModuleRef module, const char *path))                       \
    X(LLVMModuleRef, LLVMModuleCreateWithNameInContext, (const char *name, LLVMContextRef c))      \
    X(LLVMBasicBlockRef, LLVMGetInsertBlock, (LLVMBuilderRef b))                                   \
    X(LLVMValueRef, LLVMBuildBr, (LLVMBuilderRef b, LLVMBasicBlockRef to))                         \
    X(LLVMValueRef, LLVMBuildCondBr,                                                               \
      (LLVMBuilderRef b, LLVMValueRef is, LLVMBasicBlockRef then, LLVMBasicBlockRef otherwise))    \
    X(LLVMValueRef, LLVMBuildSwitch,                                                               \
      (LLVMBuilderRef b, LLVMValueRef value, LLVMBasicBlockRef otherwise, unsigned count))         \
    X(void, LLVMAddCase, (LLVMValueRef to, LLVMValueRef value, LLVMBasicBlockRef block))           \
    X(LLVMValueRef, LLVMBuildUnreachable, (LLVMBuilderRef b))                                      \
    X(LLVMValueRef, LLVMBuildFCmp,                                                                 \
      (LLVMBuilderRef b, int predicate, LLVMValueRef left, LLVMValueRef right, const char *name))  \
    X(LLVMValueRef, LLVMBuildExtractElement,                                                       \
      (LLVMBuilderRef b, LLVMValueRef from, LLVMValueRef index, const char *name))                 \
    X(LLVMValueRef, LLVMBuildInsertElement,                                                        \
      (LLVMBuilderRef b, LLVMValueRef to, LLVMValueRef value, LLVMValueRef index,                  \
       const char *name))                                                                          \
    X(LLVMValueRef, LLVMConstAdd, (LLVMValueRef left, LLVMValueRef right))                         \
    X(LLVMValueRef, LLVMConstPtrToInt, (LLVMValueRef value, LLVMTypeRef type))                     \
    X(unsigned, LLVMCountParamTypes, (LLVMTypeRef function))                                       \
    X(void, LLVMGetParamTypes, (LLVMTypeRef function, LLVMTypeRef * type))                         \
    X(LLVMAttributeRef, LLVMCreateTypeAttribute,                                                   \
      (LLVMContextRef c, unsigned kind, LLVMTypeRef type))                                         \
    X(LLVMValueRef, LLVMMDStringInContext, (LLVMContextRef c, const char *text, unsigned length))  \
    X(LLVMValueRef, LLVMMDNodeInContext, (LLVMContextRef c, LLVMValueRef * part, unsigned count))  \
    X(void, LLVMAddNamedMetadataOperand,                                                           \
      (LLVMModuleRef module, const char *name, LLVMValueRef node))                                 \
    X(void, LLVMAddModuleFlag,                                                                     \
      (LLVMModuleRef module, int behaviour, const char *name, size_t length,                       \
       LLVMMetadataRef value))                                                                     \
    X(void, LLVMSetSubprogram, (LLVMValueRef function, LLVMMetadataRef subprogram))                \
    X(LLVMMetadataRef, LLVMDIBuilderCreateFile,                                                    \
      (LLVMDIBuilderRef b, const char *name, size_t length, const char *folder,                    \
       size_t folder_length))                                                                      \
    X(LLVMMetadataRef, LLVMDIBuilderCreateSubroutineType,                                          \
      (LLVMDIBuilderRef b, LLVMMetadataRef file, LLVMMetadataRef * type, unsigned count,           \
       int flags))                                                                                 \
    X(LLVMMetadataRef, LLVMDIBuilderCreateFunction,                                                \
      (LLVMDIBuilderRef b, LLVMMetadataRef scope, const char *name, size_t length,                 \
       const char *linkage, size_t linkage_length, LLVMMetadataRef file, unsigned line,            \
       LLVMMetadataRef type, LLVMBool local, LLVMBool definition, unsigned scope_line, int flags,  \
       LLVMBool optimized))                                                                        \
    X(LLVMMetadataRef, LLVMDIBuilderCreateLexicalBlockFile,                                        \
      (LLVMDIBuilderRef b, LLVMMetadataRef scope, LLVMMetadataRef file, unsigned discriminator))   \
    X(void, LLVMSetVolatile, (LLVMValueRef access, LLVMBool is))                                   \
    X(void, LLVMSetOrdering, (LLVMValueRef access, int order))                                     \
    X(unsigned, LLVMGetEnumAttributeKindForName, (const char *name, size_t length))                \
    X(LLVMAttributeRef, LLVMCreateEnumAttribute,                                                   \
      (LLVMContextRef c, unsigned kind, uint64_t value))                                           \
    X(LLVMAttributeRef, LLVMGetStringAttributeAtIndex,                                             \
      (LLVMValueRef function, unsigned index, const char *name, unsigned length))                  \
    X(LLVMAttributeRef, LLVMCreateStringAttribute,                                                 \
      (LLVMContextRef c, const char *name, unsigned length, const char *value,                     \
       unsigned value_length))                                                                     \
    X(unsigned, LLVMGetAttributeCountAtIndex, (LLVMValueRef function, unsigned index))             \
    X(void, LLVMGetAttributesAtIndex,                                                              \
      (LLVMValueRef function, unsigned index, LLVMAttributeRef *attribute))                        \
    X(LLVMAttributeRef, LLVMGetEnumAttributeAtIndex,                                               \
      (LLVMValueRef function, unsigned index, unsigned kind))                                      \
    X(LLVMTypeRef, LLVMGetTypeAttributeValue, (LLVMAttributeRef attribute))                        \
    X(void, LLVMAddAttributeAtIndex,                                                               \
      (LLVMValueRef function, unsigned index, LLVMAttributeRef attribute))                         \
    X(void, LLVMAddCallSiteAttribute,                                                              \
      (LLVMValueRef call, unsigned index, LLVMAttributeRef attribute))                             \
    X(void, LLVMRemoveEnumAttributeAtIndex,                                                        \
      (LLVMValueRef function, unsigned index, unsigned kind))                                      \
    X(void, LLVMRemoveStringAttributeAtIndex,                                                      \
      (LLVMValueRef function, unsigned index, const char *name, unsigned length))                  \
    X(const char *, LLVMGetStringAttributeValue, (LLVMAttributeRef attribute, unsigned *length))   \
    X(LLVMAttributeRef, LLVMGetCallSiteEnumAttribute,                                              \
      (LLVMValueRef call, unsigned index, unsigned kind))                                          \
    X(uint64_t, LLVMGetEnumAttributeValue, (LLVMAttributeRef attribute))                           \
    X(unsigned, LLVMGetNamedMetadataNumOperands, (LLVMModuleRef module, const char *name))         \
    X(void, LLVMGetNamedMetadataOperands,                                                          \
      (LLVMModuleRef module, const char *name, LLVMValueRef *operand))                             \
    X(unsigned, LLVMGetMDNodeNumOperands, (LLVMValueRef node))                                     \
    X(void, LLVMGetMDNodeOperands, (LLVMValueRef node, LLVMValueRef * operand))                    \
    X(const char *, LLVMGetMDString, (LLVMValueRef node, unsigned *length))                        \
    X(LLVMMetadataRef, LLVMGetSubprogram, (LLVMValueRef function))                                 \
    X(unsigned, LLVMDISubprogramGetLine, (LLVMMetadataRef subprogram))                             \
    X(LLVMMetadataRef, LLVMDIScopeGetFile, (LLVMMetadataRef scope))                                \
    X(const char *, LLVMDIFileGetFilename, (LLVMMetadataRef file, unsigned *length))               \
    X(const char *, LLVMDIFileGetDirectory, (LLVMMetadataRef file, unsigned *length))              \
    X(unsigned, LLVMDILocationGetLine, (LLVMMetadataRef location))                                 \
    X(unsigned, LLVMDILocationGetColumn, (LLVMMetadataRef location))                               \
    X(LLVMMetadataRef, LLVMDILocationGetScope, (LLVMMetadataRef location))                         \
    X(unsigned, LLVMGetMDKindIDInContext, (LLVMContextRef c, const char *name, unsigned length))   \
    X(void, LLVMSetMetadata, (LLVMValueRef instruction, unsigned kind, LLVMValueRef node))         \
    X(LLVMValueMetadataEntry *, LLVMGlobalCopyAllMetadata, (LLVMValueRef global, size_t * count))  \
    X(unsigned, LLVMValueMetadataEntriesGetKind, (LLVMValueMetadataEntry * all, unsigned index))   \
    X(LLVMMetadataRef, LLVMValueMetadataEntriesGetMetadata,                                        \
      (LLVMValueMetadataEntry * all, unsigned index))                                              \
    X(void, LLVMGlobalSetMetadata, (LLVMValueRef global, unsigned kind, LLVMMetadataRef node))     \
    X(LLVMValueRef, LLVMMetadataAsValue, (LLVMContextRef c, LLVMMetadataRef node))                 \
    X(LLVMMetadataRef, LLVMValueAsMetadata, (LLVMValueRef value))                                  \
    X(LLVMMetadataRef, LLVMDIGlobalVariableExpressionGetVariable, (LLVMMetadataRef node))          \
    X(LLVMMetadataRef, LLVMDIVariableGetFile, (LLVMMetadataRef variable))                          \
    X(LLVMMetadataRef, LLVMDIVariableGetScope, (LLVMMetadataRef variable))                         \
    X(unsigned, LLVMDIVariableGetLine, (LLVMMetadataRef variable))                                 \
    X(LLVMDIBuilderRef, LLVMCreateDIBuilder, (LLVMModuleRef module))                               \
    X(void, LLVMDIBuilderFinalize, (LLVMDIBuilderRef b))                                           \
    X(LLVMMetadataRef, LLVMDIBuilderCreateCompileUnit,                                             \
      (LLVMDIBuilderRef b, int language, LLVMMetadataRef file, const char *producer,               \
       size_t producer_length, LLVMBool optimized, const char *flags, size_t flags_length,         \
       unsigned version, const char *split, size_t split_length, int kind, unsigned id,            \
       LLVMBool inlining, LLVMBool profiling, const char *root, size_t root_length,                \
       const char *sdk, size_t sdk_length))                                                        \
    X(LLVMMetadataRef, LLVMDIBuilderCreateBasicType,                                               \
      (LLVMDIBuilderRef b, const char *name, size_t length, uint64_t bits, unsigned encoding,      \
       int flags))                                                                                 \
    X(LLVMMetadataRef, LLVMDIBuilderCreatePointerType,                                             \
      (LLVMDIBuilderRef b, LLVMMetadataRef to, uint64_t bits, uint32_t align, unsigned space,      \
       const char *name, size_t length))                                                           \
    X(LLVMMetadataRef, LLVMDIBuilderCreateExpression,                                              \
      (LLVMDIBuilderRef b, uint64_t * op, size_t count))                                           \
    X(LLVMMetadataRef, LLVMDIBuilderCreateAutoVariable,                                            \
      (LLVMDIBuilderRef b, LLVMMetadataRef scope, const char *name, size_t length,                 \
       LLVMMetadataRef file, unsigned line, LLVMMetadataRef type, LLVMBool keep, int flags,        \
       uint32_t align))                                                                            \
    X(LLVMMetadataRef, LLVMDIBuilderCreateGlobalVariableExpression,                                \
      (LLVMDIBuilderRef b, LLVMMetadataRef scope, const char *name, size_t length,                 \
       const char *linkage, size_t linkage_length, LLVMMetadataRef file, unsigned line,            \
       LLVMMetadataRef type, LLVMBool local, LLVMMetadataRef expression,                           \
       LLVMMetadataRef declaration, uint32_t align))                                               \
    X(LLVMMetadataRef, LLVMDIBuilderCreateDebugLocation,                                           \
      (LLVMContextRef c, unsigned line, unsigned column, LLVMMetadataRef scope,                    \
       LLVMMetadataRef inlined))                                                                   \
    X(void *, LLVMDIBuilderInsertDeclareBefore,                                                    \
      (LLVMDIBuilderRef b, LLVMValueRef storage, LLVMMetadataRef variable,                         \
       LLVMMetadataRef expression, LLVMMetadataRef location, LLVMValueRef instruction))            \
    X(LLVMAttributeRef, LLVMCreateStringAttribute,                                                 \
      (LLVMContextRef c, const char *name, unsigned length, const char *value,                     \
       unsigned value_length))                                                                     \
    X(LLVMValueRef, LLVMBuildAlloca, (LLVMBuilderRef b, LLVMTypeRef type, const char *name))       \
    X(int, LLVMGetMetadataKind, (LLVMMetadataRef node))                                            \
    X(LLVMMetadataRef, LLVMDILocationGetInlinedAt, (LLVMMetadataRef location))                     \
    X(char *, LLVMGetDefaultTargetTriple, (void))                                                  \
    X(LLVMBool, LLVMGetTargetFromTriple,                                                           \
      (const char *triple, LLVMTargetRef *target, char **message))                                 \
    X(LLVMTargetMachineRef, LLVMCreateTargetMachine,                                               \
      (LLVMTargetRef target, const char *triple, const char *cpu, const char *features, int level, \
       int reloc, int model))                                                                      \
    X(LLVMTargetDataRef, LLVMCreateTargetDataLayout, (LLVMTargetMachineRef machine))               \
    X(char *, LLVMCopyStringRepOfTargetData, (LLVMTargetDataRef layout))                           \
    X(unsigned long long, LLVMABISizeOfType, (LLVMTargetDataRef layout, LLVMTypeRef type))         \
    X(unsigned long long, LLVMStoreSizeOfType, (LLVMTargetDataRef layout, LLVMTypeRef type))       \
    X(unsigned, LLVMABIAlignmentOfType, (LLVMTargetDataRef layout, LLVMTypeRef type))              \
    X(LLVMBool, LLVMTargetMachineEmitToFile,                                                       \
      (LLVMTargetMachineRef machine, LLVMModuleRef module, char *path, int kind, char **message))  \
    X(LLVMPassBuilderOptionsRef, LLVMCreatePassBuilderOptions, (void))                             \
    X(LLVMErrorRef, LLVMRunPasses,                                                                 \
      (LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,                     \
       LLVMPassBuilderOptionsRef options))                                                         \
    X(char *, LLVMGetErrorMessage, (LLVMErrorRef error))                                           \
    X(void, LLVMParseCommandLineOptions, (int argc, const char *const *argv, const char *overview))

#define CC_LLVM_DECLARE(result, name, parameters) extern result(*name) parameters;
CC_LLVM_CALLS(CC_LLVM_DECLARE)
#undef CC_LLVM_DECLARE

#endif
