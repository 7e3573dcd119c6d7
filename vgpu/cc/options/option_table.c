/* SPDX-License-Identifier: MIT
 * option_table.c: see option_table.h.
 */
#include "option_table.h"

#include <string.h>

#define OFFSET(member) ((int)offsetof(struct cc_options, member))

static const struct cc_option table[] = {
    {"-c", "--compile", SET_ACTION, false, CC_COMPILE, NULL},
    {"-dc", "--device-c", RDC_ACTION, false, CC_COMPILE, NULL},
    {"-dw", "--device-w", SET_ACTION, false, CC_COMPILE, NULL},
    {"-E", "--preprocess", SET_ACTION, false, CC_PREPROCESS, NULL},
    {"-M", "--generate-dependencies", SET_ACTION, false, CC_DEPENDENCIES, NULL},
    {"-MM", "--generate-nonsystem-dependencies", SET_ACTION, false, CC_DEPENDENCIES, NULL},
    {"-link", "--link", SET_ACTION, false, CC_LINK, NULL},
    {"-o", "--output-file", OUTPUT, true, 0, NULL},
    {"-isystem", "--system-include", SYSTEM_DIR, true, 0, NULL},
    {"-include", "--pre-include", COMMON, false, 0, NULL},
    {"-iquote", NULL, COMMON, true, 0, NULL},
    {"-idirafter", NULL, COMMON, true, 0, NULL},
    {"-I", "--include-path", COMMON, true, 0, NULL},
    {"-D", "--define-macro", COMMON, true, 0, NULL},
    {"-U", "--undefine-macro", COMMON, true, 0, NULL},
    {"-std", "--std", STANDARD, false, 0, NULL},
    {"-default-stream", "--default-stream", DEFAULT_STREAM, false, 0, NULL},
    {"-x", "--x", LANGUAGE, true, 0, NULL},
    {"-Xcompiler", "--compiler-options", HOST_LIST, false, 0, NULL},
    {"-Xlinker", "--linker-options", LINK_LIST, false, 0, NULL},
    {"-L", "--library-path", LINK_VALUE, true, 0, NULL},
    {"-l", "--library", LIBRARY, true, 0, NULL},
    {"-shared", "--shared", LINK_VALUE, false, 1, NULL},
    {"-O", "--optimize", HOST_FLAG, true, 1, NULL},
    {"-g", "--debug", HOST_FLAG, false, 0, NULL},
    {"-G", "--device-debug", DEVICE_DEBUG, false, 0, NULL},
    {"-lineinfo", "--generate-line-info", IGNORE, false, 0, NULL},
    {"-MD", "--generate-dependencies-with-compile", DEPS_FLAG, false, 0, NULL},
    {"-MMD", "--generate-nonsystem-dependencies-with-compile", DEPS_FLAG, false, 0, NULL},
    {"-MP", "--generate-dependency-targets", DEPS_FLAG, false, 0, NULL},
    {"-MF", "--dependency-output", DEPS_VALUE, true, 0, NULL},
    {"-MT", "--dependency-target-name", DEPS_VALUE, true, 0, NULL},
    {"-MQ", NULL, DEPS_VALUE, true, 0, NULL},
    {"-arch", "--gpu-architecture", IGNORE_VALUE, false, 0, NULL},
    {"-code", "--gpu-code", IGNORE_VALUE, false, 0, NULL},
    {"-gencode", "--generate-code", IGNORE_VALUE, false, 0, NULL},
    {"-maxrregcount", "--maxrregcount", IGNORE_VALUE, false, 0, NULL},
    {"-Xptxas", "--ptxas-options", IGNORE_VALUE, false, 0, NULL},
    {"-Xcudafe", "--cudafe-options", IGNORE_VALUE, false, 0, NULL},
    {"-Xnvlink", "--nvlink-options", IGNORE_VALUE, false, 0, NULL},
    {"-Xarchive", "--archive-options", IGNORE_VALUE, false, 0, NULL},
    {"-Xfatbin", "--fatbin-options", IGNORE_VALUE, false, 0, NULL},
    {"-cudart", "--cudart", IGNORE_VALUE, false, 0, NULL},
    {"-cudadevrt", "--cudadevrt", IGNORE_VALUE, false, 0, NULL},
    {"-t", "--threads", IGNORE_VALUE, false, 0, NULL},
    {"-split-compile", "--split-compile", IGNORE_VALUE, false, 0, NULL},
    {"-diag-suppress", "--diag-suppress", IGNORE_VALUE, false, 0, NULL},
    {"-diag-warn", "--diag-warn", IGNORE_VALUE, false, 0, NULL},
    {"-diag-error", "--diag-error", IGNORE_VALUE, false, 0, NULL},
    {"-ftz", "--ftz", IGNORE_VALUE, false, 0, NULL},
    {"-prec-div", "--prec-div", IGNORE_VALUE, false, 0, NULL},
    {"-prec-sqrt", "--prec-sqrt", IGNORE_VALUE, false, 0, NULL},
    {"-fmad", "--fmad", IGNORE_VALUE, false, 0, NULL},
    {"-dopt", "--dopt", IGNORE_VALUE, false, 0, NULL},
    {"-use_fast_math", "--use_fast_math", IGNORE, false, 0, NULL},
    {"-extra-device-vectorization", "--extra-device-vectorization", IGNORE, false, 0, NULL},
    {"-extended-lambda", "--extended-lambda", SWITCH, false, OFFSET(lambdas), NULL},
    {"-expt-extended-lambda", "--expt-extended-lambda", SWITCH, false, OFFSET(lambdas), NULL},
    {"-restrict", "--restrict", IGNORE, false, 0, NULL},
    {"-res-usage", "--resource-usage", IGNORE, false, 0, NULL},
    {"-source-in-ptx", "--source-in-ptx", IGNORE, false, 0, NULL},
    {"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler", IGNORE, false, 0,
     NULL},
    {"-allow-unsupported-compiler", "--allow-unsupported-compiler", IGNORE, false, 0, NULL},
    {"-Wno-deprecated-gpu-targets", NULL, IGNORE, false, 0, NULL},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", SWITCH, false, OFFSET(relaxed), NULL},
    {"-check-indices", "--check-indices", SWITCH, false, OFFSET(checks_indices), NULL},
    {"-v", "--verbose", SWITCH, false, OFFSET(verbose), NULL},
    {"-dryrun", "--dryrun", SWITCH, false, OFFSET(dryrun), NULL},
    {"-clangd", "--clangd", SWITCH, false, OFFSET(clangd), NULL},
    {"-precompile", "--precompile", TEXT, false, OFFSET(precompile), NULL},
    {"-keep", "--keep", SWITCH, false, OFFSET(keep), NULL},
    {"-keep-dir", "--keep-dir", TEXT, false, OFFSET(keep_dir), NULL},
    {"-save-temps", "--save-temps", SWITCH, false, OFFSET(keep), NULL},
    {"-ccbin", "--compiler-bindir", CCBIN, false, 0, NULL},
    {"-Werror", "--Werror", WERROR, false, 0, NULL},
    {"-w", "--disable-warnings", COMMON, false, 1, NULL},
    {"-rdc", "--relocatable-device-code", RDC, false, 0, NULL},
    {"-dlink", "--device-link", RDC_ACTION, false, CC_DEVICE_LINK, NULL},
    {"-ptx", "--ptx", SET_ACTION, false, CC_PTX, NULL},
    {"-cubin", "--cubin", SET_ACTION, false, CC_CUBIN, NULL},
    {"-fatbin", "--fatbin", SET_ACTION, false, CC_FATBIN, NULL},
    {"-lib", "--lib", REFUSE, false, 0, NULL},
    {"-run", "--run", REFUSE, false, 0, NULL},
    {"-cuda", "--cuda", REFUSE, false, 0, NULL},
    {"-dlto", "--dlink-time-opt", REFUSE, false, 0, NULL},
    {"-h", "--help", ANSWER, false, 0, NULL},
    {"-V", "--version", ANSWER, false, 1, NULL},
};

/* `name`, `name=value`, or for those that allow it `namevalue`. */
static bool fits(const char *argument, const char *name, bool joined, const char **value)
{
    if (name == NULL || !cc_starts(argument, name))
        return false;
    const char *rest = argument + strlen(name);
    *value = NULL;
    if (*rest == 0)
        return true;
    *value = *rest == '=' ? rest + 1 : rest;
    return *rest == '=' || joined;
}

/* A full name goes before one that a value is joined to: -include is not -I with "nclude". */
const struct cc_option *cc_find_option(const char *argument, const char **value)
{
    for (int joined = 0; joined <= 1; joined++)
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
            bool as_joined = joined && table[i].joined;
            if (fits(argument, table[i].longer, false, value) ||
                fits(argument, table[i].name, as_joined, value))
                return &table[i];
        }
    return NULL;
}
