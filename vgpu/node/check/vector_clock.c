/* SPDX-License-Identifier: MIT
 * vector_clock.c: see vector_clock.h.
 */
#include "vector_clock.h"

#include <stdlib.h>
#include <string.h>

enum { COMPONENTS_MAX = 4096, WORDS = 1024 /* a power of two */, KERNELS_MAX = 1024 };

/* For each component, the number of operations that are over. */
struct vclock {
    uint32_t components;
    uint32_t over[];
};

/* A word of memory that kernels store to and poll. Without a system-wide fence, a store orders the
 * kernel's earlier accesses for its own GPU only (clock_here), not for others. */
struct word {
    uint64_t address;
    bool used;
    struct vclock *clock, *clock_here[VGPU_MAX_DEVICES];
};

struct vclocks {
    bool on;
    uint32_t components; /* numbered from 1; 0: none */
    uint32_t number[COMPONENTS_MAX];
    uint32_t free_component[COMPONENTS_MAX], free_count;
    struct vclock *host;
    uint32_t host_component; /* component of host code's accesses to memory */
    uint32_t learned;
    struct word words[WORDS];
    uint32_t word_count;
    /* Combined entry for words for which the table had no room. */
    struct word other_words;
    /* Kernels with a memory clock; each entry holds a reference. */
    struct op *with_memory[KERNELS_MAX];
    uint32_t with_memory_count;
    /* A table was full or host memory ran out: every pair counts as ordered. */
    bool overflowed;
};

struct vclocks *vclocks_new(void)
{
    struct vclocks *v = calloc(1, sizeof *v);
    if (v)
        v->components = 1;
    return v;
}

void vclocks_start(struct vclocks *v)
{
    v->on = true;
}

uint32_t vclocks_component(struct vclocks *v)
{
    if (v->free_count)
        return v->free_component[--v->free_count];
    return v->components < COMPONENTS_MAX ? v->components++ : 0;
}

void vclocks_component_end(struct vclocks *v, uint32_t component)
{
    if (component)
        v->free_component[v->free_count++] = component;
}

/* ---- clocks ---- */

/* *to becomes the component-wise maximum of both. True: it has changed. If memory runs out it stays
 * too small, and `overflowed` is set. */
static bool join_clock(struct vclocks *v, struct vclock **to, const struct vclock *from)
{
    bool more = false;
    if (!from)
        return false;
    if (!*to || (*to)->components < from->components) {
        uint32_t had = *to ? (*to)->components : 0;
        struct vclock *grown =
            realloc(*to, sizeof *grown + (size_t)from->components * sizeof *grown->over);
        if (!grown) {
            v->overflowed = true;
            return false;
        }
        memset(grown->over + had, 0, (size_t)(from->components - had) * sizeof *grown->over);
        grown->components = from->components;
        *to = grown;
    }
    for (uint32_t i = 0; i < from->components; i++)
        if (from->over[i] > (*to)->over[i]) {
            (*to)->over[i] = from->over[i];
            more = true;
        }
    return more;
}

static void raise_component(struct vclocks *v, struct vclock **to, uint32_t component,
                            uint32_t count)
{
    if (!*to || (*to)->components <= component) {
        struct vclock *room = calloc(1, sizeof *room + (component + 1) * sizeof *room->over);
        if (!room) {
            v->overflowed = true;
            return;
        }
        room->components = component + 1;
        join_clock(v, &room, *to);
        free(*to);
        *to = room;
    }
    if ((*to)->over[component] < count)
        (*to)->over[component] = count;
}

static bool clock_includes(const struct vclock *clock, const struct op *op)
{
    return clock && op->check.component < clock->components &&
           clock->over[op->check.component] >= op->check.number;
}

/* ---- order by the graph and the host ---- */

void vclocks_after(struct vclocks *v, struct op *op, const struct op *dep)
{
    if (v->on)
        join_clock(v, &op->check.clock, dep->check.clock);
}

void vclocks_issue(struct vclocks *v, struct op *op, uint32_t component)
{
    if (!v->on)
        return;
    join_clock(v, &op->check.clock, v->host);
    if (!component)
        return;
    op->check.component = component;
    op->check.number = ++v->number[component];
    raise_component(v, &op->check.clock, component, op->check.number);
}

/* Host accesses have a component of their own; only the host's clock includes them at once. */
void vclocks_touch(struct vclocks *v, struct op *op)
{
    if (!v->on)
        return;
    if (!v->host_component)
        v->host_component = vclocks_component(v);
    vclocks_issue(v, op, v->host_component);
    if (v->host_component)
        raise_component(v, &v->host, v->host_component, op->check.number);
}

static void host_joins(struct vclocks *v, const struct vclock *what)
{
    v->learned += join_clock(v, &v->host, what);
}

