/* SPDX-License-Identifier: MIT
 * host_pass.c: see passes.h.
 */
#include "declarator.h"
#include "diag.h"
#include "launch.h"
#include "marks.h"
#include "passes.h"

/* ---- stubs ---- */

/* The names of the parameters; those without one get one in the source. */
static const char **param_names(struct cc_pass *pass, const struct cc_params *params)
{
    const char **name = cc_alloc((params->count + 1) * sizeof *name);

    for (size_t i = 0; i < params->count; i++) {
        const struct cc_param *param = &params->item[i];
        if (param->name >= 0) {
            name[i] = cc_token_text(pass->source, param->name, param->name + 1);
            continue;
        }
        name[i] = cc_format("vgpu_param_%zu", i);
        cc_edit_after(pass->source, param->to - 1, cc_format(" %s", name[i]));
    }
    return name;
}

/* Has another function of the file the kernel's name? A mere declaration with as many parameters
 * is taken for the kernel's own. */
static bool is_overloaded(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_params own = cc_params(pass->source, decl->params, decl->params_end);

    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *other = &pass->decls->item[i];
        if (other->kind != CC_FUNCTION || other->id == decl->id ||
            !cc_same_token(pass->source, other->name, decl->name))
            continue;
        struct cc_params its = cc_params(pass->source, other->params, other->params_end);
        if (other->body >= 0 || its.count != own.count)
            return true;
    }
    return false;
}

/* The stub's own address. Among overloads its parameters' types choose, which are asked of the
 * parameters themselves: their names may hide types. */
static const char *stub_address(const struct cc_pass *pass, const struct cc_decl *decl,
                                const struct cc_params *params, const char **name)
{
    const char *kernel = cc_kernel_name(pass, decl, true);
    struct cc_text types = {0};

    if (!is_overloaded(pass, decl))
        return cc_format("::vgpu_address(&%s)", kernel);
    cc_puts(&types, "");
    for (size_t i = 0; i < params->count; i++)
        cc_putf(&types, "%sdecltype(%s)%s", i > 0 ? ", " : "", name[i],
                params->item[i].pack ? "..." : "");
    return cc_format("::vgpu_address(static_cast<void (*)(%s)>(&%s))", types.data, kernel);
}

/* { mark; void *args[] = {&a, &b, 0}; launch(address of the stub itself, args); } */
static const char *stub_body(struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_params params = cc_params(pass->source, decl->params, decl->params_end);
    const char **name = param_names(pass, &params);
    struct cc_text args = {0};

    cc_puts(&args, "");
    for (size_t i = 0; i < params.count; i++)
        cc_putf(&args, "(void *)__builtin_addressof(%s)%s, ", name[i],
                params.item[i].pack ? "..." : "");
    return cc_format("{ VGPU_STUB_MARK(%d); void *vgpu_args[] = {%s(void *)0}; "
                     "::vgpu_stub(%s, vgpu_args); }",
                     decl->id, args.data, stub_address(pass, decl, &params, name));
}

static void make_stub(struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_source *source = pass->source;

    cc_edit_delete(source, decl->body, decl->body_end + 1);
    cc_edit_before(source, decl->body, stub_body(pass, decl));
}

/* ---- functions that are not for the host ---- */

static bool is_device_only(const struct cc_decl *decl)
{
    return decl->kind == CC_FUNCTION && (decl->words & (CC_GLOBAL | CC_HOST)) == 0 &&
           (decl->words & CC_DEVICE) != 0 && (decl->words & CC_CONSTEXPR) == 0 && !decl->defaulted;
}

static void remove_body(struct cc_pass *pass, const struct cc_decl *decl)
{
    bool is_virtual = (decl->words & CC_VIRTUAL) != 0;
    int from = decl->init >= 0 ? decl->init : decl->body;

    cc_edit_delete(pass->source, from, decl->body_end + 1);
    /* A virtual function's address is needed where objects are made. */
    cc_edit_before(pass->source, from, is_virtual ? "{ __builtin_trap(); }" : ";");
}

