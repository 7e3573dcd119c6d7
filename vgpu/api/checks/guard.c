/* SPDX-License-Identifier: MIT
 * guard.c: finds host code that uses pinned or managed memory while a GPU may still use it.
 *
 * Such an access calls no function of the library, so the MMU must detect it. While a copy or fill
 * is under way, the pages that it writes are made inaccessible and those that it reads are made
 * read-only; for a kernel, the first page of each host memory range among its arguments is made
 * inaccessible. The first access faults; the handler restores access to the page, the program
 * continues, and the access is reported to the node before the next call. The node decides whether
 * it was ordered after the operation (vgpu/node/check/race.c). Once the node reports that the host
 * has waited for an operation, the operation's pages become accessible again.
 *
 * Only whole pages are guarded, and for copies only pages that contain no byte outside the copied
 * range: on a guarded page a system call fails (EFAULT), even if it uses other data there. Which
 * bytes a kernel uses is known only after it has run; hence one page.
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
    uint64_t first, end;   /* page range, at the program's addresses */
    uint64_t node;         /* the node's address of the first byte */
    bool readable;         /* the operation only reads: the pages stay readable */
    struct vgpu_step step; /* the operation */
};

struct touch { /* an access by host code */
    uint64_t node_address;
    bool writes;
    /* The instruction's address, and the top of the stack, in which the calling line of the program
     * is looked for. */
    uint64_t code, stack[STACK_WORDS];
};

/* A spinlock for all state below. A thread that holds it blocks all signals and uses no memory of
 * the program, since the SIGSEGV handler takes the lock, too. */
static atomic_flag guards_locked = ATOMIC_FLAG_INIT;
static sigset_t holder_signals; /* signal mask of the lock's holder */
static struct guard guards[GUARDS];
static struct touch recorded_touches[TOUCHES];
static atomic_int guard_count, touch_count;
static atomic_uint guards_opened;     /* number of guards removed so far */
static _Atomic uint32_t last_learned; /* last value of vgpu_reply.learned */

static void lock_guards(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (atomic_flag_test_and_set_explicit(&guards_locked, memory_order_acquire))
        sched_yield();
    holder_signals = before;
}

