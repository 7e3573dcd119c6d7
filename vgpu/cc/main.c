/* SPDX-License-Identifier: MIT
 * main.c: vgpu-cc, the compiler driver of the virtual node: nvcc's command line, and Clang for .cu
 * files.
 *
 * Reading order: compile/compile_cuda.c (a .cu becomes an object), compile/commands.c (how Clang is
 * called), lower/lower.h (device code becomes code for this processor), device_link.c.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "diag.h"
#include "proc.h"

/* -E and -M. */
static bool makes_text(const struct cc_options *options)
{
    return options->action >= CC_PREPROCESS && options->action <= CC_USER_DEPENDENCIES;
}

/* Are the objects of sources only on the way to something else? */
static bool links(const struct cc_options *options)
{
    return options->action <= CC_DEVICE_LINK;
}

static const char *object_name(const char *source, enum cc_action action)
{
    static const char *const suffix[] = {
        [CC_FATBIN] = ".fatbin", [CC_CUBIN] = ".cubin", [CC_PTX] = ".ptx"};
    return cc_with_suffix(cc_base_name(source), action >= CC_FATBIN ? suffix[action] : ".o");
}

/* ---- the sources ---- */

static void preprocess(const struct cc_job *job, const struct cc_input *input)
{
    const struct cc_options *options = job->options;
    struct cc_list command =
        input->language == CC_LANG_CUDA
            ? cc_clang_command(job, CC_HOST_SIDE, CC_TO_TEXT, NULL, input->path, NULL)
            : cc_plain_command(job, input, NULL);

    if (options->action != CC_PREPROCESS)
        cc_add_line(&command, "%s -MT %s", options->action == CC_DEPENDENCIES ? "-M" : "-MM",
                    object_name(input->path, CC_COMPILE));
    if (options->output != NULL)
        cc_add_line(&command, "-o %s", options->output);
    cc_must_run(command);
}

static const char *object_path(const struct cc_options *options, int number)
{
    const char *name = object_name(options->input[number].path, options->action);

    if (links(options))
        return cc_temp_path(cc_format("%d-%s", number, name));
    if (options->output_dir != NULL)
        name = cc_format("%s/%s", options->output_dir, name);
    return cc_output_or(options, name);
}

/* Returns its path. */
static const char *make_object(const struct cc_job *job, int number)
{
    const struct cc_input *input = &job->options->input[number];
    const char *object = object_path(job->options, number);
    bool ptx = input->language == CC_LANG_PTX, module = cc_makes_modules(job->options);

    cc_remove_at_end(job->options->dryrun ? NULL : object);
    if (input->language == CC_LANG_CUDA)
        cc_compile_cuda(job, input->path, object, number);
    else if (ptx != module)
        cc_fatal(module ? "'%s' is not a CUDA file: there is no device code in it"
                        : "'%s': PTX can only be compiled to a module for cuModuleLoad: add "
                          "-fatbin, -cubin or "
                          "-ptx",
                 input->path);
    else if (ptx)
        cc_compile_ptx(job, input->path, object, number);
    else
        cc_must_run(cc_plain_command(job, input, object));
    cc_remove_at_end(NULL);
    return object;
}

/* ---- what is made of the objects ---- */

/* In assembler, as bytes, so that any name will do. */
static void put_name(struct cc_text *text, const char *name)
{
    for (const char *c = name; *c != 0; c++)
        cc_putf(text, ".byte %d\n", (unsigned char)*c);
    cc_puts(text, ".byte 0\n");
}

/* Names the script that makes gdb follow the program into its kernels. */
static void put_gdb_script(struct cc_text *text, const struct cc_job *job)
{
    enum { PYTHON_FILE = 1 }; /* of gdb: "the .debug_gdb_scripts section" */
    const char *debug = cc_last_with(&job->options->host, "-g");
    char path[PATH_MAX];

    if (debug == NULL || strcmp(debug, "-g0") == 0 ||
        realpath(cc_format("%s/vgpu/vgpu_gdb.py", job->places.library), path) == NULL)
        return;
    cc_putf(text, ".section .debug_gdb_scripts,\"MS\",%%progbits,1\n.byte %d\n", PYTHON_FILE);
    put_name(text, path);
}

/* An assembler file that tells the program where vgpu-node is (vgpu__toolkit_bin of the runtime):
 * the toolkit may have been moved since it was built. */
static const char *toolkit_file(const struct cc_job *job)
{
    const char *path = cc_temp_path("toolkit.s");
    struct cc_text text = {0};

    cc_puts(&text, ".section .rodata.vgpu_toolkit,\"a\"\n.globl vgpu__toolkit_bin\n"
                   ".hidden vgpu__toolkit_bin\nvgpu__toolkit_bin:\n");
    put_name(&text, job->places.programs);
    put_gdb_script(&text, job);
    cc_puts(&text, ".section .note.GNU-stack,\"\",%progbits\n");
    cc_write_file(path, text.data, text.length);
    return path;
}

