/* SPDX-License-Identifier: MIT
 * inject.c: see inject.h.
 */
#include "inject.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "protocol.h"

enum { WORDS = 16, WORD_BYTES = 64, NAME_BYTES = 48 };

static const double MOST = 1e12;

enum kind {
    ALLOC,
    EVENT,
    CALL,
    PROCESS_DIES,
    PEER_DROP,
    PEER_TEAR,
    PEER_CLIP,
    LINK,
    LINK_DAMAGE,
    COPY_DELAY,
    GPU_LOST,
    GRANULE,
    CLOCK,
    STALE,
    KINDS
};

static const struct form {
    const char *name;
    /* d: the number of a GPU or process; f: a number; n: a name; all other characters are literal.
     */
    const char *format;
    const char *example;
    bool pair; /* two GPUs are given */
} forms[KINDS] = {
    {"alloc:", "f", "alloc:3", false},
    {"event:", "f", "event:2", false},
    {"call:", "n=f", "call:cudaMemcpyAsync=2", false},
    {"process-dies:", "d@call=f", "process-dies:2@call=10", false},
    {"peer-drop:", "d-d", "peer-drop:0-1", true},
    {"peer-tear:", "d-d", "peer-tear:0-1", true},
    {"peer-clip:", "d-d", "peer-clip:0-1", true},
    {"link:", "d-d=f", "link:0-1=0.1", true},
    {"link-damage:", "d-d=f", "link-damage:0-1=2", true},
    {"copy-delay:", "d-d=f", "copy-delay:0-1=50 (microseconds)", true},
    {"gpu-lost:", "d@op=f", "gpu-lost:2@op=10", false},
    {"granule:", "d=f", "granule:1=4 (MiB)", false},
    {"clock:", "d=f", "clock:1=0.1", false},
    {"stale:", "d", "stale:1", false},
};

static struct fault {
    enum kind kind;
    int from, to; /* GPUs; words with one GPU, or a process, use `from` */
    double number;
    char name[NAME_BYTES]; /* of a call */
    /* Allocations, events, calls or operations counted so far. */
    uint64_t count;
} faults[WORDS];
static int fault_count;

bool inject_wanted;

/* Reads a call's name; NULL: there is none, or it is too long. */
static const char *scan_name(const char *text, char name[NAME_BYTES])
{
    size_t length = strcspn(text, "=");
    if (length == 0 || length >= NAME_BYTES)
        return NULL;
    snprintf(name, NAME_BYTES, "%.*s", (int)length, text);
    return text + length;
}

/* Reads what follows a word's name; false: the word does not match its format. */
static bool scan_numbers(const struct form *form, const char *text, struct fault *f)
{
    int *gpu[] = {&f->from, &f->to}, gpus = 0;
    for (const char *c = form->format; *c && text; c++) {
        uint64_t number = 0;
        if (*c == 'f')
            text = vgpu_decimal_at(text, &f->number);
        else if (*c == 'd')
            text = vgpu_number_at(text, INT_MAX, &number);
        else if (*c == 'n')
            text = scan_name(text, f->name);
        else
            text = *text == *c ? text + 1 : NULL;
        if (*c == 'd')
            *gpu[gpus++] = (int)number;
    }
    return text && !*text;
}

/* Granularities are powers of two (vmm_round of lab 06 relies on that) and whole chunks. */
static bool is_valid_granule(const struct fault *f)
{
    uint64_t mib = (uint64_t)f->number;
    return f->kind != GRANULE ||
           (f->number >= 2 && f->number <= 1024 && (double)mib == f->number && !(mib & (mib - 1)));
}

static bool refuse_word(char *error, size_t room, const char *word, const char *why)
{
    snprintf(error, room, "VGPU_FAULT: \"%s\": %s", word, why);
    return false;
}

static bool names_node_gpus(const struct fault *f, int gpus)
{
    return f->from >= 0 && f->from < gpus && f->to >= 0 && f->to < gpus;
}

static bool read_word(const char *word, int gpus, char *error, size_t room)
{
    char why[160];
    struct fault f = {.number = 1};
    const struct form *form = forms;
    while (form < forms + KINDS && strncmp(word, form->name, strlen(form->name)) != 0)
        form++;
    if (form == forms + KINDS)
        return refuse_word(
            error, room, word,
            "it must begin with alloc:, event:, call:, process-dies:, peer-drop:, peer-tear:, "
            "peer-clip:, link:, link-damage:, copy-delay:, gpu-lost:, granule:, clock: or stale:");
    f.kind = (enum kind)(form - forms);
    snprintf(why, sizeof why, "expected a word like %s, with numbers above 0 and up to 10^12",
             form->example);
    if (!scan_numbers(form, word + strlen(form->name), &f) || !(f.number > 0 && f.number <= MOST) ||
        !is_valid_granule(&f))
        return refuse_word(error, room, word, why);
    snprintf(why, sizeof why, "the node has GPUs 0 to %d, and a link joins two", gpus - 1);
    if (f.kind > PROCESS_DIES && (!names_node_gpus(&f, gpus) || (form->pair && f.from == f.to)))
        return refuse_word(error, room, word, why);
    if (fault_count == WORDS)
        return refuse_word(error, room, word, "more than 16 words");
    faults[fault_count++] = f;
    inject_wanted = true;
    return true;
}

