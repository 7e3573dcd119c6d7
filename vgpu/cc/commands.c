/* SPDX-License-Identifier: MIT
 * commands.c: the compiler's command lines.
 *
 * gcc preprocesses with -fdirectives-only: conditions and #include are carried out, macros are left
 * for the compilation, so that its messages know the user's columns. clang has no such mode, and
 * gcc's is not always right (quotes.h): then macros are expanded first, and CUDA's words are kept
 * through it (words_later.h).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clang.h"
#include "compile.h"
#include "proc.h"

void cc_add_words(struct cc_list *list, const char *words)
{
    while (*words != 0) {
        size_t length = strcspn(words, " ");
        cc_add(list, cc_copy(words, length));
        words += length;
        words += strspn(words, " ");
    }
}

bool cc_has_word(const struct cc_list *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->item[i], word) == 0)
            return true;
    return false;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool is_clang(const struct cc_options *options)
{
    return strstr(base_name(options->cxx), "clang") != NULL;
}

/* gcc's -fdirectives-only loses the pragmas of OpenMP and OpenACC where these are switched on. */
static bool wants_parallel_pragmas(const struct cc_options *options)
{
    for (size_t i = 0; i < options->host.count; i++)
        if (cc_starts(options->host.item[i], "-fopenmp") ||
            cc_starts(options->host.item[i], "-fopenacc"))
            return true;
    return false;
}

enum cc_macros_how cc_macros_by_default(const struct cc_options *options)
{
    return is_clang(options) || wants_parallel_pragmas(options) ? CC_MACROS_EXPANDED
                                                                : CC_MACROS_LEFT;
}

enum cc_language cc_language_of(const struct cc_input *input)
{
    static const struct {
        const char *suffix;
        enum cc_language language;
    } known[] = {
        {".cu", CC_LANG_CUDA}, {".c", CC_LANG_C},     {".cpp", CC_LANG_CXX}, {".cc", CC_LANG_CXX},
        {".cxx", CC_LANG_CXX}, {".c++", CC_LANG_CXX}, {".C", CC_LANG_CXX},
    };

    if (input->is_option)
        return CC_LANG_OBJECT;
    if (input->language != CC_BY_SUFFIX)
        return input->language;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (cc_ends(input->path, known[i].suffix))
            return known[i].language;
    return CC_LANG_OBJECT;
}

static const char *standard(const struct cc_options *options)
{
    return options->std != NULL ? options->std : "-std=gnu++17";
}

static void add_color(struct cc_list *command, const struct cc_options *options)
{
    if (isatty(STDERR_FILENO))
        cc_add(command, is_clang(options) ? "-fcolor-diagnostics" : "-fdiagnostics-color=always");
}

/* ---- the two passes ---- */

/* What device code is compiled with; both steps get it, for macros like __OPTIMIZE__. */
static void add_device_flags(struct cc_list *command, const struct cc_options *options)
{
    cc_add_words(command, "-O2 -g1 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden "
                          "-ffunction-sections -fdata-sections -fno-stack-protector "
                          "-fno-strict-aliasing -ffp-contract=off -fno-math-errno -fno-plt "
                          "-fno-builtin-printf -fno-builtin-memcpy -fno-builtin-memmove "
                          "-fno-builtin-memset -fsanitize=thread "
                          "-fno-finite-loops"); /* as nvcc: a loop that waits stays, and waits */
    if (is_clang(options))
        cc_add_words(command, "-mllvm -tsan-distinguish-volatile=1 -mllvm "
                              "-tsan-instrument-read-before-write=1 -mllvm "
                              "-tsan-handle-cxx-exceptions=0");
    else
        cc_add_words(command,
                     "--param tsan-distinguish-volatile=1 -fno-tree-loop-distribute-patterns "
                     "-fno-semantic-interposition");
#ifdef __x86_64__
    cc_add(command, "-fcf-protection=none");
#endif
}

