/* SPDX-License-Identifier: MIT
 * load_llvm.h: loads the LLVM library of the Clang that was found.
 */
#ifndef VGPU_CC_LOAD_LLVM_H
#define VGPU_CC_LOAD_LLVM_H

#include <stdbool.h>

/* Loads libLLVM of that release ("14") and initialises its code generator for this machine. False:
 * it is missing or lacks a function, which was reported. */
bool cc_load_llvm(int release);

/* The release that is loaded. */
int cc_llvm_release(void);

#endif
