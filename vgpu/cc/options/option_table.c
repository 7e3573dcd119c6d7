/* SPDX-License-Identifier: MIT
 * option_table.c: see option_table.h.
 */
#include "option_table.h"

#include <string.h>

#define OFFSET(member) ((int)offsetof(struct cc_options, member))

static const char booleans[] = "true false";

static const struct cc_option all_options[] = {
    {"-c --compile -dw --device-w", SET_ACTION, ALONE, CC_COMPILE, NULL},
    {"-E --preprocess", SET_ACTION, ALONE, CC_PREPROCESS, NULL},
    {"-M --generate-dependencies", SET_ACTION, ALONE, CC_DEPENDENCIES, NULL},
    {"-MM --generate-nonsystem-dependencies", SET_ACTION, ALONE, CC_USER_DEPENDENCIES, NULL},
    {"-link", SET_ACTION, ALONE, CC_LINK, NULL},
    {"-lib", SET_ACTION, ALONE, CC_LIBRARY, NULL},
    {"-ptx", SET_ACTION, ALONE, CC_PTX, NULL},
    {"-cubin", SET_ACTION, ALONE, CC_CUBIN, NULL},
    {"-fatbin", SET_ACTION, ALONE, CC_FATBIN, NULL},
    {"-dc --device-c", RDC_ACTION, ALONE, CC_COMPILE, NULL},
    {"-dlink --device-link", RDC_ACTION, ALONE, CC_DEVICE_LINK, NULL},
    {"-o --output-file", TEXT, JOINED, OFFSET(output), NULL},
    {"-odir --output-directory", TEXT, VALUE, OFFSET(output_dir), NULL},
    {"-keep-dir", TEXT, VALUE, OFFSET(keep_dir), NULL},
    {"-precompile", TEXT, VALUE, OFFSET(precompile), NULL},
    {"-std", TEXT, VALUE, OFFSET(std), NULL},
    {"-arbin --archiver-binary", TEXT, VALUE, OFFSET(archiver), NULL},
    {"-isystem --system-include", PASS_TWO_LIST, JOINED, OFFSET(common), NULL},
    {"-include --pre-include", PASS_TWO_LIST, VALUE, OFFSET(common), NULL},
    {"-iquote", PASS_TWO, JOINED, OFFSET(common), NULL},
    {"-idirafter", PASS_TWO, JOINED, OFFSET(common), NULL},
    {"-I --include-path", PASS_LIST, JOINED, OFFSET(common), NULL},
    {"-D --define-macro", PASS_LIST, JOINED, OFFSET(common), NULL},
    {"-U --undefine-macro", PASS_LIST, JOINED, OFFSET(common), NULL},
    {"-ftemplate-depth", INSTEAD, VALUE, OFFSET(common), "-ftemplate-depth"},
    {"-ftemplate-backtrace-limit", INSTEAD, VALUE, OFFSET(warnings), "-ftemplate-backtrace-limit"},
    {"-MD --generate-dependencies-with-compile", NAME, ALONE, OFFSET(deps_flag), NULL},
    {"-MMD --generate-nonsystem-dependencies-with-compile", NAME, ALONE, OFFSET(deps_flag), NULL},
    {"-MP --generate-dependency-targets", PASS, ALONE, OFFSET(deps), NULL},
    {"-MF --dependency-output", PASS_TWO, JOINED, OFFSET(deps), NULL},
    {"-MT --dependency-target-name", PASS_TWO, JOINED, OFFSET(deps), NULL},
    {"-MQ", PASS_TWO, JOINED, OFFSET(deps), NULL},
    {"-O --optimize", PASS, LEVEL, OFFSET(host), NULL},
    {"-g --debug", PASS, ALONE, OFFSET(host), NULL},
    {"-pg --profile", PASS, ALONE, OFFSET(host), NULL},
    {"-noeh --no-exceptions", INSTEAD, ALONE, OFFSET(host), "-fno-exceptions"},
    {"-frandom-seed", INSTEAD, VALUE, OFFSET(host), "-frandom-seed"},
    {"-w --disable-warnings", PASS, ALONE, OFFSET(warnings), NULL},
    {"-Wreorder", PASS, ALONE, OFFSET(warnings), NULL},
    {"-Wno-deprecated-declarations", PASS, ALONE, OFFSET(warnings), NULL},
    {"-L --library-path", PASS_LIST, JOINED, OFFSET(link), NULL},
    {"-shared", PASS, ALONE, OFFSET(link), NULL},
    {"-r --relocatable-link", PASS, ALONE, OFFSET(link), NULL},
    {"-l --library", LIBRARY, JOINED, 0, NULL},
    {"-Xcompiler --compiler-options", HOST_LIST, VALUE, 0, NULL},
    {"-Xlinker --linker-options", LINK_LIST, VALUE, 0, NULL},
    {"-Xarchive --archive-options", LIST, VALUE, OFFSET(archive), NULL},
    {"-x --x", LANGUAGE, JOINED, 0, "cu c c++ ptx none"},
    {"-default-stream", DEFAULT_STREAM, VALUE, 0, "legacy null per-thread"},
    {"-rdc --relocatable-device-code", RDC, VALUE, 0, booleans},
    {"-ccbin --compiler-bindir", CCBIN, VALUE, 0, NULL},
    {"-G --device-debug", DEVICE_DEBUG, ALONE, 0, NULL},
    {"-Werror", WERROR, ALONE, 0, NULL},
    {"-extended-lambda -expt-extended-lambda", SWITCH, ALONE, OFFSET(lambdas), NULL},
    {"-expt-relaxed-constexpr", SWITCH, ALONE, OFFSET(relaxed), NULL},
    {"-check-indices", SWITCH, ALONE, OFFSET(checks_indices), NULL},
    {"-nodlink --no-device-link", SWITCH, ALONE, OFFSET(no_device_link), NULL},
    {"-run", SWITCH, ALONE, OFFSET(run), NULL},
    {"-run-args", LIST, VALUE, OFFSET(run_args), NULL},
    {"-v --verbose", SWITCH, ALONE, OFFSET(verbose), NULL},
    {"-dryrun", SWITCH, ALONE, OFFSET(dryrun), NULL},
    {"-clangd", SWITCH, ALONE, OFFSET(clangd), NULL},
    {"-keep -save-temps", SWITCH, ALONE, OFFSET(keep), NULL},
    {"-optf --options-file", OPTIONS_FILE, VALUE, 0, NULL},
    {"-cuda", REFUSE, ALONE, 0, "there is no C++ file between a .cu and its object"},
    {"-ltoir", REFUSE, ALONE, 0, "device code is linked as what -dc makes"},
    {"-optix-ir", REFUSE, ALONE, 0, "virtual GPUs have no OptiX"},
    {"-clean --clean-targets", REFUSE, ALONE, 0, "no results are deleted"},
    {"-hls --host-linker-script", REFUSE, VALUE, 0, "the linker needs no script"},
    {"-aug-hls --augment-host-linker-script", REFUSE, ALONE, 0, "the linker needs no script"},
    {"-astoolspatch --compile-as-tools-patch", REFUSE, ALONE, 0,
     "NVIDIA's tools cannot patch code of virtual GPUs"},
    {"-qpp-config", REFUSE, VALUE, 0, "the host's compiler is g++ or clang++"},
    {"-h --help", ANSWER, ALONE, CC_HELP, NULL},
    {"-V --version", ANSWER, ALONE, CC_VERSION, NULL},
    {"-code-ls --list-gpu-code", ANSWER, ALONE, CC_GPU_CODE, NULL},
    {"-arch-ls --list-gpu-arch", ANSWER, ALONE, CC_GPU_ARCH, NULL},
    /* nvcc's, without a meaning here */
    {"-m64 -lineinfo --generate-line-info -use_fast_math -extra-device-vectorization -restrict "
     "-res-usage --resource-usage -src-in-ptx --source-in-ptx -forward-unknown-opts "
     "-forward-unknown-to-host-compiler -forward-unknown-to-host-linker "
     "-allow-unsupported-compiler -Wno-deprecated-gpu-targets -Wdefault-stream-launch "
     "-Wmissing-launch-bounds -Wext-lambda-captures-this -keep-device-functions -no-compress "
     "-jobserver -err-no --display-error-number -no-err-no --no-display-error-number "
     "-fdevice-syntax-only -dlto --dlink-time-opt -lto -gen-opt-lto -ewp "
     "--extensible-whole-program -reloc-ptx --relocatable-ptx -nohdinitlist "
     "--no-host-device-initializer-list -nohdmoveforward --no-host-device-move-forward -objtemp "
     "--objdir-as-tempdir -noprof --dont-use-profile -no-align-double -use-local-env "
     "-force-cl-env-setup",
     IGNORE, ALONE, 0, NULL},
    {"-arch --gpu-architecture -code --gpu-code -gencode --generate-code -Xptxas "
     "--ptxas-options -Xcudafe --cudafe-options -Xnvlink --nvlink-options -Xfatbin "
     "--fatbin-options -diag-suppress -diag-warn -diag-error -compress-mode -time "
     "-fdevice-time-trace -target-dir --target-directory -ldir --libdevice-directory -sanitize "
     "-e --entries -idp --input-drive-prefix -ddp --dependency-drive-prefix -dp --drive-prefix",
     IGNORE, VALUE, 0, NULL},
    {"-ftz -prec-div -prec-sqrt -fmad -static-global-template-stub "
     "-device-entity-has-hidden-visibility -brief-diag --brief-diagnostics "
     "-device-stack-protector",
     IGNORE, VALUE, 0, booleans},
    {"-maxrregcount -split-compile -split-compile-extended -jtd --jump-table-density", IGNORE,
     VALUE, 0, CC_NUMBER},
    {"-t --threads", IGNORE, JOINED, 0, CC_NUMBER},
    {"-m --machine", IGNORE, VALUE, 0, "64"},
    {"-cudart", IGNORE, VALUE, 0, "none shared static"},
    {"-cudadevrt", IGNORE, VALUE, 0, "none static"},
    {"-dopt", IGNORE, VALUE, 0, "on"},
    {"-opt-info --optimization-info", IGNORE, VALUE, 0, "inline"},
    {"-Ofc --Ofast-compile", IGNORE, VALUE, 0, "0 max mid min"},
};

