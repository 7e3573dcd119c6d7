/* SPDX-License-Identifier: MIT
 * commands.c: the command lines of the host's compiler and of the linker.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"

void cc_add_deps(const struct cc_job *job, struct cc_list *command, const char *source,
                 const char *object)
{
    const struct cc_options *options = job->options;
    const char *named = cc_output_or(options, object);

    if (options->deps_flag == NULL)
        return;
    cc_add(command, options->deps_flag);
    cc_add_all(command, &options->deps);
    if (!cc_has_word(&options->deps, "-MF"))
        cc_add_line(command, "-MF %s",
                    cc_with_suffix(cc_output_or(options, cc_base_name(source)), ".d"));
    if (!cc_has_word(&options->deps, "-MT") && !cc_has_word(&options->deps, "-MQ"))
        cc_add_line(command, "-MT %s", named);
}

/* CCCL's cuda/atomic goes before ours, which does not go together with the rest of CCCL. */
void cc_add_headers_folders(struct cc_list *command, const struct cc_job *job)
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
    cc_add_headers_folders(&command, job);
    if (object != NULL)
        cc_add_deps(job, &command, input->path, object);
    cc_add_line(&command, "-x %s %s", c ? "c" : "c++", input->path);
    if (object != NULL)
        cc_add_line(&command, "-o %s", object);
    return command;
}

/* The runtime wraps these functions (vgpu/api/clock/clock_sync.h) and looks them up in the next
 * library. A static program has no next library: the runtime uses libc's other names for them,
 * which the linker must include. */
static void add_static_names(struct cc_list *command, const struct cc_list *host)
{
    if (!cc_has_word(host, "-static") && !cc_has_word(host, "-static-pie"))
        return;
    cc_add_words(command, "-Wl,-u,__pthread_create -Wl,-u,__pthread_join "
                          "-Wl,-u,__pthread_tryjoin_np -Wl,-u,__pthread_barrier_init "
                          "-Wl,-u,__pthread_barrier_wait -Wl,-u,__pthread_barrier_destroy");
}

/* What Clang compiled calls LLVM's OpenMP, which has what GNU's has, too, and which g++ does not
 * know. Behind the runtime, which has some of its functions under the same names
 * (vgpu/api/clock/openmp_llvm.c). */
static void add_openmp(struct cc_list *command, const struct cc_options *options)
{
    struct cc_clang clang;

    if (!cc_find_clang(options->cxx, &clang))
        return;
    cc_add(command, cc_format("-L/usr/lib/llvm-%d/lib", clang.release));
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
        add_openmp(&command, job->options);
    cc_add_line(&command, "-lpthread -ldl -lm -lrt -o %s", output);
    return command;
}