void vclocks_seen(struct vclocks *v, const struct op *op)
{
    if (!v->on || !op->check.clock)
        return;
    host_joins(v, op->check.clock);
    /* Operations that these kernels are ordered after by memory are over, too. */
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < v->with_memory_count; i++)
            if (clock_includes(v->host, v->with_memory[i]))
                more |= join_clock(v, &v->host, v->with_memory[i]->check.memory_clock);
    }
}

bool vclocks_known_to_host(const struct vclocks *v, const struct op *op)
{
    return clock_includes(v->host, op);
}

bool vclocks_known_step(const struct vclocks *v, struct vgpu_step step)
{
    return v->overflowed || (v->host && step.component < v->host->components &&
                             v->host->over[step.component] >= step.number);
}

uint32_t vclocks_learned(const struct vclocks *v)
{
    return v->learned;
}

/* ---- order by memory ---- */

static bool has_memory_clock(struct vclocks *v, struct op *op)
{
    if (op->check.has_memory_clock)
        return true;
    if (v->with_memory_count == KERNELS_MAX) {
        v->overflowed = true;
        return false;
    }
    v->with_memory[v->with_memory_count++] = op_keep(op);
    op->check.has_memory_clock = true;
    join_clock(v, &op->check.memory_clock, op->check.clock);
    return true;
}

/* NULL: no store to this address is known, and `make` is false. */
static struct word *find_word(struct vclocks *v, uint64_t address, bool make)
{
    uint32_t at = (uint32_t)(address * 0x9E3779B97F4A7C15ull >> 54);
    for (uint32_t i = 0; i < WORDS; i++, at = (at + 1) % WORDS) {
        if (v->words[at].used && v->words[at].address != address)
            continue;
        if (!v->words[at].used && !make)
            return NULL;
        if (!v->words[at].used && v->word_count == WORDS / 2)
            break;
        v->word_count += !v->words[at].used;
        v->words[at].used = true;
        v->words[at].address = address;
        return &v->words[at];
    }
    return make ? &v->other_words : NULL;
}

static void join_memory(struct vclocks *v, struct op *op, const struct vclock *what)
{
    if (what && has_memory_clock(v, op))
        join_clock(v, &op->check.memory_clock, what);
}

static void join_word(struct vclocks *v, struct op *op, const struct word *word)
{
    if (!word)
        return;
    join_memory(v, op, word->clock);
    join_memory(v, op, word->clock_here[op->device]);
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        if (d != op->device)
            join_clock(v, &op->check.unfenced, word->clock_here[d]);
}

/* Words beyond VGPU_SIGNALS are not reported, so such a kernel may have used any word. */
static bool signals_are_cut(const struct vgpu_signals *signals)
{
    return signals->polled_count == VGPU_SIGNALS || signals->stored_count == VGPU_SIGNALS;
}

/* A kernel that stored to a word may have read it as well (an atomic), so it is joined in both
 * cases. */
static void join_words(struct vclocks *v, struct op *op, const struct vgpu_signals *signals)
{
    for (uint32_t i = 0; i < signals->polled_count; i++)
        join_word(v, op, find_word(v, signals->polled[i], false));
    for (uint32_t i = 0; i < signals->stored_count; i++)
        join_word(v, op, find_word(v, signals->stored[i], false));
    for (uint32_t i = 0; i < WORDS && signals_are_cut(signals); i++)
        join_word(v, op, &v->words[i]);
    if (signals->polled_count + signals->stored_count)
        join_word(v, op, &v->other_words);
    if (signals->polled_count) /* the host may have stored there, too */
        join_memory(v, op, v->host);
}

/* A copy of op's clock without `op` itself. NULL: memory ran out, and `overflowed` is set. */
static struct vclock *clock_but_own(struct vclocks *v, const struct op *op)
{
    struct vclock *all = NULL;
    join_clock(v, &all, op->check.clock);
    join_clock(v, &all, op->check.memory_clock);
    if (all && op->check.component && op->check.component < all->components &&
        all->over[op->check.component] == op->check.number)
        all->over[op->check.component]--;
    return all;
}

static void store_clock(struct vclocks *v, struct word *word, const struct op *op, bool fenced)
{
    struct vclock **to = fenced ? &word->clock : &word->clock_here[op->device];
    join_clock(v, to, op->check.clock);
    join_clock(v, to, op->check.memory_clock);
    if (fenced)
        return;
    struct vclock *others = clock_but_own(v, op);
    join_clock(v, &word->clock, others);
    free(others);
}

static bool any_host_address(const uint64_t *address, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (address[i] >= VGPU_HOST_VA)
            return true;
    return false;
}

