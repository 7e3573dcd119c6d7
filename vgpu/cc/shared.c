/* SPDX-License-Identifier: MIT
 * shared.c: __shared__ declarations of the device pass.
 *
 *     __shared__ float tile[8][9], sum;
 * becomes, in place,
 *     typedef float vgpu_shared_5_tile[8][9], vgpu_shared_5_sum;
 *     VGPU_SHARED(5, 5, tile, vgpu_shared_5_tile, 0) ...
 * whose second part makes references into the block's memory. The typedef leaves the user's own
 * declarators to the compiler. Storage that is static or thread_local would be wrong: blocks of
 * several kernels can be resident at once.
 *
 * At namespace scope there is no block to take memory from yet: only the typedef stays there, and
 * every function that uses the name makes its own reference.
 */
#include "declarator.h"
#include "diag.h"
#include "passes.h"

struct shared {
    int id; /* the first token's index: unique */
    int from, end;
    bool dynamic; /* extern: its size comes with the launch */
    const char *align;
    struct cc_declarators names;
};

static const char *spelled(const struct cc_pass *pass, int token)
{
    return cc_token_text(pass->source, token, token + 1);
}

static const char *type_name(const struct cc_pass *pass, const struct shared *shared, int name)
{
    return cc_format("vgpu_shared_%d_%s", shared->id, spelled(pass, name));
}

/* The first token of the declaration that the word at `at` stands in. */
static int statement_start(const struct cc_source *source, int at)
{
    while (at > 0) {
        const struct cc_token *token = &source->token[at - 1];
        bool word = token->kind == CC_NAME || cc_token_is(source, at - 1, "::");
        if (cc_token_is(source, at - 1, "else") || cc_token_is(source, at - 1, "do"))
            return at;
        if (cc_token_is(source, at - 1, ">") || cc_token_is(source, at - 1, "*"))
            word = true; /* of a type */
        if (cc_token_is(source, at - 1, ")") && token->match > 0 &&
            (cc_token_is(source, token->match - 1, "__align__") ||
             cc_token_is(source, token->match - 1, "alignas"))) {
            at = token->match;
            continue;
        }
        if (!word)
            return at;
        at--;
    }
    return at;
}

/* alignas(16) and __align__(16) cannot stand in a typedef: they go into the reference. */
static void take_alignment(struct cc_pass *pass, struct shared *shared, int at)
{
    struct cc_source *source = pass->source;
    int close = source->token[at + 1].match;

    if (close < 0)
        return;
    shared->align = cc_format("%s", cc_token_text(source, at + 2, close));
    cc_edit_delete(source, at, close + 1);
}

static void take_specifiers(struct cc_pass *pass, struct shared *shared)
{
    struct cc_source *source = pass->source;

    for (int i = shared->from; i < shared->end; i++) {
        if (cc_token_is(source, i, "extern"))
            shared->dynamic = true;
        if (cc_token_is(source, i, "extern") || cc_token_is(source, i, "static") ||
            cc_token_is(source, i, "__shared__") || cc_token_is(source, i, "__device__"))
            cc_edit_delete(source, i, i + 1);
        else if (cc_token_is(source, i, "alignas") || cc_token_is(source, i, "__align__"))
            take_alignment(pass, shared, i);
        if (source->token[i].match > i)
            i = source->token[i].match;
    }
}

static uint32_t hash(const char *text)
{
    uint32_t hash = 2166136261u;

    while (*text != 0)
        hash = (hash ^ (unsigned char)*text++) * 16777619u;
    return hash;
}

/* Is the function the same one in each file that has it? */
static bool is_common(const struct cc_decl *function)
{
    bool own = function->internal || ((function->words & CC_STATIC) != 0 && !function->in_class);

    return !own && ((function->words & (CC_INLINE | CC_FORCEINLINE)) != 0 || function->templ >= 0 ||
                    function->in_class || function->in_template_class);
}

/* What the block knows the variable's memory by: a number of the declaration. In an image of many
 * files it must be the file's own, or for a function that several of them have the function's. */
static const char *seed(const struct cc_pass *pass, int name)
{
    const struct cc_decl *function = cc_function_at(pass->decls, name);

    if (pass->unit == NULL)
        return cc_format("%d", name);
    if (function != NULL && is_common(function))
        return cc_format("vgpu_hash(__PRETTY_FUNCTION__, %d)", name - function->body);
    return cc_format("%uu", hash(pass->unit) ^ (uint32_t)name);
}

