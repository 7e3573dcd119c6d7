/* SPDX-License-Identifier: MIT
 * usage.c: see usage.h.
 */
#include "usage.h"

#include <stddef.h>
#include <sys/mman.h>

static struct vgpu_usage_page own_page, *page = &own_page;
static int program_count;

bool usage_start(int fd)
{
    void *at = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    page = at;
    return true;
}

struct vgpu_usage *usage_next(void)
{
    program_count += program_count < VGPU_USAGE_PROGRAMS - 1;
    return &page->program[program_count];
}

struct vgpu_usage *usage_of_newcomers(void)
{
    return &page->program[0];
}
