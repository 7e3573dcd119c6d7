/* SPDX-License-Identifier: MIT
 * compile_cuda.c: compiles a .cu file to one object. Clang runs twice, concurrently: for GPUs, to
 * LLVM's bitcode, which is lowered to this processor (lower.h) and linked to a device image; and
 * for the host, to an object without the image, which objcopy puts into its section.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "compile.h"
#include "diag.h"
#include "elf_read.h"
#include "proc.h"
#include "rewrite.h"

enum { ROUNDS_MAX = 50 };

struct file {
    const struct cc_job *job;
    struct cc_clang clang;
    const char *source, *object;
    int number;
    struct cc_bitcode bitcode; /* of device code */
    struct cc_device_code code;
    struct cc_list copies; /* what Clang has refused, rewritten */
    int rounds;            /* how often */
    bool only_hosts;       /* __host__ __device__ functions may only be called in host code */
    bool is_module;        /* device code alone is wanted */
    bool has_image;        /* the host's code is compiled with the image, not with room for it */
    bool no_header;        /* compile without the precompiled header, which Clang rejected */
};

static const char *output_path(const struct file *file, const char *suffix)
{
    return cc_temp_path(cc_format("%d-%s", file->number, suffix));
}

/* ---- both commands ---- */

static struct cc_list command_of(const struct file *file, enum cc_side side, const char *output)
{
    const struct cc_job *job = file->job;
    const char *clang = file->clang.path, *header = NULL;
    struct cc_list command =
        cc_clang_command(job, clang, side, CC_WITH_PRELUDE, file->source, output);

    if (!file->no_header && !file->only_hosts)
        header = cc_precompiled(job, file->clang.release, side, &command);
    if (header != NULL)
        cc_add_line(&command, "-Xclang -include-pch -Xclang %s", header);
    else
        command = cc_clang_command(job, clang, side, CC_TO_CODE, file->source, output);
    for (size_t i = 0; i < file->copies.count; i++)
        cc_add_line(&command, "-ferror-limit=0 -Xclang -remap-file -Xclang %s",
                    file->copies.item[i]);
    return command;
}

/* Makes an object, or bitcode. The image is not known yet: its section has the unit's name. */
static struct cc_list host_command(const struct file *file, const char *output)
{
    struct cc_list command = command_of(file, CC_HOST_SIDE, output);

    cc_add_line(&command, "-Xclang -fcuda-include-gpubinary -Xclang %s", output_path(file, "unit"));
    cc_add_deps(file->job, &command, file->source, file->object);
    return command;
}

static struct cc_child start_host(const struct file *file)
{
    struct cc_list command = host_command(file, file->object);

    return cc_spawn(&command, "host.err");
}

static struct cc_child start_device(const struct file *file)
{
    struct cc_list device = command_of(file, CC_DEVICE_SIDE, output_path(file, "device.bc"));

    if (file->only_hosts)
        cc_add(&device, "-DVGPU_HOST_IS_INLINE");
    return cc_spawn(&device, "device.err");
}

/* ---- what Clang refuses and nvcc does not ---- */

/* What both have said, and how they ended. */
struct outcome {
    const char *said;
    int host_status, device_status;
};

/* Is the file to be compiled again: without the precompiled header, with what Clang refuses
 * rewritten, or without functions that only host code may call? */
static bool is_to_be_redone(struct file *file, const struct outcome *end)
{
    bool failed = end->host_status == 1 || end->device_status == 1;

    if ((end->host_status != 0 || end->device_status != 0) && !file->no_header &&
        cc_is_misfit(end->said))
        return file->no_header = true;
    if (!failed)
        return false;
    bool only_hosts = !file->only_hosts && !file->job->options->rdc &&
                      strstr(end->said, "in __host__ __device__ function") != NULL;
    file->only_hosts |= only_hosts;
    bool rewritten = file->rounds++ < ROUNDS_MAX &&
                     cc_rewrite(&file->copies, end->said, output_path(file, "changed"),
                                !cc_has_word(&file->job->options->warnings, "-w"));
    return only_hosts || rewritten;
}