static void add_side_flags(struct cc_list *command, const struct cc_job *job, enum cc_side side)
{
    if (side == CC_DEVICE_SIDE)
        add_device_flags(command, job->options);
    else
        cc_add_all(command, &job->options->host);
    add_color(command, job->options);
}

static void add_prelude(struct cc_list *command, const struct cc_job *job, enum cc_side side,
                        enum cc_macros_how how)
{
    cc_add_words(command, "-D__CUDACC__ -D__NVCC__ -D__CUDACC_VER_MAJOR__=13 "
                          "-D__CUDACC_VER_MINOR__=0 -D__CUDACC_VER_BUILD__=88");
    if (side == CC_DEVICE_SIDE)
        cc_add_words(command, "-D__CUDA_ARCH__=900 -U_FORTIFY_SOURCE -fno-exceptions -fno-rtti");
    if (how == CC_MACROS_EXPANDED)
        cc_add(command, "-DVGPU_WORDS_LATER");
    cc_add(command, "-isystem");
    cc_add(command, job->places.include);
    cc_add(command, cc_format("-DVGPU_CONTRACT=\"%s/%s\"", job->places.contract,
                              side == CC_DEVICE_SIDE ? "image.h" : "registration.h"));
    cc_add(command, "-include");
    cc_add(command, cc_format("%s/vgpu/pass.h", job->places.include));
}

struct cc_list cc_preprocess_command(const struct cc_job *job, enum cc_side side,
                                     enum cc_macros_how how, const char *source, const char *output)
{
    struct cc_list command = {0};

    cc_add(&command, job->options->cxx);
    cc_add(&command, "-E");
    if (how == CC_MACROS_LEFT && output != NULL)
        cc_add(&command, "-fdirectives-only");
    else if (!is_clang(job->options))
        /* Else what system macros expand to is marked as theirs, and not looked into. */
        cc_add(&command, "-ftrack-macro-expansion=0");
    cc_add(&command, standard(job->options));
    add_side_flags(&command, job, side);
    add_prelude(&command, job, side, how);
    cc_add_all(&command, &job->options->common);
    cc_add_all(&command, &job->options->warnings);
    cc_add_words(&command, "-x c++");
    cc_add(&command, source);
    if (output != NULL) {
        cc_add(&command, "-o");
        cc_add(&command, output);
    }
    return command;
}

static const char *with_suffix(const char *path, const char *suffix)
{
    const char *dot = strrchr(base_name(path), '.');
    size_t length = dot != NULL ? (size_t)(dot - path) : strlen(path);

    return cc_format("%.*s%s", (int)length, path, suffix);
}

void cc_add_deps(const struct cc_job *job, struct cc_list *command, const char *source,
                 const char *object)
{
    const struct cc_options *options = job->options;
    const char *named = options->output != NULL ? options->output : base_name(source);

    if (!options->want_deps)
        return;
    cc_add(command, "-MD");
    cc_add_all(command, &options->deps);
    if (!options->deps_file_given) {
        cc_add(command, "-MF");
        cc_add(command, with_suffix(named, ".d"));
    }
    if (!options->deps_target_given) {
        cc_add(command, "-MT");
        cc_add(command, options->output != NULL ? options->output : object);
    }
}

struct cc_list cc_compile_command(const struct cc_job *job, enum cc_side side,
                                  struct cc_needs needs, const char *text, const char *assembly)
{
    struct cc_list command = {0};

