/* SPDX-License-Identifier: MIT
 * compile_cuda.c: compiles a .cu file to one object. Clang runs twice, concurrently: for GPUs, to
 * LLVM's bitcode, which is lowered to this processor (lower.h) and linked to a device image; and
 * for the host, to an object without the image, which objcopy puts into its section.
 */
#include <stdio.h>
#include <string.h>

#include "compile.h"
#include "diag.h"
#include "elf_read.h"
#include "proc.h"

enum { ROUNDS_MAX = 50 };

struct file {
    const struct cc_job *job;
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
    bool fits = !file->no_header && !file->only_hosts;
    const char *header = fits ? cc_precompiled(file->job, side) : NULL;
    struct cc_list command =
        cc_clang_command(file->job, side, CC_TO_CODE, header, file->source, output);

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
    return cc_spawn(host_command(file, file->object), "host.err");
}

static struct cc_child start_device(const struct file *file)
{
    struct cc_list device = command_of(file, CC_DEVICE_SIDE, output_path(file, "device.bc"));

    if (file->only_hosts)
        cc_add(&device, "-DVGPU_HOST_IS_INLINE");
    return cc_spawn(device, "device.err");
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

/* What is said of the messages, which are about something else than their cause; null: nothing. */
static const char *hint_about(const char *said)
{
    /* They name the functions that make a launch in device code, not the launch. */
    if (strstr(said, "'__cudaPushCallConfiguration' in __") != NULL ||
        strstr(said, "error: reference to __global__ function") != NULL)
        return "device code starts a kernel: the virtual node has no dynamic parallelism";
    return cc_cccl_hint(said);
}

/* Prints the messages, and ends if one of the passes has failed. */
static void print_messages(const struct outcome *end)
{
    int worst = end->host_status > end->device_status ? end->host_status : end->device_status;
    const char *hint = worst != 0 ? hint_about(end->said) : NULL;

    fputs(end->said, stderr);
    if (hint != NULL)
        cc_fail("%s", hint);
    if (worst > 128)
        cc_fail("clang was ended by signal %d", worst - 128);
    if (worst != 0)
        cc_end();
}

/* ---- the host's object ---- */

static const char bitcode_flags[] = "-emit-llvm -Xclang -disable-llvm-passes";

/* Warns about the host's use of __device__ variables; ends if a kernel is missing. */
static void check_host(const struct file *file)
{
    int release = cc_find_clang(file->job).release;
    const char *bitcode = output_path(file, "uses.bc");
    struct cc_list command = command_of(file, CC_HOST_SIDE, bitcode); /* as it was written */

    cc_add_line(&command, bitcode_flags);
    cc_add_line(&command, "-gline-tables-only -w");
    if (file->code.variable_count != 0 && !cc_has_word(&file->job->options->warnings, "-w"))
        cc_check_host_variables(release, &command, bitcode, &file->code);
    if (!cc_check_stubs(release, &command, bitcode, file->object, &file->code) ||
        cc_error_count() != 0)
        cc_end();
}

/* __managed__: compiles the host's code again, with a change. */
static void compile_managed(const struct file *file)
{
    struct cc_clang clang = cc_find_clang(file->job);
    const char *bitcode = output_path(file, "host.bc"),
               *changed = output_path(file, "host.changed.bc");
    struct cc_list first = host_command(file, bitcode), last = {0};

    cc_add_line(&first, bitcode_flags);
    cc_add(&first, "-w"); /* they were said before */
    cc_must_run(first);
    if (!cc_change_managed(clang.release, bitcode, changed))
        cc_end();
    cc_add_line(&last, "%s -c -Wno-unused-command-line-argument", clang.path);
    cc_add_all(&last, &file->job->options->host);
    cc_add_line(&last, "-fno-optimize-sibling-calls -x ir %s " CC_WRITES_IT " -o %s", changed,
                file->object);
    cc_must_run(last);
}

/* --default-stream per-thread: vgpu/include/vgpu/per_thread.h has this form for other calls; Clang
 * always generates a launch with the default name. */
static void rename_launch(const struct file *file, struct cc_list *objcopy)
{
    const struct cc_list *common = &file->job->options->common;

    if (cc_last_with(common, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM") != NULL)
        cc_add_line(objcopy, "--redefine-sym cudaLaunchKernel=cudaLaunchKernel_ptsz");
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

/* Adds the device code: the image, or with -rdc=true the bitcode. */
static void add_device_code(const struct file *file, const struct cc_text *fatbin,
                            struct cc_list *objcopy)
{
    const char *path = output_path(file, "device.fatbin");

    if (file->bitcode.unit != NULL) {
        cc_add_part(file->object, &file->bitcode, output_path(file, "part"), objcopy);
    } else if (!file->has_image) {
        cc_write_file(path, fatbin->data, fatbin->length);
        cc_add_line(objcopy, "--update-section .nv_fatbin=%s", path);
    }
}

/* objcopy writes into a file of its own first: where it changes a file in place, it leaves another
 * one beside it if it is ended. */
static void finish_object(const struct file *file, const struct cc_text *fatbin)
{
    const char *whole = output_path(file, "whole.o");
    struct cc_list objcopy = {0};
    size_t length = 0;

    if (file->code.managed_count != 0 || file->code.names_managed)
        compile_managed(file);
    check_host(file);
    if (file->bitcode.unit == NULL && !has_section(file->object))
        return;
    cc_add(&objcopy, "objcopy");
    rename_launch(file, &objcopy);
    add_device_code(file, fatbin, &objcopy);
    cc_add_line(&objcopy, "%s %s", file->object, whole);
    cc_must_run(objcopy);
    const char *data = cc_need_file(whole, &length);
    cc_write_file(file->object, data, length);
}

/* ---- both passes ---- */

static bool build_image(struct file *file, struct cc_text *fatbin)
{
    struct cc_bitcode *bitcode = &file->bitcode;

    bitcode->source = file->source;
    bitcode->no_lambdas = !file->job->options->lambdas;
    bitcode->data = cc_need_file(output_path(file, "device.bc"), &bitcode->bytes);
    if (bitcode->unit != NULL)
        return cc_load_llvm(cc_find_clang(file->job).release) &&
               cc_check_bitcode(bitcode, &file->code);
    return cc_build_image(file->job, bitcode, 1, cc_format("%d", file->number), &file->code,
                          fatbin);
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
        cc_write_file(output_path(file, "unit"), fatbin->data, fatbin->length);
    if (file->has_image)
        host = start_host(file);
    end->host_status = cc_wait(host, &host_said);
    end->said = cc_merge_messages(host_said, device_said);
    return made;
}

static void compile(struct file *file)
{
    struct cc_text fatbin = {0};
    struct outcome end;
    bool made = run_passes(file, &fatbin, &end);

    if (is_to_be_redone(file, &end)) {
        compile(file);
        return;
    }
    print_messages(&end);
    if (!made)
        cc_end();
    if (file->is_module)
        cc_write_module(file->job, file->object, &fatbin);
    else
        finish_object(file, &fatbin);
}

void cc_compile_cuda(const struct cc_job *job, const char *source, const char *object, int number)
{
    const struct cc_options *options = job->options;
    const char *unit = cc_unit_name(job, source);
    struct file file = {.job = job, .source = source, .object = object, .number = number};

    file.is_module = cc_makes_modules(options);
    file.bitcode.unit = options->rdc && !file.is_module ? unit : NULL;
    file.has_image =
        !file.is_module && file.bitcode.unit == NULL && needs_image_first(&options->host);
    if (options->dryrun) {
        start_device(&file);
        if (!file.is_module)
            start_host(&file);
        return;
    }
    cc_write_unit(output_path(&file, "unit"), unit);
    compile(&file);
    if (!cc_say_all())
        cc_end();
}
