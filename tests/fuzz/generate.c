/* SPDX-License-Identifier: MIT
 * generate.c: the program of a seed. It guesses what each slot will hold, so that most calls make
 * sense; one in ten takes any slot, device or size, sensible or not.
 */
#include "fuzz.h"

#include <string.h>

struct gen {
    uint64_t state;
    struct fuzz_program *p;
    int process;
    int device[2];
    int kind[2][FUZZ_BUFFERS], home[2][FUZZ_BUFFERS], size[2][FUZZ_BUFFERS];
    int stream[2][FUZZ_STREAMS]; /* its GPU + 1, 0: an empty slot */
    bool event[2][FUZZ_EVENTS];
    bool handle[FUZZ_HANDLES];
    int chunk[2][FUZZ_CHUNKS]; /* its GPU + 1, 0: none */
    int odd;                   /* one choice in so many is any */
};

static uint32_t next(struct gen *g)
{
    g->state += 0x9e3779b97f4a7c15ull;
    uint64_t z = g->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (uint32_t)((z ^ (z >> 31)) >> 16);
}

static int below(struct gen *g, int n)
{
    return (int)(next(g) % (uint32_t)n);
}

static bool odd(struct gen *g)
{
    return below(g, g->odd) == 0;
}

static int one_of(struct gen *g, int count, const int *of)
{
    return of[below(g, count)];
}
#define ONE_OF(g, ...)                                                                             \
    one_of((g), (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (int[]){__VA_ARGS__})

static struct fuzz_op *put(struct gen *g, enum fuzz_what what)
{
    static struct fuzz_op beyond;
    struct fuzz_op *op = g->p->count < FUZZ_OPS ? &g->p->op[g->p->count++] : &beyond;
    memset(op, 0, sizeof *op);
    op->what = what;
    op->process = g->process;
    return op;
}

static int any_device(struct gen *g)
{
    if (odd(g))
        return ONE_OF(g, -1, g->p->gpus, 99, 0);
    return below(g, g->p->gpus);
}

static void go_to(struct gen *g, int device)
{
    if (device < 0 || g->device[g->process] == device || odd(g))
        return;
    put(g, OP_DEVICE)->a[0] = device;
    g->device[g->process] = device;
}

/* A slot whose kind is in the set (bit k), if there is one. */
static int buffer_of(struct gen *g, unsigned kinds)
{
    int found[FUZZ_BUFFERS], count = 0;
    for (int i = 0; i < FUZZ_BUFFERS; i++)
        if (kinds >> g->kind[g->process][i] & 1)
            found[count++] = i;
    return count == 0 || odd(g) ? below(g, FUZZ_BUFFERS) : found[below(g, count)];
}

enum { ANY = 0x1fe, DEVICES = 1 << MEM_DEVICE | 1 << MEM_POOL | 1 << MEM_VMM | 1 << MEM_IPC };
enum { KERNELS_REACH = DEVICES | 1 << MEM_PINNED | 1 << MEM_MAPPED | 1 << MEM_MANAGED };

static int some_stream(struct gen *g)
{
    int slot = below(g, FUZZ_STREAMS);
    if (slot >= 2 && g->stream[g->process][slot] == 0 && !odd(g))
        slot = below(g, 2) ? 0 : 2;
    return slot;
}

static int some_bytes(struct gen *g, int size)
{
    if (odd(g))
        return ONE_OF(g, 0, 1, 3, size, size + 1, size + 4096, 8 << 20);
    int bytes = ONE_OF(g, 4, 16, 64, 100, 256, 400, 1024);
    return bytes < size ? bytes : size;
}

static int some_offset(struct gen *g, int size, int bytes)
{
    if (bytes >= size || below(g, 3) == 0)
        return odd(g) ? 4 * below(g, 64) : 0;
    int off = below(g, size - bytes + 1);
    return odd(g) ? off : off / 4 * 4;
}

static void gen_alloc(struct gen *g)
{
    if (below(g, 3))
        go_to(g, below(g, g->p->gpus));
    struct fuzz_op *op = put(g, OP_ALLOC);
    int slot = below(g, FUZZ_BUFFERS);
    for (int i = 0; i < 3 && g->kind[g->process][slot] != MEM_NONE; i++)
        slot = below(g, FUZZ_BUFFERS); /* mostly empty ones */
    int kind = ONE_OF(g, MEM_DEVICE, MEM_DEVICE, MEM_DEVICE, MEM_DEVICE, MEM_PINNED, MEM_MAPPED,
                      MEM_MANAGED, MEM_PAGEABLE, MEM_PAGEABLE, MEM_POOL);
    int size = ONE_OF(g, 256, 1024, 1024, 4096, 4096, 5000, 65536);
    if (odd(g))
        size = ONE_OF(g, 0, 1, -1, 3 << 20); /* -1: more than there is */
    *op = (struct fuzz_op){op->what, op->process, {slot, kind, size, some_stream(g)}};
    g->kind[g->process][slot] = size > 0 ? kind : MEM_NONE;
    g->home[g->process][slot] = g->device[g->process];
    g->size[g->process][slot] = size;
}

static void gen_free(struct gen *g)
{
    int slot = buffer_of(g, ANY);
    struct fuzz_op *op = put(g, OP_FREE);
    op->a[0] = slot;
    op->a[1] = odd(g) ? 1 + below(g, 4) : 0; /* the wrong call */
    op->a[2] = some_stream(g);
    op->a[3] = odd(g) ? 4 : 0; /* not its beginning */
    if (op->a[1] == 0 && op->a[3] == 0)
        g->kind[g->process][slot] = MEM_NONE;
}

static void gen_peer(struct gen *g)
{
    if (below(g, 2))
        go_to(g, below(g, g->p->gpus));
    struct fuzz_op *op = put(g, OP_PEER);
    op->a[0] = any_device(g);
    op->a[1] = ONE_OF(g, 0, 0, 0, 0, 1, 2, 3); /* enable, disable, can access, attribute */
    op->a[2] = odd(g) ? 1 : op->a[1] == 3 ? 1 + below(g, 4) : 0;
    op->a[3] = any_device(g);
}

static void gen_copy(struct gen *g)
{
    int dst = buffer_of(g, ANY), src = buffer_of(g, ANY), stream = some_stream(g);
    int size = g->size[g->process][dst], other = g->size[g->process][src];
    int bytes = some_bytes(g, size < other ? size : other);
    if (g->stream[g->process][stream] > 0)
        go_to(g, g->stream[g->process][stream] - 1);
    struct fuzz_op *op = put(g, OP_COPY);
    op->a[0] = dst;
    op->a[1] = some_offset(g, size, bytes);
    op->a[2] = src;
    op->a[3] = some_offset(g, other, bytes);
    op->a[4] = bytes;
    op->a[5] = odd(g) ? below(g, 6) : -1; /* cudaMemcpyKind; -1: the right one, or default */
    op->a[6] = below(g, 8);               /* which call */
    op->a[7] = stream;
    op->a[8] = odd(g) ? any_device(g) + 1000 : 0; /* 0: the right device, for peer copies */
    op->a[9] = odd(g) ? any_device(g) + 1000 : 0;
}

static void gen_set(struct gen *g)
{
    int dst = buffer_of(g, KERNELS_REACH), stream = some_stream(g);
    int size = g->size[g->process][dst], bytes = some_bytes(g, size);
    if (g->stream[g->process][stream] > 0)
        go_to(g, g->stream[g->process][stream] - 1);
    struct fuzz_op *op = put(g, OP_SET);
    op->a[0] = dst;
    op->a[1] = some_offset(g, size, bytes);
    op->a[2] = bytes;
    op->a[3] = below(g, 256);
    op->a[4] = below(g, 6); /* which call */
    op->a[5] = stream;
}

/* A stream of that GPU, if there is one, or a default one. */
static int stream_of(struct gen *g, int device)
{
    for (int i = 0; i < 4; i++) {
        int slot = some_stream(g);
        if (slot >= 2 && g->stream[g->process][slot] == device + 1)
            return slot;
    }
    return odd(g) ? some_stream(g) : below(g, 4) == 0;
}

/* A slot that kernels on that GPU can mostly reach. */
static int reached(struct gen *g, int device)
{
    int slot = buffer_of(g, KERNELS_REACH);
    for (int i = 0; i < 3; i++) {
        int kind = g->kind[g->process][slot];
        if (kind != MEM_NONE && (kind == MEM_PINNED || kind == MEM_MAPPED || kind == MEM_MANAGED ||
                                 g->home[g->process][slot] == device))
            break;
        slot = buffer_of(g, KERNELS_REACH);
    }
    return slot;
}

static void gen_kernel(struct gen *g)
{
    int dst = buffer_of(g, KERNELS_REACH);
    int device = below(g, 5) ? g->home[g->process][dst] : below(g, g->p->gpus);
    int stream = stream_of(g, device), src = reached(g, device);
    int size = g->size[g->process][dst], other = g->size[g->process][src];
    int most = ((size < other ? size : other) - 16) / 4;
    int n = ONE_OF(g, 3, 7, 32, 60, 64, 200, 250);
    go_to(g, device);
    struct fuzz_op *op = put(g, OP_KERNEL);
    op->a[0] = below(g, 12) == 0 ? KERNEL_SLOW : below(g, KERNEL_SLOW);
    op->a[1] = dst;
    op->a[2] = 4 * below(g, 4) * below(g, 2);
    op->a[3] = src;
    op->a[4] = 4 * below(g, 4) * below(g, 2);
    op->a[5] = n < most || odd(g) ? n : most;
    op->a[6] = stream;
    op->a[7] = odd(g) ? 1 + below(g, 5) : 0; /* a configuration that is wrong */
    op->a[8] = below(g, 1000);
}

static void gen_stream(struct gen *g)
{
    if (below(g, 3) == 0)
        go_to(g, below(g, g->p->gpus));
    struct fuzz_op *op = put(g, OP_STREAM);
    int slot = 2 + below(g, FUZZ_STREAMS - 2);
    bool empty = g->stream[g->process][slot] == 0;
    op->a[0] = odd(g) ? below(g, 2) : slot;
    op->a[1] = empty ? 0 : ONE_OF(g, 0, 1, 2, 2, 2, 3, 3, 4, 5, 6);
    op->a[2] = odd(g) ? below(g, 4) : below(g, 2);
    op->a[3] = below(g, 8) - 6;
    if (op->a[0] >= 2 && op->a[1] == 0)
        g->stream[g->process][slot] = g->device[g->process] + 1;
    if (op->a[0] >= 2 && op->a[1] == 1)
        g->stream[g->process][slot] = 0;
}

static void gen_event(struct gen *g)
{
    int slot = below(g, FUZZ_EVENTS), stream = some_stream(g);
    bool empty = !g->event[g->process][slot];
    if (!empty && g->stream[g->process][stream] > 0 && below(g, 2))
        go_to(g, g->stream[g->process][stream] - 1);
    struct fuzz_op *op = put(g, OP_EVENT);
    op->a[0] = slot;
    op->a[1] = empty && !odd(g) ? 0 : ONE_OF(g, 0, 1, 2, 2, 2, 2, 3, 3, 4, 5, 5, 5, 5, 6, 7);
    op->a[2] = stream;
    op->a[3] = ONE_OF(g, 0, 0, 2, 2, 6, 4, 1, 8); /* flags */
    op->a[4] = below(g, FUZZ_EVENTS);
    if (op->a[1] == 0)
        g->event[g->process][slot] = true;
    if (op->a[1] == 1)
        g->event[g->process][slot] = false;
}

static void put_event(struct gen *g, int event, int what, int stream, int flags)
{
    struct fuzz_op *op = put(g, OP_EVENT);
    op->a[0] = event;
    op->a[1] = what;
    op->a[2] = stream;
    op->a[3] = flags;
}

/* Work on one stream, an event behind it, and work on another stream that waits for it: nothing
 * but the event orders the two. */
static void gen_handoff(struct gen *g)
{
    int from = 2 + below(g, 2), to = 5 - from, event = below(g, FUZZ_EVENTS);
    int device = g->stream[g->process][from] - 1, dst = reached(g, device),
        src = reached(g, device);
    go_to(g, device);
    if (!g->event[g->process][event])
        put_event(g, event, 0, 0, 2 * below(g, 2));
    g->event[g->process][event] = true;
    for (int i = 0; i < 2; i++) {
        int stream = i ? to : from, kernel = below(g, 4) ? below(g, KERNEL_SLOW) : KERNEL_SLOW;
        if (i)
            put_event(g, event, 5, to, 0);
        if (below(g, 4) == 0)
            *put(g, OP_COPY) = (struct fuzz_op){
                OP_COPY, g->process, {dst, 0, src, 64, 128, -1, ONE_OF(g, 1, 3, 7), stream}};
        else
            *put(g, OP_KERNEL) = (struct fuzz_op){
                OP_KERNEL, g->process, {kernel, dst, 0, src, 0, 60, stream, 0, below(g, 1000)}};
        if (!i)
            put_event(g, event, 2, from, 0);
    }
}

static void gen_streams(struct gen *g)
{
    go_to(g, below(g, g->p->gpus));
    for (int slot = 2; slot < 4; slot++) {
        struct fuzz_op *op = put(g, OP_STREAM);
        op->a[0] = slot;
        op->a[2] = below(g, 4) > 0; /* mostly not ordered with the default stream */
        g->stream[g->process][slot] = g->device[g->process] + 1;
    }
}

/* Operations whose arguments are any numbers: what they mean is the operation's business. */
static void gen_plain(struct gen *g, enum fuzz_what what)
{
    int slot = buffer_of(g, ANY), stream = some_stream(g);
    struct fuzz_op *op = put(g, what);
    op->a[0] = slot;
    op->a[1] = below(g, 16);
    op->a[2] = any_device(g);
    op->a[3] = below(g, 1 << 16);
    op->a[4] = stream;
    op->a[5] = odd(g);
    for (int i = 6; i < FUZZ_ARGS; i++)
        op->a[i] = below(g, 1 << 16);
}

static void gen_device(struct gen *g)
{
    int device = any_device(g);
    put(g, OP_DEVICE)->a[0] = device;
    if (device >= 0 && device < g->p->gpus)
        g->device[g->process] = device;
}

static void gen_ipc(struct gen *g)
{
    int what = ONE_OF(g, 0, 0, 1, 1, 2, 3, 4); /* get, open, close, get event, open event */
    int handle = below(g, FUZZ_HANDLES);
    if (what == 1 && !g->handle[handle] && !odd(g))
        what = 0;
    int slot = what == 0   ? buffer_of(g, 1 << MEM_DEVICE)
               : what == 2 ? buffer_of(g, 1 << MEM_IPC)
                           : below(g, FUZZ_BUFFERS);
    struct fuzz_op *op = put(g, OP_IPC);
    op->a[0] = what;
    op->a[1] = handle;
    op->a[2] = what >= 3 ? below(g, FUZZ_EVENTS) : slot;
    op->a[3] = odd(g) ? below(g, 3) : 1;
    if (what == 0)
        g->handle[handle] = true;
    if (what == 1)
        g->kind[g->process][slot] = MEM_IPC, g->size[g->process][slot] = 1024;
    if (what == 2)
        g->kind[g->process][slot] = MEM_NONE;
}

/* What makes sense for the chunk and the range: enough of both first. */
static int vmm_what(struct gen *g, int chunk, int slot)
{
    bool range = g->kind[g->process][slot] == MEM_VMM;
    if (odd(g))
        return below(g, 10);
    if (g->chunk[g->process][chunk] == 0)
        return g->chunk[!g->process][chunk] && below(g, 2) ? 7 : 0;
    if (!range)
        return below(g, 4) ? 1 : 6;
    return ONE_OF(g, 2, 2, 2, 2, 2, 2, 3, 3, 4, 5, 6, 6, 8, 9, 9);
}

static void gen_vmm(struct gen *g)
{
    int chunk = below(g, FUZZ_CHUNKS), slot = buffer_of(g, 1 << MEM_VMM | 1 << MEM_NONE);
    if (below(g, 3) == 0)
        slot = buffer_of(g, 1 << MEM_VMM);
    int what = vmm_what(g, chunk, slot), device = any_device(g);
    *put(g, OP_VMM) = (struct fuzz_op){
        OP_VMM,
        g->process,
        {what, chunk, slot, device, odd(g) ? below(g, 4) : 3, /* access flags */
         odd(g) ? below(g, 5) : 1,                            /* sizes, handle types, ... */
         below(g, 1 << 16) | 1 << (unsigned)(g->chunk[g->process][chunk] + 3) % 4}};
    if (what == 0 || what == 7)
        g->chunk[g->process][chunk] = device + 1;
    if (what == 4)
        g->chunk[g->process][chunk] = 0;
    if (what == 1) {
        g->kind[g->process][slot] = MEM_VMM;
        g->size[g->process][slot] = 4096;
    }
    if (what == 2)
        g->home[g->process][slot] = g->chunk[g->process][chunk] - 1;
}

static void gen_op(struct gen *g, enum fuzz_what what)
{
    static void (*const by_kind[OP_KINDS])(struct gen *) = {
        [OP_DEVICE] = gen_device, [OP_ALLOC] = gen_alloc,   [OP_FREE] = gen_free,
        [OP_PEER] = gen_peer,     [OP_COPY] = gen_copy,     [OP_SET] = gen_set,
        [OP_KERNEL] = gen_kernel, [OP_STREAM] = gen_stream, [OP_EVENT] = gen_event,
        [OP_IPC] = gen_ipc,       [OP_VMM] = gen_vmm};
    if (by_kind[what])
        by_kind[what](g);
    else
        gen_plain(g, what);
}

/* How often each kind of operation comes, in the programs of each profile. */
static const unsigned char weights[][OP_KINDS] = {
    {[OP_DEVICE] = 4,
     [OP_ALLOC] = 12,
     [OP_FREE] = 4,
     [OP_PEER] = 4,
     [OP_COPY] = 16,
     [OP_SET] = 6,
     [OP_KERNEL] = 14,
     [OP_STREAM] = 8,
     [OP_EVENT] = 8,
     [OP_SYNC] = 2,
     [OP_ERROR] = 3,
     [OP_ASK] = 3,
     [OP_HOST] = 5,
     [OP_REGISTER] = 2,
     [OP_SYMBOL] = 2,
     [OP_POOL] = 1},
    {[OP_DEVICE] = 2,
     [OP_ALLOC] = 8,
     [OP_PEER] = 10,
     [OP_COPY] = 20,
     [OP_KERNEL] = 20,
     [OP_STREAM] = 4,
     [OP_EVENT] = 4,
     [OP_ERROR] = 3,
     [OP_FREE] = 2},
    {[OP_DEVICE] = 1,
     [OP_ALLOC] = 6,
     [OP_COPY] = 14,
     [OP_SET] = 6,
     [OP_KERNEL] = 18,
     [OP_STREAM] = 14,
     [OP_EVENT] = 26,
     [OP_SYNC] = 1,
     [OP_HOST] = 4,
     [OP_PEER] = 2},
    {[OP_ALLOC] = 14,
     [OP_FREE] = 6,
     [OP_COPY] = 18,
     [OP_SET] = 6,
     [OP_KERNEL] = 8,
     [OP_HOST] = 14,
     [OP_REGISTER] = 10,
     [OP_ASK] = 8,
     [OP_SYMBOL] = 4,
     [OP_STREAM] = 3,
     [OP_DEVICE] = 3},
    {[OP_ALLOC] = 6,
     [OP_VMM] = 34,
     [OP_COPY] = 14,
     [OP_KERNEL] = 14,
     [OP_SET] = 5,
     [OP_DEVICE] = 3,
     [OP_ASK] = 4,
     [OP_FREE] = 2,
     [OP_STREAM] = 2},
    {[OP_ALLOC] = 10,
     [OP_POOL] = 14,
     [OP_FREE] = 8,
     [OP_COPY] = 14,
     [OP_KERNEL] = 14,
     [OP_STREAM] = 8,
     [OP_EVENT] = 8,
     [OP_ASK] = 2,
     [OP_DEVICE] = 3},
    {[OP_ALLOC] = 10,
     [OP_COPY] = 14,
     [OP_SET] = 8,
     [OP_KERNEL] = 20,
     [OP_STREAM] = 8,
     [OP_EVENT] = 14,
     [OP_GRAPH] = 26,
     [OP_PEER] = 3,
     [OP_ERROR] = 3},
    {[OP_ALLOC] = 12,
     [OP_IPC] = 30,
     [OP_COPY] = 12,
     [OP_KERNEL] = 14,
     [OP_FREE] = 3,
     [OP_EVENT] = 6,
     [OP_STREAM] = 3,
     [OP_DEVICE] = 3,
     [OP_PEER] = 3,
     [OP_ASK] = 2,
     [OP_SET] = 3},
    {[OP_ALLOC] = 6, [OP_VMM] = 34, [OP_COPY] = 8, [OP_KERNEL] = 10, [OP_IPC] = 6},
};

enum { PROFILES = sizeof weights / sizeof *weights, FIRST_WITH_TWO = PROFILES - 2 };

static enum fuzz_what some_what(struct gen *g, int profile)
{
    int sum = 0;
    for (int i = 0; i < OP_KINDS; i++)
        sum += weights[profile][i];
    int at = below(g, sum);
    for (int i = 0; i < OP_KINDS; i++)
        if ((at -= weights[profile][i]) < 0)
            return (enum fuzz_what)i;
    return OP_ERROR;
}

void fuzz_generate(struct fuzz_program *p, uint64_t seed, int gpus)
{
    struct gen g = {.state = seed * 0x2545f4914f6cdd1dull + 88172645463325252ull, .p = p};
    *p = (struct fuzz_program){.seed = seed, .gpus = gpus};
    int profile = below(&g, PROFILES + 3);
    profile = profile < PROFILES ? profile : below(&g, 2);
    g.odd = ONE_OF(&g, 6, 12, 24, 60);
    p->two = profile >= FIRST_WITH_TWO;
    p->fatal = below(&g, 4000) == 0; /* a new process takes seconds on real GPUs */
    int length = 12 + below(&g, FUZZ_OPS - 16);
    for (int i = 0; i < 4; i++)
        gen_alloc(&g);
    bool handoffs = seed >= FUZZ_HANDOFFS && !p->two;
    if (handoffs)
        gen_streams(&g);
    while (p->count < length) {
        if (handoffs && below(&g, 4) == 0 && g.stream[0][2] > 0 &&
            g.stream[0][3] == g.stream[0][2]) {
            gen_handoff(&g);
            continue;
        }
        if (p->two && below(&g, 4) == 0)
            g.process = !g.process;
        gen_op(&g, some_what(&g, profile));
    }
    g.process = 0;
    if (p->fatal)
        gen_plain(&g, OP_FAULT);
}