enum { OPTIONS = sizeof all_options / sizeof *all_options };

/* `name`, `name=value`, or with `joined` `namevalue`; `--name` for `-name`. */
static bool name_fits(const char *argument, const char *name, size_t length, bool joined,
                      const char **value)
{
    bool two = cc_starts(argument, "--") && name[1] != '-' && length > 2;
    const char *rest = argument + two + length;

    if (strncmp(argument + two, name, length) != 0)
        return false;
    *value = *rest == 0 ? NULL : *rest == '=' ? rest + 1 : rest;
    return *rest == 0 || *rest == '=' || joined;
}

static bool option_fits(const char *argument, const struct cc_option *option, bool joined,
                        const char **value)
{
    size_t length;

    joined &= option->value == JOINED || option->value == LEVEL;
    for (const char *name = option->names; *name != 0; name += strspn(name, " ")) {
        length = strcspn(name, " ");
        if (name_fits(argument, name, length, joined && name[1] != '-', value))
            return true;
        name += length;
    }
    return false;
}

/* A full name takes precedence over a name with a joined value: -include is not -I with
 * "nclude". */
const struct cc_option *cc_find_option(const char *argument, const char **value)
{
    for (int joined = 0; joined <= 1; joined++)
        for (int i = 0; i < OPTIONS; i++)
            if (option_fits(argument, &all_options[i], joined != 0, value))
                return &all_options[i];
    return NULL;
}

struct cc_list cc_names_of(enum cc_option_kind kind)
{
    struct cc_list all = {0}, names = {0};

    for (int i = 0; i < OPTIONS; i++)
        if (all_options[i].kind == kind)
            cc_add_words(&all, all_options[i].names);
    for (size_t i = 0; i < all.count; i++)
        if (!cc_starts(all.item[i], "--"))
            cc_add(&names, all.item[i]);
    return names;
}
