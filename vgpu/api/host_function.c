/* SPDX-License-Identifier: MIT
 * host_function.c: functions of the program in its streams. One thread of the process calls them,
 * one after the other, when the node says so; CUDA calls inside of them answer 800.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "graph.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool caller_runs; /* guarded by lock */

static void call(struct host_function *f)
{
    vgpu__self.in_host_function = true;
    if (f->callback)
        f->callback(f->stream, cudaSuccess, f->data);
    else
        f->function(f->data);
    vgpu__self.in_host_function = false;
    free(f);
}

/* Each request says which function has returned, and each reply which one is next. */
static void *caller(void *unused)
{
    const struct vgpu_reply *reply;
    uint64_t done = 0;
    (void)unused;
    for (;;) {
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
}

/* Signals are for the program's own threads, but for what the function itself does. */
static bool start_caller(void)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV); /* guard.c */
    pthread_mutex_lock(&lock);
    if (!caller_runs) {
        pthread_sigmask(SIG_SETMASK, &all, &before);
        caller_runs = pthread_create(&thread, NULL, caller, NULL) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (caller_runs)
            pthread_detach(thread);
    }
    bool runs = caller_runs;
    pthread_mutex_unlock(&lock);
    return runs;
}

cudaError_t vgpu__host_function(const char *name, struct host_function *f, cudaStream_t stream)
{
    struct vgpu_request *request = vgpu__begin(name, VGPU_OP_HOST_FUNC);
    if (!request)
        return vgpu__failed();
    if (!start_caller())
        return vgpu__refuse(cudaErrorMemoryAllocation, name, "no memory for a thread to call it");
    request->stream = vgpu__stream_id(stream);
    request->value = (uint64_t)(uintptr_t)f;
    return vgpu__end(NULL);
}

static cudaError_t enqueue(const char *name, struct host_function function)
{
    cudaError_t error;
    if (!vgpu__begin(name, VGPU_OP_HOST_FUNC))
        return vgpu__failed();
    if (!function.function && !function.callback)
        return vgpu__refuse(cudaErrorInvalidValue, name, "the function is a null pointer");
    if (function.callback &&
        (error = vgpu__capture_forbids(name, function.stream, true)) != cudaSuccess)
        return error;
    struct CUgraphNode_st *node =
        vgpu__capture(name, function.stream, cudaGraphNodeTypeHost, &error);
    if (error != cudaSuccess)
        return error;
    struct host_function *f = malloc(sizeof *f);
    if (!f)
        return vgpu__record(cudaErrorMemoryAllocation);
    *f = function;
    if (node) {
        node->u.host = f;
        return cudaSuccess;
    }
    error = vgpu__host_function(name, f, function.stream);
    if (error != cudaSuccess)
        free(f);
    return error;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
    return enqueue("cudaLaunchHostFunc",
                   (struct host_function){.function = fn, .stream = stream, .data = userData});
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *userData, unsigned int flags)
{
    if (flags != 0)
        return vgpu__refuse(cudaErrorInvalidValue, "cudaStreamAddCallback",
                            "flags are %u and must be 0", flags);
    return enqueue(
        "cudaStreamAddCallback",
        (struct host_function){.callback = callback, .stream = stream, .data = userData});
}
