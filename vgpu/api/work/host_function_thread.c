/* SPDX-License-Identifier: MIT
 * host_function_thread.c: functions of the program in its streams. One thread of the process calls
 * them, one after the other, when the node says so; CUDA calls inside of them answer 800.
 */
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static pthread_mutex_t host_functions_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t settled = PTHREAD_COND_INITIALIZER;
static enum { CALLER_NONE, CALLER_STARTS, CALLER_RUNS } state; /* guarded by host_functions_lock */

/* The node brings a function from the thread that issued it to the one that calls it, and its end
 * to whoever waits for it. What each has stored before is seen by the other: so say these two. */
static atomic_uint issued;

static void call(struct host_function *f)
{
    atomic_load(&issued);
    vgpu__self.in_host_function = true;
    if (f->callback)
        f->callback(f->stream, cudaSuccess, f->data);
    else
        f->function(f->data);
    vgpu__self.in_host_function = false;
    atomic_fetch_add(&vgpu__functions_returned, 1);
    free(f);
}

/* Each request says which function has returned, and each reply which one is next. */
static void *caller(void *unused)
{
    const struct vgpu_reply *reply;
    uint64_t done = 0;
    (void)unused;
    bool connected = vgpu__wire() != NULL;
    pthread_mutex_lock(&host_functions_lock);
    state = connected ? CALLER_RUNS : CALLER_NONE;
    pthread_cond_broadcast(&settled);
    pthread_mutex_unlock(&host_functions_lock);
    while (connected) {
        struct vgpu_request *request = vgpu__begin("host functions", VGPU_OP_HOST_NEXT);
        if (!request)
            return NULL;
        vgpu__speak_when_asked(vgpu__self.wire->fd);
        request->value = done;
        if (vgpu__ask(-1, true, &reply) != cudaSuccess)
            return NULL;
        done = reply->value;
        call((struct host_function *)(uintptr_t)done);
    }
    return NULL;
}

/* Signals are for the program's own threads, but for what the function itself does. */
static bool make_thread(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* host_fault of observer.h */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = pthread_create(&thread, NULL, caller, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        pthread_detach(thread);
    return made;
}

/* False: there is no thread to call it, or it could not be connected to the node. */
static bool start_caller(void)
{
    pthread_mutex_lock(&host_functions_lock);
    if (state == CALLER_NONE && make_thread())
        state = CALLER_STARTS;
    while (state == CALLER_STARTS)
        pthread_cond_wait(&settled, &host_functions_lock);
    bool runs = state == CALLER_RUNS;
    pthread_mutex_unlock(&host_functions_lock);
    return runs;
}

cudaError_t vgpu__host_function(const char *name, struct host_function *f, cudaStream_t stream)
{
    struct vgpu_request *request = vgpu__begin(name, VGPU_OP_HOST_FUNC);
    if (!request)
        return vgpu__failed();
    if (!start_caller())
        return vgpu__refuse(
            cudaErrorMemoryAllocation, name,
            "there is no memory, or no descriptor, for the thread that is to call it");
    request->stream = vgpu__stream_id(stream);
    request->value = (uint64_t)(uintptr_t)f;
    atomic_fetch_add(&issued, 1);
    return vgpu__end(NULL);
}
