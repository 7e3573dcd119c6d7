/* SPDX-License-Identifier: MIT
 * host_function_thread.c: host functions in streams. One thread of the process calls them one after
 * the other, as the node requests; CUDA calls in them return 800.
 */
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static pthread_mutex_t host_functions_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t caller_settled = PTHREAD_COND_INITIALIZER;
/* Guarded by host_functions_lock. */
static enum { CALLER_NONE, CALLER_STARTS, CALLER_RUNS } caller_state;

/* A function is passed through the node from the thread that enqueues it to the thread that calls
 * it, and its end to the threads that wait for it. The atomic operations on this counter and on
 * vgpu__functions_returned make the stores before each step visible after it. */
static atomic_uint functions_issued;

static void call_host_function(struct host_function *f)
{
    atomic_load(&functions_issued);
    vgpu__self.in_host_function = true;
    if (f->callback)
        f->callback(f->stream, cudaSuccess, f->data);
    else
        f->function(f->data);
    vgpu__self.in_host_function = false;
    atomic_fetch_add(&vgpu__functions_returned, 1);
    free(f);
}

/* Each request reports the function that has returned; each reply contains the next one to call. */
static void *run_caller(void *unused)
{
    const struct vgpu_reply *reply;
    uint64_t done = 0;
    (void)unused;
    bool connected = vgpu__wire() != NULL;
    pthread_mutex_lock(&host_functions_lock);
    caller_state = connected ? CALLER_RUNS : CALLER_NONE;
    pthread_cond_broadcast(&caller_settled);
    pthread_mutex_unlock(&host_functions_lock);
    while (connected) {
        struct vgpu_request *request = vgpu__begin("host functions", VGPU_OP_HOST_NEXT);
        if (!request)
            return NULL;
        vgpu__allow_silence(vgpu__self.wire->fd);
        request->value = done;
        if (vgpu__ask(-1, true, &reply) != cudaSuccess)
            return NULL;
        done = reply->value;
        call_host_function((struct host_function *)(uintptr_t)done);
    }
    return NULL;
}

/* The thread blocks all signals, which are meant for the program's own threads, except SIGSEGV. */
static bool make_caller_thread(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* for host_fault of observer.h */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool made = pthread_create(&thread, NULL, run_caller, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made)
        pthread_detach(thread);
    return made;
}

/* Starts the thread if necessary. False: it cannot be created or connected to the node. */
static bool start_caller(void)
{
    pthread_mutex_lock(&host_functions_lock);
    if (caller_state == CALLER_NONE && make_caller_thread())
        caller_state = CALLER_STARTS;
    while (caller_state == CALLER_STARTS)
        pthread_cond_wait(&caller_settled, &host_functions_lock);
    bool runs = caller_state == CALLER_RUNS;
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
    atomic_fetch_add(&functions_issued, 1);
    return vgpu__end(NULL);
}
