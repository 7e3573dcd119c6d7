/* SPDX-License-Identifier: MIT
 * llvm.c: see llvm.h.
 */
#include "llvm.h"

#include <dlfcn.h>
#include <string.h>

#include "diag.h"
#include "load_llvm.h"
#include "mem.h"

#define CC_LLVM_DEFINE(result, name, parameters) result(*name) parameters;
CC_LLVM_CALLS(CC_LLVM_DEFINE)
#undef CC_LLVM_DEFINE

static const struct {
    const char *name;
    void *at; /* a pointer to function */
} calls[] = {
#define CC_LLVM_ENTRY(result, name, parameters) {#name, (void *)&(name)},
    CC_LLVM_CALLS(CC_LLVM_ENTRY)
#undef CC_LLVM_ENTRY
};

/* Debian's and Ubuntu's names first, then upstream's. */
static void *open_library(int release)
{
    const char *const names[] = {cc_format("libLLVM-%d.so.1", release),
                                 cc_format("libLLVM.so.%d.1", release),
                                 cc_format("libLLVM-%d.so", release),
                                 cc_format("/usr/lib/llvm-%d/lib/libLLVM.so.1", release),
                                 cc_format("/usr/lib/llvm-%d/lib/libLLVM-%d.so", release, release)};
    void *library = NULL;

    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* LLVM 19 has renamed one function; its parameters are the same. */
static void *find_llvm_call(void *library, const char *name)
{
    void *found = dlsym(library, name);

    if (found == NULL && strcmp(name, "LLVMDIBuilderInsertDeclareBefore") == 0)
        return dlsym(library, "LLVMDIBuilderInsertDeclareRecordBefore");
    return found;
}

static bool initialise(void *library)
{
#ifdef __aarch64__
    const char *target = "AArch64";
#else
    const char *target = "X86";
#endif
    static const char *const part[] = {"TargetInfo", "Target", "TargetMC", "AsmPrinter",
                                       "AsmParser"};

    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        const char *name = cc_format("LLVMInitialize%s%s", target, part[i]);
        void *found = dlsym(library, name);
        void (*call)(void);
        memcpy(&call, &found, sizeof call);
        if (found == NULL) {
            cc_fail("LLVM's library lacks %s: it was built without this processor", name);
            return false;
        }
        call();
    }
    return true;
}

static int loaded; /* the release; 0: none yet */

int cc_llvm_release(void)
{
    return loaded;
}

bool cc_load_llvm(int release)
{
    if (loaded == release)
        return true;
    void *library = open_library(release);

    if (library == NULL) {
        cc_fail("clang %d is here, but its library libLLVM-%d.so.1 is not (%s); Debian and Ubuntu "
                "have it in libllvm%d",
                release, release, dlerror(), release);
        return false;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *found = find_llvm_call(library, calls[i].name);
        if (found == NULL) {
            cc_fail("libLLVM %d lacks %s; 14 to 19 have it", release, calls[i].name);
            return false;
        }
        memcpy(calls[i].at, &found, sizeof found);
    }
    loaded = release;
    return initialise(library);
}