    cc_add(&command, job->options->cxx);
    cc_add(&command, "-S");
    cc_add(&command, standard(job->options));
    add_side_flags(&command, job, side);
    cc_add_all(&command, &job->options->warnings);
    /* A call that is a jump has no line of its own: vgpu/api/core/caller.c. */
    if (side == CC_HOST_SIDE)
        cc_add(&command, "-fno-optimize-sibling-calls");
    /* The host pass knows OpenMP's pragmas, this one none; and its marks on host functions come
     * after a declaration that says inline. */
    if (side == CC_DEVICE_SIDE)
        cc_add_words(&command, "-Wno-unknown-pragmas -Wno-attributes");
    if (side == CC_DEVICE_SIDE && !needs.exceptions)
        cc_add_words(&command, "-fno-exceptions -fno-asynchronous-unwind-tables");
    if (side == CC_DEVICE_SIDE && !needs.type_information)
        cc_add(&command, "-fno-rtti");
    /* What only device code uses looks unused to the host pass. */
    if (is_clang(job->options))
        cc_add_words(&command, "-Wno-unused-const-variable -Wno-unused-command-line-argument");
    if (needs.macros == CC_MACROS_EXPANDED) {
        cc_add(&command, "-include");
        cc_add(&command, cc_format("%s/vgpu/words.h", job->places.include));
        cc_add_words(&command, "-x c++");
    } else {
        cc_add_words(&command, "-fpreprocessed -fdirectives-only");
    }
    cc_add(&command, text);
    cc_add(&command, "-o");
    cc_add(&command, assembly);
    return command;
}

/* clang's assembler finds its own line tables inconsistent where line markers name files. */
static void add_assembler_flags(struct cc_list *command, const struct cc_options *options)
{
    if (is_clang(options))
        cc_add_words(command, "-Wa,--no-warn -Wno-unused-command-line-argument");
}

struct cc_list cc_image_command(const struct cc_job *job, const struct cc_list *inputs,
                                const struct cc_list *roots, const char *image)
{
    struct cc_list command = {0};

    cc_add(&command, job->options->cxx);
    cc_add_words(&command, "-shared -nostdlib -Wl,--gc-sections -Wl,-z,now -Wl,-z,norelro "
                           "-Wl,-z,noexecstack -Wl,--build-id=none -Wl,--hash-style=gnu "
                           "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset");
    /* No entry: ld's own choice, a symbol named `start`, would keep a host variable of that name.
     */
    cc_add_words(&command, "-Wl,-e,0");
    /* A kernel that destroys a local object has a landing pad where the host's code needs
     * exceptions. Nothing throws in device code (check.c), so nobody comes there. */
    cc_add_words(&command, "-Wl,--defsym=_Unwind_Resume=0 -Wl,--defsym=__gxx_personality_v0=0");
    cc_add(&command, cc_format("-Wl,-T,%s", cc_temp_path("image.ld")));
    cc_add(&command, cc_format("-Wl,--version-script=%s", cc_temp_path("image.ver")));
    for (size_t i = 0; i < roots->count; i++)
        cc_add(&command, cc_format("-Wl,-u,%s", roots->item[i]));
    add_assembler_flags(&command, job->options);
    cc_add_all(&command, inputs);
    cc_add(&command, "-lgcc");
    cc_add(&command, "-o");
    cc_add(&command, image);
    return command;
}

struct cc_list cc_assemble_command(const struct cc_job *job, const char *assembly,
                                   const char *object)
{
    struct cc_list command = {0};

    cc_add(&command, job->options->cxx);
    cc_add(&command, "-c");
    add_assembler_flags(&command, job->options);
    cc_add(&command, assembly);
    cc_add(&command, "-o");
    cc_add(&command, object);
    return command;
}

/* ---- everything else ---- */

struct cc_list cc_plain_command(const struct cc_job *job, const struct cc_input *input,
                                const char *object)
{
    const struct cc_options *options = job->options;
    bool c = cc_language_of(input) == CC_LANG_C;
    struct cc_list command = {0};

    cc_add(&command, c ? options->cc : options->cxx);
    cc_add(&command, object != NULL ? "-c" : "-E");
    /* -std=c++17 is not for C files, nor -std=c11 for C++ ones. */
    bool own_std = options->std != NULL && (strstr(options->std, "++") != NULL) == !c;
    if (own_std)
        cc_add(&command, options->std);
    cc_add_all(&command, &options->host);
    cc_add_all(&command, &options->common);
    cc_add_all(&command, &options->warnings);
    cc_add(&command, "-isystem");
    cc_add(&command, job->places.include);
    if (object != NULL)
        cc_add_deps(job, &command, input->path, object);
    cc_add_words(&command, c ? "-x c" : "-x c++");
    cc_add(&command, input->path);
    if (object != NULL) {
        cc_add(&command, "-o");
        cc_add(&command, object);
    }
    return command;
}

