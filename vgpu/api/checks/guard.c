/* SPDX-License-Identifier: MIT
 * guard.c: host code that uses pinned or managed memory while a GPU may still do so.
 *
 * Nobody tells the library of such an access; the MMU does. Pages that a copy or fill under way
 * will write are closed, those that a copy will read can be read only, and of memory that a kernel
 * is given the page where it begins is closed. The first access opens them, goes on as if nothing
 * had been there, and is told to the node before the next call: it compares it with what it knows
 * of the operation (vgpu/node/check/race.c). As soon as the node says that the host has waited for
 * an operation, its pages are opened.
 *
 * Only whole pages, and of copies only those of which the program may use no byte: a system call
 * would fail on a closed page (EFAULT) that is a neighbour's. Which bytes a kernel will use is not
 * known before it has run: hence one page.
 */
#include "checks.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"
#include "host_ranges.h"

enum { GUARDS = 256, TOUCHES = 64, STACK_WORDS = 64, LEAST_PAGE = 4096 };

struct guard {
    uint64_t first, end;   /* pages, as the program sees them */
    uint64_t node;         /* what the node calls the first byte */
    bool readable;         /* the operation only reads */
    struct vgpu_step step; /* the operation */
};

struct touch { /* by host code */
    uint64_t node_address;
    bool writes;
    uint64_t code, stack[STACK_WORDS]; /* where, and what may lead to the program's line */
};

/* Guarded by a lock that no thread holds while it uses a program's memory, also not in a handler of
 * the program's: ours may wait for it. */
static atomic_flag locked = ATOMIC_FLAG_INIT;
static sigset_t signals_before; /* of who holds it */
static struct guard guards[GUARDS];
static struct touch kept_touches[TOUCHES];
static atomic_int guard_count, touch_count;
static atomic_uint guards_opened; /* how often pages were */
static _Atomic uint32_t learned;  /* what the node's replies said last: vgpu_reply.learned */

static void lock_guards(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (atomic_flag_test_and_set_explicit(&locked, memory_order_acquire))
        sched_yield();
    signals_before = before;
}

static void unlock(void)
{
    sigset_t before = signals_before;
    atomic_flag_clear_explicit(&locked, memory_order_release);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- pages ---- */

static void protect(uint64_t first, uint64_t end, int how)
{
    mprotect((void *)(uintptr_t)first, end - first, how);
}

static int protection(const struct guard *g)
{
    return g->readable ? PROT_READ : PROT_NONE;
}

/* Are its pages closed by others at least as strictly? */
static bool is_covered(const struct guard *g)
{
    for (int i = 0; i < guard_count; i++) {
        const struct guard *other = &guards[i];
        if (other->first <= g->first && other->end >= g->end && (!other->readable || g->readable))
            return true;
    }
    return false;
}

/* The pages of `around` that lie below others' guards of one kind as well. */
static void close_again(const struct guard *around, bool readable)
{
    for (int i = 0; i < guard_count; i++) {
        const struct guard *g = &guards[i];
        uint64_t first = g->first > around->first ? g->first : around->first;
        uint64_t end = g->end < around->end ? g->end : around->end;
        if (g->readable == readable && first < end)
            protect(first, end, protection(g));
    }
}

static void close_pages(const struct guard *g)
{
    if (is_covered(g))
        return;
    protect(g->first, g->end, protection(g));
    if (g->readable)
        close_again(g, false);
}

/* They stay as closed as the strictest of the others wants. */
static void open_pages(int i)
{
    struct guard gone = guards[i];
    guards[i] = guards[--guard_count];
    guards_opened++;
    if (is_covered(&gone))
        return;
    protect(gone.first, gone.end, PROT_READ | PROT_WRITE);
    close_again(&gone, true);
    close_again(&gone, false);
}

/* ---- in the handler of SIGSEGV: async-signal-safe ---- */

/* A fault on a page that may be read is a store; x86 says which it was, elsewhere a fault on a
 * closed page counts as a load, which clashes with whatever closed it. */
static bool is_store(const ucontext_t *context, bool readable)
{
#ifdef __x86_64__
    (void)readable;
    return context->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void)context;
    return readable;
#endif
}

#ifdef __x86_64__
/* The words above the stack pointer, as far as there is a stack: the thread's own, or, on another
 * one (a coroutine's), what is left of the page. What AddressSanitizer keeps between a program's
 * variables is read as well. */