/* What Clang says of a launch in device code names the functions that make one, not the launch. */
static const char *launch_hint(const char *said)
{
    return strstr(said, "'__cudaPushCallConfiguration' in __") == NULL &&
                   strstr(said, "error: reference to __global__ function") == NULL
               ? NULL
               : "device code starts a kernel: the virtual node has no dynamic parallelism";
}

/* Prints the messages. False: one of the passes failed. */
static bool print_messages(const struct outcome *end)
{
    int worst = end->host_status > end->device_status ? end->host_status : end->device_status;
    const char *hint = cc_cccl_hint(end->said);

    fputs(end->said, stderr);
    if (worst == 0)
        return true;
    if (hint == NULL)
        hint = launch_hint(end->said);
    if (hint != NULL)
        cc_fail("%s", hint);
    if (worst > 128)
        cc_fail("clang was ended by signal %d", worst - 128);
    return false;
}

/* ---- the host's object ---- */

static const char bitcode_flags[] = "-emit-llvm -Xclang -disable-llvm-passes";

/* Warnings about the host's use of __device__ variables; false: a kernel is missing. */
static bool check_host(const struct file *file)
{
    const char *bitcode = output_path(file, "uses.bc");
    struct cc_list command = command_of(file, CC_HOST_SIDE, bitcode); /* as it was written */

    cc_add_words(&command, bitcode_flags);
    cc_add_words(&command, "-gline-tables-only -w");
    if (file->code.variable_count != 0 && !cc_has_word(&file->job->options->warnings, "-w"))
        cc_check_host_variables(file->clang.release, &command, bitcode, &file->code);
    return cc_check_stubs(file->clang.release, &command, bitcode, file->object, &file->code);
}

/* __managed__: compiles the host's code again, with a change. */
static bool compile_managed(const struct file *file)
{
    const char *bitcode = output_path(file, "host.bc"),
               *changed = output_path(file, "host.changed.bc");
    struct cc_list first = host_command(file, bitcode),
                   last = cc_host_code_command(file->job, file->clang.path, changed, file->object);

    cc_add_words(&first, bitcode_flags);
    cc_add(&first, "-w"); /* they were said before */
    return cc_run(&first) == 0 && cc_change_managed(file->clang.release, bitcode, changed) &&
           cc_run(&last) == 0;
}

/* --default-stream per-thread: vgpu/include/vgpu/per_thread.h has this form for other calls; Clang
 * always generates a launch with the default name. */
static void rename_launch(const struct file *file, struct cc_list *objcopy)
{
    const struct cc_list *common = &file->job->options->common;
    bool per_thread = false;

    for (size_t i = 0; i < common->count; i++)
        per_thread |= cc_starts(common->item[i], "-DCUDA_API_PER_THREAD_DEFAULT_STREAM");
    if (per_thread)
        cc_add_words(objcopy, "--redefine-sym cudaLaunchKernel=cudaLaunchKernel_ptsz");
}

/* Without kernels and variables Clang makes no section; -o /dev/null has none. */
static bool has_section(const char *object)
{
    size_t length = 0;
    const void *data = cc_read_file(object, &length);
    const struct elf_map map = {data, length};
    struct elf_cursor section = vgpu_elf_section(&map, ".nv_fatbin");

    return section.at < section.end;
}

static bool add_image(const struct file *file, const struct cc_text *fatbin,
                      struct cc_list *objcopy)
{
    const char *path = output_path(file, "device.fatbin");

    cc_add_line(objcopy, "--update-section .nv_fatbin=%s", path);
    return cc_write_file(path, fatbin->data, fatbin->length);
}

/* Into a file of its own first: where objcopy changes a file in place, it leaves another one beside
 * it if it is ended. */
static bool copy_object(const struct file *file, struct cc_list *objcopy)
{
    const char *whole = output_path(file, "whole.o");
    size_t length = 0;

    cc_add_line(objcopy, "%s %s", file->object, whole);
    if (cc_run(objcopy) != 0)
        return false;
    const char *data = cc_read_file(whole, &length);
    return data != NULL ? cc_write_file(file->object, data, length)
                        : cc_fail("cannot read '%s': %s", whole, strerror(errno));
}

