/* SPDX-License-Identifier: MIT
 * thread.c: what belongs to a host thread: its current device, last error and virtual clock, and
 * its wire, a connection of its own to the node.
 */
#define _GNU_SOURCE
#include "runtime.h"
#include "vgpu_time.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "carry.h"

_Thread_local struct vgpu__thread vgpu__self;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vgpu__wire *wires; /* guarded by lock */
static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

void vgpu__wires_lock(void)
{
    pthread_mutex_lock(&lock);
}

void vgpu__wires_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

/* The memory stays: other threads' wires are nobody's in the child, and few. */
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

static void thread_ends(void *argument)
{
    struct vgpu__wire *wire = argument;
    if (atomic_load(&vgpu__process.forked))
        return;
    vgpu__self.wire = wire; /* its address is in a key of its own */
    vgpu__blame_forget();
    unlink_wire(wire);
    vgpu__fault_stack_remove(wire);
    close(wire->fd);
    free(wire);
    vgpu__self.wire = NULL;
}

static void make_key(void)
{
    pthread_key_create(&end_key, thread_ends);
}

/* Not the first thread, nor one that pthread_create made: nobody has told when it began. */
static bool is_foreign(void)
{
    return !vgpu__self.life && syscall(SYS_gettid) != getpid();
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
    vgpu__thread_heard();
    uint64_t latest = atomic_load(&vgpu__process.latest_ps);
    if (is_foreign() && latest > vgpu__self.clock_ps)
        vgpu__clock_set(latest);
}

struct vgpu__wire *vgpu__wire(void)
{
    if (vgpu__self.wire)
        return vgpu__self.wire;
    struct vgpu__wire *wire = calloc(1, sizeof *wire);
    if (!wire)
        return NULL;
    wire->fd = vgpu__new_connection((struct vgpu_request *)wire->request,
                                    (struct vgpu_reply *)wire->reply);
    if (wire->fd < 0) {
        free(wire);
        return NULL;
    }
    adopt(wire);
    return wire;
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
