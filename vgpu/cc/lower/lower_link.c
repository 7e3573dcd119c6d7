/* SPDX-License-Identifier: MIT
 * lower_link.c: reads files' bitcode; that of several files (-rdc=true) is linked to one module. A
 * symbol that is local to a file (static, or in an unnamed namespace) is renamed to "unit:symbol":
 * other files may have one of the same name, and the host looks up the one of its file.
 */
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "lower.h"
#include "names.h"

static LLVMModuleRef read_module(struct cc_lowering *l, const struct cc_bitcode *file)
{
    LLVMModuleRef module = NULL;

    if (file->is_ptx) /* it is filled when the machine is known */
        return LLVMModuleCreateWithNameInContext(file->source, l->context);
    if (LLVMParseBitcodeInContext2(
            l->context,
            LLVMCreateMemoryBufferWithMemoryRangeCopy(file->data, file->bytes, file->source),
            &module)) {
        cc_fail("cannot read the device code of '%s'", file->source);
        return NULL;
    }
    return module;
}

/* ---- local symbols ---- */

/* Clang appends a word and a number to such a name, but only in declarations. */
static const char *without_suffix(const char *symbol)
{
    const char *found = strstr(symbol, "__static__");

    if (found == NULL)
        found = strstr(symbol, "__intern__");
    return found != NULL ? cc_copy(symbol, (size_t)(found - symbol)) : symbol;
}

static void set_name(LLVMModuleRef module, LLVMValueRef value, const char *name)
{
    LLVMValueRef other = LLVMGetNamedGlobal(module, name);

    if (other != NULL && other != value && LLVMIsDeclaration(other)) {
        LLVMReplaceAllUsesWith(other, value);
        LLVMDeleteGlobal(other);
    }
    LLVMSetValueName2(value, name, strlen(name));
}

static void make_own(LLVMModuleRef module, LLVMValueRef value, const char *unit)
{
    const char *symbol = without_suffix(cc_value_name(value));

    if (LLVMIsDeclaration(value) || !cc_is_local(symbol))
        return;
    set_name(module, value, symbol);
    set_name(module, value, cc_format("%s:%s", unit, symbol));
}

static void make_all_own(LLVMModuleRef module, const char *unit)
{
    LLVMValueRef next;

    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        make_own(module, f, unit);
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g != NULL; g = next) {
        make_own(module, g, unit);
        next = LLVMGetNextGlobal(g); /* make_own may have deleted the declaration after it */
    }
}

/* ---- linking ---- */

static bool is_strong(LLVMValueRef value)
{
    return !LLVMIsDeclaration(value) && LLVMGetLinkage(value) == LLVM_LINKAGE_EXTERNAL;
}

static bool is_alone(LLVMValueRef value, LLVMValueRef other)
{
    const char *qualified;

    if (other == NULL || !is_strong(value) || !is_strong(other))
        return true;
    cc_plain_name(cc_value_name(value), &qualified);
    if (LLVMIsAFunction(value) == NULL)
        cc_fail("__device__ variable '%s' is defined in two of the files that are linked; it may "
                "be static in each, or extern in all but one",
                qualified);
    else
        cc_error(cc_place_of(value),
                 "__device__ function '%s' is defined here and in %s, which is linked to it; it "
                 "may be static in each, or inline",
                 qualified, cc_place_of(other).file);
    return false;
}

/* Reports symbols that two files define: LLVM's message would have only the mangled name. */
static bool report_twice_defined(LLVMModuleRef to, LLVMModuleRef from)
{
    bool sound = true;

    for (LLVMValueRef f = LLVMGetFirstFunction(from); f != NULL; f = LLVMGetNextFunction(f))
        sound &= is_alone(f, LLVMGetNamedFunction(to, cc_value_name(f)));
    for (LLVMValueRef g = LLVMGetFirstGlobal(from); g != NULL; g = LLVMGetNextGlobal(g))
        sound &= is_alone(g, LLVMGetNamedGlobal(to, cc_value_name(g)));
    return sound;
}

/* Drops lists of symbols that must be kept although unused: the image's tables hold what the host
 * can name. */
static void drop_list(LLVMModuleRef module, const char *name)
{
    LLVMValueRef list = LLVMGetNamedGlobal(module, name);

    if (list != NULL)
        LLVMDeleteGlobal(list);
}

bool cc_read_bitcode(struct cc_lowering *l, const struct cc_bitcode *file, size_t count)
{
    bool sound = true;

    for (size_t i = 0; i < count; i++) {
        LLVMModuleRef module = read_module(l, &file[i]);
        if (module == NULL)
            return false;
        drop_list(module, "llvm.used");
        drop_list(module, "llvm.compiler.used");
        drop_list(module, "__clang_gpu_used_external");
        cc_declare_indices(module);
        if (file[i].unit != NULL)
            make_all_own(module, file[i].unit);
        if (l->module == NULL)
            l->module = module;
        else if (!report_twice_defined(l->module, module))
            sound = false;
        else if (LLVMLinkModules2(l->module, module))
            return false; /* LLVM has printed the reason */
    }
    return sound;
}

bool cc_read_host(int release, const char *bitcode, struct cc_lowering *l)
{
    struct cc_bitcode file = {.source = bitcode};

    *l = (struct cc_lowering){0};
    file.data = cc_read_file(bitcode, &file.bytes);
    if (file.data == NULL || !cc_load_llvm(release))
        return false;
    l->context = LLVMContextCreate();
    return cc_read_bitcode(l, &file, 1);
}
