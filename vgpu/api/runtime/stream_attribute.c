/* SPDX-License-Identifier: MIT
 * stream_attribute.c: cudaStreamGetAttribute and cudaStreamSetAttribute. The priority is stored by
 * the node. The synchronization policy and the L2 access policy window are stored here and have no
 * effect.
 */
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>

enum { WINDOW_BYTES_MAX = 128 << 20 }; /* bytes: accessPolicyMaxWindowSize of an H200 (recorded) */
#define NO_POLICY ((enum cudaSynchronizationPolicy) - 1) /* not set (recorded) */

struct attributes {
    uint64_t stream;
    enum cudaSynchronizationPolicy policy;
    struct cudaAccessPolicyWindow window;
    struct attributes *next;
};

static pthread_mutex_t attributes_lock = PTHREAD_MUTEX_INITIALIZER;
/* Guarded by attributes_lock; streams for which an attribute was set. */
static struct attributes *stream_attributes;

/* attributes_lock is held. NULL: no attribute was set, or (with `make`) host memory ran out. */
static struct attributes *find_attributes(uint64_t stream, bool make)
{
    struct attributes *a = stream_attributes;
    while (a && a->stream != stream)
        a = a->next;
    if (!a && make && (a = calloc(1, sizeof *a)) != NULL) {
        a->stream = stream;
        a->policy = NO_POLICY;
        a->next = stream_attributes;
        stream_attributes = a;
    }
    return a;
}

void vgpu__stream_attributes_forget(cudaStream_t stream)
{
    uint64_t id = vgpu__stream_id(stream);
    pthread_mutex_lock(&attributes_lock);
    struct attributes **at = &stream_attributes;
    while (*at && (*at)->stream != id)
        at = &(*at)->next;
    struct attributes *gone = *at;
    if (gone)
        *at = gone->next;
    pthread_mutex_unlock(&attributes_lock);
    free(gone);
}

static cudaError_t unknown_stream_attribute(const char *call, cudaLaunchAttributeID attr)
{
    return vgpu__refuse(cudaErrorInvalidValue, call,
                        "attribute %d is not one of a stream; offered are the access policy window "
                        "(1), the synchronisation policy (3) and the priority (8)",
                        (int)attr);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaStreamAttrID attr,
                                   cudaStreamAttrValue *value_out)
{
    int priority;
    cudaError_t error = cudaStreamGetPriority(hStream, &priority);
    if (error != cudaSuccess)
        return error;
    if (!value_out)
        return vgpu__record(cudaErrorInvalidValue);
    pthread_mutex_lock(&attributes_lock);
    const struct attributes *a = find_attributes(vgpu__stream_id(hStream), false);
    cudaStreamAttrValue value = {0};
    if (attr == cudaLaunchAttributePriority)
        value.priority = priority;
    else if (attr == cudaLaunchAttributeSynchronizationPolicy)
        value.syncPolicy = a ? a->policy : NO_POLICY;
    else if (attr == cudaLaunchAttributeAccessPolicyWindow && a)
        value.accessPolicyWindow = a->window;
    pthread_mutex_unlock(&attributes_lock);
    if (attr != cudaLaunchAttributePriority && attr != cudaLaunchAttributeSynchronizationPolicy &&
        attr != cudaLaunchAttributeAccessPolicyWindow)
        return unknown_stream_attribute("cudaStreamGetAttribute", attr);
    *value_out = value;
    return cudaSuccess;
}

static bool is_valid_attribute(cudaLaunchAttributeID attr, const cudaStreamAttrValue *value)
{
    if (attr == cudaLaunchAttributeSynchronizationPolicy)
        return value->syncPolicy >= cudaSyncPolicyAuto &&
               value->syncPolicy <= cudaSyncPolicyBlockingSync;
    const struct cudaAccessPolicyWindow *w = &value->accessPolicyWindow;
    if (w->num_bytes > WINDOW_BYTES_MAX)
        return false;
    return w->hitRatio >= 0 && w->hitRatio <= 1 && w->missProp != cudaAccessPropertyPersisting;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaStreamAttrID attr,
                                   const cudaStreamAttrValue *value)
{
    static const char call[] = "cudaStreamSetAttribute";
    int priority;
    cudaError_t error = cudaStreamGetPriority(hStream, &priority);
    if (error != cudaSuccess)
        return error;
    if (!value)
        return vgpu__record(cudaErrorInvalidValue);
    if (attr == cudaLaunchAttributePriority)
        return vgpu__refuse(cudaErrorNotSupported, call,
                            "the priority of a stream cannot be changed here; make the stream with "
                            "cudaStreamCreateWithPriority");
    if (attr != cudaLaunchAttributeSynchronizationPolicy &&
        attr != cudaLaunchAttributeAccessPolicyWindow)
        return unknown_stream_attribute(call, attr);
    if (!is_valid_attribute(attr, value))
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "attribute %d: the value is out of its range", (int)attr);
    vgpu__used(VGPU_FEATURE_hints);
    pthread_mutex_lock(&attributes_lock);
    struct attributes *a = find_attributes(vgpu__stream_id(hStream), true);
    if (a && attr == cudaLaunchAttributeSynchronizationPolicy)
        a->policy = value->syncPolicy;
    else if (a)
        a->window = value->accessPolicyWindow;
    pthread_mutex_unlock(&attributes_lock);
    return a ? cudaSuccess : vgpu__no_memory(NULL);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    int priority;
    cudaError_t error = cudaStreamGetPriority(dst, &priority);
    if (error == cudaSuccess)
        error = cudaStreamGetPriority(src, &priority);
    if (error != cudaSuccess)
        return error;
    pthread_mutex_lock(&attributes_lock);
    const struct attributes *from = find_attributes(vgpu__stream_id(src), false);
    struct attributes *to = find_attributes(vgpu__stream_id(dst), from != NULL);
    if (to) {
        to->policy = from ? from->policy : NO_POLICY;
        to->window = from ? from->window : (struct cudaAccessPolicyWindow){0};
    }
    pthread_mutex_unlock(&attributes_lock);
    return to || !from ? cudaSuccess : vgpu__no_memory(NULL);
}