static void link_program(const struct cc_job *job, const struct cc_list *objects)
{
    const char *linked = cc_temp_path("linked.o");
    bool program = !cc_has_word(&job->options->link, "-r");
    struct cc_list all = {0};

    if (program && !job->options->no_device_link && cc_device_link(job, objects, linked))
        cc_add(&all, linked);
    cc_add_all(&all, objects);
    if (program && job->places.programs != NULL)
        cc_add(&all, toolkit_file(job));
    if (job->options->dryrun || job->options->verbose)
        cc_show_link(job, objects);
    cc_must_run(cc_link_command(job, &all));
}

/* -lib */
static void make_archive(const struct cc_options *options, const struct cc_list *objects)
{
    struct cc_list command = {0};

    cc_add_line(&command, "%s cr", options->archiver != NULL ? options->archiver : "ar");
    cc_add_all(&command, &options->archive);
    cc_add(&command, cc_output_or(options, "a.a"));
    for (size_t i = 0; i < objects->count; i++)
        if (*objects->item[i] != '-')
            cc_add(&command, objects->item[i]);
    cc_must_run(command);
}

/* -run: the program's exit status is this program's. */
static void run_linked(const struct cc_options *options)
{
    const char *name = cc_output_or(options, "a.out");
    struct cc_list command = {0};

    cc_add(&command, strchr(name, '/') != NULL ? name : cc_format("./%s", name));
    cc_add_all(&command, &options->run_args);
    cc_run_last(command);
}

/* ---- the command ---- */

static void carry_out_job(const void *of)
{
    const struct cc_job *job = of;
    const struct cc_options *options = job->options;
    struct cc_list objects = {0};

    if (options->precompile != NULL) {
        cc_precompile(job);
        return;
    }
    for (int i = 0; i < (int)options->input_count; i++)
        if (options->input[i].language == CC_LANG_OBJECT)
            cc_add(&objects, options->input[i].path);
        else if (makes_text(options))
            preprocess(job, &options->input[i]);
        else
            cc_add(&objects, make_object(job, i));
    if (options->action == CC_DEVICE_LINK)
        cc_device_link(job, &objects, cc_output_or(options, "a_dlink.o"));
    else if (options->action == CC_LIBRARY)
        make_archive(options, &objects);
    else if (options->action == CC_LINK)
        link_program(job, &objects);
}

static size_t count_inputs(const struct cc_options *options, enum cc_language language)
{
    size_t count = 0;

    for (size_t i = 0; i < options->input_count; i++)
        count += options->input[i].language == language;
    return count;
}

static void check_inputs(const struct cc_options *options)
{
    size_t sources = options->input_count - count_inputs(options, CC_LANG_OBJECT);
    bool one = options->action == CC_COMPILE || cc_makes_modules(options);

    if (one && options->output != NULL && sources > 1)
        cc_fatal("-o %s names one object, but there are %zu files to compile", options->output,
                 sources);
    if (sources == 0 && !links(options))
        cc_fatal("there is no file to compile; sources end in .cu, .c, .cpp, .cc or .cxx (or give "
                 "their language with -x)");
}

/* nvcc compiles the host's part of .cu files by what -ccbin names. Output that other programs read
 * stays as it is. */
static void note_ccbin(const struct cc_options *options)
{
    if (options->ccbin && !options->cxx_is_clang && !options->dryrun && !makes_text(options) &&
        count_inputs(options, CC_LANG_CUDA) != 0 && !cc_has_word(&options->warnings, "-w"))
        fputs("vgpu-cc: note: Clang compiles .cu files; -ccbin names the compiler of C++ files and "
              "of the link\n",
              stderr);
}

/* --keep; null: intermediate files are not kept. */
static const char *keep_folder(const struct cc_options *options)
{
    if (!options->keep || options->input_count == 0)
        return NULL;
    const char *name = cc_output_or(options, object_name(options->input[0].path, CC_COMPILE));
    return options->keep_dir != NULL ? options->keep_dir : cc_format("%s.vgpu", name);
}

int main(int argc, char **argv)
{
    struct cc_options options = {.action = CC_LINK};
    struct cc_job job = {.options = &options};

    cc_read_options(argc, argv, &options);
    check_inputs(&options);
    cc_find_places(&job.places);
    if (options.clangd)
        return cc_print_clangd(&job) ? EXIT_SUCCESS : EXIT_FAILURE;
    enum cc_show show = options.dryrun ? CC_SHOW_ONLY : options.verbose ? CC_SHOW_RUN : CC_SHOW_NOT;
    if (show != CC_SHOW_NOT)
        cc_show_places(&job.places);
    note_ccbin(&options);
    int status = cc_guard(show, keep_folder(&options), carry_out_job, &job);
    if (status == EXIT_SUCCESS && options.run && options.action == CC_LINK)
        run_linked(&options);
    return status;
}
