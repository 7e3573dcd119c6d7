/* SPDX-License-Identifier: MIT
 * cccl.c: where the headers of CCCL are (Thrust, CUB, libcu++), which NVIDIA publishes apart from
 * CUDA.
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"
#include "mem.h"
#include "places.h"

/* THRUST_VERSION of the releases that work: tests/cc/test_cccl.py. */
enum { CCCL_OLDEST = 200500, CCCL_NEWEST = 300099 };

/* What is said of a CCCL of another version that was found; null where none was found. */
static const char *misfit;

static const char *version_text(int version)
{
    return cc_format("%d.%d.%d", version / 100000, version / 100 % 1000, version % 100);
}

static const char *misfit_text(int version, const char *folder)
{
    return cc_format("CCCL %s in '%s' does not work with the virtual node, %s to %s do",
                     version_text(version), folder, version_text(CCCL_OLDEST),
                     version_text(CCCL_NEWEST));
}

static bool is_taken(int version)
{
    return version >= CCCL_OLDEST && version <= CCCL_NEWEST;
}

/* 200802 for 2.8.2; 0: there is no CCCL in the folder. */
static int version_in(const char *folder)
{
    static const char name[] = "#define THRUST_VERSION ";
    size_t bytes;
    const char *text = cc_read_file(cc_format("%s/thrust/version.h", folder), &bytes);
    const char *found = text != NULL ? strstr(text, name) : NULL;

    return found != NULL ? atoi(found + strlen(name)) : 0;
}

/* Uses $VGPU_CCCL, or reports an error. */
static bool take_asked(const char *folder, struct cc_places *places)
{
    int version = version_in(folder);

    places->cccl = folder;
    if (version == 0)
        cc_fail("there is no thrust/version.h in '%s' (VGPU_CCCL)", folder);
    else if (!is_taken(version))
        cc_fail("%s (VGPU_CCCL)", misfit_text(version, folder));
    else if (access(cc_format("%s/cuda_runtime.h", folder), R_OK) == 0)
        cc_fail("'%s' (VGPU_CCCL) holds CUDA's own headers, too: it has to be CCCL's alone",
                folder);
    return cc_error_count() == 0;
}

static const char *in_folder_of(const char *variable, const char *rest)
{
    const char *folder = getenv(variable);

    return folder != NULL && *folder != 0 ? cc_format("%s/%s", folder, rest) : NULL;
}

bool cc_find_cccl(const char *around, struct cc_places *places)
{
    const char *asked = getenv("VGPU_CCCL");
    const char *const folder[] = {
        cc_format("%s/include/cccl", around),
        cc_format("%s/../cccl/nvidia/cuda_cccl/include", around), /* ./lab start --cccl */
        in_folder_of("CUDA_HOME", "include/cccl"),
        in_folder_of("CUDA_PATH", "include/cccl"),
        "/usr/local/cuda/include/cccl",
    };

    if (asked != NULL && *asked != 0)
        return strcmp(asked, "none") == 0 || take_asked(asked, places);
    for (size_t i = 0; places->cccl == NULL && i < sizeof folder / sizeof *folder; i++) {
        int version = folder[i] != NULL ? version_in(folder[i]) : 0;
        if (is_taken(version))
            places->cccl = folder[i];
        else if (version != 0)
            misfit = misfit_text(version, folder[i]);
    }
    return true;
}

const char *cc_cccl_hint(const char *said)
{
    regex_t missing;

    if (regcomp(&missing, "'(thrust/|cub/|cuda/|nv/target)[^']*' file not found",
                REG_EXTENDED | REG_NOSUB) != 0 ||
        regexec(&missing, said, 0, NULL, 0) != 0)
        return NULL;
    if (misfit != NULL)
        return cc_format("%s: ./lab start --cccl installs one", misfit);
    return "Thrust, CUB and libcu++ are NVIDIA's CCCL, which is not here: ./lab start --cccl "
           "installs it, or name its folder in VGPU_CCCL";
}
