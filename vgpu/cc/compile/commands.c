/* SPDX-License-Identifier: MIT
 * commands.c: the command lines of Clang, of the host's compiler, and of the linker.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "image.h"
#include "proc.h"

/* ---- the host's compiler ---- */

void cc_add_deps(const struct cc_job *job, struct cc_list *command, const char *source,
                 const char *object)
{
    const struct cc_options *options = job->options;

    if (options->deps_flag == NULL)
        return;
    cc_add(command, options->deps_flag);
    cc_add_all(command, &options->deps);
    if (!cc_has_word(&options->deps, "-MF"))
        cc_add_line(command, "-MF %s",
                    cc_with_suffix(cc_output_or(options, cc_base_name(source)), ".d"));
    if (!cc_has_word(&options->deps, "-MT") && !cc_has_word(&options->deps, "-MQ"))
        cc_add_line(command, "-MT %s", cc_output_or(options, object));
}

/* CCCL's cuda/atomic goes before ours, which does not go together with the rest of CCCL. */
static void add_header_folders(struct cc_list *command, const struct cc_job *job)
{
    if (job->places.cccl != NULL)
        cc_add_line(command, "-isystem %s", job->places.cccl);
    cc_add_line(command, "-isystem %s", job->places.include);
}

struct cc_list cc_plain_command(const struct cc_job *job, const struct cc_input *input,
                                const char *object)
{
    const struct cc_options *options = job->options;
    bool c = input->language == CC_LANG_C;
    struct cc_list command = {0};

    cc_add_line(&command, "%s %s", c ? options->cc : options->cxx, object != NULL ? "-c" : "-E");
    /* -std=c++17 is not for C files, nor -std=c11 for C++ ones. */
    if (options->std != NULL && (strstr(options->std, "++") != NULL) == !c)
        cc_add_line(&command, "-std=%s", options->std);
    cc_add_all(&command, &options->host);
    cc_add_all(&command, &options->common);
    cc_add_all(&command, &options->warnings);
    add_header_folders(&command, job);
    if (object != NULL)
        cc_add_deps(job, &command, input->path, object);
    cc_add_line(&command, "-x %s %s", c ? "c" : "c++", input->path);
    if (object != NULL)
        cc_add_line(&command, "-o %s", object);
    return command;
}

/* ---- Clang ---- */

bool cc_keeps_lines(const struct cc_options *options)
{
    return !cc_has_word(&options->host, "-g0");
}

/* Adds those of the host's options that map paths in the program's text. */
static void add_prefix_maps(struct cc_list *command, const struct cc_list *host)
{
    for (size_t i = 0; i < host->count; i++)
        if (cc_starts(host->item[i], "-ffile-prefix-map=") ||
            cc_starts(host->item[i], "-fmacro-prefix-map="))
            cc_add(command, host->item[i]);
}

static void add_clang_side(struct cc_list *command, const struct cc_options *options,
                           enum cc_side side)
{
    if (side == CC_HOST_SIDE) {
        /* Not unrolled, since advice about a launch in a loop over GPUs needs a single call. */
        cc_add_line(command, "--cuda-host-only -fno-unroll-loops -fno-strict-return");
        cc_add_all(command, &options->host);
        /* A tail call has no line of its own: vgpu/api/core/caller.c. DWARF as of g++:
         * vgpu/common/dwarf_lines.c reads it. */
        cc_add_line(command, "-fno-optimize-sibling-calls -fdebug-default-version=4");
        return;
    }
    cc_add_line(command, "--cuda-device-only -emit-llvm -Xclang -disable-llvm-passes -O2 "
                         "-fno-strict-aliasing -ffp-contract=off -fno-finite-loops "
                         "-fno-delete-null-pointer-checks "
                         "-fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset "
                         "-Wno-builtin-macro-redefined -U__CUDA_ARCH__ -D__CUDA_ARCH__=900 "
                         "-U_FORTIFY_SOURCE");
    if (options->checks_indices) /* objects without reported accesses: local arrays, constants */
        cc_add_line(command, "-Xclang -fsanitize=array-bounds,object-size");
    if (options->device_debug)
        cc_add_line(command, "-g -Xclang -debug-info-kind=limited -Xclang -dwarf-version=4");
    else if (cc_keeps_lines(options))
        cc_add_line(command, "-g1 -Xclang -debug-info-kind=line-tables-only "
                             "-Xclang -dwarf-version=4");
    add_prefix_maps(command, &options->host);
}

