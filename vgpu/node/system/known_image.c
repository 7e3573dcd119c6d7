/* SPDX-License-Identifier: MIT
 * known_image.c: see known_image.h.
 */
#include "known_image.h"

#include "fd_info.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t managed_mark = 0x9d27b1c4656e616du; /* vgpu/words.h */

static const uint8_t *list;
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
    list = fd < 0 ? NULL : map_file(fd, &list_bytes);
    if (!list)
        snprintf(error, room, "cannot read VGPU_IMAGES=%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return list != NULL;
}

/* The runtime puts an address in place of the mark (modules.c). */
static bool is_same(const uint8_t *image, const uint8_t *known, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 8) {
        size_t part = bytes - at < 8 ? bytes - at : 8;
        bool is_mark = part == 8 && memcmp(known + at, &managed_mark, 8) == 0;
        if (!is_mark && memcmp(image + at, known + at, part) != 0)
            return false;
    }
    return true;
}

static bool is_listed(const uint8_t *image, size_t bytes)
{
    uint64_t length;
    for (size_t at = 0; list_bytes - at >= sizeof length; at += length) {
        memcpy(&length, list + at, sizeof length);
        at += sizeof length;
        if (length > list_bytes - at)
            return false;
        if (length == bytes && is_same(image, list + at, bytes))
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