/* "VGPU_SHARED(5, 5, tile, type, 16)" or "VGPU_DYNAMIC_SHARED(s, type)" */
static const char *reference(const struct cc_pass *pass, const struct shared *shared, int name)
{
    if (shared->dynamic)
        return cc_format(" VGPU_DYNAMIC_SHARED(%s, %s);", spelled(pass, name),
                         type_name(pass, shared, name));
    return cc_format(" VGPU_SHARED(%d, %s, %s, %s, (%s));", name, seed(pass, name),
                     spelled(pass, name), type_name(pass, shared, name), shared->align);
}

static bool is_sound(const struct cc_pass *pass, const struct shared *shared)
{
    for (size_t i = 0; i < shared->names.count; i++) {
        const struct cc_declarator *one = &shared->names.item[i];
        struct cc_place place = cc_token_place(pass->source, one->name);
        if (one->name < 0) {
            cc_error(cc_token_place(pass->source, shared->from),
                     "cannot find the name that this __shared__ declaration declares");
            return false;
        }
        if (one->init >= 0) {
            cc_error(place,
                     "__shared__ variable '%s' has an initialiser; every block would need "
                     "its own: let one thread assign it, then __syncthreads()",
                     spelled(pass, one->name));
            return false;
        }
    }
    return shared->names.count != 0;
}

/* Turns the declaration at the __shared__ at `word` into a typedef. False: it is wrong. */
static bool make_typedef(struct cc_pass *pass, int word, struct shared *shared)
{
    struct cc_source *source = pass->source;

    *shared = (struct shared){.id = word, .align = "1"};
    shared->from = statement_start(source, word);
    shared->end = cc_statement_end(source, word);
    shared->names = cc_declarators(source, shared->from, shared->end);
    if (!is_sound(pass, shared))
        return false;
    take_specifiers(pass, shared);
    cc_edit_before(source, shared->from, "typedef ");
    for (size_t i = 0; i < shared->names.count; i++) {
        int name = shared->names.item[i].name;
        cc_edit_before(source, name, type_name(pass, shared, name));
        cc_edit_delete(source, name, name + 1);
    }
    return true;
}

static void rewrite_local(struct cc_pass *pass, int word)
{
    struct shared shared;

    if (!make_typedef(pass, word, &shared))
        return;
    for (size_t i = 0; i < shared.names.count; i++)
        cc_edit_after(pass->source, shared.end,
                      reference(pass, &shared, shared.names.item[i].name));
}

/* ---- namespace scope ---- */

static bool is_used(const struct cc_source *source, const struct cc_decl *decl, int name)
{
    for (int i = decl->params; i < decl->body; i++)
        if (cc_same_token(source, name, i))
            return false; /* a parameter of that name hides it */
    for (int i = decl->body; i < decl->body_end; i++)
        if (cc_same_token(source, name, i) && !cc_token_is(source, i - 1, ".") &&
            !cc_token_is(source, i - 1, "->"))
            return true;
    return false;
}

static void rewrite_global(struct cc_pass *pass, int word)
{
    struct shared shared;

    if (!make_typedef(pass, word, &shared))
        return;
    for (size_t i = 0; i < shared.names.count; i++) {
        int name = shared.names.item[i].name;
        for (size_t k = 0; k < pass->decls->count; k++) {
            const struct cc_decl *decl = &pass->decls->item[k];
            if (decl->kind == CC_FUNCTION && decl->body > word && cc_runs_on_device(decl) &&
                is_used(pass->source, decl, name))
                cc_edit_after(pass->source, decl->body, reference(pass, &shared, name));
        }
    }
}

void cc_rewrite_shared(struct cc_pass *pass)
{
    for (int i = 0; (size_t)i < pass->source->token_count; i++) {
        if (!cc_token_is(pass->source, i, "__shared__"))
            continue;
        const struct cc_decl *function = cc_function_at(pass->decls, i);
        if (function == NULL)
            rewrite_global(pass, i);
        else if (cc_runs_on_device(function) && i > function->body)
            rewrite_local(pass, i);
        else
            cc_error(cc_token_place(pass->source, i),
                     "__shared__ variable in host function '%s'; only kernels and __device__ "
                     "functions have shared memory",
                     cc_decl_name(pass->source, function));
    }
}
