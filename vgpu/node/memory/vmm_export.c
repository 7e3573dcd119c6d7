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

struct export
{
    struct vmm_allocation *allocation;
    int writing; /* the node's end; nothing is ever written */
    struct export *next;
};

static struct export *exports;
static int ends = -1; /* epoll: theirs */

int vmm_export_ends(void)
{
    if (ends < 0)
        ends = epoll_create1(EPOLL_CLOEXEC);
    return ends;
}

int vmm_export(struct vmm_allocation *allocation)
{
    int end[2];
    struct export *e = calloc(1, sizeof *e);
    if (!e || pipe2(end, O_CLOEXEC) != 0) {
        free(e);
        return -1;
    }
    *e = (struct export){.allocation = allocation, .writing = end[1], .next = exports};
    struct epoll_event closed = {.data = {.ptr = e}}; /* EPOLLERR needs no asking */
    if (epoll_ctl(vmm_export_ends(), EPOLL_CTL_ADD, e->writing, &closed) != 0) {
        close(end[0]);
        close(end[1]);
        free(e);
        return -1;
    }
    exports = e;
    allocation->refs++;
    return end[0];
}

/* Nobody but the node makes such pipes, and its own end keeps the inode from being used anew. */
struct vmm_allocation *vmm_exported(int fd)
{
    struct stat asked, mine;
    if (fd < 0 || fd_info(fd, &asked) != 0)
        return NULL;
    for (const struct export *e = exports; e; e = e->next)
        if (fd_info(e->writing, &mine) == 0 && mine.st_dev == asked.st_dev &&
            mine.st_ino == asked.st_ino)
            return e->allocation;
    return NULL;
}

static void let_go(struct export *gone)
{
    struct export **at = &exports;
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
    while (exports && epoll_wait(ends, &closed, 1, 0) == 1)
        let_go(closed.data.ptr);
}

bool vmm_export_any(void)
{
    return exports != NULL;
}
