/* SPDX-License-Identifier: MIT
 * answer.c: see answer.h.
 */
#include "answer.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

enum {
    MOST_VARIABLES = 1 << 16, /* per image; all are stored */
    MOST_KERNELS = 1 << 16,
    /* vgpu-exec keeps 1 MiB of what a kernel prints. */
    MOST_PRINTED = (1 << 20) + 4096,
    MOST_PIECES = 2048,
    MOST_WAYS = 1024,
};
static const uint64_t most_blocks = 1ull << 63; /* product of a grid's dimensions */
/* Per kernel; the sum of twenty such numbers does not overflow. */
static const uint64_t most_bytes = 1ull << 50;
static const uint64_t most_cycles =
    1ull << 44; /* hours; their picoseconds can be added without overflow */

/* A number in a reply, and its greatest valid value. */
struct bound {
    const char *name;
    uint64_t value, most;
};

static bool are_in_bounds(const struct bound *b, size_t count, char *why, size_t room)
{
    for (size_t i = 0; i < count; i++)
        if (b[i].value > b[i].most) {
            snprintf(why, room, "%s is %llu, and at most %llu is possible", b[i].name,
                     (unsigned long long)b[i].value, (unsigned long long)b[i].most);
            return false;
        }
    return true;
}

#define WITHIN(why, room, ...)                                                                     \
    are_in_bounds((const struct bound[]){__VA_ARGS__},                                             \
                  sizeof((const struct bound[]){__VA_ARGS__}) / sizeof(struct bound), why, room)

/* Terminates a text, and replaces control characters other than newlines and tabs, which a terminal
 * or the runtime (marks of explain.h) would interpret. */
static void clean_lines(char *text, size_t room)
{
    text[room - 1] = '\0';
    for (; *text; text++)
        if ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t')
            *text = '?';
}

#define CLEAN(text) clean_lines(text, sizeof(text))

/* ---- a kernel's results ---- */

static bool counts_fit(const struct vgpu_run_counts *c, char *why, size_t room)
{
    for (int m = 0; m <= VGPU_MAX_DEVICES; m++)
        if (!WITHIN(why, room, {"the bytes read", c->read_bytes[m], most_bytes},
                    {"the bytes written", c->write_bytes[m], most_bytes},
                    {"the bytes moved by reading", c->read_moved[m], most_bytes},
                    {"the bytes moved by writing", c->write_moved[m], most_bytes}))
            return false;
    return WITHIN(why, room, {"the number of atomics", c->atomics, most_bytes},
                  {"the number of barriers", c->barriers, most_bytes},
                  {"the number of threads", c->threads, most_bytes},
                  {"the number of accesses", c->accesses, most_bytes},
                  {"the number of accesses to shared memory", c->shared_accesses, most_bytes},
                  {"the number of shuffles", c->shuffles, most_bytes},
                  {"the accesses of the busiest thread", c->busiest, VGPU_BUSIEST_UNKNOWN},
                  {"the number of bank conflicts", c->conflicts, most_cycles},
                  {"the ways of a bank conflict", c->conflict_ways, MOST_WAYS},
                  {"the number of cycles", c->cycles, most_cycles},
                  {"the blocks in the fast form", c->fast_blocks, most_blocks});
}

static bool signals_fit(const struct vgpu_signals *s, char *why, size_t room)
{
    if (!WITHIN(why, room, {"the number of stores reported", s->stored_count, VGPU_SIGNALS},
                {"the number of polls reported", s->polled_count, VGPU_SIGNALS}))
        return false;
    for (uint32_t i = 0; i < VGPU_SIGNALS; i++)
        if (!WITHIN(why, room, {"the size of what is polled", s->bytes[i], sizeof s->value[i]}))
            return false;
    return true;
}

static bool side_fits(const struct vgpu_hazard_side *s, char *why, size_t room)
{
    return WITHIN(why, room,
                  {"the kind of an access", (uint32_t)s->mode, VGPU_ATOMICALLY_IN_BLOCK});
}

