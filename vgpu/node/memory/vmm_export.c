/* SPDX-License-Identifier: MIT
 * vmm_export.c: see vmm_export.h.
 */
#include "fd_info.h"
#include "vmm_export.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "vmm.h"
#include "memory_state.h"

struct vmm_exported_end {
    struct vmm_allocation *allocation;
    int writing; /* the node's end; nothing is ever written to it */
    struct vmm_exported_end *next;
};

int vmm_export_ends(void)
{
    if (memory_current->exported.ends < 0)
        memory_current->exported.ends = epoll_create1(EPOLL_CLOEXEC);
    return memory_current->exported.ends;
}

int vmm_export(struct vmm_allocation *allocation)
{
    int end[2];
    struct vmm_exported_end *e = calloc(1, sizeof *e);
    if (!e || pipe2(end, O_CLOEXEC) != 0) {
        free(e);
        return -1;
    }
    *e = (struct vmm_exported_end){
        .allocation = allocation, .writing = end[1], .next = memory_current->exported.first};
    struct epoll_event closed = {.data = {.ptr = e}}; /* EPOLLERR is always reported */
    if (epoll_ctl(vmm_export_ends(), EPOLL_CTL_ADD, e->writing, &closed) != 0) {
        close(end[0]);
        close(end[1]);
        free(e);
        return -1;
    }
    memory_current->exported.first = e;
    allocation->refs++;
    return end[0];
}

/* Only the node makes such pipes, and since it keeps its own end open, the inode is not reused. */
struct vmm_allocation *vmm_exported(int fd)
{
    struct stat asked, mine;
    if (fd < 0 || fd_info(fd, &asked) != 0)
        return NULL;
    for (const struct vmm_exported_end *e = memory_current->exported.first; e; e = e->next)
        if (fd_info(e->writing, &mine) == 0 && mine.st_dev == asked.st_dev &&
            mine.st_ino == asked.st_ino)
            return e->allocation;
    return NULL;
}

static void end_export(struct vmm_exported_end *gone)
{
    struct vmm_exported_end **at = &memory_current->exported.first;
    while (*at != gone)
        at = &(*at)->next;
    *at = gone->next;
    close(gone->writing);
    vmm_drop(gone->allocation);
    free(gone);
}

void vmm_export_reap(void)
{
    struct epoll_event closed;
    while (memory_current->exported.first &&
           epoll_wait(memory_current->exported.ends, &closed, 1, 0) == 1)
        end_export(closed.data.ptr);
}

bool vmm_export_any(void)
{
    return memory_current->exported.first != NULL;
}