void vclocks_signals(struct vclocks *v, struct op *op, const struct vgpu_signals *signals)
{
    if (!v->on || !op->check.clock)
        return;
    join_words(v, op, signals);
    for (uint32_t i = 0; i < signals->stored_count; i++)
        store_clock(v, find_word(v, signals->stored[i], true), op, signals->fenced >> i & 1);
    if (signals_are_cut(signals))
        store_clock(v, &v->other_words, op, signals->fenced);
    for (uint32_t i = 0; i < signals->stored_count; i++)
        if (signals->stored[i] >= VGPU_HOST_VA) { /* the program may poll it */
            host_joins(v, op->check.clock);
            host_joins(v, op->check.memory_clock);
        }
    op->check.meets_host |= signals_are_cut(signals) ||
                            any_host_address(signals->polled, signals->polled_count) ||
                            any_host_address(signals->stored, signals->stored_count);
}

/* ---- queries ---- */

/* A clock of all operations before `op`, also by memory; the caller frees it. */
static struct vclock *whole_clock(struct vclocks *v, const struct op *op)
{
    struct vclock *all = NULL;
    join_clock(v, &all, op->check.clock);
    join_clock(v, &all, op->check.memory_clock);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < v->with_memory_count; i++)
            if (clock_includes(all, v->with_memory[i]))
                more |= join_clock(v, &all, v->with_memory[i]->check.memory_clock);
    }
    return all;
}

static bool is_after_by_memory(struct vclocks *v, const struct op *op, const struct op *before)
{
    if (v->with_memory_count == 0)
        return false;
    struct vclock *all = whole_clock(v, op);
    bool known = clock_includes(all, before);
    free(all);
    return known;
}

bool vclocks_before(const struct op *a, const struct op *b)
{
    return clock_includes(b->check.clock, a);
}

bool vclocks_ordered(const struct vclocks *v, const struct op *a, const struct op *b)
{
    return v->overflowed || !a->check.component || !b->check.component || !a->check.clock ||
           !b->check.clock || clock_includes(a->check.clock, b) ||
           clock_includes(b->check.clock, a);
}

bool vclocks_ordered_by_memory(struct vclocks *v, const struct op *a, const struct op *b)
{
    return is_after_by_memory(v, a, b) || is_after_by_memory(v, b, a);
}

bool vclocks_unfenced(const struct op *a, const struct op *b)
{
    return clock_includes(b->check.unfenced, a) || clock_includes(a->check.unfenced, b);
}

/* ---- the end ---- */

void vclocks_all_seen(struct vclocks *v)
{
    for (uint32_t component = 1; v->on && component < v->components; component++)
        raise_component(v, &v->host, component, v->number[component]);
    v->learned++;
}

static bool is_news(const struct vclocks *v, const struct vclock *told)
{
    for (uint32_t i = 0; told && i < told->components; i++)
        if (told->over[i] &&
            (!v->host || i >= v->host->components || told->over[i] > v->host->over[i]))
            return true;
    return false;
}

static bool word_has_news(const struct vclocks *v, const struct word *word)
{
    bool news = is_news(v, word->clock);
    for (int d = 0; d < VGPU_MAX_DEVICES && !news; d++)
        news = is_news(v, word->clock_here[d]);
    return news;
}

static void forget_word(struct word *word)
{
    free(word->clock);
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        free(word->clock_here[d]);
    *word = (struct word){0};
}

/* Clears the table if no word has news for the host: all words or none, since removing single words
 * would break the probe sequences. */
static void forget_words(struct vclocks *v)
{
    for (uint32_t i = 0; i < WORDS && v->word_count; i++)
        if (word_has_news(v, &v->words[i]))
            return;
    for (uint32_t i = 0; i < WORDS && v->word_count; i++)
        forget_word(&v->words[i]);
    v->word_count = 0;
    if (!word_has_news(v, &v->other_words))
        forget_word(&v->other_words);
}

/* Keeps kernels that the host has not waited for and that do not belong to `ended`. */
static void drop_known_kernels(struct vclocks *v, const struct process *ended)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->with_memory_count; i++) {
        if (clock_includes(v->host, v->with_memory[i]) || v->with_memory[i]->process == ended)
            op_drop(v->with_memory[i]);
        else
            v->with_memory[kept++] = v->with_memory[i];
    }
    v->with_memory_count = kept;
    v->overflowed &= kept > 0;
}

void vclocks_quiescent(struct vclocks *v)
{
    drop_known_kernels(v, NULL);
    forget_words(v);
}

void vclocks_process_ended(struct vclocks *v, const struct process *process)
{
    drop_known_kernels(v, process);
}

void vclocks_free(struct op *op)
{
    free(op->check.clock);
    free(op->check.memory_clock);
    free(op->check.unfenced);
    op->check.clock = op->check.memory_clock = op->check.unfenced = NULL;
}

void vclocks_end(struct vclocks *v)
{
    if (!v)
        return;
    for (uint32_t i = 0; i < v->with_memory_count; i++)
        op_drop(v->with_memory[i]);
    for (uint32_t i = 0; i < WORDS; i++)
        forget_word(&v->words[i]);
    forget_word(&v->other_words);
    free(v->host);
    free(v);
}