static bool findings_fit(const struct vgpu_exec_reply *r, char *why, size_t room)
{
    if (!WITHIN(why, room, {"the number of strays", r->stray_count, VGPU_STRAYS},
                {"the number of hazards", r->hazard_count, VGPU_HAZARDS}))
        return false;
    for (uint32_t i = 0; i < r->hazard_count; i++) {
        const struct vgpu_hazard *h = &r->hazards[i];
        if (!WITHIN(why, room,
                    {"the number of a finding", (uint32_t)h->diagnosis, VGPU_DIAGNOSES}) ||
            !side_fits(&h->first, why, room) || !side_fits(&h->second, why, room))
            return false;
    }
    return true;
}

static void clean_texts(struct vgpu_exec_reply *r)
{
    CLEAN(r->counts.conflict_where);
    CLEAN(r->text);
    CLEAN(r->careful);
    CLEAN(r->fault.where);
    for (int i = 0; i < VGPU_STRAYS; i++)
        CLEAN(r->stray[i].where);
    for (int i = 0; i < VGPU_HAZARDS; i++) {
        CLEAN(r->hazards[i].first.where);
        CLEAN(r->hazards[i].second.where);
    }
}

/* ---- variables ---- */

enum {
    VARIABLES_FIT = (VGPU_MSG_MAX - sizeof(struct vgpu_exec_reply)) / sizeof(struct vgpu_exec_var)
};

uint32_t answer_variables(const struct vgpu_exec_reply *reply)
{
    return reply->data_bytes / (uint32_t)sizeof(struct vgpu_exec_var);
}

/* Checks that a variable lies inside the image's variables, and terminates its name. */
static bool variable_fits(struct vgpu_exec_var *v, uint64_t all_bytes, char *why, size_t room)
{
    if (v->offset > all_bytes || v->bytes > all_bytes - v->offset) {
        snprintf(why, room, "a variable of %llu bytes lies at %llu of %llu",
                 (unsigned long long)v->bytes, (unsigned long long)v->offset,
                 (unsigned long long)all_bytes);
        return false;
    }
    if (memchr(v->key, '\0', sizeof v->key))
        return true;
    snprintf(why, room, "the name of a variable does not end");
    return false;
}

/* Checks that each reply contains as many variables as fit, so that a context cannot make the node
 * send 65,536 requests. */
static bool module_fits(const struct vgpu_exec_request *asked, struct vgpu_exec_reply *r, char *why,
                        size_t room)
{
    uint64_t left = r->var_count > asked->va ? r->var_count - asked->va : 0;
    uint64_t due = left < VARIABLES_FIT ? left : VARIABLES_FIT;
    if (!WITHIN(why, room, {"the number of variables", r->var_count, MOST_VARIABLES},
                {"the number of kernels", r->kernel_count, MOST_KERNELS},
                {"the size of the variables", r->var_bytes, VGPU_DEVICE_STRIDE}))
        return false;
    if (r->data_bytes != due * sizeof(struct vgpu_exec_var)) {
        snprintf(why, room, "%u bytes came for %llu variables", r->data_bytes,
                 (unsigned long long)due);
        return false;
    }
    for (uint64_t i = 0; i < due; i++) {
        struct vgpu_exec_var v;
        memcpy(&v, r->data + i * sizeof v, sizeof v);
        if (!variable_fits(&v, r->var_bytes, why, room))
            return false;
    }
    return true;
}

/* ---- a whole reply ---- */

static bool is_kernel_request(uint32_t op)
{
    return op == VGPU_EXEC_RUN || op == VGPU_EXEC_RESUME;
}

/* True for a reply that precedes the last one: printed output or spans. */
static bool is_piece(const struct answer_due *due, const struct vgpu_exec_reply *r)
{
    return is_kernel_request(due->asked->op) && r->status == VGPU_OK;
}

