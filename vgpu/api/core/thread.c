/* SPDX-License-Identifier: MIT
 * thread.c: the state of a host thread: current device, last error, virtual clock, and its wire,
 * which is the thread's own connection to the node.
 */
#include "observer.h"
#include "vgpu_time.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu__wire *wires; /* guarded by threads_lock */
static pthread_key_t wire_key;
static pthread_once_t wire_key_once = PTHREAD_ONCE_INIT;

void vgpu__wires_lock(void)
{
    pthread_mutex_lock(&threads_lock);
}

void vgpu__wires_unlock(void)
{
    pthread_mutex_unlock(&threads_lock);
}

/* In a child after fork: closes the connections of all threads. Their memory, which is little, is
 * not freed. */
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
    vgpu__self.wire = wire; /* the wire's address is the value of wire_key */
    vgpu__thread_ends();
    unlink_wire(wire);
    vgpu__fault_stack_remove(wire);
    close(wire->fd);
    if (wire->doors.replies)
        munmap(wire->doors.replies, 2 * VGPU_DOOR_BYTES);
    munmap(wire, sizeof *wire);
    vgpu__self.wire = NULL;
}

static void make_wire_key(void)
{
    pthread_key_create(&wire_key, calling_thread_ends);
}

/* True for a thread that neither is the first one nor was created by pthread_create: its start was
 * not observed. */
static bool is_unobserved_thread(void)
{
    return !vgpu__self.shown_clock && syscall(SYS_gettid) != getpid();
}

static void use_wire(struct vgpu__wire *wire)
{
    vgpu__limit_silence(wire->fd);
    pthread_once(&wire_key_once, make_wire_key);
    pthread_setspecific(wire_key, wire);
    vgpu__wires_lock();
    wire->next = wires;
    wires = wire;
    vgpu__wires_unlock();
    vgpu__fault_stack_install(wire);
    vgpu__self.wire = wire;
    vgpu__thread_registered();
    uint64_t latest = atomic_load(&vgpu__process.latest_ps);
    if (is_unobserved_thread() && latest > vgpu__self.clock_ps)
        vgpu__clock_set(latest);
}

/* A wire has pages of its own: the kernel writes replies there, and must not do so in a page that
 * is being registered (page_swap.h). */
static struct vgpu__wire *new_wire(void)
{
    void *wire = mmap(NULL, sizeof(struct vgpu__wire), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return wire == MAP_FAILED ? NULL : wire;
}

/* Maps the two doors at `address` of the host memory. None if none lie there or mapping fails. */
static struct vgpu__doors map_doors(uint64_t address)
{
    if (address < VGPU_DOOR_VA(0) || address > VGPU_DOOR_VA(VGPU_DOORS - 2))
        return (struct vgpu__doors){0};
    char *at = mmap(NULL, 2 * VGPU_DOOR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                    vgpu__process.host_fd, (off_t)(address - VGPU_HOST_VA));
    if (at == MAP_FAILED)
        return (struct vgpu__doors){0};
    return (struct vgpu__doors){.replies = (void *)at, .requests = (void *)(at + VGPU_DOOR_BYTES)};
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
    wire->doors = map_doors(((struct vgpu_reply *)wire->reply)->value);
    use_wire(wire);
    return wire;
}

/* ---- clocks ---- */

/* Low half: the number of unregistered threads, the first thread included. High half: the number of
 * changes so far, so that the node can tell which of two values is newer. */
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
    uint64_t heard_ps = told_ps + (vgpu__process.info ? vgpu__process.info->message_ps : 0);
    vgpu__self.heard = true;
    if (heard_ps > vgpu__self.clock_ps)
        vgpu__clock_set(heard_ps);
}