/* ---- the host compiler's own folders ---- */

/* A compiler that searches no other folders than Clang. */
static bool is_plain(const char *compiler)
{
    const char *name = cc_base_name(compiler);

    return strstr(name, "g++") != NULL || strstr(name, "c++") == name ||
           strstr(name, "clang") != NULL;
}

static bool is_everybodys(const char *folder)
{
    return cc_starts(folder, "/usr/lib/gcc") || strcmp(folder, "/usr/local/include") == 0 ||
           strcmp(folder, "/usr/include") == 0 || cc_starts(folder, "/usr/include/");
}

/* -ccbin mpicxx: the folders in which such a compiler looks for headers. */
static void add_wrapper_folders(struct cc_list *command, const char *compiler)
{
    const char *asks = cc_format("LC_ALL=C '%s' -E -x c++ -v /dev/null 2>&1", compiler);
    char *list = is_plain(compiler) ? NULL : strstr(cc_output_of(asks), "search starts here");
    char *rest = NULL, *line = list != NULL ? strtok_r(list, "\n", &rest) : NULL;

    for (; line != NULL && !cc_starts(line, "End of search"); line = strtok_r(NULL, "\n", &rest))
        if (*line == ' ' && !is_everybodys(line + 1))
            cc_add_line(command, "-isystem %s", line + 1);
}

void cc_add_language(struct cc_list *command, const struct cc_job *job)
{
    const struct cc_options *options = job->options;
    const char *std = options->std != NULL ? options->std : "gnu++17";

    /* CUDA's headers are C++11 */
    cc_add_line(command, "-std=%s", strcmp(std, "c++03") == 0 ? "c++11" : std);
    /* What Clang knows of a Toolkit stays away; its version chooses how a launch is compiled. */
    cc_add_line(command, "--cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_70 "
                         "-Xclang -target-sdk-version=11.5 -Wno-unknown-cuda-version "
                         "-Wno-unknown-warning-option -Wno-unused-command-line-argument "
                         "-Wno-ignored-optimization-argument");
    cc_add_line(command, "-D__CUDACC__ -D__NVCC__ -D__CUDACC_VER_MAJOR__=13 "
                         "-D__CUDACC_VER_MINOR__=0 -D__CUDACC_VER_BUILD__=88 "
                         "-D__CUDA_ARCH_LIST__=900");
    /* as nvcc: type traits use functions f(...) that are never called */
    cc_add_line(command, "-Xclang -fcuda-allow-variadic-functions");
    /* as nvcc: a constexpr function is the host's */
    cc_add_line(command, options->relaxed ? "-DVGPU_RELAXED_CONSTEXPR"
                                          : "-Xclang -fno-cuda-host-device-constexpr");
    cc_add_line(command, "-Wno-error=c++11-narrowing -Wno-register "
                         "-Wno-reserved-user-defined-literal"); /* as g++ */
    cc_add_line(command, "-isystem %s/vgpu/over", job->places.include);
    add_header_folders(command, job);
}

void cc_add_prelude(struct cc_list *command, const struct cc_job *job)
{
    cc_add_line(command, "-include %s/vgpu/prelude.h", job->places.include);
}

