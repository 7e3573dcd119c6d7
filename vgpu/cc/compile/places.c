/* SPDX-License-Identifier: MIT
 * places.c: where things are: the installation's folders, Clang, and the headers of CCCL (Thrust,
 * CUB, libcu++), which NVIDIA publishes apart from CUDA. The build gives VGPU_CC_INCLUDE,
 * VGPU_CC_LIBRARY and VGPU_CC_TOOLKIT: the folders in the source and build trees.
 */
#include <libgen.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "diag.h"
#include "proc.h"

static bool has_file(const char *folder, const char *name)
{
    return access(cc_format("%s/%s", folder, name), R_OK) == 0;
}

/* ---- CCCL ---- */

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
        return cc_format(
            "CCCL %s in '%s' does not work with the virtual node; versions %s to %s do",
            version_text(version), folder, version_text(CCCL_OLDEST), version_text(CCCL_NEWEST));
    if (has_file(folder, "cuda_runtime.h"))
        return cc_format("'%s' holds CUDA's own headers, too: name a folder that holds CCCL alone",
                         folder);
    return NULL;
}

/* The folder: $VGPU_CCCL, the one that `./lab start --cccl` has installed, that of an installed
 * Toolkit; `root`: the parent of bin/. Null: no suitable one. */
static const char *find_cccl(const char *root)
{
    const char *asked = getenv("VGPU_CCCL"), *home = getenv("CUDA_HOME"),
               *path = getenv("CUDA_PATH");
    const char *const folder[] = {
        cc_format("%s/include/cccl", root),
        cc_format("%s/../cccl/nvidia/cuda_cccl/include", root), /* ./lab start --cccl */
        cc_format("%s/include/cccl", home != NULL ? home : ""),
        cc_format("%s/include/cccl", path != NULL ? path : ""),
        "/usr/local/cuda/include/cccl",
    };

    if (asked != NULL && strcmp(asked, "none") == 0)
        return NULL;
    if (asked != NULL && *asked != 0 && fault_of(asked) != NULL)
        cc_fatal("%s (VGPU_CCCL)", fault_of(asked));
    if (asked != NULL && *asked != 0)
        return realpath(asked, NULL);
    for (size_t i = 0; i < sizeof folder / sizeof *folder; i++)
        if (fault_of(folder[i]) == NULL)
            return realpath(folder[i], NULL);
        else if (version_in(folder[i]) != 0)
            misfit = fault_of(folder[i]);
    return NULL;
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

/* ---- the installation ---- */

/* The folder with the file: below $VGPU_HOME, below this program's root, or `built`, which may be
 * null. Null if the file is in none of them. */
static const char *find_folder(const char *root, const char *below, const char *file,
                               const char *built)
{
    const char *home = getenv("VGPU_HOME"), *const roots[] = {home != NULL ? home : "", root};

    for (int i = 0; i < 2; i++) {
        const char *folder =
            *roots[i] != 0 ? realpath(cc_format("%s/%s", roots[i], below), NULL) : NULL;
        if (folder != NULL && has_file(folder, file))
            return folder;
    }
    return built != NULL && has_file(built, file) ? built : NULL;
}

void cc_find_places(struct cc_places *places)
{
    char *program = realpath("/proc/self/exe", NULL);
    const char *root = program != NULL ? dirname(dirname(program)) : "";

    places->include = find_folder(root, "include", "vgpu/prelude.h", VGPU_CC_INCLUDE);
    places->library = find_folder(root, "lib", "libvgpurt.a", VGPU_CC_LIBRARY);
    places->toolkit = find_folder(root, "", "bin/nvcc", VGPU_CC_TOOLKIT);
    places->programs = find_folder(root, "bin", "vgpu-node", NULL);
    places->cccl = find_cccl(root);
    if (places->library == NULL)
        places->library = VGPU_CC_LIBRARY; /* the linker will report what is missing */
    if (places->include == NULL)
        cc_fatal("cannot find the headers of the virtual node (vgpu/prelude.h) in $VGPU_HOME, "
                 "around this program or in '%s'; set VGPU_HOME to the installation",
                 VGPU_CC_INCLUDE);
}

/* ---- Clang ---- */

/* The program in PATH; null if it is not there. */
static const char *in_path(const char *name)
{
    const char *path = getenv("PATH");
    char *rest = NULL, *folders = cc_format("%s", path != NULL ? path : "");

    if (strchr(name, '/') != NULL)
        return access(name, X_OK) == 0 ? name : NULL;
    for (; (path = strtok_r(folders, ":", &rest)) != NULL; folders = NULL) {
        path = cc_format("%s/%s", path, name);
        if (access(path, X_OK) == 0)
            return path;
    }
    return NULL;
}

/* Debian and Ubuntu install releases side by side in /usr/lib/llvm-NN: the path shows the release.
 * Elsewhere the program is asked. */
static int clang_release(const char *path)
{
    const char *real = realpath(path, NULL), *folder = real != NULL ? strstr(real, "/llvm-") : NULL;
    int release = folder != NULL ? atoi(folder + strlen("/llvm-")) : 0;

    return release != 0 ? release
                        : atoi(cc_output_of(cc_format("'%s' -dumpversion 2>/dev/null", path)));
}

static bool take_clang(const char *name, struct cc_clang *clang)
{
    clang->path = in_path(name);
    clang->release = clang->path != NULL ? clang_release(clang->path) : 0;
    return clang->release >= CC_CLANG_OLDEST;
}

struct cc_clang cc_find_clang(const struct cc_job *job)
{
    static struct cc_clang clang; /* which was found before */
    const char *own = getenv("VGPU_CLANG"), *asked = job->options->cxx;

    if (clang.path != NULL || (own != NULL && *own != 0 && take_clang(own, &clang)) ||
        (strstr(asked, "clang") != NULL && take_clang(asked, &clang)) ||
        take_clang("clang++", &clang))
        return clang;
    for (int release = CC_CLANG_NEWEST; release >= CC_CLANG_OLDEST; release--)
        if (take_clang(cc_format("clang++-%d", release), &clang))
            return clang;
    cc_fatal("device code needs Clang %d or newer, and there is none in PATH; Debian and Ubuntu "
             "have it in the package clang (or name one in VGPU_CLANG)",
             CC_CLANG_OLDEST);
}
