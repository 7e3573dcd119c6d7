/* SPDX-License-Identifier: MIT
 * ptx_texture.c: reads of textures, reads and writes of surfaces, by objects (PTX ISA 9.0, chapters
 * 9.7.10 and 9.7.11). Without mipmaps, levels and gradients choose nothing, as in
 * vgpu/device_texture.h.
 */
#include <string.h>

#include "image.h"
#include "ptx.h"
#include "texture.h"

struct geometry {
    const char *word;
    int shape;
    int coordinates; /* operands in the braces; of three, a fourth one is unused */
    bool layered;    /* the first one is the layer */
};

static const struct geometry geometries[] = {
    {"1d", VGPU_TEXTURE_1D, 1, false},
    {"2d", VGPU_TEXTURE_2D, 2, false},
    {"3d", VGPU_TEXTURE_3D, 3, false},
    {"a1d", VGPU_TEXTURE_1D_LAYERED, 1, true},
    {"a2d", VGPU_TEXTURE_2D_LAYERED, 2, true},
    {"cube", VGPU_TEXTURE_CUBEMAP, 3, false},
    {"acube", VGPU_TEXTURE_CUBEMAP_LAYERED, 3, true},
};

static const struct geometry *find_geometry(const char *word)
{
    for (size_t i = 0; i < sizeof geometries / sizeof *geometries; i++)
        if (strcmp(geometries[i].word, word) == 0)
            return &geometries[i];
    return NULL;
}

/* Coordinates as the instruction writes them: of 3 and more, 4 operands. */
static int written(const struct geometry *g)
{
    int count = g->coordinates + g->layered;

    return count == 3 ? 4 : count;
}

static const char *qualifier(const struct cc_ptx *in, int at)
{
    return at < in->qualifiers ? in->qualifier[at] : "";
}

/* ---- textures ---- */

static LLVMValueRef as_float(struct cc_ptx_statement *s, LLVMValueRef bits)
{
    return LLVMBuildCast(s->b, LLVM_OP_BIT_CAST, bits, LLVMFloatTypeInContext(s->l->context), "");
}

static LLVMValueRef place_for_texel(struct cc_ptx_statement *s)
{
    LLVMTypeRef type = LLVMArrayType(cc_int_type(s->l, 32), 4);
    LLVMBuilderRef b = s->entry;

    if (b == NULL) {
        b = LLVMCreateBuilderInContext(s->l->context);
        LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(s->function)));
    }
    LLVMValueRef place = LLVMBuildAlloca(b, type, "");
    LLVMSetAlignment(place, 16);
    return LLVMBuildPointerCast(b, place, LLVMPointerType(cc_int_type(s->l, 32), 0), "");
}

/* {d, e, f, g} from the four channels. */
static bool give_texel(struct cc_ptx_statement *s, const struct cc_ptx *in, LLVMValueRef texel)
{
    LLVMTypeRef word = cc_int_type(s->l, 32);

    for (unsigned i = 0; i < 4; i++) {
        LLVMValueRef index = cc_ptx_number(s, i, 64);
        LLVMValueRef at = LLVMBuildGEP2(s->b, word, texel, &index, 1, "");
        if (!cc_ptx_assign_bits(s, in->operand[i], LLVMBuildLoad2(s->b, word, at, "")))
            return false;
    }
    return true;
}

/* Reads from the object in operand 4 at the coordinates in those behind it. `layer`: what takes its
 * place where there is none. */
static bool read_texture(struct cc_ptx_statement *s, const struct cc_ptx *in,
                         const struct geometry *g, int shape, LLVMValueRef layer)
{
    LLVMValueRef object = cc_ptx_operand(s, in->operand[4], 64), texel = place_for_texel(s);
    LLVMValueRef argument[7] = {object, cc_ptx_number(s, (uint64_t)shape, 32)};

    for (int i = 0; i < 3; i++) {
        LLVMValueRef value = i < g->coordinates && shape != VGPU_TEXTURE_FETCH
                                 ? cc_ptx_operand(s, in->operand[5 + g->layered + i], 32)
                                 : cc_ptx_number(s, 0, 32);
        if (value == NULL)
            return false;
        argument[2 + i] = as_float(s, value);
    }
    argument[5] =
        g->layered || shape == VGPU_TEXTURE_FETCH ? cc_ptx_operand(s, in->operand[5], 32) : layer;
    argument[6] = texel;
    if (object == NULL || argument[5] == NULL)
        return false;
    cc_ptx_call(s, "vgpu_texture_read", LLVMVoidTypeInContext(s->l->context), argument, 7);
    return give_texel(s, in, texel);
}

/* Whether qualifiers from `at` on are v4, a type of 32 bits, and the coordinates' type, and the
 * last. */
