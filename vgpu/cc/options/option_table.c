/* SPDX-License-Identifier: MIT
 * option_table.c: see option_table.h.
 */
#include "option_table.h"

#include <string.h>

#define OFFSET(member) ((int)offsetof(struct cc_options, member))

static const char booleans[] = "true false";

static const struct cc_option all_options[] = {
    {"-c --compile -dw --device-w", ACTION, ALONE, CC_COMPILE, NULL},
    {"-E --preprocess", ACTION, ALONE, CC_PREPROCESS, NULL},
    {"-M --generate-dependencies", ACTION, ALONE, CC_DEPENDENCIES, NULL},
    {"-MM --generate-nonsystem-dependencies", ACTION, ALONE, CC_USER_DEPENDENCIES, NULL},
    {"-link", ACTION, ALONE, CC_LINK, NULL},
    {"-lib", ACTION, ALONE, CC_LIBRARY, NULL},
    {"-ptx", ACTION, ALONE, CC_PTX, NULL},
    {"-cubin", ACTION, ALONE, CC_CUBIN, NULL},
    {"-fatbin", ACTION, ALONE, CC_FATBIN, NULL},
    {"-dc --device-c", RDC_ACTION, ALONE, CC_COMPILE, NULL},
    {"-dlink --device-link", RDC_ACTION, ALONE, CC_DEVICE_LINK, NULL},
    {"-o --output-file", TEXT, JOINED, OFFSET(output), NULL},
    {"-odir --output-directory", TEXT, VALUE, OFFSET(output_dir), NULL},
    {"-keep-dir", TEXT, VALUE, OFFSET(keep_dir), NULL},
    {"-precompile", TEXT, VALUE, OFFSET(precompile), NULL},
    {"-ptx-part", TEXT, VALUE, OFFSET(part), NULL},
    {"-std", TEXT, VALUE, OFFSET(std), NULL},
    {"-arbin --archiver-binary", TEXT, VALUE, OFFSET(archiver), NULL},
    {"-MD --generate-dependencies-with-compile", TEXT, ALONE, OFFSET(deps_flag), "-MD"},
    {"-MMD --generate-nonsystem-dependencies-with-compile", TEXT, ALONE, OFFSET(deps_flag), "-MMD"},
    {"-MP --generate-dependency-targets", PASS, ALONE, OFFSET(deps), "-MP"},
    {"-MF --dependency-output", PASS, JOINED, OFFSET(deps), "-MF %s"},
    {"-MT --dependency-target-name", PASS, JOINED, OFFSET(deps), "-MT %s"},
    {"-MQ", PASS, JOINED, OFFSET(deps), "-MQ %s"},
    {"-isystem --system-include", PASS, JOINED | LISTED, OFFSET(common), "-isystem %s"},
    {"-include --pre-include", PASS, LISTED, OFFSET(common), "-include %s"},
    {"-iquote", PASS, JOINED, OFFSET(common), "-iquote %s"},
    {"-idirafter", PASS, JOINED, OFFSET(common), "-idirafter %s"},
    {"-I --include-path", PASS, JOINED | LISTED, OFFSET(common), "-I%s"},
    {"-D --define-macro", PASS, JOINED | LISTED, OFFSET(common), "-D%s"},
    {"-U --undefine-macro", PASS, JOINED | LISTED, OFFSET(common), "-U%s"},
    {"-ftemplate-depth", PASS, VALUE, OFFSET(common), "-ftemplate-depth=%s"},
    {"-ftemplate-backtrace-limit", PASS, VALUE, OFFSET(warnings), "-ftemplate-backtrace-limit=%s"},
    {"-O --optimize", PASS, LEVEL, OFFSET(host), "-O%s"},
    {"-g --debug", PASS, ALONE, OFFSET(host), "-g"},
    {"-pg --profile", PASS, ALONE, OFFSET(host), "-pg"},
    {"-noeh --no-exceptions", PASS, ALONE, OFFSET(host), "-fno-exceptions"},
    {"-frandom-seed", PASS, VALUE, OFFSET(host), "-frandom-seed=%s"},
    {"-w --disable-warnings", PASS, ALONE, OFFSET(warnings), "-w"},
    {"-Wreorder", PASS, ALONE, OFFSET(warnings), "-Wreorder"},
    {"-Wno-deprecated-declarations", PASS, ALONE, OFFSET(warnings), "-Wno-deprecated-declarations"},
    {"-L --library-path", PASS, JOINED | LISTED, OFFSET(link), "-L%s"},
    {"-shared", PASS, ALONE, OFFSET(link), "-shared"},
    {"-r --relocatable-link", PASS, ALONE, OFFSET(link), "-r"},
    {"-Xlinker --linker-options", PASS, VALUE, OFFSET(link), "-Wl,%s"},
    {"-Xarchive --archive-options", PASS, LISTED, OFFSET(archive), "%s"},
    {"-run-args", PASS, LISTED, OFFSET(run_args), "%s"},
    {"-l --library", LIBRARIES, JOINED, 0, NULL},
    {"-Xcompiler --compiler-options", HOST_FLAGS, VALUE, 0, NULL},
    {"-x --x", LANGUAGE, JOINED | ONE_OF, 0, "cu c c++ ptx none"},
    {"-default-stream", DEFAULT_STREAM, ONE_OF, 0, "legacy null per-thread"},
    {"-ccbin --compiler-bindir", CCBIN, VALUE, 0, NULL},
    {"-Werror", WERROR, ALONE, 0, NULL},
    {"-optf --options-file", OPTIONS_FILES, VALUE, 0, NULL},
    {"-rdc --relocatable-device-code", SWITCH, ONE_OF, OFFSET(rdc), booleans},
    {"-G --device-debug", SWITCH, ALONE, OFFSET(device_debug), NULL},
    {"-extended-lambda -expt-extended-lambda", SWITCH, ALONE, OFFSET(lambdas), NULL},
    {"-expt-relaxed-constexpr", SWITCH, ALONE, OFFSET(relaxed), NULL},
    {"-use_fast_math", SWITCH, ALONE, OFFSET(fast_math), NULL},
    {"-check-indices", SWITCH, ALONE, OFFSET(checks_indices), NULL},
    {"-nodlink --no-device-link", SWITCH, ALONE, OFFSET(no_device_link), NULL},
    {"-run", SWITCH, ALONE, OFFSET(run), NULL},
    {"-v --verbose", SWITCH, ALONE, OFFSET(verbose), NULL},
    {"-dryrun", SWITCH, ALONE, OFFSET(dryrun), NULL},
    {"-clangd", SWITCH, ALONE, OFFSET(clangd), NULL},
    {"-keep -save-temps", SWITCH, ALONE, OFFSET(keep), NULL},
    {"-cuda", REFUSE, ALONE, 0, "there is no C++ file between a .cu and its object"},
    {"-ltoir", REFUSE, ALONE, 0, "device code is linked as what -dc makes"},
    {"-optix-ir", REFUSE, ALONE, 0, "virtual GPUs have no OptiX"},
    {"-clean --clean-targets", REFUSE, ALONE, 0, "no results are deleted"},
    {"-hls --host-linker-script", REFUSE, VALUE, 0, "the linker needs no script"},
    {"-aug-hls --augment-host-linker-script", REFUSE, ALONE, 0, "the linker needs no script"},
    {"-astoolspatch --compile-as-tools-patch", REFUSE, ALONE, 0,
     "NVIDIA's tools cannot patch code of virtual GPUs"},
    {"-qpp-config", REFUSE, VALUE, 0, "the host's compiler is g++ or clang++"},
    {"-h --help", QUESTION, ALONE, CC_HELP, NULL},
    {"-V --version", QUESTION, ALONE, CC_VERSION, NULL},
    {"-code-ls --list-gpu-code", QUESTION, ALONE, CC_GPU_CODE, NULL},
    {"-arch-ls --list-gpu-arch", QUESTION, ALONE, CC_GPU_ARCH, NULL},
    /* nvcc's, without a meaning here */
    {"-m64 -lineinfo --generate-line-info -extra-device-vectorization -restrict "
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
     IGNORE, ONE_OF, 0, booleans},
    {"-maxrregcount -split-compile -split-compile-extended -jtd --jump-table-density", IGNORE,
     NUMBER, 0, NULL},
    {"-t --threads", IGNORE, JOINED | NUMBER, 0, NULL},
    {"-m --machine", IGNORE, ONE_OF, 0, "64"},
    {"-cudart", IGNORE, ONE_OF, 0, "none shared static"},
    {"-cudadevrt", IGNORE, ONE_OF, 0, "none static"},
    {"-dopt", IGNORE, ONE_OF, 0, "on"},
    {"-opt-info --optimization-info", IGNORE, ONE_OF, 0, "inline"},
    {"-Ofc --Ofast-compile", IGNORE, ONE_OF, 0, "0 max mid min"},
};

