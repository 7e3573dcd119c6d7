/* SPDX-License-Identifier: MIT
 * page_swap.c: see page_swap.h.
 *
 * While the pages are read-only, this thread must not store to them, and its stack, its errno and
 * this file's variables may lie on them. So that part runs on a stack of its own and stores only to
 * a struct room, which has pages of its own.
 */
#include "page_swap.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

struct room {
    ucontext_t here, there;
    void *first, *home; /* home: the new private pages; NULL: pages are swapped out */
    size_t bytes;
    off_t offset;
    bool done;
    int why;
    unsigned char stack[64 << 10];
};

static pthread_mutex_t swap_lock = PTHREAD_MUTEX_INITIALIZER;
static struct room *current_swap; /* the swap in progress; guarded by swap_lock */

/* The pages that are read-only now, and the number of swaps so far; read by signal handlers. */
static _Atomic uint64_t readonly_first, readonly_end;
static atomic_uint swap_count;
static _Thread_local bool makes_swap; /* this thread is making a swap */

static bool swap_fault(uint64_t address);

/* ---- checks ---- */

bool vgpu__swap_would_part(uint64_t first, size_t bytes)
{
    char line[512], kind;
    uint64_t from, end;
    bool shared = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !shared && fgets(line, sizeof line, maps))
        shared = sscanf(line, "%" SCNx64 "-%" SCNx64 " %*3c%c", &from, &end, &kind) == 3 &&
                 kind == 's' && from < first + bytes && first < end;
    if (maps)
        fclose(maps);
    return shared;
}

/* ---- code that runs on the other stack ---- */

static bool copy_pages_out(const struct room *r)
{
    for (size_t done = 0; done < r->bytes;) {
        ssize_t wrote = syscall(SYS_pwrite64, vgpu__process.host_fd, (const char *)r->first + done,
                                r->bytes - done, r->offset + (off_t)done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        done += (size_t)wrote;
    }
    return true;
}

/* Copies whole pages, including other data of the program. It is a loop that is compiled without
 * sanitizers, because they would report these accesses (and those in memcpy). */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
copy_pages_home(const struct room *r)
{
    volatile uint64_t *to = r->home;
    const volatile uint64_t *from = r->first;
    for (size_t i = 0; i < r->bytes / sizeof *to; i++)
        to[i] = from[i];
}

static bool remap_pages(const struct room *r)
{
    if (r->home) {
        copy_pages_home(r);
        return mremap(r->home, r->bytes, r->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, r->first) !=
               MAP_FAILED;
    }
    return copy_pages_out(r) &&
           mmap(r->first, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                vgpu__process.host_fd, r->offset) != MAP_FAILED;
}

static void swap_pages(void)
{
    struct room *r = current_swap;
    r->done = mprotect(r->first, r->bytes, PROT_READ) == 0 && remap_pages(r);
    if (r->done)
        return;
    r->why = errno;
    mprotect(r->first, r->bytes, PROT_READ | PROT_WRITE);
}

/* ---- code that runs on the caller's stack ---- */

static void prepare_swap(struct room *r)
{
    getcontext(&r->there);
    r->there.uc_stack.ss_sp = r->stack;
    r->there.uc_stack.ss_size = sizeof r->stack;
    r->there.uc_link = &r->here;
    makecontext(&r->there, swap_pages, 0);
}

static struct room *make_swap_room(uint64_t first, size_t bytes)
{
    void *p =
        mmap(NULL, sizeof(struct room), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    struct room *r = p;
    r->first = (void *)(uintptr_t)first;
    r->bytes = bytes;
    prepare_swap(r);
    return r;
}

static bool run_swap(struct room *r)
{
    pthread_mutex_lock(&swap_lock);
    vgpu__fault_handler_need(swap_fault);
    current_swap = r;
    readonly_first = (uintptr_t)r->first;
    readonly_end = readonly_first + r->bytes;
    makes_swap = true;
    swapcontext(&r->here, &r->there);
    makes_swap = false;
    readonly_end = 0;
    swap_count++;
    pthread_mutex_unlock(&swap_lock);
    bool done = r->done;
    int why = r->why;
    if (!done && r->home)
        munmap(r->home, r->bytes);
    munmap(r, sizeof *r);
    errno = why;
    return done;
}

bool vgpu__swap_out(uint64_t first, size_t bytes, off_t offset)
{
    struct room *r = make_swap_room(first, bytes);
    if (!r)
        return false;
    r->offset = offset;
    return run_swap(r);
}

bool vgpu__swap_home(uint64_t first, size_t bytes)
{
    void *home = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct room *r = home == MAP_FAILED ? NULL : make_swap_room(first, bytes);
    if (r) {
        r->home = home;
        return run_swap(r);
    }
    if (home != MAP_FAILED)
        munmap(home, bytes);
    errno = ENOMEM;
    return false;
}

/* ---- code that runs in the SIGSEGV handler: async-signal-safe ---- */

static bool is_readonly_page(uint64_t address)
{
    return address >= readonly_first && address < readonly_end;
}

/* Waits until the page at `address` has been replaced. True: repeat the store. If the swap ended
 * before the handler began, the store is repeated once. The thread that makes the swap cannot wait
 * for itself, so it makes the pages writable again. */
static bool swap_fault(uint64_t address)
{
    static _Thread_local unsigned tried;
    bool waits = is_readonly_page(address);
    if (waits && makes_swap)
        return mprotect((void *)(uintptr_t)readonly_first, readonly_end - readonly_first,
                        PROT_READ | PROT_WRITE) == 0;
    while (is_readonly_page(address))
        sched_yield();
    unsigned now = swap_count;
    bool again = waits || now != tried;
    tried = now;
    return again;
}

/* ---- observer callbacks ---- */

static bool swap_host_fault(uint64_t address, const void *context)
{
    (void)context;
    return swap_fault(address);
}

static void lock_swaps(void)
{
    pthread_mutex_lock(&swap_lock);
}

static void unlock_swaps(void)
{
    pthread_mutex_unlock(&swap_lock);
}

const struct vgpu__observer vgpu__page_swap = {
    .fork_begins = lock_swaps, .fork_over = unlock_swaps, .host_fault = swap_host_fault};
