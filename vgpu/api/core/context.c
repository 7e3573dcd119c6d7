/* SPDX-License-Identifier: MIT
 * context.c: see context.h.
 */
#include "context.h"

#include <pthread.h>

static struct CUctx_st primary_contexts[VGPU_MAX_DEVICES];
static pthread_mutex_t contexts_lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st *created_contexts; /* guarded by contexts_lock; entries are never removed */

void vgpu__context_used(void)
{
    if (vgpu__self.in_driver)
        return;
    vgpu__self.bound = vgpu__self.context_count == 0;
    atomic_store(&vgpu__process.driver_ready, true);
    atomic_store(&primary_contexts[vgpu__self.device].runtime_uses, true);
    atomic_store(&primary_contexts[vgpu__self.device].destroyed, false);
}

void vgpu__context_chosen(void)
{
    vgpu__context_used();
    if (vgpu__self.context_count > 0)
        vgpu__self.contexts[vgpu__self.context_count - 1] = vgpu__driver_primary(vgpu__self.device);
}

/* Run through pthread_once, since several threads may get here first. */
static void number_primaries(void)
{
    for (int device = 0; device < VGPU_MAX_DEVICES; device++) {
        primary_contexts[device].device = device;
        primary_contexts[device].primary = true;
    }
}

CUcontext vgpu__driver_primary(int device)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, number_primaries);
    return &primary_contexts[device];
}

CUcontext vgpu__driver_current(void)
{
    if (vgpu__self.context_count > 0)
        return vgpu__self.contexts[vgpu__self.context_count - 1];
    return vgpu__self.bound ? vgpu__driver_primary(vgpu__self.device) : NULL;
}

bool vgpu__driver_is_context(CUcontext context)
{
    for (int i = 0; i < vgpu__process.device_count; i++)
        if (context == &primary_contexts[i])
            return true;
    pthread_mutex_lock(&contexts_lock);
    const struct CUctx_st *at = created_contexts;
    while (at && at != context)
        at = at->next;
    pthread_mutex_unlock(&contexts_lock);
    return at && !atomic_load(&at->destroyed);
}

void vgpu__context_add(struct CUctx_st *context)
{
    pthread_mutex_lock(&contexts_lock);
    context->next = created_contexts;
    created_contexts = context;
    pthread_mutex_unlock(&contexts_lock);
}
