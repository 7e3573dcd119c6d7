/* SPDX-License-Identifier: MIT
 * device_pass.c: see passes.h.
 *
 * The whole file is compiled, host functions too: they instantiate the kernel templates. The linker
 * then keeps what the kernels reach. A host function must not be inlined into a kernel, where
 * nobody would see it: it is kept apart and marked, and when it survives the linker, it was called
 * from device code (check.c).
 */
#include <string.h>

#include "declarator.h"
#include "launch.h"
#include "launch_limits.h"
#include "passes.h"

bool cc_has_device_code(const struct cc_pass *pass)
{
    const unsigned words = CC_GLOBAL | CC_DEVICE | CC_CONSTANT | CC_MANAGED;

    for (size_t i = 0; i < pass->decls->count; i++)
        if ((pass->decls->item[i].words & words) != 0)
            return true;
    return false;
}

/* ---- kernels ---- */

/* What __launch_bounds__ says, or CUDA's maximum. */
static const char *max_threads(const struct cc_pass *pass, const struct cc_decl *decl)
{
    if (decl->bounds < 0 || pass->source->token[decl->bounds].match < 0)
        return cc_format("%d", VGPU_BLOCK_THREADS_MAX);
    struct cc_params bounds =
        cc_params(pass->source, decl->bounds, pass->source->token[decl->bounds].match);
    if (bounds.count == 0)
        return cc_format("%d", VGPU_BLOCK_THREADS_MAX);
    return cc_format("(%s)", cc_token_text(pass->source, bounds.item[0].from, bounds.item[0].to));
}

/* The class that makes the kernel's entry in the image. */
static const char *entry_class(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_params params = cc_params(pass->source, decl->params, decl->params_end);

    return cc_format("::vgpu_kernel_of<void (*)(%s), &%s, %d, %s>",
                     cc_params_text(pass->source, &params), cc_kernel_name(pass, decl, false),
                     decl->id, max_threads(pass, decl));
}

static void enter_kernel(struct cc_pass *pass, const struct cc_decl *decl)
{
    cc_edit_after(pass->source, decl->body_end,
                  cc_format(" VGPU_KERNEL_ENTRY(%d) = (const void *)&%s::call;", decl->id,
                            entry_class(pass, decl)));
}

/* The entry of a template is made with each instance: the body names it. */
static void enter_template(struct cc_pass *pass, const struct cc_decl *decl)
{
    const char *params = cc_template_params(pass, decl), *name = cc_kernel_name(pass, decl, false);
    const char *args = strchr(name, '<');

    cc_edit_before(pass->source, decl->first,
                   cc_format("template <%s> struct vgpu_entry_%d; ", params, decl->id));
    cc_edit_after(pass->source, decl->body,
                  cc_format(" (void)&vgpu_entry_%d%s::call;", decl->id, args));
    cc_edit_after(pass->source, decl->body_end,
                  cc_format(" template <%s> struct vgpu_entry_%d : %s {};", params, decl->id,
                            entry_class(pass, decl)));
}

/* ---- host code ---- */

static bool is_plain_host(const struct cc_decl *decl)
{
    return decl->kind == CC_FUNCTION && decl->body >= 0 && !cc_runs_on_device(decl) &&
           (decl->words & CC_CONSTEXPR) == 0;
}

static void mark_host_function(struct cc_pass *pass, const struct cc_decl *decl)
{
    cc_edit_before(pass->source, decl->spec, "VGPU_HOST_FUNCTION ");
    cc_edit_after(pass->source, decl->body, cc_format(" VGPU_HOST_MARK(%d);", decl->id));
}

/* A static variable that nobody writes would be folded into the kernels that read it, where nobody
 * would see it. */
static bool is_foldable(const struct cc_decl *decl)
{
    return decl->kind == CC_VARIABLE && !decl->in_class && decl->templ < 0 &&
           (decl->words & CC_CUDA_WORDS) == 0 &&
           (decl->words & (CC_CONSTEXPR | CC_TYPEDEF | CC_EXTERN)) == 0 &&
           ((decl->words & CC_STATIC) != 0 || decl->internal);
}

static void drop_unroll(struct cc_source *source)
{
    for (size_t i = 0; i < source->unit_count; i++) {
        struct cc_unit *unit = &source->unit[i];
        const char *text = source->text + unit->begin;
        const char *pragma = unit->directive ? strstr(text, "pragma") : NULL;
        if (pragma == NULL || pragma > source->text + unit->end)
            continue;
        pragma += strlen("pragma");
        pragma += strspn(pragma, " \t");
        unit->dropped |= cc_starts(pragma, "unroll") || cc_starts(pragma, "nounroll");
    }
}

static void fix_noinline(struct cc_source *source)
{
    for (int i = 0; (size_t)i < source->token_count; i++)
        if (cc_token_is(source, i, "__noinline__") && !cc_token_is(source, i - 1, "(")) {
            cc_edit_delete(source, i, i + 1);
            cc_edit_before(source, i, "__attribute__((noinline))");
        }
}

static const char *variable_table(const struct cc_pass *pass)
{
    struct cc_device_vars vars = cc_find_device_vars(pass);
    struct cc_text text = {0};

    if (vars.count == 0)
        return "";
    cc_puts(&text, "\nVGPU_IMAGE_VARS {");
    for (size_t i = 0; i < vars.count; i++)
        cc_putf(&text, "{%s \":%s\", (void *)&%s, sizeof(%s)}, ", cc_quoted(cc_module_key(pass)),
                vars.item[i].name + 2, vars.item[i].name, vars.item[i].name);
    cc_puts(&text, "};\n");
    return text.data;
}

const char *cc_device_pass(struct cc_pass *pass)
{
    struct cc_source *source = pass->source;

    cc_check_device_rules(pass);
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (cc_is_sound_kernel(pass, decl))
            cc_is_template(decl) ? enter_template(pass, decl) : enter_kernel(pass, decl);
        else if (decl->kind == CC_ASM)
            cc_edit_delete(source, decl->first, decl->last);
        else if (is_plain_host(decl))
            mark_host_function(pass, decl);
        else if (is_foldable(decl))
            cc_edit_before(source, decl->spec, "VGPU_HOST_VARIABLE ");
    }
    cc_place_variables(pass);
    cc_place_managed(pass, false);
    cc_rewrite_shared(pass);
    cc_rewrite_ptx(pass);
    cc_rewrite_launches(source, pass->decls);
    drop_unroll(source);
    fix_noinline(source);
    return variable_table(pass);
}
