/* SPDX-License-Identifier: MIT
 * failure.c: see failure.h.
 */
#include "failure.h"

#include <stdio.h>

enum { MUCH_UNREAD = 2, MANY_OPERATIONS = 1000, MANY_ROWS = 1000000 };

/* Adds one program's usage to the total; of peaks the highest is kept. */
static void add_usage(struct vgpu_usage *all, const struct vgpu_usage *one)
{
    all->requests += one->requests;
    all->malformed += one->malformed;
    all->bad_answers += one->bad_answers;
    all->rows += one->rows;
    all->unread = one->unread > all->unread ? one->unread : all->unread;
    all->operations = one->operations > all->operations ? one->operations : all->operations;
}

void lab__tell_usage(const struct vgpu_usage_page *page, char *text, size_t room)
{
    struct vgpu_usage all = {0};
    for (int i = 0; i < VGPU_USAGE_PROGRAMS; i++)
        add_usage(&all, &page->program[i]);
    if (all.bad_answers)
        snprintf(text, room, "its kernels had sent the node %llu impossible answers",
                 (unsigned long long)all.bad_answers);
    else if (all.unread >= MUCH_UNREAD)
        snprintf(text, room, "it had sent %llu requests without reading a reply",
                 (unsigned long long)all.unread);
    else if (all.malformed)
        snprintf(text, room, "%llu of its %llu requests were malformed",
                 (unsigned long long)all.malformed, (unsigned long long)all.requests);
    else if (all.rows >= MANY_ROWS)
        snprintf(text, room, "it had %llu rows copied or filled", (unsigned long long)all.rows);
    else if (all.operations >= MANY_OPERATIONS)
        snprintf(text, room, "it had %llu operations queued at a time",
                 (unsigned long long)all.operations);
    else
        snprintf(text, room, "it had sent %llu requests, none of them unusual",
                 (unsigned long long)all.requests);
}
