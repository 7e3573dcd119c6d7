/* SPDX-License-Identifier: MIT
 * emit_object.c: generates the code of the lowered module. LLVM 14 to 16 end the process on some
 * code for AVX2 that they are asked for ("Cannot select"), so they are asked in another process.
 * What they cannot compile gets vectors of 128 bits.
 */
#include <stdio.h>
#include <string.h>

#include "add_lanes.h"
#include "diag.h"
#include "lower.h"
#include "proc.h"

enum { ALONE_MAX = 4 }; /* attempts, each with one more function in shorter vectors; then all */

struct emitted {
    struct cc_lowering *l;
    const char *object;
};

static bool emit(void *of)
{
    struct emitted *e = of;
    char *message;
    if (!LLVMTargetMachineEmitToFile(e->l->machine, e->l->module,
                                     cc_copy(e->object, strlen(e->object)), LLVM_OBJECT_FILE,
                                     &message))
        return true;
    cc_fail("cannot write '%s': %s", e->object, message);
    return false;
}

/* The function that LLVM's message names; null: none. */
static const char *failed_function(const char *errors)
{
    static const char names[] = "In function: ";
    const char *at = strstr(errors, names);

    return at != NULL ? cc_copy(at + sizeof names - 1, strcspn(at + sizeof names - 1, "\n")) : NULL;
}

bool cc_emit_object(struct cc_lowering *l, const char *object)
{
    struct emitted e = {l, object};
    const char *errors;

    for (int attempt = 0;; attempt++) {
        int status = cc_try(emit, &e, &errors);
        if (status == 0)
            return true;
        const char *name = attempt < ALONE_MAX ? failed_function(errors) : NULL;
        if (status != CC_TRY_SAID && (cc_shorten_vectors(l, name) || cc_shorten_vectors(l, NULL)))
            continue;
        fputs(errors, stderr);
        if (status != CC_TRY_SAID)
            cc_fail("LLVM cannot compile the device code of '%s' (its message is above); another "
                    "release may: set VGPU_CLANG to its clang++",
                    l->source);
        return false;
    }
}
