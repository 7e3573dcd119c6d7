/* SPDX-License-Identifier: MIT
 * variable.c: __device__ and __constant__ variables.
 *
 * They lie in a section of their own, over which a context maps device memory. Constants (const,
 * constexpr) need no memory of a device: they stay what C++ makes of them and host code cannot name
 * them as symbols.
 */
#include "declarator.h"
#include "diag.h"
#include "passes.h"
#include "render.h"

static bool is_device_variable(const struct cc_decl *decl)
{
    return decl->kind == CC_VARIABLE && (decl->words & (CC_DEVICE | CC_CONSTANT)) != 0 &&
           (decl->words & (CC_SHARED | CC_MANAGED)) == 0;
}

/* Is the object itself const (not only what it points to)? */
static bool is_constant(const struct cc_source *source, const struct cc_decl *decl, int name)
{
    bool constant = false;

    for (int i = decl->spec; i < name; i++) {
        if (source->token[i].match > i)
            i = source->token[i].match;
        else if (cc_token_is(source, i, "*"))
            constant = false;
        else
            constant |= cc_token_is(source, i, "const") || cc_token_is(source, i, "constexpr");
    }
    return constant;
}

static bool is_sound(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_place place = cc_token_place(pass->source, decl->spec);

    if (decl->in_class)
        cc_error(place, "a __device__ or __constant__ variable cannot be a member of a class; move "
                        "it out of the class");
    else if (decl->templ >= 0)
        cc_error(place, "templates of __device__ variables are not supported");
    else
        return true;
    return false;
}

/* Adds the variables of the declaration that have memory on the device. */
static void add_vars(const struct cc_pass *pass, const struct cc_decl *decl,
                     struct cc_device_vars *vars)
{
    struct cc_declarators list = cc_declarators(pass->source, decl->spec, decl->last);

    for (size_t i = 0; i < list.count; i++) {
        int name = list.item[i].name;
        if (name < 0 || is_constant(pass->source, decl, name))
            continue;
        vars->item = cc_grow(vars->item, vars->count, &vars->capacity, sizeof *vars->item);
        vars->item[vars->count++] = (struct cc_device_var){
            cc_format("::%s%s", decl->scope, cc_token_text(pass->source, name, name + 1)), name};
    }
}

struct cc_device_vars cc_find_device_vars(const struct cc_pass *pass)
{
    struct cc_device_vars vars = {0};

    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (is_device_variable(decl) && !decl->in_class && decl->templ < 0 &&
            (decl->words & CC_EXTERN) == 0)
            add_vars(pass, decl, &vars);
    }
    return vars;
}

/* A declarator in brackets, `int (*f)(int)`: gcc does not take a checked initialiser there. */
static bool is_grouped(const struct cc_source *source, const struct cc_declarators *list)
{
    for (size_t i = 0; i < list->count; i++) {
        int before = list->item[i].name - 1;
        if (cc_token_is(source, before, "*") && cc_token_is(source, before - 1, "("))
            return true;
    }
    return false;
}

/* static int (*f)(int) = g;  becomes  typedef int (*vgpu_type_5_f)(int); static ... f = g; */
static void place_grouped(struct cc_pass *pass, const struct cc_decl *decl,
                          const struct cc_declarators *list)
{
    struct cc_source *source = pass->source;
    const char *storage = (decl->words & CC_STATIC) != 0 ? "static " : "";

    for (int i = decl->spec; i < decl->last; i++)
        if (cc_token_is(source, i, "static"))
            cc_edit_delete(source, i, i + 1);
    cc_edit_before(source, decl->spec, "typedef ");
    for (size_t i = 0; i < list->count; i++) {
        const struct cc_declarator *one = &list->item[i];
        const char *name = cc_token_text(source, one->name, one->name + 1);
        const char *type = cc_format("vgpu_type_%d_%s", one->name, name);
        const char *value = one->init >= 0 ? cc_render_range(source, one->init, one->end) : "";
        cc_edit_before(source, one->name, type);
        cc_edit_delete(source, one->name, one->name + 1);
        if (one->init >= 0)
            cc_edit_delete(source, one->init, one->end);
        cc_edit_after(source, decl->last,
                      cc_format(" %sVGPU_DEVICE_VARIABLE %s %s%s;", storage, type, name, value));
    }
}

static void place_variable(struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_declarators list = cc_declarators(pass->source, decl->spec, decl->last);
    struct cc_device_vars vars = {0};

    add_vars(pass, decl, &vars);
    if (vars.count == list.count && is_grouped(pass->source, &list))
        place_grouped(pass, decl, &list);
    else if (vars.count != 0)
        cc_edit_before(pass->source, decl->spec, "VGPU_DEVICE_VARIABLE ");
}

void cc_place_variables(struct cc_pass *pass)
{
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (is_device_variable(decl) && is_sound(pass, decl) && (decl->words & CC_EXTERN) == 0)
            place_variable(pass, decl);
    }
}
