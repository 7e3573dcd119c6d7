/* SPDX-License-Identifier: MIT
 * places.c: finds the installation's folders. The build gives VGPU_CC_INCLUDE, VGPU_CC_LIBRARY and
 * VGPU_CC_TOOLKIT: the folders in the source and build trees.
 */
#include "compile.h"

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"
#include "mem.h"

static const char *parent_folder(const char *path)
{
    return dirname(cc_copy(path, strlen(path)));
}

static const char *program_folder(void)
{
    char path[PATH_MAX];

    return realpath("/proc/self/exe", path) != NULL ? parent_folder(path) : "";
}

/* The first folder that contains the file; null: none does. */
static const char *first_with(const char *const *folder, int count, const char *file)
{
    for (int i = 0; i < count; i++)
        if (folder[i] != NULL && access(cc_format("%s/%s", folder[i], file), R_OK) == 0)
            return folder[i];
    return NULL;
}

static const char *below(const char *home, const char *folder)
{
    return home != NULL && *home != 0 ? cc_format("%s/%s", home, folder) : NULL;
}

bool cc_find_places(struct cc_places *places)
{
    const char *home = getenv("VGPU_HOME"), *around = cc_format("%s/..", program_folder());
    const char *include[] = {below(home, "include"), below(around, "include"), VGPU_CC_INCLUDE};
    const char *library[] = {below(home, "lib"), below(around, "lib"), VGPU_CC_LIBRARY};
    const char *programs[] = {below(home, "bin"), program_folder()};
    const char *toolkit[] = {home, parent_folder(program_folder()), VGPU_CC_TOOLKIT};

    places->include = first_with(include, 3, "vgpu/prelude.h");
    places->library = first_with(library, 3, "libvgpurt.a");
    places->toolkit = first_with(toolkit, 3, "bin/nvcc");
    places->programs = first_with(programs, 2, "vgpu-node");
    if (places->library == NULL)
        places->library = VGPU_CC_LIBRARY; /* the linker will report what is missing */
    if (places->include == NULL)
        return cc_fail("cannot find the headers of the virtual node (vgpu/prelude.h) in "
                       "$VGPU_HOME, around this program or in '%s'; set VGPU_HOME to the "
                       "installation",
                       VGPU_CC_INCLUDE);
    return cc_find_cccl(around, places);
}
