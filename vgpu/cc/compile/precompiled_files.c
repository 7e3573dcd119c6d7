/* SPDX-License-Identifier: MIT
 * precompiled_files.c: see precompiled.h.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "precompiled.h"

enum { FILES_KEPT = 32 }; /* 16 headers, some 80 MB, each with its names */

const char *cc_names_path(const char *header)
{
    return cc_format("%s.d", header);
}

/* ---- headers of the same name ---- */

static bool is_another(const char *folder, const char *name, const char *header)
{
    struct stat here, there;

    return stat(cc_format("%s/%s", folder, name), &here) == 0 &&
           (stat(header, &there) != 0 || here.st_dev != there.st_dev ||
            here.st_ino != there.st_ino);
}

/* A header is included by its name, or as bits/NAME. */
static bool hides(const char *folder, const char *header)
{
    const char *name = cc_base_name(header), *longer = name;

    if (longer - header > 1)
        for (longer--; longer > header && longer[-1] != '/';)
            longer--;
    return is_another(folder, name, header) || is_another(folder, longer, header);
}

bool cc_hides_header(const char *header, const struct cc_list *folders)
{
    size_t length = 0;
    char *rest = NULL, *names = cc_read_file(cc_names_path(header), &length);

    if (names == NULL)
        return true;
    strtok_r(names, " \\\n", &rest); /* the target */
    for (char *name; (name = strtok_r(NULL, " \\\n", &rest)) != NULL;)
        for (size_t i = 0; i < folders->count; i++)
            if (hides(folders->item[i], name))
                return true;
    return false;
}

/* ---- old ones ---- */

static int is_stored(const struct dirent *entry)
{
    return cc_starts(entry->d_name, "prelude-");
}

struct made {
    const char *path;
    struct timespec when;
};

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const struct made *)a)->when,
                          *y = &((const struct made *)b)->when;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? 1 : -1;
    return x->tv_nsec < y->tv_nsec ? 1 : x->tv_nsec > y->tv_nsec ? -1 : 0;
}

void cc_remove_old_headers(const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_stored, NULL);
    struct made *made = calloc(count > 0 ? (size_t)count : 1, sizeof *made);

    for (int i = 0; made != NULL && i < count; i++) {
        struct stat status = {0};
        made[i].path = cc_format("%s/%s", folder, entries[i]->d_name);
        if (stat(made[i].path, &status) == 0)
            made[i].when = status.st_mtim;
    }
    if (made != NULL && count > FILES_KEPT) {
        qsort(made, (size_t)count, sizeof *made, by_age);
        for (int i = FILES_KEPT; i < count; i++)
            unlink(made[i].path);
    }
    free(made);
    while (count > 0)
        free(entries[--count]);
    free(entries);
}
