/* SPDX-License-Identifier: MIT
 * managed.c: __managed__ variables: one object for the host and all GPUs.
 *
 * In both passes `__managed__ T x = v;` becomes a reference to managed memory. The host allocates
 * it before main, gives it its first value, and writes its address into the image at a mark (16
 * bytes that stand nowhere else) before the image goes to the node; device code reads the address
 * there.
 */
#include <inttypes.h>

#include "declarator.h"
#include "diag.h"
#include "passes.h"
#include "render.h"

static bool is_managed(const struct cc_decl *decl)
{
    return decl->kind == CC_VARIABLE && (decl->words & CC_MANAGED) != 0;
}

static bool is_sound(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_place place = cc_token_place(pass->source, decl->spec);

    if (decl->in_class || decl->templ >= 0)
        cc_error(place, "a __managed__ variable cannot be a member of a class or a template; "
                        "declare it at namespace scope");
    else if ((decl->words & (CC_CONSTANT | CC_SHARED)) != 0)
        cc_error(place, "__managed__ does not go with __constant__ or __shared__");
    else if ((decl->words & CC_EXTERN) != 0)
        cc_error(place, "the virtual node knows a __managed__ variable in the file that defines "
                        "it only; pass its address to the other file's kernels");
    else
        return true;
    return false;
}

/* The same in both passes: of the file's and the variable's name. */
static uint64_t mark_of(const struct cc_pass *pass, const struct cc_decl *decl, const char *name)
{
    uint64_t hash = 14695981039346656037u;

    for (const char *c = cc_format("%s:%s%s", pass->module, decl->scope, name); *c != 0; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    return hash;
}

static const char *definition(const struct cc_pass *pass, const struct cc_decl *decl,
                              const struct cc_declarator *one, const char *type, bool host)
{
    const char *name = cc_token_text(pass->source, one->name, one->name + 1);
    const char *value = one->init >= 0 ? cc_render_range(pass->source, one->init, one->end) : "{}";
    uint64_t mark = mark_of(pass, decl, name);

    if (host)
        return cc_format(" static %s vgpu_first_%s %s; VGPU_MANAGED_HOST(%s, %s, 0x%" PRIx64 "u);",
                         type, name, value, type, name, mark);
    return cc_format(" VGPU_MANAGED_DEVICE(%s, %s, 0x%" PRIx64 ");", type, name, mark);
}

/* `static __managed__ int a[2] = {1}, b;` becomes `typedef int vgpu_managed_a[2], vgpu_managed_b;`
 * and a definition of each. */
static void place(struct cc_pass *pass, const struct cc_decl *decl, bool host)
{
    struct cc_source *source = pass->source;
    struct cc_declarators list = cc_declarators(source, decl->spec, decl->last);

    for (int i = decl->spec; i < decl->last; i++)
        if (cc_token_is(source, i, "static") || cc_token_is(source, i, "__managed__") ||
            cc_token_is(source, i, "__device__"))
            cc_edit_delete(source, i, i + 1);
    cc_edit_before(source, decl->spec, "typedef ");
    for (size_t i = 0; i < list.count; i++) {
        const struct cc_declarator *one = &list.item[i];
        if (one->name < 0)
            continue;
        const char *type =
            cc_format("vgpu_managed_%s", cc_token_text(source, one->name, one->name + 1));
        cc_edit_before(source, one->name, type);
        cc_edit_delete(source, one->name, one->name + 1);
        cc_edit_after(source, decl->last, definition(pass, decl, one, type, host));
        if (one->init >= 0)
            cc_edit_delete(source, one->init, one->end);
    }
}

void cc_place_managed(struct cc_pass *pass, bool host)
{
    for (size_t i = 0; i < pass->decls->count; i++) {
        const struct cc_decl *decl = &pass->decls->item[i];
        if (is_managed(decl) && (host || is_sound(pass, decl)))
            place(pass, decl, host);
    }
}
