/* SPDX-License-Identifier: MIT
 * cuda.c: a .cu file becomes one object:
 *
 *   preprocess twice -> read, check and edit -> compile twice -> link and check the device image ->
 *   assemble the host code with the image and its tables in it.
 *
 * Both preprocessors run side by side, and so do both compilations.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "clang.h"
#include "compile.h"
#include "diag.h"
#include "globals.h"
#include "image_script.h"
#include "merge.h"
#include "part.h"
#include "passes.h"
#include "proc.h"
#include "quotes.h"
#include "render.h"

struct unit {
    const struct cc_job *job;
    const char *source, *object;
    int number;
    struct cc_pass pass[2]; /* by enum cc_side */
    struct cc_marks marks[2];
    struct cc_needs needs;
    bool has_device;
    const char *name; /* -rdc=true: the unit's, else null */
};

static const char *file_of(const struct unit *unit, enum cc_side side, const char *suffix)
{
    return cc_temp_path(
        cc_format("%d-%s%s", unit->number, side == CC_HOST_SIDE ? "host" : "device", suffix));
}

/* Runs a command of each side at the same time. *said: what they wrote. */
static bool run_both(const struct cc_list *host, const struct cc_list *device, const char **said)
{
    struct cc_child h = cc_spawn(host, "host.err");
    struct cc_child d = {.pid = 0};

    if (device != NULL)
        d = cc_spawn(device, "device.err");
    int host_status = cc_wait(h), device_status = cc_wait(d);
    *said = cc_merge_messages(cc_child_errors(h), cc_child_errors(d));
    if (host_status > 128 || device_status > 128)
        cc_fail("the compiler was ended by signal %d",
                (host_status > 128 ? host_status : device_status) - 128);
    return host_status == 0 && device_status == 0;
}

/* ---- preprocess and read ---- */

static bool run_preprocessors(const struct unit *unit, const char **said)
{
    struct cc_list command[2];

    for (int side = 0; side < 2; side++)
        command[side] =
            cc_preprocess_command(unit->job, (enum cc_side)side, unit->needs.macros, unit->source,
                                  file_of(unit, (enum cc_side)side, ".ii"));
    cc_add_deps(unit->job, &command[CC_HOST_SIDE], unit->source, unit->object);
    return run_both(&command[CC_HOST_SIDE], &command[CC_DEVICE_SIDE], said);
}

static bool has_lone_quote(const struct unit *unit)
{
    struct cc_list seen = {0};

    for (int side = 0; side < 2; side++) {
        size_t length;
        const char *text = cc_read_file(file_of(unit, (enum cc_side)side, ".ii"), &length);
        if (text != NULL && cc_has_lone_quote(text, &seen))
            return true;
    }
    return false;
}

static bool preprocess(struct unit *unit)
{
    const char *said = "";

    unit->needs.macros = cc_macros_by_default(unit->job->options);
    bool done = run_preprocessors(unit, &said);
    if (unit->needs.macros == CC_MACROS_LEFT && (!done || has_lone_quote(unit))) {
        unit->needs.macros = CC_MACROS_EXPANDED;
        done = run_preprocessors(unit, &said);
    }
    fputs(said, stderr);
    return done;
}

static bool read_side(struct unit *unit, enum cc_side side)
{
    struct cc_pass *pass = &unit->pass[side];
    size_t length;
    const char *path = file_of(unit, side, ".ii"), *text = cc_read_file(path, &length);

    if (text == NULL) {
        cc_fail("cannot read the preprocessed text '%s'", path);
        return false;
    }
    pass->source = cc_source_read(text, length, &unit->job->options->own_dirs);
    pass->decls = cc_scan(pass->source);
    pass->module = unit->source;
    pass->unit = unit->name;
    return true;
}