static void unlock_guards(void)
{
    sigset_t before = holder_signals;
    atomic_flag_clear_explicit(&guards_locked, memory_order_release);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- page protection ---- */

static void protect_pages(uint64_t first, uint64_t end, int how)
{
    mprotect((void *)(uintptr_t)first, end - first, how);
}

static int guard_protection(const struct guard *g)
{
    return g->readable ? PROT_READ : PROT_NONE;
}

/* True if other guards protect all its pages at least as strictly. */
static bool is_covered(const struct guard *g)
{
    for (int i = 0; i < guard_count; i++) {
        const struct guard *other = &guards[i];
        if (other->first <= g->first && other->end >= g->end && (!other->readable || g->readable))
            return true;
    }
    return false;
}

/* Protects those pages of `around` again that also belong to remaining guards of the given kind. */
static void protect_overlaps(const struct guard *around, bool readable)
{
    for (int i = 0; i < guard_count; i++) {
        const struct guard *g = &guards[i];
        uint64_t first = g->first > around->first ? g->first : around->first;
        uint64_t end = g->end < around->end ? g->end : around->end;
        if (g->readable == readable && first < end)
            protect_pages(first, end, guard_protection(g));
    }
}

static void protect_guard(const struct guard *g)
{
    if (is_covered(g))
        return;
    protect_pages(g->first, g->end, guard_protection(g));
    if (g->readable)
        protect_overlaps(g, false);
}

/* Removes a guard. Its pages get the strictest protection of the remaining guards. */
static void remove_guard(int i)
{
    struct guard gone = guards[i];
    guards[i] = guards[--guard_count];
    guards_opened++;
    if (is_covered(&gone))
        return;
    protect_pages(gone.first, gone.end, PROT_READ | PROT_WRITE);
    protect_overlaps(&gone, true);
    protect_overlaps(&gone, false);
}

/* ---- in the handler of SIGSEGV: async-signal-safe ---- */

#ifdef __aarch64__
enum { ESR_WRITE = 1 << 6 }; /* WnR in the syndrome of a data abort: Arm's manual, ESR_EL1 */

/* The processor's description of the fault; 0: the kernel gave none. */
static uint64_t syndrome_of(const ucontext_t *context)
{
    const uint8_t *at = (const uint8_t *)context->uc_mcontext.__reserved;
    struct esr_context record;
    for (memcpy(&record, at, sizeof record); record.head.magic && record.head.size;
         at += record.head.size, memcpy(&record, at, sizeof record))
        if (record.head.magic == ESR_MAGIC)
            return record.esr;
    return 0;
}
#endif

/* x86 and arm64 tell loads from stores. Elsewhere a fault on a readable page is a store, and one on
 * an inaccessible page counts as a load, which conflicts with any operation that made it
 * inaccessible (one that writes). */
static bool is_store(const ucontext_t *context, bool readable)
{
#if defined(__x86_64__)
    (void)readable;
    return context->uc_mcontext.gregs[REG_ERR] & 2;
#elif defined(__aarch64__)
    return readable || (syndrome_of(context) & ESR_WRITE);
#else
    (void)context;
    return readable;
#endif
}

#if defined(__x86_64__) || defined(__aarch64__)
/* Copies the words above the stack pointer: up to the end of the thread's stack, or, on another
 * stack (a coroutine's), up to the end of the page. Includes AddressSanitizer's redzones, hence the
 * attribute. */
__attribute__((no_sanitize_address)) static void copy_stack(uint64_t *to, uint64_t room,
                                                            uint64_t from)
{
    uint64_t end = from >= vgpu__self.stack_first && from < vgpu__self.stack_end
                       ? vgpu__self.stack_end
                       : (from / LEAST_PAGE + 1) * LEAST_PAGE;
    uint64_t words = (end - from) / sizeof *to;
    const uint64_t *word = (const uint64_t *)(uintptr_t)from;
    for (uint64_t i = 0; i < words && i < room; i++)
        to[i] = word[i];
}
#endif

/* Records an access. Accesses of functions that streams call are skipped: they are ordered by their
 * stream, of which this process has no record. */
static void note_access(uint64_t node_address, bool writes, const ucontext_t *context)
{
    if (touch_count == TOUCHES || vgpu__self.in_host_function || atomic_load(&vgpu__process.forked))
        return;
    struct touch *t = &recorded_touches[touch_count];
    *t = (struct touch){.node_address = node_address, .writes = writes};
#ifdef __x86_64__
    t->code = (uint64_t)context->uc_mcontext.gregs[REG_RIP] + 1;
    copy_stack(t->stack, STACK_WORDS, (uint64_t)context->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    t->code = context->uc_mcontext.pc + 1;
    t->stack[0] = context->uc_mcontext.regs[30]; /* where a function returns that calls no other */
    copy_stack(t->stack + 1, STACK_WORDS - 1, context->uc_mcontext.sp);
#endif
    touch_count++;
}

static bool guard_holds(const struct guard *g, uint64_t address)
{
    return address >= g->first && address < g->end;
}

/* True if another thread may have removed the guard between this thread's fault and the lock: then
 * the instruction is repeated, once. */
static bool was_unguarded_meanwhile(void)
{
    static _Thread_local unsigned tried;
    unsigned now = guards_opened;
    bool again = now != tried;
    tried = now;
    return again;
}

/* The guard whose page the access hit; the strictest if there are several. */
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
                remove_guard(i);
    }
    unlock_guards();
    return met || was_unguarded_meanwhile();
}

/* ---- adding guards ---- */

static bool guards_wanted(void)
{
    return (vgpu__process.checks & VGPU_CHECK_ORDER) && vgpu__fault_handler_is_ours();
}

static void push_guard(struct guard guard)
{
    if (guard.first >= guard.end)
        return;
    lock_guards();
    if (guard_count < GUARDS) {
        protect_guard(&guard);
        guards[guard_count++] = guard;
    }
    unlock_guards();
}

/* The whole pages in [address, +bytes) if it is host memory that GPUs can use, else an empty range.
 * The last page of an allocation counts as whole, since no other allocation shares it. */
static struct guard guardable_pages(uint64_t address, uint64_t bytes)
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

static void guard_operand(uint64_t address, uint64_t bytes, uint64_t rows, bool readable,
                          struct vgpu_step step)
{
    struct guard g = rows == 1 ? guardable_pages(address, bytes) : (struct guard){0};
    g.readable = readable;
    g.step = step;
    push_guard(g);
}

