/* SPDX-License-Identifier: MIT
 * device_link.c: device code of several files becomes one image (-rdc=true).
 *
 * Each object that was compiled so carries its device code along (part.h). Here those of a link are
 * put into one image, which lies in an object of its own with a struct vgpu_image_part for each:
 * the files' registrations name theirs, so a host link without the device link is told so by the
 * linker ("undefined reference to vgpu_device_link_of_...").
 */
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "clang.h"
#include "compile.h"
#include "diag.h"
#include "image_script.h"
#include "marks.h"
#include "part.h"
#include "proc.h"

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

/* Those that no device link has linked. */
static struct cc_parts not_linked(const struct cc_parts *all)
{
    struct cc_parts left = {0};

    for (size_t i = 0; i < all->count; i++) {
        if (cc_is_linked(all, all->item[i].unit))
            continue;
        left.item = cc_grow(left.item, left.count, &left.capacity, sizeof *left.item);
        left.item[left.count++] = all->item[i];
    }
    return left;
}

/* ---- the image ---- */

static bool write_objects(const struct cc_parts *parts, struct cc_list *paths)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct cc_part *part = &parts->item[i];
        const char *path = cc_temp_path(cc_format("linked-%s.o", part->unit));
        if (!cc_write_file(path, part->object, part->object_bytes)) {
            cc_fail("cannot write '%s': is the disk full?", path);
            return false;
        }
        cc_add(paths, path);
    }
    return true;
}

static bool check(const struct cc_parts *parts, const char *image)
{
    struct cc_symbols symbols;

    if (!cc_read_image(image, &symbols)) {
        cc_fail("the linker's device image '%s' cannot be read; is it GNU ld?", image);
        return false;
    }
    for (size_t i = 0; i < parts->count; i++)
        cc_check_link(&symbols, parts->item[i].wanted);
    cc_say_all();
    return cc_error_count() == 0;
}

static bool link_image(const struct cc_job *job, const struct cc_parts *parts, const char *image)
{
    struct cc_list objects = {0}, none = {0};

    if (!write_objects(parts, &objects) || !cc_write_image_scripts())
        return false;
    struct cc_list command = cc_image_command(job, &objects, &none, image);
    if (cc_run(&command) != 0) {
        cc_fail("the device code of these files cannot be linked together (-rdc=true); what two of "
                "them define may be static in each, or inline");
        return false;
    }
    return check(parts, image);
}

/* ---- its object ---- */

static void put_parts(struct cc_text *text, const struct cc_parts *parts)
{
    uint64_t kernels = 0;

    for (size_t i = 0; i < parts->count; i++) {
        cc_put_part(text, parts->item[i].unit, kernels);
        kernels += parts->item[i].kernels;
    }
    cc_puts(text, "\t.section " CC_LINKED_SECTION ",\"e\",%progbits\n");
    for (size_t i = 0; i < parts->count; i++)
        cc_putf(text, "\t.string %s\n", cc_quoted(parts->item[i].unit));
}

static bool make_object(const struct cc_job *job, const struct cc_parts *parts, const char *image,
                        const char *object)
{
    const char *path = cc_temp_path("linked.s");
    struct cc_text text = {0};

    cc_puts(&text, "\t.section .note.GNU-stack,\"\",%progbits\n");
    if (parts->count != 0) {
        cc_put_image(&text, image, parts->item[0].source);
        put_parts(&text, parts);
    }
    struct cc_list command = cc_assemble_command(job, path, object);
    return cc_write_file(path, text.data, text.length) && cc_run(&command) == 0;
}

bool cc_device_link(const struct cc_job *job, const struct cc_list *objects, const char *object,
                    bool *made)
{
    const char *image = cc_temp_path("linked.so");
    struct cc_parts all = collect(job, objects), parts = not_linked(&all);

    *made = parts.count != 0;
    if (cc_has_bitcode(&parts))
        return cc_link_parts(job, &parts, object);
    if (parts.count != 0 && !link_image(job, &parts, image))
        return false;
    bool wanted = parts.count != 0 || job->options->action == CC_DEVICE_LINK;
    return !wanted || make_object(job, &parts, image, object);
}
