/* SPDX-License-Identifier: MIT
 * ptx_memory.c: loads, stores, fences and additions in inline PTX, as device_ptx.h says them in
 * C++.
 *
 * Programs write these where CUDA C++ has no word for several elements at once with a scope:
 *
 *     ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];
 *     st.release.sys.global.u32 [%0], %1;
 *     fence.acq_rel.sys;
 *     red.release.gpu.global.add.u32 [%0], %1;
 *
 * An instruction is read word by word, in any order of its qualifiers; its operands must be %0, %1,
 * ... as they come. A qualifier that is not here makes the statement unknown: an error, never a
 * guess.
 */
#include "ptx.h"

#include "mem.h"

struct qualifier {
    const char *word;
    const char *meaning;
};

static const struct qualifier orders[] = {
    {"weak", "VGPU_PTX_WEAK"},       {"volatile", "VGPU_PTX_VOLATILE"},
    {"cv", "VGPU_PTX_VOLATILE"},     {"relaxed", "__ATOMIC_RELAXED"},
    {"acquire", "__ATOMIC_ACQUIRE"}, {"release", "__ATOMIC_RELEASE"},
    {"acq_rel", "__ATOMIC_ACQ_REL"}, {"sc", "__ATOMIC_SEQ_CST"},
};

static const struct qualifier scopes[] = {
    {"cta", "__threadfence_block()"},
    {"gpu", "__threadfence()"},
    {"sys", "__threadfence_system()"},
};

static const struct qualifier types[] = {
    {"b32", "unsigned int"}, {"u32", "unsigned int"}, {"s32", "int"},    {"f32", "float"},
    {"u64", "vgpu_ptx_u64"}, {"b64", "vgpu_ptx_u64"}, {"f64", "double"}, {"s64", "vgpu_ptx_s64"},
};

static const struct qualifier operations[] = {{"add", "add"}, {"exch", "exch"}};

/* Say where to look for the data, not what is read: nothing here has such caches. */
static const struct qualifier hints[] = {
    {"global", ""},
    {"nc", ""},
    {"ca", ""},
    {"cg", ""},
    {"cs", ""},
    {"lu", ""},
    {"wb", ""},
    {"wt", ""},
    {"L1::no_allocate", ""},
    {"L1::evict_last", ""},
    {"L1::evict_first", ""},
    {"L2::64B", ""},
    {"L2::128B", ""},
    {"L2::256B", ""},
};

struct instruction {
    char name[8]; /* ld, st, red, atom, fence */
    const char *order, *scope, *type, *operation;
    int elements;
};

#define FIND(table, word) find(table, sizeof(table) / sizeof *(table), word)

static const char *find(const struct qualifier *table, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(table[i].word, word) == 0)
            return table[i].meaning;
    return NULL;
}

/* Sets *field once; a second word for the same thing is unknown. */
static bool set(const char **field, const char *meaning)
{
    if (!meaning || *field)
        return false;
    *field = meaning;
    return true;
}

static bool take(struct instruction *in, const char *word)
{
    bool update = !strcmp(in->name, "red") || !strcmp(in->name, "atom");

    if (!strcmp(word, "v2") || !strcmp(word, "v4")) {
        bool first = in->elements == 1;
        in->elements = word[1] - '0';
        return first;
    }
    if (update && set(&in->operation, FIND(operations, word)))
        return true;
    return set(&in->order, FIND(orders, word)) || set(&in->scope, FIND(scopes, word)) ||
           set(&in->type, FIND(types, word)) || FIND(hints, word) != NULL;
}

/* The words before the operands. Returns where those start, or null. */
static const char *read_words(struct instruction *in, const char *ptx)
{
    char word[24];
    bool first = true;

    while (*ptx && !strchr("%[{;", *ptx)) {
        size_t length = strcspn(ptx, ".%[{;");
        if (length >= (first ? sizeof in->name : sizeof word))
            return NULL;
        memcpy(first ? in->name : word, ptx, length);
        (first ? in->name : word)[length] = 0;
        if (!first && !take(in, word))
            return NULL;
        first = false;
        ptx += length + (ptx[length] == '.');
    }
    return ptx;
}

/* "%2" or "{%2,%3,%4,%5}". */
static const char *values(int from, int count)
{
    if (count == 1)
        return cc_format("%%%d", from);
    const char *text = cc_format("{%%%d", from);
    for (int i = 1; i < count; i++)
        text = cc_format("%s,%%%d", text, from + i);
    return cc_format("%s}", text);
}

static bool load_or_store(const struct instruction *in, const char *operands, struct cc_ptx *to)
{
    bool load = in->name[0] == 'l';
    int n = in->elements;
    const char *expected =
        load ? cc_format("%s,[%%%d];", values(0, n), n) : cc_format("[%%0],%s;", values(1, n));
    const char *order = in->order ? in->order : "VGPU_PTX_WEAK";

    if (!in->type || in->operation || strcmp(operands, expected) != 0)
        return false;
    *to = (struct cc_ptx){
        .call = cc_format("vgpu_ptx_%s<%s, %s>(", load ? "ld" : "st", in->type, order),
        .outputs = load ? n : 0,
        .inputs = load ? 1 : n + 1};
    return true;
}

static bool update_of(const struct instruction *in, const char *operands, struct cc_ptx *to)
{
    bool atom = in->name[0] == 'a';
    const char *expected = atom ? "%0,[%1],%2;" : "[%0],%1;";

    if (!in->type || !in->operation || in->elements != 1 || strcmp(operands, expected) != 0)
        return false;
    *to =
        (struct cc_ptx){.call = cc_format("vgpu_ptx_%s_%s<%s>(", in->name, in->operation, in->type),
                        .outputs = atom,
                        .inputs = 2};
    return atom || strcmp(in->operation, "add") == 0;
}

bool cc_ptx_memory(const char *ptx, struct cc_ptx *to)
{
    struct instruction in = {.elements = 1};
    const char *operands = read_words(&in, ptx);

    if (!operands)
        return false;
    if (!strcmp(in.name, "ld") || !strcmp(in.name, "st"))
        return load_or_store(&in, operands, to);
    if (!strcmp(in.name, "red") || !strcmp(in.name, "atom"))
        return update_of(&in, operands, to);
    if (strcmp(in.name, "fence") != 0 || !in.order || !in.scope || strcmp(operands, ";") != 0)
        return false;
    *to = (struct cc_ptx){.call = in.scope};
    return true;
}