bool inject_start(int gpus, char *error, size_t room)
{
    const char *text = getenv("VGPU_FAULT");
    char word[WORD_BYTES];
    while (text && *text) {
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (!read_word(word, gpus, error, room))
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

/* Increments the counters of words of this kind; true if this event is the one that fails. */
static bool next_fails(enum kind kind)
{
    bool fails = false;
    for (struct fault *f = faults; f < faults + fault_count; f++)
        if (f->kind == kind)
            fails |= ++f->count == (uint64_t)f->number;
    return fails;
}

bool inject_no_memory(void)
{
    return next_fails(ALLOC);
}

bool inject_no_event(void)
{
    return next_fails(EVENT);
}

/* A launch bears its kernel's name, and there are several calls that copy or wait: a word of
 * "call:" may name the kind. */
static const char *call_kind(uint32_t op)
{
    switch (op) {
    case VGPU_OP_LAUNCH:
        return "launch";
    case VGPU_OP_COPY:
        return "copy";
    case VGPU_OP_EVENT_RECORD:
        return "record";
    case VGPU_OP_STREAM_WAIT:
        return "wait";
    case VGPU_OP_STREAM_SYNC:
    case VGPU_OP_EVENT_SYNC:
    case VGPU_OP_DEVICE_SYNC:
        return "sync";
    default:
        return "";
    }
}

bool inject_fails(const char *call, uint32_t op)
{
    bool fails = false;
    for (struct fault *f = faults; f < faults + fault_count; f++)
        if (f->kind == CALL &&
            (strncmp(f->name, call, NAME_BYTES) == 0 || strcmp(f->name, call_kind(op)) == 0))
            fails |= ++f->count == (uint64_t)f->number;
    return fails;
}

bool inject_dies(int process)
{
    bool dies = false;
    for (struct fault *f = faults; f < faults + fault_count; f++)
        if (f->kind == PROCESS_DIES && f->from == process)
            dies |= ++f->count >= (uint64_t)f->number;
    return dies;
}

static bool is_between(const struct fault *f, enum kind kind, int a, int b)
{
    return f->kind == kind && ((f->from == a && f->to == b) || (f->from == b && f->to == a));
}

static bool has_one_way_fault(enum kind kind, int from, int to)
{
    for (const struct fault *f = faults; f < faults + fault_count; f++)
        if (f->kind == kind && f->from == from && f->to == to)
            return true;
    return false;
}

bool inject_drops(int from, int to)
{
    return has_one_way_fault(PEER_DROP, from, to);
}

bool inject_tears(int from, int to)
{
    return has_one_way_fault(PEER_TEAR, from, to);
}

bool inject_clips(int from, int to)
{
    return has_one_way_fault(PEER_CLIP, from, to);
}

bool inject_damages(int from, int to)
{
    bool damages = false;
    for (struct fault *f = faults; f < faults + fault_count; f++)
        if (f->kind == LINK_DAMAGE && f->from == from && f->to == to)
            damages |= ++f->count == (uint64_t)f->number;
    return damages;
}

bool inject_stale(int gpu)
{
    return has_one_way_fault(STALE, gpu, 0);
}

double inject_rate(int from, int to)
{
    double rate = 1;
    for (const struct fault *f = faults; f < faults + fault_count; f++)
        if (is_between(f, LINK, from, to))
            rate *= f->number;
    return rate;
}

uint64_t inject_delay_ps(int from, int to)
{
    double us = 0;
    for (const struct fault *f = faults; f < faults + fault_count; f++)
        if (is_between(f, COPY_DELAY, from, to))
            us += f->number;
    return (uint64_t)(us * 1e6);
}

bool inject_lost(int gpu)
{
    bool lost = false;
    for (struct fault *f = faults; f < faults + fault_count; f++)
        if (f->kind == GPU_LOST && f->from == gpu)
            lost |= ++f->count >= (uint64_t)f->number;
    return lost;
}

double inject_clock(int gpu)
{
    double clock = 1;
    for (const struct fault *f = faults; f < faults + fault_count; f++)
        if (f->kind == CLOCK && f->from == gpu)
            clock *= f->number;
    return clock;
}

uint64_t inject_granule(int gpu)
{
    uint64_t bytes = VGPU_CHUNK_BYTES;
    for (struct fault *f = faults; f < faults + fault_count; f++)
        if (f->kind == GRANULE && f->from == gpu)
            bytes = (uint64_t)f->number << 20;
    return bytes;
}
