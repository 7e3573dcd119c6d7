/* SPDX-License-Identifier: MIT
 * happens.c: see happens.h.
 */
#include "happens.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 4096, WORDS = 1024 /* a power of two */, HEARERS_MAX = 1024 };

/* What one knows: of each line, how many of its operations are over. */
struct vclock {
    uint32_t lines;
    uint32_t over[];
};

/* Of memory that kernels tell each other something by. Without a fence of the system's scope a
 * store says nothing of its own kernel's accesses to other GPUs; to its own GPU it may. */
struct word {
    uint64_t address;
    bool used;
    struct vclock *told, *told_here[VGPU_MAX_DEVICES];
};

static bool on;
static uint32_t lines = 1; /* 0 is no line */
static uint32_t number[LINES_MAX];
static uint32_t free_line[LINES_MAX], free_count;
static struct vclock *host;
static uint32_t host_line; /* of what host code does with memory */
static uint32_t learned;
static struct word words[WORDS];
static uint32_t word_count;
static struct word overflow;           /* what was told where there was no room for the word */
static struct op *hearer[HEARERS_MAX]; /* kernels with a second clock */
static uint32_t hearer_count;
static bool deaf; /* there was no room for one: everything counts as ordered */

void happens_start(void)
{
    on = true;
}

uint32_t happens_line(void)
{
    if (free_count)
        return free_line[--free_count];
    return lines < LINES_MAX ? lines++ : 0;
}

void happens_line_end(uint32_t line)
{
    if (line)
        free_line[free_count++] = line;
}

/* ---- clocks ---- */

/* *to knows what `from` does, as well. Where there is no memory it knows less, and deaf says so. */
static bool join(struct vclock **to, const struct vclock *from)
{
    bool more = false;
    if (!from)
        return false;
    if (!*to || (*to)->lines < from->lines) {
        uint32_t had = *to ? (*to)->lines : 0;
        struct vclock *grown =
            realloc(*to, sizeof *grown + (size_t)from->lines * sizeof *grown->over);
        if (!grown) {
            deaf = true;
            return false;
        }
        memset(grown->over + had, 0, (size_t)(from->lines - had) * sizeof *grown->over);
        grown->lines = from->lines;
        *to = grown;
    }
    for (uint32_t i = 0; i < from->lines; i++)
        if (from->over[i] > (*to)->over[i]) {
            (*to)->over[i] = from->over[i];
            more = true;
        }
    return more;
}

static void learn(struct vclock **to, uint32_t line, uint32_t count)
{
    if (!*to || (*to)->lines <= line) {
        struct vclock *room = calloc(1, sizeof *room + (line + 1) * sizeof *room->over);
        if (!room) {
            deaf = true;
            return;
        }
        room->lines = line + 1;
        join(&room, *to);
        free(*to);
        *to = room;
    }
    if ((*to)->over[line] < count)
        (*to)->over[line] = count;
}

static bool knows(const struct vclock *clock, const struct op *op)
{
    return clock && op->line < clock->lines && clock->over[op->line] >= op->number;
}

/* ---- the graph and the host ---- */

void happens_after(struct op *op, const struct op *dep)
{
    if (on)
        join(&op->knows, dep->knows);
}

void happens_issue(struct op *op, uint32_t line)
{
    if (!on)
        return;
    join(&op->knows, host);
    if (!line)
        return;
    op->line = line;
    op->number = ++number[line];
    learn(&op->knows, line, op->number);
}

/* Its own line, which only the host itself learns of at once. */
void happens_touch(struct op *op)
{
    if (!on)
        return;
    if (!host_line)
        host_line = happens_line();
    happens_issue(op, host_line);
    if (host_line)
        learn(&host, host_line, op->number);
}

static void host_learns(const struct vclock *what)
{
    learned += join(&host, what);
}

void happens_seen(const struct op *op)
{
    if (!on || !op->knows)
        return;
    host_learns(op->knows);
    /* What the kernels before it heard is over, too. */
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < hearer_count; i++)
            if (knows(host, hearer[i]))
                more |= join(&host, hearer[i]->heard);
    }
}

bool happens_known_to_host(const struct op *op)
{
    return knows(host, op);
}

bool happens_known_step(struct vgpu_step step)
{
    return deaf || (host && step.line < host->lines && host->over[step.line] >= step.number);
}

uint32_t happens_learned(void)
{
    return learned;
}

/* ---- kernels that tell each other ---- */

static bool hears(struct op *op)
{
    if (op->hears)
        return true;
    if (hearer_count == HEARERS_MAX) {
        deaf = true;
        return false;
    }
    hearer[hearer_count++] = op_keep(op);
    op->hears = true;
    join(&op->heard, op->knows);
    return true;
}

/* NULL: nobody has told anything by it, and it is not to be made. */
static struct word *word_at(uint64_t address, bool make)
{
    uint32_t at = (uint32_t)(address * 0x9E3779B97F4A7C15ull >> 54);
    for (uint32_t i = 0; i < WORDS; i++, at = (at + 1) % WORDS) {
        if (words[at].used && words[at].address != address)
            continue;
        if (!words[at].used && !make)
            return NULL;
        if (!words[at].used && word_count == WORDS / 2)
            break;
        word_count += !words[at].used;
        words[at].used = true;
        words[at].address = address;
        return &words[at];
    }
    return make ? &overflow : NULL;
}

static void hear(struct op *op, const struct vclock *what)
{
    if (what && hears(op))
        join(&op->heard, what);
}

static void hear_word(struct op *op, const struct word *word)
{
    if (!word)
        return;
    hear(op, word->told);
    hear(op, word->told_here[op->device]);
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        if (d != op->device)
            join(&op->unfenced, word->told_here[d]);
}

