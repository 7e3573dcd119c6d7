/* SPDX-License-Identifier: MIT
 * device_link.c: links device code of several files to one image (-rdc=true).
 *
 * Each object contains its bitcode (part.h). The image of a link lies in an object of its own
 * (link_parts.c); without the device link the host's linker reports "undefined reference to
 * vgpu_device_link_of_...".
 */
#include <unistd.h>

#include "clang.h"
#include "compile.h"
#include "part.h"

/* The archive that the linker takes for -lNAME, if it is in one of the -L folders; else null. */
static const char *archive_of(const struct cc_options *options, const char *library)
{
    for (size_t i = 0; i < options->link.count; i++) {
        const char *folder = options->link.item[i];
        if (!cc_starts(folder, "-L"))
            continue;
        const char *archive = cc_format("%s/lib%s.a", folder + 2, library);
        if (access(cc_format("%s/lib%s.so", folder + 2, library), R_OK) == 0)
            return NULL;
        if (access(archive, R_OK) == 0)
            return archive;
    }
    return NULL;
}

static struct cc_parts collect(const struct cc_job *job, const struct cc_list *objects)
{
    struct cc_parts parts = {0};

    for (size_t i = 0; i < objects->count; i++) {
        const char *path = objects->item[i];
        if (cc_starts(path, "-l"))
            path = archive_of(job->options, path + 2);
        if (path != NULL && *path != '-')
            cc_collect_parts(path, &parts);
    }
    return parts;
}

/* The parts that no device link has linked. */
static struct cc_parts not_linked(const struct cc_parts *all)
{
    struct cc_parts left = {0};

    for (size_t i = 0; i < all->count; i++) {
        if (cc_has_word(&all->linked, all->item[i].unit))
            continue;
        left.item = cc_grow(left.item, left.count, &left.capacity, sizeof *left.item);
        left.item[left.count++] = all->item[i];
    }
    return left;
}

bool cc_device_link(const struct cc_job *job, const struct cc_list *objects, const char *object,
                    bool *made)
{
    struct cc_parts all = collect(job, objects), parts = not_linked(&all);

    *made = parts.count != 0;
    return (parts.count == 0 && job->options->action != CC_DEVICE_LINK) ||
           cc_link_parts(job, &parts, object);
}
