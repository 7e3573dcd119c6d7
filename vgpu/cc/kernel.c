/* SPDX-License-Identifier: MIT
 * kernel.c: how a kernel is named in the text that the passes add.
 */
#include <string.h>

#include "declarator.h"
#include "diag.h"
#include "passes.h"

const char *cc_module_key(const struct cc_pass *pass)
{
    const char *slash = strrchr(pass->module, '/');

    if (pass->unit != NULL)
        return pass->unit;
    return slash != NULL ? slash + 1 : pass->module;
}

bool cc_is_kernel(const struct cc_decl *decl)
{
    return decl->kind == CC_FUNCTION && (decl->words & CC_GLOBAL) != 0;
}

bool cc_is_template(const struct cc_decl *decl)
{
    return decl->templ >= 0 && !decl->specialised;
}

static struct cc_params template_params(const struct cc_pass *pass, const struct cc_decl *decl)
{
    return cc_params(pass->source, decl->templ, cc_match_angle(pass->source, decl->templ));
}

const char *cc_template_params(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_params params = template_params(pass, decl);

    return cc_params_text(pass->source, &params);
}

/* "<T, N, Ts...>" */
static const char *template_args(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_params params = template_params(pass, decl);
    struct cc_text text = {0};

    cc_puts(&text, "<");
    for (size_t i = 0; i < params.count; i++) {
        const struct cc_param *param = &params.item[i];
        cc_putf(&text, "%s%s%s", i > 0 ? ", " : "",
                cc_token_text(pass->source, param->name, param->name + 1),
                param->pack ? "..." : "");
    }
    cc_puts(&text, ">");
    return text.data;
}

const char *cc_kernel_name(const struct cc_pass *pass, const struct cc_decl *decl, bool qualified)
{
    const char *name = cc_token_text(pass->source, decl->name_from, decl->params);
    const char *args = cc_is_template(decl) ? template_args(pass, decl) : "";

    return cc_format("%s%s%s%s", qualified ? "::" : "", qualified ? decl->scope : "", name, args);
}

static bool all_named(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_params params = template_params(pass, decl);

    for (size_t i = 0; i < params.count; i++)
        if (params.item[i].name < 0)
            return false;
    return true;
}

static bool returns_void(const struct cc_pass *pass, const struct cc_decl *decl)
{
    for (int i = decl->spec; i < decl->body; i++) {
        if (cc_token_is(pass->source, i, "void"))
            return true;
        if (pass->source->token[i].match > i)
            i = pass->source->token[i].match;
    }
    return false;
}

/* The & of the first parameter that is a reference, or -1. */
static int reference_parameter(const struct cc_pass *pass, const struct cc_decl *decl)
{
    for (int i = decl->params + 1; i < decl->params_end; i++) {
        if (cc_token_is(pass->source, i, "&") || cc_token_is(pass->source, i, "&&"))
            return i;
        if (cc_token_is(pass->source, i, "<") && cc_match_angle(pass->source, i) > 0)
            i = cc_match_angle(pass->source, i);
        else if (cc_token_is(pass->source, i, "="))
            return -1; /* defaults may hold anything; the compiler checks the types again */
        else if (pass->source->token[i].match > i)
            i = pass->source->token[i].match;
    }
    return -1;
}

bool cc_is_sound_kernel(const struct cc_pass *pass, const struct cc_decl *decl)
{
    struct cc_place place = cc_token_place(pass->source, decl->name);
    const char *name = cc_decl_name(pass->source, decl);

    if (!cc_is_kernel(decl) || decl->body < 0)
        return false;
    int reference = reference_parameter(pass, decl);
    if (decl->in_class)
        cc_error(place,
                 "kernel '%s' is a member of a class; a __global__ function stands outside "
                 "of classes",
                 name);
    else if ((decl->words & (CC_DEVICE | CC_HOST)) != 0)
        cc_error(place,
                 "kernel '%s' is also __device__ or __host__; a __global__ function is "
                 "neither",
                 name);
    else if (!returns_void(pass, decl))
        cc_error(place, "kernel '%s' must return void; results go through device memory", name);
    else if (reference >= 0)
        cc_error(
            cc_token_place(pass->source, reference),
            "kernel '%s' has a parameter that is a reference; the host's object does not exist "
            "on the device: pass it by value, or pass a device pointer",
            name);
    else if (cc_is_template(decl) && !all_named(pass, decl))
        cc_error(place, "kernel template '%s' has an unnamed template parameter; give it a name",
                 name);
    else
        return true;
    return false;
}

void cc_delete_words(struct cc_pass *pass, const struct cc_decl *decl, unsigned words)
{
    struct cc_source *source = pass->source;

    for (int i = decl->spec; i < decl->params; i++) {
        const struct cc_token *token = &source->token[i];
        if (token->match > i)
            i = token->match;
        else if (token->kind == CC_NAME && (cc_specifier_of(token->text, token->length) & words))
            cc_edit_delete(source, i, i + 1);
    }
}