/* Adds the device code: the image, or with -rdc=true the bitcode. */
static bool finish_object(const struct file *file, const struct cc_text *fatbin)
{
    bool part = file->bitcode.unit != NULL;
    struct cc_list objcopy = {0};

    if ((file->code.managed_count != 0 || file->code.names_managed) && !compile_managed(file))
        return false;
    if (!check_host(file) || cc_error_count() != 0)
        return false;
    if (!part && !has_section(file->object))
        return true;
    cc_add(&objcopy, "objcopy");
    rename_launch(file, &objcopy);
    if (part ? !cc_add_part(file->object, &file->bitcode, output_path(file, "part"), &objcopy)
             : !file->has_image && !add_image(file, fatbin, &objcopy))
        return false;
    return copy_object(file, &objcopy);
}

/* ---- both passes ---- */

static bool build_image(struct file *file, struct cc_text *fatbin)
{
    const char *path = output_path(file, "device.bc");
    struct cc_bitcode *bitcode = &file->bitcode;

    bitcode->source = file->source;
    bitcode->no_lambdas = !file->job->options->lambdas;
    bitcode->data = cc_read_file(path, &bitcode->bytes);
    if (bitcode->data == NULL)
        return cc_fail("cannot read '%s': %s", path, strerror(errno));
    if (bitcode->unit != NULL)
        return cc_load_llvm(file->clang.release) && cc_check_bitcode(bitcode, &file->code);
    return cc_build_image(file->job, &file->clang, bitcode, 1, cc_format("%d", file->number),
                          &file->code, fatbin);
}

/* AddressSanitizer lets nobody read behind a variable of the host's code: the image must have its
 * size there when that is compiled. */
static bool needs_image_first(const struct cc_list *host)
{
    for (size_t i = 0; i < host->count; i++)
        if (cc_starts(host->item[i], "-fsanitize=") && strstr(host->item[i], "address") != NULL)
            return true;
    return false;
}

/* Compiles both sides, and makes of device code what the object or module gets. */
static bool run_passes(struct file *file, struct cc_text *fatbin, struct outcome *end)
{
    struct cc_child device = start_device(file), host = {.pid = 0};
    const char *host_said, *device_said;

    if (!file->is_module && !file->has_image)
        host = start_host(file);
    end->device_status = cc_wait(device, &device_said);
    bool made = end->device_status == 0 && build_image(file, fatbin);
    if (file->has_image && made)
        made = cc_write_file(output_path(file, "unit"), fatbin->data, fatbin->length);
    if (file->has_image)
        host = start_host(file);
    end->host_status = cc_wait(host, &host_said);
    end->said = cc_merge_messages(host_said, device_said);
    return made;
}

static bool compile(struct file *file)
{
    struct cc_text fatbin = {0};
    struct outcome end;
    bool made = run_passes(file, &fatbin, &end);

    if (is_to_be_redone(file, &end))
        return compile(file);
    if (!print_messages(&end) || !made)
        return false;
    return file->is_module ? cc_write_module(file->job, file->object, &fatbin)
                           : finish_object(file, &fatbin);
}

bool cc_compile_cuda(const struct cc_job *job, const char *source, const char *object, int number)
{
    const struct cc_options *options = job->options;
    const char *unit = cc_unit_name(job, source);
    struct file file = {.job = job, .source = source, .object = object, .number = number};

    file.is_module = cc_makes_modules(options);
    file.bitcode.unit = options->rdc && !file.is_module ? unit : NULL;
    file.has_image =
        !file.is_module && file.bitcode.unit == NULL && needs_image_first(&options->host);
    if (!cc_find_clang(options->cxx, &file.clang))
        return false;
    if (options->dryrun) {
        start_device(&file);
        if (!file.is_module)
            start_host(&file);
        return true;
    }
    bool done = cc_write_unit(output_path(&file, "unit"), unit) && compile(&file);
    return cc_say_all() && done;
}
