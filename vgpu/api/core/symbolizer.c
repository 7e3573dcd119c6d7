/* SPDX-License-Identifier: MIT
 * symbolizer.c: translates an address in the program to "file:line". In texts of the node,
 * addresses are marked: \1 ADDRESS \2 is the return address of an allocating call, \3 ADDRESS \2
 * that of another call; only the program's process can look them up. Debug information is read when
 * a text is printed and not before, so a program without mistakes never pays for it.
 */
#include "core.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwarf_lines.h"

/* The loaded object (program or shared library) that contains an address. */
struct object {
    uint64_t address, base;
    char path[512];
    bool found;
};

static int object_holds(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct object *object = context;
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD ||
            object->address - info->dlpi_addr - part->p_vaddr >= part->p_memsz)
            continue;
        object->base = info->dlpi_addr;
        object->found = true;
        snprintf(object->path, sizeof object->path, "%s",
                 info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
        return 1;
    }
    return 0;
}

/* Opens the object that contains the call instruction before `address` and stores its offset there;
 * -1: no object contains it. */
static int open_object(uint64_t address, uint64_t *offset)
{
    struct object object = {.address = address - 1}; /* inside the call instruction, not after it */
    dl_iterate_phdr(object_holds, &object);
    *offset = object.address - object.base;
    return object.found ? open(object.path, O_RDONLY | O_CLOEXEC) : -1;
}

void vgpu__symbolize(uint64_t address, char *where, size_t room)
{
    uint64_t offset;
    int fd = open_object(address, &offset);
    where[0] = '\0';
    if (fd < 0)
        return;
    vgpu_lines_find(fd, offset, where, room);
    close(fd);
}

uint64_t vgpu__symbolize_path(uint64_t address, char *path, size_t room)
{
    uint64_t offset;
    int fd = open_object(address, &offset);
    path[0] = '\0';
    if (fd < 0)
        return 0;
    uint64_t line = vgpu_lines_path(fd, offset, path, room);
    close(fd);
    return line;
}

void vgpu__unmark(const char *text, char *out, size_t room)
{
    char where[160];
    size_t used = 0;
    while (*text && used + 1 < room) {
        char *end;
        bool allocated = *text == '\1', mark = allocated || *text == '\3';
        uint64_t address = mark ? strtoull(text + 1, &end, 16) : 0;
        if (!mark || *end != '\2') {
            out[used++] = *text++;
            continue;
        }
        vgpu__symbolize(address, where, sizeof where);
        if (where[0]) {
            int more = snprintf(out + used, room - used,
                                allocated ? " (allocated at %s)" : " at %s", where);
            used += more > 0 && (size_t)more < room - used ? (size_t)more : 0;
        }
        text = end + 1;
    }
    out[used] = '\0';
}
