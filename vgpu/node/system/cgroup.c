/* SPDX-License-Identifier: MIT
 * cgroup.c: see cgroup.h. In a container the path in /proc may be that of the host, which does not
 * exist here, so the root of the mounted hierarchy, which is then the container's own group, is
 * always checked.
 */
#include "cgroup.h"

#include <stdio.h>
#include <string.h>

#include "number.h"

enum { PATH_BYTES = 4096 };

/* "max", or in version 1 a number close to 2^63, means no limit. */
static uint64_t limit_in(const char *path)
{
    char text[32] = "";
    uint64_t bytes = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    if (fgets(text, sizeof text, file)) {
        text[strcspn(text, "\n")] = '\0';
        vgpu_number(text, 0, UINT64_MAX, &bytes);
    }
    fclose(file);
    return bytes;
}

/* The lowest limit of `group` and all groups above it; `group` is overwritten. */
static uint64_t least_limit(const char *root, const char *mount, char *group, const char *name)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        char path[2 * PATH_BYTES];
        snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, mount, group, name);
        uint64_t limit = limit_in(path);
        least = limit < least ? limit : least;
        char *slash = strrchr(group, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* True if the list of a line such as "4:cpu,memory:/group" contains the word. */
static bool has_controller(const char *list, const char *end, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at < end; at += strcspn(at, ",:") + 1)
        if (strcspn(at, ",:") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

uint64_t cgroup_memory_bytes(const char *root)
{
    char line[PATH_BYTES], path[PATH_BYTES];
    uint64_t least = UINT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        uint64_t limit = UINT64_MAX;
        if (group == list + 1)
            limit = least_limit(root, "", group + 1, "memory.max");
        else if (has_controller(list + 1, group, "memory"))
            limit = least_limit(root, "/memory", group + 1, "memory.limit_in_bytes");
        least = limit < least ? limit : least;
    }
    if (file)
        fclose(file);
    return least;
}
