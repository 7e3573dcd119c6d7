/* SPDX-License-Identifier: MIT
 * lower.c: see lower.h.
 */
#include "lower.h"

#include <string.h>

#include "diag.h"
#include "lower_ptx.h"

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *failed)
{
    if (LLVMGetDiagInfoSeverity(info) != 0)
        return;
    cc_fail("LLVM: %s", LLVMGetDiagInfoDescription(info));
    *(bool *)failed = true;
}

/* ---- this machine ---- */

static bool set_machine(struct cc_lowering *l)
{
    char *triple = LLVMGetDefaultTargetTriple(), *message;
    LLVMTargetRef target;
#ifdef __aarch64__
    const char *cpu = "generic";
#else
    const char *cpu = "x86-64";
#endif

    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        cc_fail("LLVM cannot compile for %s: %s", triple, message);
        return false;
    }
    l->machine = LLVMCreateTargetMachine(target, triple, cpu, "",
                                         l->debug ? LLVM_CODEGEN_NONE : LLVM_CODEGEN_DEFAULT,
                                         LLVM_RELOC_PIC, LLVM_CODE_MODEL_DEFAULT);
    l->layout = LLVMCreateTargetDataLayout(l->machine);
    LLVMSetTarget(l->module, triple);
    LLVMSetDataLayout(l->module, LLVMCopyStringRepOfTargetData(l->layout));
    return true;
}

static void remove_word(LLVMValueRef function, const char *word)
{
    LLVMRemoveStringAttributeAtIndex(function, (unsigned)LLVM_ATTRIBUTE_FUNCTION, word,
                                     (unsigned)strlen(word));
}

static void remove_kind(LLVMValueRef function, const char *name)
{
    LLVMRemoveEnumAttributeAtIndex(function, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                                   LLVMGetEnumAttributeKindForName(name, strlen(name)));
}

static LLVMAttributeRef attribute(struct cc_lowering *l, const char *name)
{
    return LLVMCreateEnumAttribute(l->context, LLVMGetEnumAttributeKindForName(name, strlen(name)),
                                   0);
}

/* A switch with an unreachable default would become a jump or a load through a table, at any
 * index. */
static LLVMAttributeRef no_tables(struct cc_lowering *l)
{
    static const char name[] = "no-jump-tables", is[] = "true";

    return LLVMCreateStringAttribute(l->context, name, sizeof name - 1, is, sizeof is - 1);
}

/* Compiles the functions for this processor, with ThreadSanitizer's callbacks for each access. */
static void set_functions(struct cc_lowering *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f)) {
        remove_word(f, "target-cpu");
        remove_word(f, "target-features");
        if (LLVMIsDeclaration(f))
            continue;
        LLVMAddAttributeAtIndex(f, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                                attribute(l, "sanitize_thread"));
        remove_kind(f, "disable_sanitizer_instrumentation");
        LLVMAddAttributeAtIndex(f, (unsigned)LLVM_ATTRIBUTE_FUNCTION, no_tables(l));
        if (cc_has_two_stacks(l))
            LLVMAddAttributeAtIndex(f, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                                    attribute(l, "safestack"));
        LLVMSetSection(f, "");
        LLVMSetComdat(f, NULL);
        LLVMSetLinkage(f, LLVM_LINKAGE_INTERNAL);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(l->module); g != NULL; g = LLVMGetNextGlobal(g)) {
        LLVMSetComdat(g, NULL);
        if (!LLVMIsDeclaration(g) && !cc_starts(cc_value_name(g), "llvm.") &&
            !cc_starts(cc_value_name(g), CC_PLACE_PREFIX) &&
            LLVMGetLinkage(g) != LLVM_LINKAGE_PRIVATE)
            LLVMSetLinkage(g, LLVM_LINKAGE_INTERNAL);
    }
}

/* Renames functions that Clang itself names to vgpu-exec's versions. */
static void rename_calls(struct cc_lowering *l)
{
    static const char *const name[][2] = {{"vprintf", "vgpu_vprintf"},
                                          {"__assert_fail", "vgpu_assert_fail"},
                                          {"memcpy", "__wrap_memcpy"},
                                          {"memmove", "__wrap_memmove"},
                                          {"memset", "__wrap_memset"},
                                          /* these store through a pointer */
                                          {"frexp", "__wrap_frexp"},
                                          {"frexpf", "__wrap_frexpf"},
                                          {"modf", "__wrap_modf"},
                                          {"modff", "__wrap_modff"},
                                          {"remquo", "__wrap_remquo"},
                                          {"remquof", "__wrap_remquof"},
                                          {"sincos", "__wrap_sincos"},
                                          {"sincosf", "__wrap_sincosf"}};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(l->module, name[i][0]);
        if (f != NULL && LLVMIsDeclaration(f))
            LLVMSetValueName2(f, name[i][1], strlen(name[i][1]));
    }
}

