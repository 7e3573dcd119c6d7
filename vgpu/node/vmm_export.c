/* SPDX-License-Identifier: MIT
 * vmm_export.c: see vmm_export.h.
 */
#define _GNU_SOURCE
#include "vmm_export.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vmm.h"

struct export
{
    struct vmm_allocation *allocation;
    int writing; /* the node's end; nothing is ever written */
    struct export *next;
};

static struct export *exports;

int vmm_export(struct vmm_allocation *allocation)
{
    int end[2];
    struct export *e = calloc(1, sizeof *e);
    if (!e || pipe2(end, O_CLOEXEC) != 0) {
        free(e);
        return -1;
    }
    *e = (struct export){.allocation = allocation, .writing = end[1], .next = exports};
    exports = e;
    allocation->refs++;
    return end[0];
}

/* Nobody but the node makes such pipes, and its own end keeps the inode from being used anew. */
struct vmm_allocation *vmm_exported(int fd)
{
    struct stat asked, mine;
    if (fd < 0 || fstat(fd, &asked) != 0)
        return NULL;
    for (const struct export *e = exports; e; e = e->next)
        if (fstat(e->writing, &mine) == 0 && mine.st_dev == asked.st_dev &&
            mine.st_ino == asked.st_ino)
            return e->allocation;
    return NULL;
}

int vmm_export_poll(struct pollfd *polled, int room)
{
    int n = 0;
    for (const struct export *e = exports; e && n < room; e = e->next)
        polled[n++] = (struct pollfd){.fd = e->writing}; /* POLLERR needs no asking */
    return n;
}

static bool is_closed(const struct export *e)
{
    struct pollfd p = {.fd = e->writing};
    return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

void vmm_export_reap(void)
{
    for (struct export **at = &exports; *at;) {
        struct export *e = *at;
        if (!is_closed(e)) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        close(e->writing);
        vmm_drop(e->allocation);
        free(e);
    }
}

bool vmm_export_any(void)
{
    return exports != NULL;
}