/* Checks that the size of the data matches the counts: printed output, spans, or variables. */
static bool data_fits(struct answer_due *due, const struct vgpu_exec_reply *r, char *why,
                      size_t room)
{
    uint64_t printed = r->printf_bytes, spans = r->span_count * sizeof(struct vgpu_span);
    bool kernel = is_kernel_request(due->asked->op), variables = due->asked->op == VGPU_EXEC_MODULE;
    bool whole = kernel ? r->data_bytes == printed + spans && !(printed && spans)
                        : printed == 0 && spans == 0 && (variables || r->data_bytes == 0);
    if (!whole) {
        snprintf(why, room, "%u bytes came with it, for %u of text and %u spans", r->data_bytes,
                 r->printf_bytes, r->span_count);
        return false;
    }
    due->printed_bytes += printed;
    due->spans += r->span_count;
    due->pieces++;
    return variables || WITHIN(why, room, {"the number of its messages", due->pieces, MOST_PIECES},
                               {"what it printed", due->printed_bytes, MOST_PRINTED},
                               {"the number of spans", due->spans, VGPU_SPANS});
}

static bool status_fits(const struct answer_due *due, const struct vgpu_exec_reply *r, char *why,
                        size_t room)
{
    int32_t s = r->status;
    bool fits = is_kernel_request(due->asked->op) ? s >= VGPU_RAN && s <= VGPU_REFUSED
                                                  : s == VGPU_OK || s == VGPU_REFUSED;
    bool empty = is_piece(due, r) && r->data_bytes == 0;
    if (empty)
        snprintf(why, room, "it is empty and is not the last one");
    else if (!fits && !is_piece(due, r))
        snprintf(why, room, "its status is %d", (int)s);
    else if (r->run != due->asked->run)
        snprintf(why, room, "it is about run %llu, and run %llu was asked",
                 (unsigned long long)r->run, (unsigned long long)due->asked->run);
    else
        return true;
    return false;
}

bool answer_check(struct answer_due *due, struct vgpu_exec_reply *r, size_t got, bool *last,
                  char *why, size_t room)
{
    *last = true;
    if (got < sizeof *r || r->data_bytes != got - sizeof *r) {
        snprintf(why, room, "its length is %zu", got);
        return false;
    }
    *last = !is_piece(due, r);
    clean_texts(r);
    bool fits = status_fits(due, r, why, room) && data_fits(due, r, why, room);
    if (fits && due->asked->op == VGPU_EXEC_MODULE && r->status == VGPU_OK)
        return module_fits(due->asked, r, why, room);
    return fits && counts_fit(&r->counts, why, room) && signals_fit(&r->signals, why, room) &&
           findings_fit(r, why, room) &&
           WITHIN(why, room, {"the kind of fault", (uint32_t)r->fault.kind, VGPU_FAULT_HANG},
                  {"the blocks left", r->blocks_left, most_blocks},
                  {"the blocks that fit", r->blocks_fit, most_blocks});
}

/* ---- spans ---- */

static struct vgpu_span spans[VGPU_SPANS];
static uint32_t span_count;

void answer_forget_spans(void)
{
    span_count = 0;
}

/* Checks a span, and merges pieces that are adjacent, so that every step of an iteration over spans
 * advances by a stride. */
static bool normalise_span(struct vgpu_span *s)
{
    uint64_t all;
    if (s->count == 0 || s->bytes == 0 || s->use >= VGPU_USES)
        return false;
    if (__builtin_mul_overflow(s->count - 1, s->stride, &all) ||
        __builtin_add_overflow(all, s->bytes, &all) || s->address + all < all)
        return false;
    if (s->stride <= s->bytes) {
        s->bytes = all;
        s->count = 1;
    }
    return true;
}

void answer_take_spans(const struct vgpu_exec_reply *reply)
{
    for (uint32_t i = 0; i < reply->span_count && span_count < VGPU_SPANS; i++) {
        memcpy(&spans[span_count], reply->data + i * sizeof *spans, sizeof *spans);
        span_count += normalise_span(&spans[span_count]);
    }
}

const struct vgpu_span *answer_spans(void)
{
    return spans;
}

uint32_t answer_span_count(void)
{
    return span_count;
}
