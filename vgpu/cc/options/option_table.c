/* SPDX-License-Identifier: MIT
 * option_table.c: see option_table.h.
 */
#include "option_table.h"

#include <string.h>

#define OFFSET(member) ((int)offsetof(struct cc_options, member))

static const struct cc_option all_options[] = {
    {"-c", "--compile", SET_ACTION, ALONE, CC_COMPILE},
    {"-dw", "--device-w", SET_ACTION, ALONE, CC_COMPILE},
    {"-E", "--preprocess", SET_ACTION, ALONE, CC_PREPROCESS},
    {"-M", "--generate-dependencies", SET_ACTION, ALONE, CC_DEPENDENCIES},
    {"-MM", "--generate-nonsystem-dependencies", SET_ACTION, ALONE, CC_USER_DEPENDENCIES},
    {"-link", NULL, SET_ACTION, ALONE, CC_LINK},
    {"-ptx", NULL, SET_ACTION, ALONE, CC_PTX},
    {"-cubin", NULL, SET_ACTION, ALONE, CC_CUBIN},
    {"-fatbin", NULL, SET_ACTION, ALONE, CC_FATBIN},
    {"-dc", "--device-c", RDC_ACTION, ALONE, CC_COMPILE},
    {"-dlink", "--device-link", RDC_ACTION, ALONE, CC_DEVICE_LINK},
    {"-o", "--output-file", TEXT, JOINED, OFFSET(output)},
    {"-odir", "--output-directory", TEXT, VALUE, OFFSET(output_dir)},
    {"-keep-dir", NULL, TEXT, VALUE, OFFSET(keep_dir)},
    {"-precompile", NULL, TEXT, VALUE, OFFSET(precompile)},
    {"-std", NULL, TEXT, VALUE, OFFSET(std)},
    {"-isystem", "--system-include", PASS_TWO, JOINED, OFFSET(common)},
    {"-include", "--pre-include", PASS_TWO, VALUE, OFFSET(common)},
    {"-iquote", NULL, PASS_TWO, JOINED, OFFSET(common)},
    {"-idirafter", NULL, PASS_TWO, JOINED, OFFSET(common)},
    {"-I", "--include-path", PASS, JOINED, OFFSET(common)},
    {"-D", "--define-macro", PASS, JOINED, OFFSET(common)},
    {"-U", "--undefine-macro", PASS, JOINED, OFFSET(common)},
    {"-MD", "--generate-dependencies-with-compile", NAME, ALONE, OFFSET(deps_flag)},
    {"-MMD", "--generate-nonsystem-dependencies-with-compile", NAME, ALONE, OFFSET(deps_flag)},
    {"-MP", "--generate-dependency-targets", PASS, ALONE, OFFSET(deps)},
    {"-MF", "--dependency-output", PASS_TWO, JOINED, OFFSET(deps)},
    {"-MT", "--dependency-target-name", PASS_TWO, JOINED, OFFSET(deps)},
    {"-MQ", NULL, PASS_TWO, JOINED, OFFSET(deps)},
    {"-O", "--optimize", PASS, LEVEL, OFFSET(host)},
    {"-g", "--debug", PASS, ALONE, OFFSET(host)},
    {"-pg", "--profile", PASS, ALONE, OFFSET(host)},
    {"-w", "--disable-warnings", PASS, ALONE, OFFSET(warnings)},
    {"-L", "--library-path", PASS, JOINED, OFFSET(link)},
    {"-shared", NULL, PASS, ALONE, OFFSET(link)},
    {"-l", "--library", LIBRARY, JOINED, 0},
    {"-Xcompiler", "--compiler-options", HOST_LIST, VALUE, 0},
    {"-Xlinker", "--linker-options", LINK_LIST, VALUE, 0},
    {"-x", "--x", LANGUAGE, JOINED, 0},
    {"-default-stream", NULL, DEFAULT_STREAM, VALUE, 0},
    {"-rdc", "--relocatable-device-code", RDC, VALUE, 0},
    {"-ccbin", "--compiler-bindir", CCBIN, VALUE, 0},
    {"-G", "--device-debug", DEVICE_DEBUG, ALONE, 0},
    {"-Werror", NULL, WERROR, ALONE, 0},
    {"-extended-lambda", NULL, SWITCH, ALONE, OFFSET(lambdas)},
    {"-expt-extended-lambda", NULL, SWITCH, ALONE, OFFSET(lambdas)},
    {"-expt-relaxed-constexpr", NULL, SWITCH, ALONE, OFFSET(relaxed)},
    {"-check-indices", NULL, SWITCH, ALONE, OFFSET(checks_indices)},
    {"-v", "--verbose", SWITCH, ALONE, OFFSET(verbose)},
    {"-dryrun", NULL, SWITCH, ALONE, OFFSET(dryrun)},
    {"-clangd", NULL, SWITCH, ALONE, OFFSET(clangd)},
    {"-keep", NULL, SWITCH, ALONE, OFFSET(keep)},
    {"-save-temps", NULL, SWITCH, ALONE, OFFSET(keep)},
    {"-lib", NULL, REFUSE, ALONE, 0},
    {"-run", NULL, REFUSE, ALONE, 0},
    {"-cuda", NULL, REFUSE, ALONE, 0},
    {"-dlto", "--dlink-time-opt", REFUSE, ALONE, 0},
    {"-h", "--help", ANSWER, ALONE, 0},
    {"-V", "--version", ANSWER, ALONE, 1},
};