/* The runtime stands before these functions (vgpu/api/clock/clock_sync.h) and finds them in the
 * next library; where there are none, under libc's other names, which the program must have taken
 * in. OpenMP's have no others: its own go first. */
static void add_static_names(struct cc_list *command, const struct cc_list *host)
{
    if (!cc_has_word(host, "-static") && !cc_has_word(host, "-static-pie"))
        return;
    cc_add_words(command, "-Wl,-u,__pthread_create -Wl,-u,__pthread_join "
                          "-Wl,-u,__pthread_tryjoin_np -Wl,-u,__pthread_barrier_init "
                          "-Wl,-u,__pthread_barrier_wait -Wl,-u,__pthread_barrier_destroy");
    if (cc_has_word(host, "-fopenmp") && !cc_wants_clang())
        cc_add(command, "-lgomp");
}

/* What Clang compiled calls LLVM's OpenMP, which has what GNU's has, too: g++ does not know it. */
static bool is_for_openmp(const struct cc_options *options, const char *flag)
{
    return strcmp(flag, "-fopenmp") == 0 && cc_wants_clang() && !is_clang(options);
}

static void add_host_flags(struct cc_list *command, const struct cc_options *options)
{
    for (size_t i = 0; i < options->host.count; i++)
        if (!is_for_openmp(options, options->host.item[i]))
            cc_add(command, options->host.item[i]);
}

/* Behind the runtime, which has some of its functions under the same names
 * (vgpu/api/clock/openmp_llvm.c). */
static void add_openmp(struct cc_list *command, const struct cc_options *options)
{
    struct cc_clang clang;
    bool wanted = false;

    for (size_t i = 0; i < options->host.count; i++)
        wanted |= is_for_openmp(options, options->host.item[i]);
    if (!wanted || !cc_find_clang(options->cxx, &clang))
        return;
    cc_add(command, cc_format("-L/usr/lib/llvm-%d/lib", clang.release));
    cc_add(command, "-Wl,--push-state,--no-as-needed,-lomp,--pop-state");
}

/* What find_library() calls NCCL is the toolkit's libnccl.so: see options.c. */
static const char *static_form(const struct cc_job *job, const char *object)
{
    char real[PATH_MAX], own[PATH_MAX];
    const char *shared = cc_format("%s/libnccl.so", job->places.library);

    if (!cc_ends(object, "/libnccl.so") || realpath(object, real) == NULL ||
        realpath(shared, own) == NULL || strcmp(real, own) != 0)
        return object;
    return cc_format("%s/libnccl.a", job->places.library);
}

struct cc_list cc_link_command(const struct cc_job *job, const struct cc_list *objects)
{
    struct cc_list command = {0};

    cc_add(&command, job->options->cxx);
    if (job->options
            ->verbose) /* CMake reads the linker's line, too: its folders are implicit ones */
        cc_add(&command, "-v");
    add_host_flags(&command, job->options);
    cc_add_all(&command, &job->options->link);
    for (size_t i = 0; i < objects->count; i++)
        cc_add(&command, static_form(job, objects->item[i]));
    add_static_names(&command, &job->options->host);
    cc_add(&command, cc_format("-L%s", job->places.library)); /* -lnccl */
    cc_add(&command, "-Wl,--start-group");
    cc_add(&command, cc_format("%s/libvgpurt.a", job->places.library));
    cc_add(&command, cc_format("%s/libvgpu_common.a", job->places.library));
    cc_add(&command, "-Wl,--end-group");
    add_openmp(&command, job->options);
    cc_add_words(&command, "-lpthread -ldl -lm -lrt -o");
    cc_add(&command, job->options->output != NULL ? job->options->output : "a.out");
    return command;
}
