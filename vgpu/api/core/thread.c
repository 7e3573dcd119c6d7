/* SPDX-License-Identifier: MIT
 * thread.c: what belongs to a host thread: its current device, last error and virtual clock, and
 * its wire, a connection of its own to the node.
 */
#include "observer.h"
#include "vgpu_time.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu__wire *wires; /* guarded by threads_lock */
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

void vgpu__wires_lock(void)
{
    pthread_mutex_lock(&threads_lock);
}

void vgpu__wires_unlock(void)
{
    pthread_mutex_unlock(&threads_lock);
}

/* In a child after fork: the wires of the other threads are closed; their memory, which is little,
 * is not freed. */
void vgpu__wires_drop(void)
{
    for (struct vgpu__wire *w = wires; w; w = w->next)
        close(w->fd);
    wires = NULL;
    vgpu__self.wire = NULL;
}

static void unlink_wire(struct vgpu__wire *wire)
{
    vgpu__wires_lock();
    for (struct vgpu__wire **at = &wires; *at; at = &(*at)->next)
        if (*at == wire) {
            *at = wire->next;
            break;
        }
    vgpu__wires_unlock();
}

static void calling_thread_ends(void *argument)
{
    struct vgpu__wire *wire = argument;
    if (atomic_load(&vgpu__process.forked))
        return;
    vgpu__self.wire = wire; /* its address is in a key of its own */
    vgpu__thread_ends();
    unlink_wire(wire);
    vgpu__fault_stack_remove(wire);
    close(wire->fd);
    munmap(wire, sizeof *wire);
    vgpu__self.wire = NULL;
}

static void make_key(void)
{
    pthread_key_create(&end_key, calling_thread_ends);
}

/* Not the first thread, nor one that pthread_create made: nobody has told when it began. */
static bool is_foreign(void)
{
    return !vgpu__self.shown_clock && syscall(SYS_gettid) != getpid();
}

static void adopt(struct vgpu__wire *wire)
{
    vgpu__limit_silence(wire->fd);
    pthread_once(&end_once, make_key);
    pthread_setspecific(end_key, wire);
    vgpu__wires_lock();
    wire->next = wires;
    wires = wire;
    vgpu__wires_unlock();
    vgpu__fault_stack_install(wire);
    vgpu__self.wire = wire;
    vgpu__thread_registered();
    uint64_t latest = atomic_load(&vgpu__process.latest_ps);
    if (is_foreign() && latest > vgpu__self.clock_ps)
        vgpu__clock_set(latest);
}

/* On pages of its own: what the kernel stores there, a reply, must not meet a page that is being
 * registered (page_swap.h). */
static struct vgpu__wire *new_wire(void)
{
    void *wire = mmap(NULL, sizeof(struct vgpu__wire), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return wire == MAP_FAILED ? NULL : wire;
}

struct vgpu__wire *vgpu__wire(void)
{
    if (vgpu__self.wire)
        return vgpu__self.wire;
    struct vgpu__wire *wire = new_wire();
    if (!wire) {
        vgpu__message("a thread's first call", "the program has no memory left for a connection of "
                                               "this thread to the virtual node (mmap fails)");
        return NULL;
    }
    wire->fd = vgpu__new_connection((struct vgpu_request *)wire->request,
                                    (struct vgpu_reply *)wire->reply);
    if (wire->fd < 0) {
        munmap(wire, sizeof *wire);
        return NULL;
    }
    adopt(wire);
    return wire;
}

/* ---- clocks ---- */

/* Low half: how many; high half: how often it has changed, so that the latest is known. The first
 * thread is one of them, too. */
#define ONE_MORE ((1ull << 32) + 1)
#define ONE_LESS ((1ull << 32) - 1)
static _Atomic uint64_t unregistered = 1;

void vgpu__clock_set(uint64_t clock_ps)
{
    vgpu__self.clock_ps = clock_ps;
    if (vgpu__self.shown_clock)
        atomic_store(vgpu__self.shown_clock, clock_ps);
}

uint64_t vgpu__unregistered_threads(void)
{
    return atomic_load(&unregistered);
}

void vgpu__thread_made(bool made)
{
    atomic_fetch_add(&unregistered, made ? ONE_MORE : ONE_LESS);
}

void vgpu__thread_registered(void)
{
    static atomic_bool first_registered;
    bool made = vgpu__self.shown_clock, is_first = !made && syscall(SYS_gettid) == getpid();
    if (made ? vgpu__self.registered : !is_first || atomic_load(&first_registered))
        return;
    if (is_first)
        atomic_store(&first_registered, true);
    else
        vgpu__self.registered = true;
    atomic_fetch_add(&unregistered, ONE_LESS);
}

uint64_t vgpu_time(void)
{
    atomic_store_explicit(&vgpu__process.clock_read, true, memory_order_relaxed);
    return vgpu__self.clock_ps;
}

uint64_t vgpu_time_tell(void)
{
    return vgpu__self.clock_ps;
}

void vgpu_time_hear(uint64_t told_ps)
{
    if (told_ps > vgpu__self.clock_ps)
        vgpu__clock_set(told_ps);
}