/* Words beyond VGPU_SIGNALS are not told: such a kernel may have used any. */
static bool cut(const struct vgpu_signals *signals)
{
    return signals->polled_count == VGPU_SIGNALS || signals->stored_count == VGPU_SIGNALS;
}

/* Who stores to a word may have learned from it as well: an atomic is both. */
static void hear_all(struct op *op, const struct vgpu_signals *signals)
{
    for (uint32_t i = 0; i < signals->polled_count; i++)
        hear_word(op, word_at(signals->polled[i], false));
    for (uint32_t i = 0; i < signals->stored_count; i++)
        hear_word(op, word_at(signals->stored[i], false));
    for (uint32_t i = 0; i < WORDS && cut(signals); i++)
        hear_word(op, &words[i]);
    if (signals->polled_count + signals->stored_count)
        hear_word(op, &overflow);
    if (signals->polled_count) /* the host may have told it, too */
        hear(op, host);
}

/* All that `op` knows but what it does itself. NULL: no memory, and deaf says so. */
static struct vclock *all_but_own(const struct op *op)
{
    struct vclock *all = NULL;
    join(&all, op->knows);
    join(&all, op->heard);
    if (all && op->line && op->line < all->lines && all->over[op->line] == op->number)
        all->over[op->line]--;
    return all;
}

static void tell(struct word *word, const struct op *op, bool fenced)
{
    struct vclock **to = fenced ? &word->told : &word->told_here[op->device];
    join(to, op->knows);
    join(to, op->heard);
    if (fenced)
        return;
    struct vclock *others = all_but_own(op);
    join(&word->told, others);
    free(others);
}

static bool any_host(const uint64_t *address, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (address[i] >= VGPU_HOST_VA)
            return true;
    return false;
}

void happens_signals(struct op *op, const struct vgpu_signals *signals)
{
    if (!on || !op->knows)
        return;
    hear_all(op, signals);
    for (uint32_t i = 0; i < signals->stored_count; i++)
        tell(word_at(signals->stored[i], true), op, signals->fenced >> i & 1);
    if (cut(signals))
        tell(&overflow, op, signals->fenced);
    for (uint32_t i = 0; i < signals->stored_count; i++)
        if (signals->stored[i] >= VGPU_HOST_VA) { /* the program may watch it */
            host_learns(op->knows);
            host_learns(op->heard);
        }
    op->meets_host |= cut(signals) || any_host(signals->polled, signals->polled_count) ||
                      any_host(signals->stored, signals->stored_count);
}

/* ---- questions ---- */

/* All that `op` knows, with what was heard on the way to it, in a clock of the caller's. */
static struct vclock *all_of(const struct op *op)
{
    struct vclock *all = NULL;
    join(&all, op->knows);
    join(&all, op->heard);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < hearer_count; i++)
            if (knows(all, hearer[i]))
                more |= join(&all, hearer[i]->heard);
    }
    return all;
}

static bool after_by_memory(const struct op *op, const struct op *before)
{
    if (hearer_count == 0)
        return false;
    struct vclock *all = all_of(op);
    bool known = knows(all, before);
    free(all);
    return known;
}

bool happens_before(const struct op *a, const struct op *b)
{
    return knows(b->knows, a);
}

bool happens_ordered(const struct op *a, const struct op *b)
{
    return deaf || !a->line || !b->line || !a->knows || !b->knows || knows(a->knows, b) ||
           knows(b->knows, a);
}

bool happens_told(const struct op *a, const struct op *b)
{
    return after_by_memory(a, b) || after_by_memory(b, a);
}

bool happens_unfenced(const struct op *a, const struct op *b)
{
    return knows(b->unfenced, a) || knows(a->unfenced, b);
}

/* ---- the end ---- */

void happens_all_seen(void)
{
    for (uint32_t line = 1; on && line < lines; line++)
        learn(&host, line, number[line]);
    learned++;
}

static bool is_news(const struct vclock *told)
{
    for (uint32_t i = 0; told && i < told->lines; i++)
        if (told->over[i] && (!host || i >= host->lines || told->over[i] > host->over[i]))
            return true;
    return false;
}

static bool has_news(const struct word *word)
{
    bool news = is_news(word->told);
    for (int d = 0; d < VGPU_MAX_DEVICES && !news; d++)
        news = is_news(word->told_here[d]);
    return news;
}

static void forget(struct word *word)
{
    free(word->told);
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        free(word->told_here[d]);
    *word = (struct word){0};
}

/* The table is small, and its chains must not break: all words or none. */
static void forget_words(void)
{
    for (uint32_t i = 0; i < WORDS && word_count; i++)
        if (has_news(&words[i]))
            return;
    for (uint32_t i = 0; i < WORDS && word_count; i++)
        forget(&words[i]);
    word_count = 0;
    if (!has_news(&overflow))
        forget(&overflow);
}

/* Keeps the hearers that the host does not know to be over and that are not of `ended`. */
static void forget_hearers(const struct process *ended)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < hearer_count; i++) {
        if (knows(host, hearer[i]) || hearer[i]->process == ended)
            op_drop(hearer[i]);
        else
            hearer[kept++] = hearer[i];
    }
    hearer_count = kept;
    deaf &= kept > 0;
}

void happens_calm(void)
{
    forget_hearers(NULL);
    forget_words();
}

void happens_end(const struct process *process)
{
    forget_hearers(process);
}

void happens_free(struct op *op)
{
    free(op->knows);
    free(op->heard);
    free(op->unfenced);
    op->knows = op->heard = op->unfenced = NULL;
}