struct cc_list cc_clang_command(const struct cc_job *job, enum cc_side side, enum cc_stage stage,
                                const char *header, const char *source, const char *output)
{
    const struct cc_options *options = job->options;
    struct cc_list command = {0};

    cc_add(&command, cc_find_clang(job).path);
    cc_add(&command, stage == CC_TO_TEXT ? "-E" : stage == CC_TO_HEADER ? "-fsyntax-only" : "-c");
    cc_add_language(&command, job);
    add_clang_side(&command, options, side);
    if (options->rdc)
        cc_add(&command, "-fgpu-rdc");
    if (isatty(STDERR_FILENO))
        cc_add(&command, "-fcolor-diagnostics");
    /* Else every compilation instantiates anew what the headers use, which takes longer than the
     * rest of a small file. */
    if (header != NULL || stage == CC_TO_HEADER)
        cc_add(&command, "-fpch-instantiate-templates");
    if (header != NULL)
        cc_add_line(&command, "-Xclang -include-pch -Xclang %s", header);
    else if (stage != CC_TO_HEADER)
        cc_add_prelude(&command, job);
    cc_add_all(&command, &options->common);
    add_wrapper_folders(&command, options->cxx);
    cc_add_all(&command, &options->warnings);
    cc_add_line(&command, "-x cuda %s", source);
    if (output != NULL)
        cc_add_line(&command, CC_WRITES_IT " -o %s", output);
    return command;
}

/* ---- the linker ---- */

/* The runtime wraps these functions (vgpu/api/clock/clock_sync.h) and looks them up in the next
 * library. A static program has no next library: the runtime uses libc's other names for them,
 * which the linker must include. */
static void add_static_names(struct cc_list *command, const struct cc_list *host)
{
    if (!cc_has_word(host, "-static") && !cc_has_word(host, "-static-pie"))
        return;
    cc_add_line(command, "-Wl,-u,__pthread_create -Wl,-u,__pthread_join "
                         "-Wl,-u,__pthread_tryjoin_np -Wl,-u,__pthread_barrier_init "
                         "-Wl,-u,__pthread_barrier_wait -Wl,-u,__pthread_barrier_destroy");
}

/* What Clang compiled calls LLVM's OpenMP, which has what GNU's has, too, and which g++ does not
 * know. Behind the runtime, which has some of its functions under the same names
 * (vgpu/api/clock/openmp_llvm.c). */
static void add_openmp(struct cc_list *command, const struct cc_job *job)
{
    cc_add(command, cc_format("-L/usr/lib/llvm-%d/lib", cc_find_clang(job).release));
    cc_add(command, "-Wl,--push-state,--no-as-needed,-lomp,--pop-state");
}

/* find_library() finds the toolkit's libnccl.so for NCCL: see options.c. */
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
    const struct cc_list *host = &job->options->host;
    bool openmp = cc_has_word(host, "-fopenmp") && !job->options->cxx_is_clang;
    const char *output = cc_output_or(job->options, "a.out");
    struct cc_list command = {0};

    cc_add(&command, job->options->cxx);
    /* CMake reads the linker's line, too: its folders are implicit ones */
    if (job->options->verbose)
        cc_add(&command, "-v");
    for (size_t i = 0; i < host->count; i++)
        if (!openmp || strcmp(host->item[i], "-fopenmp") != 0)
            cc_add(&command, host->item[i]);
    cc_add_all(&command, &job->options->link);
    for (size_t i = 0; i < objects->count; i++)
        cc_add(&command, static_form(job, objects->item[i]));
    if (cc_has_word(&job->options->link, "-r")) {
        cc_add_line(&command, "-o %s", output);
        return command;
    }
    add_static_names(&command, host);
    /* -L: for -lnccl */
    cc_add_line(&command,
                "-L%s -Wl,--start-group %s/libvgpurt.a %s/libvgpu_common.a -Wl,--end-group",
                job->places.library, job->places.library, job->places.library);
    if (openmp)
        add_openmp(&command, job);
    cc_add_line(&command, "-lpthread -ldl -lm -lrt -o %s", output);
    return command;
}
