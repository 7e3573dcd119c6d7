/* SPDX-License-Identifier: MIT
 * host_pass.c: see passes.h.
 */
#include "declarator.h"
#include "diag.h"
#include "launch.h"
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

/* { mark; void *args[] = {&a, &b, 0}; launch(address of the stub itself, args); } The address needs
 * the parameters' types among overloads; they are asked of the parameters. */
static const char *stub_body(struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_params params = cc_params(pass->source, decl->params, decl->params_end);
    const char **name = param_names(pass, &params);
    struct cc_text types = {0}, args = {0};

    cc_puts(&types, "");
    cc_puts(&args, "");
    for (size_t i = 0; i < params.count; i++) {
        const char *more = params.item[i].pack ? "..." : "";
        cc_putf(&types, "%sdecltype(%s)%s", i > 0 ? ", " : "", name[i], more);
        cc_putf(&args, "(void *)__builtin_addressof(%s)%s, ", name[i], more);
    }
    return cc_format("{ VGPU_STUB_MARK(%d); void *vgpu_args[] = {%s(void *)0}; "
                     "::vgpu_stub((const void *)static_cast<void (*)(%s)>(&%s), vgpu_args); }",
                     decl->id, args.data, types.data, cc_kernel_name(pass, decl, true));
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
        cc_putf(&text, "{%s \":%s\", (const void *)&%s, sizeof(%s)}, ", cc_quoted(pass->module),
                vars.item[i].name + 2, vars.item[i].name, vars.item[i].name);
    cc_putf(&text, "{0, 0, 0}};\nVGPU_REGISTER(%s, %zu)\n", cc_quoted(pass->module), vars.count);
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
    }
    cc_rewrite_launches(pass->source, pass->decls);
    fix_noinline(pass->source);
    return has_image ? registration(pass) : "";
}
