/* SPDX-License-Identifier: MIT
 * load_llvm.h: LLVM's library, of the Clang that was found.
 */
#ifndef VGPU_CC_LOAD_LLVM_H
#define VGPU_CC_LOAD_LLVM_H

#include <stdbool.h>

/* Loads libLLVM of that release ("14") and initialises its code generator for this machine.
 * False: it is not there or lacks something, which was said. */
bool cc_load_llvm(int release);

#endif