/* Guards the host memory that a kernel's arguments point to. The arguments are searched for values
 * in the address range of host memory, which no other value is likely to hit. */
static void guard_arguments(const struct vgpu_request *request, struct vgpu_step step)
{
    for (uint32_t at = 0; at + sizeof(uint64_t) <= request->data_bytes; at += 4) {
        uint64_t value;
        memcpy(&value, request->data + at, sizeof value);
        if (value < VGPU_HOST_VA || value >= VGPU_HOST_END)
            continue;
        struct guard g = guardable_pages(value, vgpu__page_bytes());
        g.step = step;
        push_guard(g);
    }
}

static void guard_operation(const struct vgpu_request *request, struct vgpu_step step)
{
    const struct vgpu_copy *c = &request->u.copy;
    const struct vgpu_memset *m = &request->u.memset;
    if (request->op == VGPU_OP_COPY) {
        guard_operand(c->dst_user, c->bytes, c->rows, false, step);
        guard_operand(c->src_user, c->bytes, c->rows, true, step);
    } else if (request->op == VGPU_OP_MEMSET) {
        guard_operand(m->dst, m->bytes, m->rows, false, step);
    } else if (request->op == VGPU_OP_LAUNCH) {
        guard_arguments(request, step);
    }
}

/* ---- removing guards ---- */

void vgpu__guard_drop(uint64_t address, size_t bytes)
{
    lock_guards();
    for (int i = guard_count - 1; i >= 0; i--)
        if (guards[i].first < address + bytes && address < guards[i].end)
            remove_guard(i);
    unlock_guards();
}

static void remove_all_guards(void)
{
    lock_guards();
    while (guard_count)
        remove_guard(guard_count - 1);
    unlock_guards();
}

static bool is_same_step(struct vgpu_step a, struct vgpu_step b)
{
    return a.component == b.component && a.number == b.number;
}

static void remove_guards_of(struct vgpu_step step)
{
    lock_guards();
    for (int i = guard_count - 1; i >= 0; i--)
        if (is_same_step(guards[i].step, step))
            remove_guard(i);
    unlock_guards();
}

/* Queries the node for each operation with guards, and removes the guards of those that the host
 * has waited for. */
static void remove_finished_guards(void)
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
    unlock_guards();
    q.request.data_bytes = count * (uint32_t)sizeof *step;
    memcpy(q.request.data, step, q.request.data_bytes);
    const struct vgpu_reply *reply = vgpu__aside(&q.request);
    for (uint32_t i = 0; reply && i < count && i < reply->data_bytes; i++)
        if (reply->data[i])
            remove_guards_of(step[i]);
}

/* ---- before and after a call ---- */

/* The address of the program's line that made the access, or that called the library function which
 * made it: the first address with debug information. */
static uint64_t program_code(const struct touch *t)
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
        *out = recorded_touches[0];
        touch_count--;
        memmove(recorded_touches, recorded_touches + 1,
                (size_t)touch_count * sizeof *recorded_touches);
    }
    unlock_guards();
    return any;
}

static void report_touches(void)
{
    struct touch t;
    while (atomic_load_explicit(&touch_count, memory_order_relaxed) && take_touch(&t)) {
        struct vgpu_request request = {.op = VGPU_OP_HOST_TOUCH,
                                       .flags = t.writes,
                                       .ptr = t.node_address,
                                       .caller = program_code(&t),
                                       .call = "host code"};
        vgpu__aside(&request);
    }
}

static void update_guards(const struct vgpu_request *request, const struct vgpu_reply *reply)
{
    struct vgpu_step step = reply->step;
    uint32_t before = atomic_exchange(&last_learned, reply->learned);
    if (reply->error == cudaSuccess && step.component && guards_wanted())
        guard_operation(request, step);
    if (atomic_load_explicit(&guard_count, memory_order_relaxed) == 0)
        return;
    if (reply->error != cudaSuccess && reply->error != cudaErrorNotReady)
        /* The call failed, so the operation that it waited for may never finish. */
        remove_all_guards();
    else if (before != reply->learned)
        remove_finished_guards();
}

const struct vgpu__observer vgpu__guard = {
    .request_begins = report_touches,
    .waiting = &touch_count,
    .reply_came = update_guards,
    .process_ends = report_touches,
    .fork_begins = lock_guards,
    .fork_over = unlock_guards,
    .child_begins = remove_all_guards,
    .host_fault = guard_fault,
};
