/* SPDX-License-Identifier: MIT
 * page_swap.c: see page_swap.h.
 *
 * Between closing the pages and replacing them this thread stores to nothing but a room of its own:
 * its stack, its errno and this file's variables may lie on one of these pages. So what happens
 * there runs on another stack.
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
    void *first, *home; /* home: where the private pages are now; NULL: the other way */
    size_t bytes;
    off_t offset;
    bool done;
    int why;
    unsigned char stack[64 << 10];
};

static pthread_mutex_t swap_lock = PTHREAD_MUTEX_INITIALIZER;
static struct room *swap_rooms; /* guarded by swap_lock */

/* What is closed now, and how often something was: read by handlers. */
static _Atomic uint64_t closed_first, closed_end;
static atomic_uint swap_opened;
static _Thread_local bool swaps; /* this thread does it */

static bool swap_fault(uint64_t address);

/* ---- what can be replaced ---- */

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

/* ---- on the other stack ---- */

static bool copy_out(const struct room *r)
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

/* Whole pages, others' bytes among them: not by calls that a sanitizer of the program looks into.
 */
__attribute__((no_sanitize("address", "thread", "undefined"))) static void
copy_home(const struct room *r)
{
    volatile uint64_t *to = r->home;
    const volatile uint64_t *from = r->first;
    for (size_t i = 0; i < r->bytes / sizeof *to; i++)
        to[i] = from[i];
}

static bool replace_pages(const struct room *r)
{
    if (r->home) {
        copy_home(r);
        return mremap(r->home, r->bytes, r->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, r->first) !=
               MAP_FAILED;
    }
    return copy_out(r) && mmap(r->first, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                               vgpu__process.host_fd, r->offset) != MAP_FAILED;
}

static void swap_pages(void)
{
    struct room *r = swap_rooms;
    r->done = mprotect(r->first, r->bytes, PROT_READ) == 0 && replace_pages(r);
    if (r->done)
        return;
    r->why = errno;
    mprotect(r->first, r->bytes, PROT_READ | PROT_WRITE);
}

/* ---- on the caller's ---- */

static void prepare(struct room *r)
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
    prepare(r);
    return r;
}

static bool swap(struct room *r)
{
    pthread_mutex_lock(&swap_lock);
    vgpu__fault_handler_need(swap_fault);
    swap_rooms = r;
    closed_first = (uintptr_t)r->first;
    closed_end = closed_first + r->bytes;
    swaps = true;
    swapcontext(&r->here, &r->there);
    swaps = false;
    closed_end = 0;
    swap_opened++;
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
    return swap(r);
}

bool vgpu__swap_home(uint64_t first, size_t bytes)
{
    void *home = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct room *r = home == MAP_FAILED ? NULL : make_swap_room(first, bytes);
    if (r) {
        r->home = home;
        return swap(r);
    }
    if (home != MAP_FAILED)
        munmap(home, bytes);
    errno = ENOMEM;
    return false;
}

/* ---- in the handler: async-signal-safe ---- */

static bool is_closed(uint64_t address)
{
    return address >= closed_first && address < closed_end;
}

/* The pages may be open again when the handler begins: then the store is tried again, once. Our own
 * thread has nobody to wait for: it opens them. */
static bool swap_fault(uint64_t address)
{
    static _Thread_local unsigned tried;
    bool waits = is_closed(address);
    if (waits && swaps)
        return mprotect((void *)(uintptr_t)closed_first, closed_end - closed_first,
                        PROT_READ | PROT_WRITE) == 0;
    while (is_closed(address))
        sched_yield();
    unsigned now = swap_opened;
    bool again = waits || now != tried;
    tried = now;
    return again;
}

/* ---- as an observer ---- */

static bool host_fault(uint64_t address, const void *context)
{
    (void)context;
    return swap_fault(address);
}

static void fork_begins(void)
{
    pthread_mutex_lock(&swap_lock);
}

static void fork_over(void)
{
    pthread_mutex_unlock(&swap_lock);
}

const struct vgpu__observer vgpu__page_swap = {
    .fork_begins = fork_begins, .fork_over = fork_over, .host_fault = host_fault};
