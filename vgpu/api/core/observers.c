/* SPDX-License-Identifier: MIT
 * observers.c: see observer.h. The list is written before main and only read afterwards.
 */
#include "observer.h"

#include <stdlib.h>

enum { OBSERVERS = 8 };

static const struct vgpu__observer *api_observers[OBSERVERS];
static int api_observer_count;

void vgpu__observe(const struct vgpu__observer *observer)
{
    if (api_observer_count == OBSERVERS)
        abort();
    api_observers[api_observer_count++] = observer;
}

void vgpu__request_begins(void)
{
    for (int i = 0; i < api_observer_count; i++)
        if (api_observers[i]->request_begins &&
            atomic_load_explicit(api_observers[i]->waiting, memory_order_relaxed))
            api_observers[i]->request_begins();
}

void vgpu__reply_came(const struct vgpu_request *request, const struct vgpu_reply *reply)
{
    for (int i = 0; i < api_observer_count; i++)
        if (api_observers[i]->reply_came)
            api_observers[i]->reply_came(request, reply);
}

void vgpu__call_failed(cudaError_t error)
{
    for (int i = 0; i < api_observer_count; i++)
        if (api_observers[i]->call_failed)
            api_observers[i]->call_failed(error);
}

void vgpu__error_asked(const char *call)
{
    for (int i = 0; i < api_observer_count; i++)
        if (api_observers[i]->error_asked)
            api_observers[i]->error_asked(call);
}

void vgpu__thread_ends(void)
{
    for (int i = 0; i < api_observer_count; i++)
        if (api_observers[i]->thread_ends)
            api_observers[i]->thread_ends();
}

void vgpu__process_ends(void)
{
    for (int i = 0; i < api_observer_count; i++)
        if (api_observers[i]->process_ends)
            api_observers[i]->process_ends();
}

void vgpu__fork_begins(void)
{
    for (int i = 0; i < api_observer_count; i++)
        if (api_observers[i]->fork_begins)
            api_observers[i]->fork_begins();
}

void vgpu__fork_over(void)
{
    for (int i = api_observer_count - 1; i >= 0; i--)
        if (api_observers[i]->fork_over)
            api_observers[i]->fork_over();
}

void vgpu__child_begins(void)
{
    for (int i = 0; i < api_observer_count; i++)
        if (api_observers[i]->child_begins)
            api_observers[i]->child_begins();
}

bool vgpu__host_fault(uint64_t address, const void *context)
{
    for (int i = api_observer_count - 1; i >= 0; i--)
        if (api_observers[i]->host_fault && api_observers[i]->host_fault(address, context))
            return true;
    return false;
}