static bool ends_with_types(const struct cc_ptx *in, int at, const char *coordinates)
{
    const char *type = qualifier(in, at + 1);

    return at + 3 == in->qualifiers && strcmp(qualifier(in, at), "v4") == 0 &&
           (strcmp(type, "f32") == 0 || strcmp(type, "u32") == 0 || strcmp(type, "s32") == 0) &&
           strcmp(in->qualifier[at + 2], coordinates) == 0;
}

/* tex.2d.v4.f32.f32 {d, e, f, g}, [object, {x, y}]; tex.level.2d... , level;
 * tex.grad.2d... , {dx, ...}, {dy, ...}; tex.1d.v4.f32.s32 reads an element of linear memory. */
static bool fetch_texel(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    bool level = strcmp(qualifier(in, 0), "level") == 0;
    bool gradient = strcmp(qualifier(in, 0), "grad") == 0;
    bool base = strcmp(qualifier(in, 0), "base") == 0;
    int at = level || gradient || base, shape;
    const struct geometry *g = find_geometry(qualifier(in, at));
    LLVMValueRef none = cc_ptx_number(s, 0, 32);

    if (g == NULL || *in->predicate != 0)
        return false;
    shape = g->shape;
    if (at == 0 && shape == VGPU_TEXTURE_1D && ends_with_types(in, 1, "s32"))
        shape = VGPU_TEXTURE_FETCH;
    else if (!ends_with_types(in, at + 1, "f32"))
        return false;
    int slopes = g->coordinates == 3 ? 4 : g->coordinates;
    return in->operands == 5 + written(g) + level + (gradient ? 2 * slopes : 0) &&
           read_texture(s, in, g, shape, none);
}

/* tld4.r.2d.v4.f32.f32 {d, e, f, g}, [object, {x, y}] */
static bool gather(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    static const char channels[] = "rgba";
    const char *word = qualifier(in, 0), *channel = strchr(channels, *word);

    if (in->qualifiers < 2 || in->operands != 7 || channel == NULL || strlen(word) != 1 ||
        strcmp(in->qualifier[1], "2d") != 0 || !ends_with_types(in, 2, "f32") ||
        *in->predicate != 0)
        return false;
    LLVMValueRef which = cc_ptx_number(s, (uint64_t)(channel - channels), 32);
    return read_texture(s, in, find_geometry("2d"), VGPU_TEXTURE_GATHER, which);
}

/* txq.width.b32 d, [object]; suq.width.b32 d, [object] */
static bool query(struct cc_ptx_statement *s, const struct cc_ptx *in, bool surface)
{
    static const char *const names[] = {[VGPU_QUERY_WIDTH] = "width",
                                        [VGPU_QUERY_HEIGHT] = "height",
                                        [VGPU_QUERY_DEPTH] = "depth",
                                        [VGPU_QUERY_LAYERS] = "array_size",
                                        [VGPU_QUERY_NORMALIZED] = "normalized_coords"};

    if (in->qualifiers != 2 || in->operands != 2 || strcmp(in->qualifier[1], "b32") != 0)
        return false;
    for (unsigned i = 0; i < sizeof names / sizeof *names - surface; i++) {
        LLVMValueRef object = cc_ptx_operand(s, in->operand[1], 64);
        if (object == NULL || strcmp(names[i], in->qualifier[0]) != 0)
            continue;
        LLVMValueRef argument[] = {object, cc_ptx_number(s, surface, 32), cc_ptx_number(s, i, 32)};
        return cc_ptx_assign_bits(
            s, in->operand[0],
            cc_ptx_call(s, "vgpu_texture_query", cc_int_type(s->l, 32), argument, 3));
    }
    return false;
}

/* ---- surfaces ---- */

struct access {
    const struct geometry *geometry;
    unsigned bits, elements;
    int mode;
};

/* b.2d{.v4}.b32.trap */
static bool read_surface_access(const struct cc_ptx *in, struct access *a)
{
    static const char *const modes[] = {[VGPU_BOUNDARY_ZERO] = "zero",
                                        [VGPU_BOUNDARY_CLAMP] = "clamp",
                                        [VGPU_BOUNDARY_TRAP] = "trap"};
    struct cc_ptx_type type;
    const char *vector = qualifier(in, 2);
    int at = 2;

    a->geometry = find_geometry(qualifier(in, 1));
    a->elements = strcmp(vector, "v2") == 0 ? 2 : strcmp(vector, "v4") == 0 ? 4 : 1;
    at += a->elements > 1;
    if (a->geometry == NULL || strcmp(qualifier(in, 0), "b") != 0 || at + 2 != in->qualifiers ||
        a->geometry->shape >= VGPU_TEXTURE_CUBEMAP || *in->qualifier[at] != 'b' ||
        !cc_ptx_type(in->qualifier[at], &type) || type.bits * a->elements > 128)
        return false;
    a->bits = type.bits;
    for (a->mode = 0; a->mode < 3; a->mode++)
        if (strcmp(modes[a->mode], in->qualifier[at + 1]) == 0)
            return true;
    return false;
}

