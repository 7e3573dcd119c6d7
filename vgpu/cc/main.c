/* SPDX-License-Identifier: MIT
 * main.c: vgpu-cc, the compiler driver of the virtual node: nvcc's command line, and Clang for .cu
 * files.
 *
 * Reading order: compile/compile_cuda.c (a .cu becomes an object), compile/clang_commands.c (how
 * Clang is called), lower/lower.h (device code becomes code for this processor), device_link.c.
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

static const char *object_name(const char *source, enum cc_action action)
{
    static const char *const suffix[] = {
        [CC_FATBIN] = ".fatbin", [CC_CUBIN] = ".cubin", [CC_PTX] = ".ptx"};
    return cc_with_suffix(cc_base_name(source), action >= CC_FATBIN ? suffix[action] : ".o");
}

static bool preprocess(const struct cc_job *job, const struct cc_input *input)
{
    struct cc_list command;
    struct cc_clang clang;

    if (input->language != CC_LANG_CUDA)
        command = cc_plain_command(job, input, NULL);
    else if (cc_find_clang(job->options->cxx, &clang))
        command = cc_clang_command(job, clang.path, CC_HOST_SIDE, CC_TO_TEXT, input->path, NULL);
    else
        return false;
    if (job->options->action != CC_PREPROCESS)
        cc_add_line(&command, "%s -MT %s", job->options->action == CC_DEPENDENCIES ? "-M" : "-MM",
                    object_name(input->path, CC_COMPILE));
    if (job->options->output != NULL)
        cc_add_line(&command, "-o %s", job->options->output);
    return cc_run(&command) == 0;
}

/* In assembler, as bytes, so that any name will do. */
static void put_name(struct cc_text *text, const char *name)
{
    for (const char *c = name; *c != 0; c++)
        cc_putf(text, ".byte %d\n", (unsigned char)*c);
    cc_puts(text, ".byte 0\n");
}

static bool is_for_debugger(const struct cc_options *options)
{
    const char *last = "-g0";

    for (size_t i = 0; i < options->host.count; i++)
        if (cc_starts(options->host.item[i], "-g"))
            last = options->host.item[i];
    return strcmp(last, "-g0") != 0;
}

/* Names the script that makes gdb follow the program into its kernels. */
static void put_gdb_script(struct cc_text *text, const struct cc_job *job)
{
    enum { PYTHON_FILE = 1 }; /* of gdb: "the .debug_gdb_scripts section" */
    char path[PATH_MAX];

    if (!is_for_debugger(job->options) ||
        realpath(cc_format("%s/vgpu/vgpu_gdb.py", job->places.library), path) == NULL)
        return;
    cc_putf(text, ".section .debug_gdb_scripts,\"MS\",%%progbits,1\n.byte %d\n", PYTHON_FILE);
    put_name(text, path);
}

/* An assembler file that tells the program where vgpu-node is (vgpu__toolkit_bin of the runtime):
 * the toolkit may have been moved since it was built. Null: it was not found, or the file cannot be
 * written (said). */
static const char *toolkit_file(const struct cc_job *job)
{
    const char *path = cc_temp_path("toolkit.s");
    struct cc_text text = {0};

    if (job->places.programs == NULL)
        return NULL;
    cc_puts(&text, ".section .rodata.vgpu_toolkit,\"a\"\n.globl vgpu__toolkit_bin\n"
                   ".hidden vgpu__toolkit_bin\nvgpu__toolkit_bin:\n");
    put_name(&text, job->places.programs);
    put_gdb_script(&text, job);
    cc_puts(&text, ".section .note.GNU-stack,\"\",%progbits\n");
    return cc_write_file(path, text.data, text.length) ? path : NULL;
}

static bool link_program(const struct cc_job *job, const struct cc_list *objects)
{
    const char *toolkit, *linked = cc_temp_path("linked.o");
    bool program = !cc_has_word(&job->options->link, "-r"), made = false;
    struct cc_list all = {0};

    toolkit = program ? toolkit_file(job) : NULL;
    if (program && !job->options->no_device_link && !cc_device_link(job, objects, linked, &made))
        return false;
    if (made)
        cc_add(&all, linked);
    cc_add_all(&all, objects);
    if (toolkit != NULL)
        cc_add(&all, toolkit);
    if (cc_shows_commands())
        cc_show_link(job, objects);
    struct cc_list command = cc_link_command(job, &all);
    return cc_run(&command) == 0;
}

/* -lib */
static bool make_archive(const struct cc_job *job, const struct cc_list *objects)
{
    const struct cc_options *options = job->options;
    struct cc_list command = {0};

    cc_add_line(&command, "%s cr", options->archiver != NULL ? options->archiver : "ar");
    cc_add_all(&command, &options->archive);
    cc_add(&command, cc_output_or(options, "a.a"));
    for (size_t i = 0; i < objects->count; i++)
        if (*objects->item[i] != '-')
            cc_add(&command, objects->item[i]);
    return cc_run(&command) == 0;
}

/* -run: the program's exit status. */
static int run_linked(const struct cc_options *options)
{
    const char *name = cc_output_or(options, "a.out");
    struct cc_list command = {0};

    if (!options->run || options->action != CC_LINK)
        return EXIT_SUCCESS;
    cc_add(&command, strchr(name, '/') != NULL ? name : cc_format("./%s", name));
    cc_add_all(&command, &options->run_args);
    return cc_run(&command);
}

