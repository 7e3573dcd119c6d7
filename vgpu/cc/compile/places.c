/* SPDX-License-Identifier: MIT
 * places.c: finds the installation's folders. The build gives VGPU_CC_INCLUDE, VGPU_CC_LIBRARY and
 * VGPU_CC_TOOLKIT: the folders in the source and build trees.
 */
#include "compile.h"

#include <libgen.h>
#include <stdlib.h>
#include <unistd.h>

#include "diag.h"
#include "mem.h"

/* The parent of the folder that this program is in. */
static const char *program_root(void)
{
    char *path = realpath("/proc/self/exe", NULL);

    return path != NULL ? dirname(dirname(path)) : "";
}

/* The folder with the file: below $VGPU_HOME, below this program's root, or `built`, which may be
 * null. Null if the file is in none of them. */
static const char *find_folder(const char *below, const char *file, const char *built)
{
    const char *home = getenv("VGPU_HOME"), *const root[] = {home, program_root()};

    for (int i = 0; i < 2; i++) {
        bool known = root[i] != NULL && *root[i] != 0;
        char *folder = known ? realpath(cc_format("%s/%s", root[i], below), NULL) : NULL;
        if (folder != NULL && access(cc_format("%s/%s", folder, file), R_OK) == 0)
            return folder;
    }
    return built != NULL && access(cc_format("%s/%s", built, file), R_OK) == 0 ? built : NULL;
}

bool cc_find_places(struct cc_places *places)
{
    places->include = find_folder("include", "vgpu/prelude.h", VGPU_CC_INCLUDE);
    places->library = find_folder("lib", "libvgpurt.a", VGPU_CC_LIBRARY);
    places->toolkit = find_folder("", "bin/nvcc", VGPU_CC_TOOLKIT);
    places->programs = find_folder("bin", "vgpu-node", NULL);
    if (places->library == NULL)
        places->library = VGPU_CC_LIBRARY; /* the linker will report what is missing */
    if (places->include == NULL)
        return cc_fail("cannot find the headers of the virtual node (vgpu/prelude.h) in "
                       "$VGPU_HOME, around this program or in '%s'; set VGPU_HOME to the "
                       "installation",
                       VGPU_CC_INCLUDE);
    return cc_find_cccl(program_root(), places);
}