/* Where the access goes, as a pointer to all elements: outside of the surface to a place of zeros.
 * `from`: the operand of the object. */
static LLVMValueRef surface_at(struct cc_ptx_statement *s, const struct cc_ptx *in,
                               const struct access *a, int from)
{
    const struct geometry *g = a->geometry;
    LLVMTypeRef wide = cc_int_type(s->l, 64);
    LLVMTypeRef vector = LLVMVectorType(cc_int_type(s->l, a->bits), a->elements);
    LLVMValueRef at[3];

    for (int i = 0; i < 3; i++) {
        at[i] = i < g->coordinates ? cc_ptx_operand(s, in->operand[from + 1 + g->layered + i], 32)
                : i == 2 && g->layered ? cc_ptx_operand(s, in->operand[from + 1], 32)
                                       : cc_ptx_number(s, 0, 32);
        if (at[i] == NULL)
            return NULL;
    }
    LLVMValueRef object = cc_ptx_operand(s, in->operand[from], 64);
    if (object == NULL)
        return NULL;
    LLVMValueRef argument[] = {object,
                               at[0],
                               at[1],
                               at[2],
                               cc_ptx_number(s, a->bits / 8ull * a->elements, 32),
                               cc_ptx_number(s, (uint64_t)a->mode, 32)};
    LLVMValueRef place = cc_ptx_call(s, "vgpu_surface_at", wide, argument, 6);
    LLVMValueRef none =
        LLVMBuildPointerCast(s->b, place_for_texel(s), LLVMPointerType(vector, 0), "");
    LLVMSetAlignment(LLVMBuildStore(s->b, LLVMConstNull(vector), none), 16);
    LLVMValueRef outside = LLVMBuildICmp(s->b, CC_PTX_EQUAL, place, cc_ptx_number(s, 0, 64), "");
    place = LLVMBuildCast(s->b, LLVM_OP_INT_TO_PTR, place, LLVMPointerType(vector, 0), "");
    return LLVMBuildSelect(s->b, outside, none, place, "");
}

/* suld.b.2d.v4.b32.trap {d, ...}, [object, {x, y}] */
static bool load_surface(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct access a;

    if (!read_surface_access(in, &a) || in->operands != (int)a.elements + 1 + written(a.geometry))
        return false;
    LLVMValueRef at = surface_at(s, in, &a, (int)a.elements);
    if (at == NULL)
        return false;
    LLVMTypeRef vector = LLVMVectorType(cc_int_type(s->l, a.bits), a.elements);
    LLVMValueRef all = LLVMBuildLoad2(s->b, vector, at, "");
    LLVMSetAlignment(all, a.bits / 8 * a.elements);
    for (unsigned i = 0; i < a.elements; i++) {
        LLVMValueRef one = LLVMBuildExtractElement(s->b, all, cc_ptx_number(s, i, 32), "");
        if (!cc_ptx_assign_bits(s, in->operand[i], one))
            return false;
    }
    return true;
}

/* sust.b.2d.v4.b32.trap [object, {x, y}], {a, ...} */
static bool store_surface(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    struct access a;

    if (!read_surface_access(in, &a) || in->operands != (int)a.elements + 1 + written(a.geometry))
        return false;
    LLVMValueRef all = LLVMGetUndef(LLVMVectorType(cc_int_type(s->l, a.bits), a.elements));
    for (unsigned i = 0; i < a.elements; i++) {
        LLVMValueRef one = cc_ptx_operand(s, in->operand[1 + written(a.geometry) + (int)i], a.bits);
        if (one == NULL)
            return false;
        all = LLVMBuildInsertElement(s->b, all, one, cc_ptx_number(s, i, 32), "");
    }
    LLVMValueRef at = surface_at(s, in, &a, 0);
    if (at != NULL)
        LLVMSetAlignment(LLVMBuildStore(s->b, all, at), a.bits / 8 * a.elements);
    return at != NULL;
}

enum cc_ptx_known cc_ptx_texture(struct cc_ptx_statement *s, const struct cc_ptx *in)
{
    bool done;

    if (cc_ptx_is(in, "tex"))
        done = fetch_texel(s, in);
    else if (cc_ptx_is(in, "tld4"))
        done = gather(s, in);
    else if (cc_ptx_is(in, "txq") || cc_ptx_is(in, "suq"))
        done = query(s, in, cc_ptx_is(in, "suq"));
    else if (cc_ptx_is(in, "suld"))
        done = load_surface(s, in);
    else if (cc_ptx_is(in, "sust"))
        done = store_surface(s, in);
    else
        return CC_PTX_NOT_MINE;
    return done ? CC_PTX_DONE : CC_PTX_UNKNOWN;
}
