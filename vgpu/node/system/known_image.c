/* SPDX-License-Identifier: MIT
 * known_image.c: see known_image.h.
 */
#include "known_image.h"

#include "fd_info.h"
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t *image_list;
static size_t list_bytes;
static bool is_restricted;

static const uint8_t *map_file(int fd, size_t *bytes)
{
    struct stat file;
    if (fd_info(fd, &file) != 0)
        return NULL;
    *bytes = (size_t)file.st_size;
    if (*bytes == 0)
        return (const uint8_t *)"";
    void *at = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

bool known_images_read(char *error, size_t room)
{
    const char *path = getenv("VGPU_IMAGES");
    if (!path || !*path)
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    is_restricted = true;
    image_list = fd < 0 ? NULL : map_file(fd, &list_bytes);
    if (!image_list)
        snprintf(error, room, "cannot read VGPU_IMAGES=%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return image_list != NULL;
}

/* True if these bytes of the file are in an executable segment; also if the file is truncated. */
static bool is_code(const uint8_t *file, size_t bytes, size_t at)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    if (bytes < sizeof head)
        return true;
    memcpy(&head, file, sizeof head);
    if (head.e_phoff > bytes || head.e_phnum > (bytes - head.e_phoff) / sizeof part)
        return true;
    for (int i = 0; i < head.e_phnum; i++) {
        memcpy(&part, file + head.e_phoff + (size_t)i * sizeof part, sizeof part);
        if ((part.p_flags & PF_X) && at + 8 > part.p_offset &&
            (at < part.p_offset || at - part.p_offset < part.p_filesz))
            return true;
    }
    return false;
}

/* The runtime stores addresses at marks (api/work/modules.c), which are data. */
static bool is_same_image(const uint8_t *image, const uint8_t *known, size_t bytes)
{
    static const uint64_t mark = VGPU_MANAGED_MARK;
    for (size_t at = 0; at < bytes; at += 8) {
        size_t part = bytes - at < 8 ? bytes - at : 8;
        bool may_differ =
            part == 8 && memcmp(known + at, &mark, 8) == 0 && !is_code(known, bytes, at);
        if (!may_differ && memcmp(image + at, known + at, part) != 0)
            return false;
    }
    return true;
}

static bool is_listed(const uint8_t *image, size_t bytes)
{
    uint64_t length;
    for (size_t at = 0; list_bytes - at >= sizeof length; at += length) {
        memcpy(&length, image_list + at, sizeof length);
        at += sizeof length;
        if (length > list_bytes - at)
            return false;
        if (length == bytes && is_same_image(image, image_list + at, bytes))
            return true;
    }
    return false;
}

bool known_image(int fd)
{
    size_t bytes;
    if (!is_restricted)
        return true;
    const uint8_t *image = map_file(fd, &bytes);
    if (!image)
        return false;
    bool known = is_listed(image, bytes);
    if (bytes > 0)
        munmap((void *)image, bytes);
    return known;
}