__attribute__((no_sanitize_address)) static void keep_stack(struct touch *t, uint64_t from)
{
    uint64_t end = from >= vgpu__self.stack_first && from < vgpu__self.stack_end
                       ? vgpu__self.stack_end
                       : (from / LEAST_PAGE + 1) * LEAST_PAGE;
    uint64_t bytes = end - from < sizeof t->stack ? end - from : sizeof t->stack;
    const uint64_t *word = (const uint64_t *)(uintptr_t)from;
    for (uint64_t i = 0; i < bytes / sizeof *word; i++)
        t->stack[i] = word[i];
}
#endif

/* A function that a stream calls comes after the stream's work and before what follows; nobody here
 * knows of that. */
static void note_access(uint64_t node_address, bool writes, const ucontext_t *context)
{
    if (touch_count == TOUCHES || vgpu__self.in_host_function || atomic_load(&vgpu__process.forked))
        return;
    struct touch *t = &kept_touches[touch_count];
    *t = (struct touch){.node_address = node_address, .writes = writes};
#ifdef __x86_64__
    t->code = (uint64_t)context->uc_mcontext.gregs[REG_RIP] + 1;
    keep_stack(t, (uint64_t)context->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    t->code = context->uc_mcontext.pc + 1;
    t->stack[0] = context->uc_mcontext.regs[30];
#endif
    touch_count++;
}

static bool guard_holds(const struct guard *g, uint64_t address)
{
    return address >= g->first && address < g->end;
}

/* Two threads may meet at a page, and one finds it open: it tries again, once. */
static bool others_opened(void)
{
    static _Thread_local unsigned tried;
    unsigned now = guards_opened;
    bool again = now != tried;
    tried = now;
    return again;
}

/* The guard that the access ran into, the strictest where there are several. */
static const struct guard *guard_at(uint64_t address)
{
    const struct guard *found = NULL;
    for (int i = 0; i < guard_count; i++)
        if (guard_holds(&guards[i], address) && (!found || found->readable))
            found = &guards[i];
    return found;
}

static bool guard_fault(uint64_t address, const void *context)
{
    lock_guards();
    const struct guard *met = guard_at(address);
    if (met) {
        bool writes = is_store(context, met->readable);
        note_access(met->node + (address - met->first), writes, context);
        for (int i = guard_count - 1; i >= 0; i--)
            if (guard_holds(&guards[i], address) && (writes || !guards[i].readable))
                open_pages(i);
    }
    unlock();
    return met || others_opened();
}

/* ---- closing ---- */

static bool is_on(void)
{
    return (vgpu__process.checks & VGPU_CHECK_ORDER) && vgpu__fault_handler_is_ours();
}

static void add_guard(struct guard guard)
{
    if (guard.first >= guard.end)
        return;
    lock_guards();
    if (guard_count < GUARDS) {
        close_pages(&guard);
        guards[guard_count++] = guard;
    }
    unlock();
}

/* The whole pages of [address, +bytes) where that is memory of the host that GPUs can use. The
 * rest of an allocation's last page belongs to no other allocation, so that page counts as whole.
 */
static struct guard pages_of(uint64_t address, uint64_t bytes)
{
    uint64_t page = vgpu__page_bytes(), base, size, end = address + bytes;
    struct guard g = {.first = (address + page - 1) / page * page, .node = 0};
    if (!vgpu__host_range((const void *)(uintptr_t)address, &base, &size))
        return (struct guard){0};
    g.node = vgpu__node_address((const void *)(uintptr_t)address) + (g.first - address);
    bool registered = g.node != g.first;
    if (end > base + size)
        end = base + size;
    g.end = end == base + size && !registered ? vgpu__whole_pages(end) : end / page * page;
    return g;
}

static void close_side(uint64_t address, uint64_t bytes, uint64_t rows, bool readable,
                       struct vgpu_step step)
{
    struct guard g = rows == 1 ? pages_of(address, bytes) : (struct guard){0};
    g.readable = readable;
    g.step = step;
    add_guard(g);
}

/* Arguments lie back to back; host memory has addresses of its own, which nothing else looks like.
 */
static void close_arguments(const struct vgpu_request *request, struct vgpu_step step)
{
    for (uint32_t at = 0; at + sizeof(uint64_t) <= request->data_bytes; at += 4) {
        uint64_t value;
        memcpy(&value, request->data + at, sizeof value);
        if (value < VGPU_HOST_VA || value >= VGPU_HOST_END)
            continue;
        struct guard g = pages_of(value, vgpu__page_bytes());
        g.step = step;
        add_guard(g);
    }
}

static void close_for(const struct vgpu_request *request, struct vgpu_step step)
{
    const struct vgpu_copy *c = &request->u.copy;
    const struct vgpu_memset *m = &request->u.memset;
    if (request->op == VGPU_OP_COPY) {
        close_side(c->dst_user, c->bytes, c->rows, false, step);
        close_side(c->src_user, c->bytes, c->rows, true, step);
    } else if (request->op == VGPU_OP_MEMSET) {
        close_side(m->dst, m->bytes, m->rows, false, step);
    } else if (request->op == VGPU_OP_LAUNCH) {
        close_arguments(request, step);
    }
}

/* ---- opening ---- */

void vgpu__guard_drop(uint64_t address, size_t bytes)
{
    lock_guards();
    for (int i = guard_count - 1; i >= 0; i--)
        if (guards[i].first < address + bytes && address < guards[i].end)
            open_pages(i);
    unlock();
}

static void open_all(void)
{
    lock_guards();
    while (guard_count)
        open_pages(guard_count - 1);
    unlock();
}

static bool same(struct vgpu_step a, struct vgpu_step b)
{
    return a.line == b.line && a.number == b.number;
}

static void open_those_of(struct vgpu_step step)
{
    lock_guards();
    for (int i = guard_count - 1; i >= 0; i--)
        if (same(guards[i].step, step))
            open_pages(i);
    unlock();
}

/* Of all operations with guards the node says whether the host has waited for them. */
static void open_what_is_over(void)
{
    union {
        struct vgpu_request request;
        unsigned char room[sizeof(struct vgpu_request) + sizeof(struct vgpu_step[GUARDS])];
    } q = {.request = {.op = VGPU_OP_HOST_KNOWN, .call = "host code"}};
    struct vgpu_step step[GUARDS];
    uint32_t count = 0;
    lock_guards();
    for (; count < (uint32_t)guard_count; count++)
        step[count] = guards[count].step;
    unlock();
    q.request.data_bytes = count * (uint32_t)sizeof *step;
    memcpy(q.request.data, step, q.request.data_bytes);
    const struct vgpu_reply *reply = vgpu__aside(&q.request);
    for (uint32_t i = 0; reply && i < count && i < reply->data_bytes; i++)
        if (reply->data[i])
            open_those_of(step[i]);
}

/* ---- before and after a call ---- */

/* The line of the program that an access belongs to: its own, or that of who called the library
 * function in which it happened. */
static uint64_t code_of(const struct touch *t)
{
    char where[160];
    vgpu__symbolize(t->code, where, sizeof where);
    for (int i = 0; i < STACK_WORDS && !where[0]; i++) {
        vgpu__symbolize(t->stack[i], where, sizeof where);
        if (where[0])
            return t->stack[i];
    }
    return t->code;
}

static bool take_touch(struct touch *out)
{
    lock_guards();
    bool any = touch_count > 0;
    if (any) {
        *out = kept_touches[0];
        touch_count--;
        memmove(kept_touches, kept_touches + 1, (size_t)touch_count * sizeof *kept_touches);
    }
    unlock();
    return any;
}

static void tell_touches(void)
{
    struct touch t;
    while (atomic_load_explicit(&touch_count, memory_order_relaxed) && take_touch(&t)) {
        struct vgpu_request request = {.op = VGPU_OP_HOST_TOUCH,
                                       .flags = t.writes,
                                       .ptr = t.node_address,
                                       .caller = code_of(&t),
                                       .call = "host code"};
        vgpu__aside(&request);
    }
}

static void close_and_open(const struct vgpu_request *request, const struct vgpu_reply *reply)
{
    struct vgpu_step step = reply->step;
    uint32_t before = atomic_exchange(&learned, reply->learned);
    if (reply->error == cudaSuccess && step.line && is_on())
        close_for(request, step);
    if (atomic_load_explicit(&guard_count, memory_order_relaxed) == 0)
        return;
    if (reply->error != cudaSuccess && reply->error != cudaErrorNotReady)
        open_all(); /* what it waits for now may never come */
    else if (before != reply->learned)
        open_what_is_over();
}

const struct vgpu__observer vgpu__guard = {
    .request_begins = tell_touches,
    .reply_came = close_and_open,
    .process_ends = tell_touches,
    .fork_begins = lock_guards,
    .fork_over = unlock,
    .child_begins = open_all,
    .host_fault = guard_fault,
};