/* nvcc's, without a meaning here: alone, and with a value. */
static const char
    ignored[] = "-lineinfo --generate-line-info -use_fast_math -extra-device-vectorization "
                "-restrict -res-usage --resource-usage -source-in-ptx -src-in-ptx "
                "-forward-unknown-to-host-compiler -forward-unknown-to-host-linker "
                "-forward-unknown-opts -allow-unsupported-compiler -Wno-deprecated-gpu-targets "
                "-keep-device-functions -no-compress -jobserver -err-no --display-error-number "
                "-no-err-no --no-display-error-number -fdevice-syntax-only",
    ignored_with_value[] =
        "-arch --gpu-architecture -code --gpu-code -gencode --generate-code -m --machine "
        "-maxrregcount -Xptxas --ptxas-options -Xcudafe --cudafe-options -Xnvlink "
        "--nvlink-options -Xarchive --archive-options -Xfatbin --fatbin-options -cudart "
        "-cudadevrt -t --threads -split-compile -split-compile-extended -diag-suppress "
        "-diag-warn -diag-error -ftz -prec-div -prec-sqrt -fmad -dopt -opt-info "
        "--optimization-info -compress-mode -static-global-template-stub "
        "-device-entity-has-hidden-visibility -brief-diag --brief-diagnostics -jtd "
        "--jump-table-density -device-stack-protector -time -fdevice-time-trace -target-dir "
        "--target-directory";

/* `name`, `name=value`, or for those that allow it `namevalue`; `--name` for `-name`. */
static bool option_fits(const char *argument, const char *name, bool joined, const char **value)
{
    bool two = cc_starts(argument, "--") && name[1] != '-' && strlen(name) > 2;

    if (!cc_starts(argument + two, name))
        return false;
    const char *rest = argument + two + strlen(name);
    *value = *rest == 0 ? NULL : *rest == '=' ? rest + 1 : rest;
    return *rest == 0 || *rest == '=' || joined;
}

static bool is_in(const char *names, const char *argument, const char **value)
{
    struct cc_list name = {0};
    bool found = false;

    cc_add_words(&name, names);
    for (size_t i = 0; i < name.count && !found; i++)
        found = option_fits(argument, name.item[i], false, value);
    return found;
}

/* A full name takes precedence over a name with a joined value: -include is not -I with
 * "nclude". */
const struct cc_option *cc_find_option(const char *argument, const char **value)
{
    static const struct cc_option alone = {.kind = IGNORE, .value = ALONE},
                                  with_value = {.kind = IGNORE, .value = VALUE};

    if (is_in(ignored, argument, value))
        return &alone;
    if (is_in(ignored_with_value, argument, value))
        return &with_value;
    for (int joined = 0; joined <= 1; joined++)
        for (size_t i = 0; i < sizeof all_options / sizeof *all_options; i++) {
            const struct cc_option *o = &all_options[i];
            bool may_join = joined && (o->value == JOINED || o->value == LEVEL);
            if ((o->longer != NULL && option_fits(argument, o->longer, false, value)) ||
                option_fits(argument, o->name, may_join, value))
                return o;
        }
    return NULL;
}
