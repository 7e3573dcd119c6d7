/* SPDX-License-Identifier: MIT
 * observers.c: see observer.h. The list is written before main and only read afterwards.
 */
#include "observer.h"

#include <stdlib.h>

enum { OBSERVERS = 8 };

static const struct vgpu__observer *observers[OBSERVERS];
static int count;

void vgpu__observe(const struct vgpu__observer *observer)
{
    if (count == OBSERVERS)
        abort();
    observers[count++] = observer;
}

void vgpu__request_begins(void)
{
    for (int i = 0; i < count; i++)
        if (observers[i]->request_begins)
            observers[i]->request_begins();
}

void vgpu__reply_came(const struct vgpu_request *request, const struct vgpu_reply *reply)
{
    for (int i = 0; i < count; i++)
        if (observers[i]->reply_came)
            observers[i]->reply_came(request, reply);
}

void vgpu__call_failed(cudaError_t error)
{
    for (int i = 0; i < count; i++)
        if (observers[i]->call_failed)
            observers[i]->call_failed(error);
}

void vgpu__error_asked(const char *call)
{
    for (int i = 0; i < count; i++)
        if (observers[i]->error_asked)
            observers[i]->error_asked(call);
}

void vgpu__thread_ends(void)
{
    for (int i = 0; i < count; i++)
        if (observers[i]->thread_ends)
            observers[i]->thread_ends();
}

void vgpu__process_ends(void)
{
    for (int i = 0; i < count; i++)
        if (observers[i]->process_ends)
            observers[i]->process_ends();
}

void vgpu__fork_begins(void)
{
    for (int i = 0; i < count; i++)
        if (observers[i]->fork_begins)
            observers[i]->fork_begins();
}

void vgpu__fork_over(void)
{
    for (int i = count - 1; i >= 0; i--)
        if (observers[i]->fork_over)
            observers[i]->fork_over();
}

void vgpu__child_begins(void)
{
    for (int i = 0; i < count; i++)
        if (observers[i]->child_begins)
            observers[i]->child_begins();
}

bool vgpu__host_fault(uint64_t address, const void *context)
{
    for (int i = count - 1; i >= 0; i--)
        if (observers[i]->host_fault && observers[i]->host_fault(address, context))
            return true;
    return false;
}