/* "sum_cu_" and a number of what the file is and holds. */
static const char *unit_name(const struct unit *unit)
{
    const char *slash = strrchr(unit->source, '/'), *output = unit->job->options->output;
    char *base = cc_format("%s", slash != NULL ? slash + 1 : unit->source);
    char folder[4096] = "";
    size_t length;
    const char *text = cc_read_file(file_of(unit, CC_HOST_SIDE, ".ii"), &length);
    uint64_t hash = 14695981039346656037u;

    if (*unit->source != '/' && getcwd(folder, sizeof folder) == NULL)
        *folder = 0;
    const char *all = cc_format("%s/%s:%s:%s", folder, unit->source, output != NULL ? output : "",
                                text != NULL ? text : "");
    for (const char *c = all; *c != 0; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    for (char *c = base; *c != 0; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return cc_format("%s_%016" PRIx64, base, hash);
}

static void find_needs(struct unit *unit)
{
    const struct cc_source *source = unit->pass[CC_DEVICE_SIDE].source;

    for (int i = 0; (size_t)i < source->token_count; i++) {
        unit->needs.exceptions |= cc_token_is(source, i, "try") ||
                                  cc_token_is(source, i, "throw") ||
                                  cc_token_is(source, i, "catch");
        unit->needs.type_information |=
            cc_token_is(source, i, "typeid") || cc_token_is(source, i, "dynamic_cast");
    }
}

static bool write_side(const struct unit *unit, enum cc_side side, const char *tail)
{
    struct cc_text text = cc_render(unit->pass[side].source);
    const char *path = file_of(unit, side, ".vgpu.ii");

    cc_putf(&text, "\n# 1 \"<vgpu-cc>\"%s", tail);
    if (cc_write_file(path, text.data, text.length))
        return true;
    cc_fail("cannot write '%s': is the disk full?", path);
    return false;
}

static bool edit(struct unit *unit)
{
    struct cc_pass *host = &unit->pass[CC_HOST_SIDE], *device = &unit->pass[CC_DEVICE_SIDE];

    if (unit->job->options->rdc)
        unit->name = unit_name(unit);
    if (!read_side(unit, CC_HOST_SIDE) || !read_side(unit, CC_DEVICE_SIDE))
        return false;
    find_needs(unit);
    unit->has_device = cc_has_device_code(device) || cc_has_device_code(host);
    const char *device_tail = cc_device_pass(device);
    const char *host_tail = cc_host_pass(host, unit->has_device);
    return cc_error_count() == 0 && write_side(unit, CC_HOST_SIDE, host_tail) &&
           write_side(unit, CC_DEVICE_SIDE, device_tail);
}

/* ---- compile ---- */

static bool compile(struct unit *unit)
{
    struct cc_list command[2];

    for (int side = 0; side < 2; side++)
        command[side] = cc_compile_command(unit->job, (enum cc_side)side, unit->needs,
                                           file_of(unit, (enum cc_side)side, ".vgpu.ii"),
                                           file_of(unit, (enum cc_side)side, ".s"));
    const char *said;
    bool done =
        run_both(&command[CC_HOST_SIDE], unit->has_device ? &command[CC_DEVICE_SIDE] : NULL, &said);
    fputs(said, stderr);
    return done;
}

/* What a person calls the image's kernels. */
static struct cc_named *name_entries(const struct unit *unit)
{
    const struct cc_marks *marks = &unit->marks[CC_DEVICE_SIDE];
    const struct cc_pass *pass = &unit->pass[CC_DEVICE_SIDE];
    struct cc_named *named = cc_alloc((marks->entry_count + 1) * sizeof *named);

    for (size_t i = 0; i < marks->entry_count; i++) {
        const struct cc_decl *decl = &pass->decls->item[marks->entry[i].decl];
        struct cc_place place = cc_token_place(pass->source, decl->name);
        named[i] = (struct cc_named){cc_decl_name(pass->source, decl), place.file, place.line};
    }
    return named;
}

/* Reads the side's assembly into *text and its marks into unit->marks. */
static bool read_assembly(struct unit *unit, enum cc_side side, struct cc_text *text)
{
    const char *path = file_of(unit, side, ".s");

    text->data = cc_read_file(path, &text->length);
    text->capacity = 0; /* the next put moves it */
    if (text->data == NULL) {
        cc_fail("cannot read the assembly '%s'", path);
        return false;
    }
    unit->marks[side] = cc_read_marks(text->data);
    return true;
}

static bool finish_assembly(const struct unit *unit, enum cc_side side, const struct cc_text *text)
{
    return cc_write_file(file_of(unit, side, ".s"), text->data, text->length);
}

/* Links `input` (assembly, or an object) to an image and checks it. */
static bool link_image(struct unit *unit, const char *input, const struct cc_list *roots,
                       struct cc_text *wanted)
{
    struct cc_symbols symbols;
    struct cc_list inputs = {0};
    const char *image = file_of(unit, CC_DEVICE_SIDE, ".so");

    cc_add(&inputs, input);
    struct cc_list command = cc_image_command(unit->job, &inputs, roots, image);
    if (!cc_write_image_scripts() || cc_run(&command) != 0)
        return false;
    if (!cc_read_image(image, &symbols)) {
        cc_fail("the linker's device image '%s' cannot be read; is it GNU ld?", image);
        return false;
    }
    cc_check_image(&unit->pass[CC_DEVICE_SIDE], &unit->marks[CC_DEVICE_SIDE], &symbols,
                   unit->job->options->relaxed, wanted);
    return cc_error_count() == 0;
}

/* -rdc=true: the device object on its way to the device link. An image is made of it here too, as
 * if it were all: what is wrong in this file is said now, at its lines. */
static bool make_part(struct unit *unit, const struct cc_list *roots)
{
    const char *object = file_of(unit, CC_DEVICE_SIDE, ".o");
    struct cc_text wanted = {0};
    struct cc_list command =
        cc_assemble_command(unit->job, file_of(unit, CC_DEVICE_SIDE, ".s"), object);

    cc_puts(&wanted, "");
    if (cc_run(&command) != 0 || !link_image(unit, object, roots, &wanted))
        return false;
    struct cc_part part = {.unit = unit->name,
                           .source = unit->source,
                           .wanted = wanted.data,
                           .kernels = unit->marks[CC_DEVICE_SIDE].entry_count};
    part.object = cc_read_file(object, &part.object_bytes);
    if (part.object != NULL && cc_write_part(file_of(unit, CC_DEVICE_SIDE, ".part"), &part))
        return true;
    cc_fail("cannot write '%s': is the disk full?", file_of(unit, CC_DEVICE_SIDE, ".part"));
    return false;
}

static bool make_image(struct unit *unit)
{
    struct cc_text text = {0};
    struct cc_list roots = {0};

    if (!read_assembly(unit, CC_DEVICE_SIDE, &text))
        return false;
    if (unit->name != NULL)
        roots = cc_device_globals(&text, &unit->marks[CC_DEVICE_SIDE]);
    cc_put_image_table(&text, &unit->marks[CC_DEVICE_SIDE], name_entries(unit), unit->source);
    if (!finish_assembly(unit, CC_DEVICE_SIDE, &text))
        return false;
    return unit->name != NULL ? make_part(unit, &roots)
                              : link_image(unit, file_of(unit, CC_DEVICE_SIDE, ".s"), &roots, NULL);
}

/* The host object's tables, and its image or its part of one. */
static void put_device_code(const struct unit *unit, struct cc_text *text)
{
    cc_put_host_table(text, &unit->marks[CC_DEVICE_SIDE], &unit->marks[CC_HOST_SIDE],
                      name_entries(unit));
    if (unit->name != NULL) {
        cc_putf(text, "\t.section " CC_PART_SECTION ",\"e\",%%progbits\n\t.incbin %s\n",
                cc_quoted(file_of(unit, CC_DEVICE_SIDE, ".part")));
        return;
    }
    cc_put_image(text, file_of(unit, CC_DEVICE_SIDE, ".so"), unit->source);
    cc_put_part(text, NULL, 0);
}

/* Every stub that the host pass has made must have its kernel in the image. */
static void check_stubs(const struct unit *unit)
{
    const struct cc_marks *host = &unit->marks[CC_HOST_SIDE];
    const struct cc_marks *device = &unit->marks[CC_DEVICE_SIDE];
    const struct cc_pass *pass = &unit->pass[CC_HOST_SIDE];

    for (size_t i = 0; i < host->stub_count; i++) {
        bool found = false;
        for (size_t k = 0; k < device->entry_count; k++)
            found |= strcmp(host->stub[i].symbol, device->entry[k].symbol) == 0;
        const struct cc_decl *decl = &pass->decls->item[host->stub[i].decl];
        if (!found)
            cc_error(cc_token_place(pass->source, decl->name),
                     "kernel '%s' is launched in host code, but the device pass did not make it "
                     "(%s); does something that depends on __CUDA_ARCH__ hide it or its launch?",
                     cc_decl_name(pass->source, decl), host->stub[i].symbol);
    }
}

static bool make_object(struct unit *unit)
{
    struct cc_text text = {0};

    if (!read_assembly(unit, CC_HOST_SIDE, &text))
        return false;
    check_stubs(unit);
    if (cc_error_count() != 0)
        return false;
    if (unit->has_device)
        put_device_code(unit, &text);
    struct cc_list command =
        cc_assemble_command(unit->job, file_of(unit, CC_HOST_SIDE, ".s"), unit->object);
    return finish_assembly(unit, CC_HOST_SIDE, &text) && cc_run(&command) == 0;
}

/* --dryrun: the commands, without the files that they would need. */
static bool show_commands(struct unit *unit)
{
    struct cc_list inputs = {0}, none = {0};
    cc_add(&inputs, file_of(unit, CC_DEVICE_SIDE, ".s"));
    struct cc_list image =
        cc_image_command(unit->job, &inputs, &none, file_of(unit, CC_DEVICE_SIDE, ".so"));
    struct cc_list assemble =
        cc_assemble_command(unit->job, file_of(unit, CC_HOST_SIDE, ".s"), unit->object);

    unit->has_device = true;
    return preprocess(unit) && compile(unit) && cc_run(&image) == 0 && cc_run(&assemble) == 0;
}

bool cc_compile_cuda(const struct cc_job *job, const char *source, const char *object, int number)
{
    struct unit unit = {.job = job, .source = source, .object = object, .number = number};

    if (cc_wants_clang())
        return cc_compile_with_clang(job, source, object, number);
    if (job->options->dryrun)
        return show_commands(&unit);
    bool done = preprocess(&unit) && edit(&unit) && compile(&unit) &&
                (!unit.has_device || make_image(&unit)) && make_object(&unit);
    cc_say_all();
    return done;
}