/* ---- code ---- */

static void set_options(void)
{
    static const char *const option[] = {
        "vgpu-cc", "-tsan-distinguish-volatile=1", "-tsan-instrument-read-before-write=1",
        "-tsan-handle-cxx-exceptions=0", "-safestack-use-pointer-address=1",
        /* counters of the fast form: one addition behind a loop, not one in each round */
        "-replexitval=always"};
    static bool done;

    if (!done)
        LLVMParseCommandLineOptions(sizeof option / sizeof *option, option, NULL);
    done = true;
}

/* Calls vgpu-exec's functions directly, not through the procedure linkage table. */
static void call_directly(struct cc_lowering *l)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(l->module); f != NULL; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && LLVMGetIntrinsicID(f) == 0)
            LLVMAddAttributeAtIndex(f, (unsigned)LLVM_ATTRIBUTE_FUNCTION,
                                    attribute(l, "nonlazybind"));
}

/* The steps that can report errors. */
static bool lower_cuda(struct cc_lowering *l)
{
    return cc_find_kernels(l) && cc_error_count() == 0 && cc_check_rules(l) && cc_lower_ptx(l) &&
           cc_lower_managed(l) && cc_lower_shared(l);
}

/* -G: removes unreachable code, as optimization does; leaves everything else as written.
 */
static const char as_written[] = "globaldce,strip-dead-debug-info,default<O0>";
static const char unused_removed[] = "globaldce";

/* All of PTX that is used must be there, also where the optimizer would remove the use: a module is
 * refused alike whether it is only checked or translated. */
static bool prepare_module(struct cc_lowering *l, bool is_ptx)
{
    if (!lower_cuda(l) || !cc_lower_globals(l))
        return false;
    cc_lower_copies(l);
    set_functions(l);
    cc_add_tables(l);
    rename_calls(l);
    if (l->fast_math && !is_ptx)
        cc_use_fast_functions(l);
    return !is_ptx || (cc_run_passes(l, unused_removed) && cc_check_module(l));
}

static bool lower_module(struct cc_lowering *l, bool is_ptx, const char *headers,
                         const char *object)
{
    if (!prepare_module(l, is_ptx))
        return false;
    if (headers != NULL)
        cc_add_headers(l, headers);
    cc_end_info(l);
    if (!cc_run_passes(l, l->debug ? as_written : "default<O2>") || !cc_check_module(l) ||
        !cc_guard_module(l))
        return false;
    if (!l->checks_indices && !l->debug && !cc_add_lanes(l, cc_set_kernel_lanes))
        return false;
    cc_hide_indices(l);
    cc_report_rest(l);
    if (!l->debug)
        cc_count_work(l);
    if (!l->debug && !l->checks_indices)
        cc_join_sweeps(l);
    if (!cc_run_passes(l, "function(tsan)"))
        return false;
    cc_find_order(l);
    cc_note_early(l);
    if (l->checks_indices)
        cc_guard_variables(l);
    cc_declare_stack(l);
    call_directly(l);
    return cc_emit_object(l, object);
}

static struct cc_lowering start_lowering(const struct cc_bitcode *file, struct cc_device_code *code,
                                         bool *failed)
{
    struct cc_lowering l = {.context = LLVMContextCreate(),
                            .source = file->source,
                            .linked = file->unit != NULL,
                            .no_lambdas = file->no_lambdas,
                            .checks_indices = file->checks_indices,
                            .debug = file->debug,
                            .fast_math = file->fast_math,
                            .code = code};

    *code = (struct cc_device_code){0};
    set_options();
    LLVMContextSetDiagnosticHandler(l.context, on_diagnostic, failed);
    return l;
}

bool cc_lower(const struct cc_bitcode *file, size_t count, const char *headers, const char *object,
              struct cc_device_code *code)
{
    bool failed = false;
    struct cc_lowering l = start_lowering(file, code, &failed);

    return cc_read_bitcode(&l, file, count) && set_machine(&l) &&
           (!file->is_ptx || cc_read_ptx(&l, file->data, file->bytes)) &&
           lower_module(&l, file->is_ptx, headers, object) && !failed;
}

bool cc_check_bitcode(const struct cc_bitcode *file, struct cc_device_code *code)
{
    bool failed = false;
    struct cc_lowering l = start_lowering(file, code, &failed);

    return cc_read_bitcode(&l, file, 1) && set_machine(&l) && lower_cuda(&l) &&
           cc_lower_globals(&l) && !failed;
}

bool cc_check_ptx(const struct cc_bitcode *file, struct cc_device_code *code)
{
    bool failed = false;
    struct cc_lowering l = start_lowering(file, code, &failed);

    return cc_read_bitcode(&l, file, 1) && set_machine(&l) &&
           cc_read_ptx(&l, file->data, file->bytes) && prepare_module(&l, true) && !failed;
}
