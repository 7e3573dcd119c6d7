/* SPDX-License-Identifier: MIT
 * host_stubs.c: checks that every kernel which the host can launch is in the image. A kernel that
 * only the host's Clang sees (#ifndef __CUDA_ARCH__ around it, or around the only launch of a
 * template) compiles on both sides, but each launch of it would fail at run time.
 */
#include <string.h>

#include "diag.h"
#include "elf_image.h"
#include "lower.h"
#include "names.h"
#include "proc.h"

static const char prefix[] = "__device_stub__"; /* of the stub's identifier, as Clang names it */

/* The digits before the prefix that belong to the kernel's own name: for 16__device_stub__k, "1".
 * Null: the digits are not that length. */
static const char *own_length(const char *at, size_t digits)
{
    size_t length = 0, more = sizeof prefix - 1;

    for (size_t i = 0; i < digits; i++) {
        char digit = at[(ptrdiff_t)i - (ptrdiff_t)digits];
        if (digit < '0' || digit > '9')
            return NULL;
        length = 10 * length + (size_t)(digit - '0');
    }
    if (digits == 0)
        return ""; /* extern "C" */
    return length > more ? cc_format("%zu", length - more) : NULL;
}

/* Whether both symbols name one kernel: they differ in the prefix and in the length of the
 * identifier before it; the digits before it may also end another name
 * (_ZN1a2v124__device_stub__versionedEv). */
static bool is_stub_of(const char *stub, const char *kernel)
{
    const char *found = strstr(stub, prefix);

    if (found == NULL)
        return strcmp(stub, kernel) == 0;
    for (size_t digits = 0; digits <= 4 && digits <= (size_t)(found - stub); digits++) {
        size_t before = (size_t)(found - stub) - digits;
        const char *own = own_length(found, digits);
        if (own == NULL || strncmp(stub, kernel, before) != 0)
            continue;
        if (cc_starts(kernel + before, own) &&
            is_stub_of(found + sizeof prefix - 1, kernel + before + strlen(own)))
            return true;
    }
    return false;
}

/* With -rdc=true a static kernel is named "unit:symbol". */
static bool has_kernel(const struct cc_device_code *code, const char *stub)
{
    for (size_t i = 0; i < code->kernel_count; i++) {
        const char *own = strrchr(code->kernel[i].symbol, ':');
        if (is_stub_of(stub, own != NULL ? own + 1 : code->kernel[i].symbol))
            return true;
    }
    return false;
}

/* "a::__device_stub__k" is a::k. */
static const char *stub_kernel(const char *stub)
{
    const char *name, *found;

    cc_plain_name(stub, &name);
    found = strstr(name, prefix);
    return found == NULL
               ? name
               : cc_format("%.*s%s", (int)(found - name), name, found + sizeof prefix - 1);
}

static void report_stub(LLVMModuleRef host, const char *stub)
{
    LLVMValueRef function = host != NULL ? LLVMGetNamedFunction(host, stub) : NULL;

    if (function == NULL)
        cc_fail("kernel '%s' is in host code only", stub_kernel(stub));
    else
        cc_error(cc_place_of(function),
                 "kernel '%s' is in host code, but not in device code; does something that depends "
                 "on __CUDA_ARCH__ hide it or its launch?",
                 stub_kernel(stub));
}

bool cc_check_stubs(int release, const struct cc_list *compile, const char *bitcode,
                    const char *object, const struct cc_device_code *code)
{
    struct cc_list functions = cc_symbols_of(object, true);
    struct cc_lowering host = {0};
    bool sound = true;

    for (size_t i = 0; i < functions.count; i++) {
        const char *name = functions.item[i];
        if (strstr(name, prefix) == NULL || has_kernel(code, name))
            continue;
        if (sound && cc_run(*compile) == 0)
            cc_read_host(release, bitcode, &host);
        report_stub(host.module, name);
        sound = false;
    }
    return sound;
}
