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
#include "compile.h"

/* THRUST_VERSION of the releases that work: tests/cc/test_cccl.py. */
enum { CCCL_OLDEST = 200500, CCCL_NEWEST = 300099 };

/* What is said of a CCCL that was found and does not work; null where none was found. */
static const char *misfit;

/* 200802 for 2.8.2; 0: there is no CCCL in the folder. */
static int version_in(const char *folder)
{
    static const char name[] = "#define THRUST_VERSION ";
    size_t bytes;
    const char *text = cc_read_file(cc_format("%s/thrust/version.h", folder), &bytes);
    const char *found = text != NULL ? strstr(text, name) : NULL;

    return found != NULL ? atoi(found + strlen(name)) : 0;
}

static const char *version_text(int version)
{
    return cc_format("%d.%d.%d", version / 100000, version / 100 % 1000, version % 100);
}

/* Why there is no CCCL in the folder that works; null: there is. */
static const char *fault_of(const char *folder)
{
    int version = version_in(folder);

    if (version == 0)
        return cc_format("there is no thrust/version.h in '%s'", folder);
    if (version < CCCL_OLDEST || version > CCCL_NEWEST)
        return cc_format("CCCL %s in '%s' does not work with the virtual node, %s to %s do",
                         version_text(version), folder, version_text(CCCL_OLDEST),
                         version_text(CCCL_NEWEST));
    if (access(cc_format("%s/cuda_runtime.h", folder), R_OK) == 0)
        return cc_format("'%s' holds CUDA's own headers, too: name a folder that holds CCCL alone",
                         folder);
    return NULL;
}

static const char *in_folder_of(const char *variable)
{
    const char *folder = getenv(variable);

    return cc_format("%s/include/cccl", folder != NULL ? folder : "");
}

bool cc_find_cccl(const char *root, struct cc_places *places)
{
    const char *asked = getenv("VGPU_CCCL");
    const char *const folder[] = {
        cc_format("%s/include/cccl", root),
        cc_format("%s/../cccl/nvidia/cuda_cccl/include", root), /* ./lab start --cccl */
        in_folder_of("CUDA_HOME"),
        in_folder_of("CUDA_PATH"),
        "/usr/local/cuda/include/cccl",
    };

    if (asked != NULL && strcmp(asked, "none") == 0)
        return true;
    if (asked != NULL && *asked != 0) {
        places->cccl = realpath(asked, NULL);
        return fault_of(asked) == NULL || cc_fail("%s (VGPU_CCCL)", fault_of(asked));
    }
    for (size_t i = 0; places->cccl == NULL && i < sizeof folder / sizeof *folder; i++)
        if (fault_of(folder[i]) == NULL)
            places->cccl = realpath(folder[i], NULL);
        else if (version_in(folder[i]) != 0)
            misfit = fault_of(folder[i]);
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