static void hide_device_function(struct cc_pass *pass, const struct cc_decl *decl)
{
    unsigned words = CC_INLINE | CC_FORCEINLINE;

    /* `int c::f() { ... }` was declared in its class; without a body it is no declaration. */
    if (decl->body >= 0 && decl->name_from != decl->name && !decl->operator_name &&
        cc_token_is(pass->source, decl->name - 1, "::")) {
        cc_edit_delete(pass->source, decl->first, decl->last + 1);
        return;
    }
    /* A static or inline function without a body would be warned about. */
    cc_delete_words(pass, decl, decl->in_class ? words : words | CC_STATIC);
    if ((decl->words & CC_VIRTUAL) == 0)
        cc_edit_before(pass->source, decl->spec, "VGPU_DEVICE_ONLY ");
    if (decl->body >= 0)
        remove_body(pass, decl);
}

/* ---- what is left ---- */

static bool names_device_function(const struct cc_pass *pass, int at)
{
    for (size_t k = 0; k < pass->decls->count; k++) {
        const struct cc_decl *decl = &pass->decls->item[k];
        if (is_device_only(decl) && cc_same_token(pass->source, at, decl->name))
            return true;
    }
    return false;
}

/* The host's shadow of a __device__ variable cannot have the address of a device function: null
 * stands for it. */
static void replace_addresses(struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_source *source = pass->source;

    for (int i = decl->spec; i < decl->last; i++) {
        if (!names_device_function(pass, i) || cc_token_is(source, i + 1, "("))
            continue;
        int from = i;
        while (cc_token_is(source, from - 1, "::"))
            from -= source->token[from - 2].kind == CC_NAME ? 2 : 1;
        if (cc_token_is(source, from - 1, "&"))
            from--;
        int close = cc_token_is(source, i + 1, "<") ? cc_match_angle(source, i + 1) : -1;
        cc_edit_delete(source, from, (close > i ? close : i) + 1);
        cc_edit_before(source, from, " nullptr");
    }
}

static void drop_shared(struct cc_pass *pass, const struct cc_decl *decl)
{
    cc_edit_delete(pass->source, decl->first, decl->last + 1);
}

static void fix_noinline(struct cc_source *source)
{
    for (int i = 0; (size_t)i < source->token_count; i++)
        if (cc_token_is(source, i, "__noinline__") && !cc_token_is(source, i - 1, "("))
            cc_edit_delete(source, i, i + 1);
}

static const char *registration(const struct cc_pass *pass)
{
    struct cc_device_vars vars = cc_find_device_vars(pass);
    struct cc_text text = {0};

    cc_puts(&text, "\nVGPU_HOST_VARS {");
    for (size_t i = 0; i < vars.count; i++)
        cc_putf(&text, "{%s \":%s\", (const void *)&%s, sizeof(%s)}, ",
                cc_quoted(cc_module_key(pass)), vars.item[i].name + 2, vars.item[i].name,
                vars.item[i].name);
    cc_putf(&text, "{0, 0, 0}};\nVGPU_REGISTER(%s, %zu)\n", cc_part_symbol(pass->unit), vars.count);
    return text.data;
}

const char *cc_host_pass(struct cc_pass *pass, bool has_image)
{
    cc_check_host_rules(pass);
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (cc_is_sound_kernel(pass, decl))
            make_stub(pass, decl);
        else if (is_device_only(decl))
            hide_device_function(pass, decl);
        else if (decl->kind == CC_VARIABLE && (decl->words & CC_SHARED) != 0)
            drop_shared(pass, decl);
        else if (decl->kind == CC_VARIABLE && (decl->words & (CC_DEVICE | CC_CONSTANT)) != 0 &&
                 (decl->words & CC_MANAGED) == 0)
            replace_addresses(pass, decl);
    }
    cc_place_managed(pass, true);
    cc_rewrite_launches(pass->source, pass->decls);
    fix_noinline(pass->source);
    return has_image ? registration(pass) : "";
}