/* Are the objects of sources only on the way to something else? */
static bool links(const struct cc_options *options)
{
    return options->action <= CC_DEVICE_LINK;
}

static bool make_result(const struct cc_job *job, int number, const char *object)
{
    const struct cc_input *input = &job->options->input[number];
    enum cc_language language = input->language;
    bool module = cc_makes_modules(job->options);

    if (language == CC_LANG_CUDA)
        return cc_compile_cuda(job, input->path, object, number);
    if (language == CC_LANG_PTX && module)
        return cc_compile_ptx(job, input->path, object, number);
    if (language != CC_LANG_PTX && !module) {
        struct cc_list command = cc_plain_command(job, input, object);
        return cc_run(&command) == 0;
    }
    return cc_fail(module ? "'%s' is not a CUDA file: there is no device code in it"
                          : "'%s': PTX can only be compiled to a module for cuModuleLoad: add "
                            "-fatbin, -cubin or -ptx",
                   input->path);
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

/* Compiles one input; the object is added to the list. What needs no compiling is added as it is.
 */
static bool compile_one(const struct cc_job *job, int number, struct cc_list *objects)
{
    const struct cc_input *input = &job->options->input[number];
    bool source = input->language != CC_LANG_OBJECT;
    const char *object = source ? object_path(job->options, number) : input->path;

    cc_add(objects, object);
    cc_remove_at_end(source && !job->options->dryrun ? object : NULL);
    if (source && !make_result(job, number, object))
        return false;
    cc_remove_at_end(NULL);
    return true;
}

static bool is_sound(const struct cc_options *options)
{
    size_t sources = 0;

    for (size_t i = 0; i < options->input_count; i++)
        sources += options->input[i].language != CC_LANG_OBJECT;
    if ((options->action == CC_COMPILE || cc_makes_modules(options)) && options->output != NULL &&
        sources > 1)
        return cc_fail("-o %s names one object, but there are %zu files to compile",
                       options->output, sources);
    return links(options) || sources != 0 ||
           cc_fail("there is no file to compile; sources end in .cu, .c, .cpp, .cc or .cxx (or "
                   "give their language with -x)");
}

static bool carry_out_options(const struct cc_job *job)
{
    const struct cc_options *options = job->options;
    struct cc_list objects = {0};
    bool made;

    for (size_t i = 0; i < options->input_count; i++) {
        bool source = options->input[i].language != CC_LANG_OBJECT;
        bool text = makes_text(options);
        if (text && source && !preprocess(job, &options->input[i]))
            return false;
        if (!text && !compile_one(job, (int)i, &objects))
            return false;
    }
    if (options->action == CC_DEVICE_LINK)
        return cc_device_link(job, &objects, cc_output_or(options, "a_dlink.o"), &made);
    if (options->action == CC_LIBRARY)
        return make_archive(job, &objects);
    return options->action != CC_LINK || link_program(job, &objects);
}

/* nvcc compiles the host's part of .cu files by what -ccbin names. Output that other programs read
 * stays as it is. */
static void note_ccbin(const struct cc_options *options)
{
    static const char note[] = "vgpu-cc: note: Clang compiles .cu files; -ccbin names the compiler "
                               "of C++ files and of the link\n";
    bool cuda = false;

    for (size_t i = 0; i < options->input_count; i++)
        cuda |= options->input[i].language == CC_LANG_CUDA;
    if (cuda && options->ccbin && !options->cxx_is_clang && !options->dryrun &&
        !makes_text(options) && !cc_has_word(&options->warnings, "-w"))
        fputs(note, stderr);
}

static bool start_commands(const struct cc_options *options)
{
    enum cc_show show = options->verbose ? CC_SHOW_RUN : CC_SHOW_NOT;
    const char *name = cc_output_or(options, object_name(options->input[0].path, CC_COMPILE));
    const char *keep = options->keep_dir != NULL ? options->keep_dir : cc_format("%s.vgpu", name);

    return cc_proc_start(options->dryrun ? CC_SHOW_ONLY : show, options->keep ? keep : NULL);
}

int main(int argc, char **argv)
{
    struct cc_options options;
    struct cc_job job = {.options = &options};

    if (!cc_read_options(argc, argv, &options))
        return EXIT_FAILURE;
    if (options.question != CC_NO_QUESTION) {
        cc_answer(options.question);
        return EXIT_SUCCESS;
    }
    if (options.clangd)
        return cc_find_places(&job.places) && cc_print_clangd(&job) ? EXIT_SUCCESS : EXIT_FAILURE;
    if (options.precompile != NULL)
        return cc_proc_start(CC_SHOW_NOT, NULL) && cc_find_places(&job.places) &&
                       cc_precompile(&job)
                   ? EXIT_SUCCESS
                   : EXIT_FAILURE;
    if (!is_sound(&options) || !start_commands(&options) || !cc_find_places(&job.places))
        return EXIT_FAILURE;
    if (cc_shows_commands())
        cc_show_places(&job.places);
    note_ccbin(&options);
    return carry_out_options(&job) ? run_linked(&options) : EXIT_FAILURE;
}
