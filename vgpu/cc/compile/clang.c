/* SPDX-License-Identifier: MIT
 * clang.c: finds the Clang that compiles .cu files.
 */
#include "compile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"
#include "mem.h"

/* The program in PATH; null if it is not there. */
static const char *in_path(const char *name)
{
    const char *at = getenv("PATH");

    if (strchr(name, '/') != NULL)
        return access(name, X_OK) == 0 ? name : NULL;
    while (at != NULL && *at != 0) {
        size_t length = strcspn(at, ":");
        const char *path = cc_format("%.*s/%s", (int)length, at, name);
        if (access(path, X_OK) == 0)
            return path;
        at += length + (at[length] == ':');
    }
    return NULL;
}

/* Debian and Ubuntu install releases side by side in /usr/lib/llvm-NN: the path shows the
 * release. */
static int release_by_place(const char *path)
{
    char real[PATH_MAX];
    const char *folder = realpath(path, real) != NULL ? strstr(real, "/llvm-") : NULL;

    return folder != NULL ? atoi(folder + strlen("/llvm-")) : 0;
}

static int release_by_asking(const char *path)
{
    FILE *said = popen(cc_format("'%s' -dumpversion 2>/dev/null", path), "re");
    int release = 0;

    if (said == NULL || fscanf(said, "%d", &release) != 1)
        release = 0;
    if (said != NULL)
        pclose(said);
    return release;
}

static bool take_clang(const char *name, struct cc_clang *clang)
{
    const char *path = in_path(name);

    if (path == NULL)
        return false;
    clang->path = path;
    clang->release = release_by_place(path);
    if (clang->release == 0)
        clang->release = release_by_asking(path);
    return clang->release >= CC_CLANG_OLDEST;
}

bool cc_find_clang(const char *asked, struct cc_clang *clang)
{
    const char *own = getenv("VGPU_CLANG");

    if (own != NULL && *own != 0 && take_clang(own, clang))
        return true;
    if (strstr(asked, "clang") != NULL && take_clang(asked, clang))
        return true;
    if (take_clang("clang++", clang))
        return true;
    for (int release = CC_CLANG_NEWEST; release >= CC_CLANG_OLDEST; release--)
        if (take_clang(cc_format("clang++-%d", release), clang))
            return true;
    return cc_fail("device code needs Clang %d or newer, and there is none in PATH; Debian and "
                   "Ubuntu have it in the package clang (or name one in VGPU_CLANG)",
                   CC_CLANG_OLDEST);
}