enum { OPTIONS = sizeof all_options / sizeof *all_options };

/* `name`, `name=value`, or with `joined` `namevalue`; `--name` for `-name`. */
static bool option_fits(const char *argument, const struct cc_option *option, bool joined,
                        const char **value)
{
    for (const char *name = option->names; *name != 0; name += strspn(name, " ")) {
        size_t length = strcspn(name, " ");
        bool two = cc_starts(argument, "--") && name[1] != '-' && length > 2;
        const char *rest = argument + two + length;
        if (strncmp(argument + two, name, length) == 0 &&
            (*rest == 0 || *rest == '=' || (joined && name[1] != '-'))) {
            *value = *rest == 0 ? NULL : *rest == '=' ? rest + 1 : rest;
            return true;
        }
        name += length;
    }
    return false;
}

/* `joined`: the kinds of value that may follow a name without a sign between them. */
static const struct cc_option *find_option(const char *argument, int joined, const char **value)
{
    for (int i = 0; i < OPTIONS; i++)
        if (option_fits(argument, &all_options[i], (all_options[i].value & joined) != 0, value))
            return &all_options[i];
    return NULL;
}

/* A full name takes precedence over a name with a joined value: -include is not -I with
 * "nclude". */
const struct cc_option *cc_find_option(const char *argument, const char **value)
{
    const struct cc_option *whole = find_option(argument, 0, value);

    return whole != NULL ? whole : find_option(argument, JOINED | LEVEL, value);
}

struct cc_list cc_names_of(enum cc_option_kind kind)
{
    struct cc_list names = {0};

    for (int i = 0; i < OPTIONS; i++) {
        char *rest = NULL, *words = cc_format("%s", all_options[i].names);
        for (char *name; (name = strtok_r(words, " ", &rest)) != NULL; words = NULL)
            if (all_options[i].kind == kind && !cc_starts(name, "--"))
                cc_add(&names, name);
    }
    return names;
}
