/* SPDX-License-Identifier: MIT
 * clang_commands.c: Clang's command lines, and the linker's for a device image.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "image.h"
#include "proc.h"

/* Clang would write into another file beside the output, and leave it there if it is killed; the
 * output itself is removed in any case. */
#define WRITES_IT "-fno-temp-file"

bool cc_keeps_lines(const struct cc_options *options)
{
    return !cc_has_word(&options->host, "-g0");
}

/* Adds those of the host's options that map paths in the program's text. */
static void add_prefix_maps(struct cc_list *command, const struct cc_list *host)
{
    for (size_t i = 0; i < host->count; i++)
        if (cc_starts(host->item[i], "-ffile-prefix-map=") ||
            cc_starts(host->item[i], "-fmacro-prefix-map="))
            cc_add(command, host->item[i]);
}

static void add_clang_side(struct cc_list *command, const struct cc_options *options,
                           enum cc_side side)
{
    if (side == CC_HOST_SIDE) {
        /* Not unrolled, since advice about a launch in a loop over GPUs needs a single call. */
        cc_add_words(command, "--cuda-host-only -fno-unroll-loops -fno-strict-return");
        cc_add_all(command, &options->host);
        /* A tail call has no line of its own: vgpu/api/core/caller.c. DWARF as of g++:
         * vgpu/common/dwarf_lines.c reads it. */
        cc_add_words(command, "-fno-optimize-sibling-calls -fdebug-default-version=4");
        return;
    }
    cc_add_words(command, "--cuda-device-only -emit-llvm -Xclang -disable-llvm-passes -O2 "
                          "-fno-strict-aliasing -ffp-contract=off -fno-finite-loops "
                          "-fno-delete-null-pointer-checks "
                          "-fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset "
                          "-Wno-builtin-macro-redefined -U__CUDA_ARCH__ -D__CUDA_ARCH__=900 "
                          "-U_FORTIFY_SOURCE");
    if (options->checks_indices) /* objects without reported accesses: local arrays, constants */
        cc_add_words(command, "-Xclang -fsanitize=array-bounds,object-size");
    if (options->device_debug)
        cc_add_words(command, "-g -Xclang -debug-info-kind=limited -Xclang -dwarf-version=4");
    else if (cc_keeps_lines(options))
        cc_add_words(command, "-g1 -Xclang -debug-info-kind=line-tables-only "
                              "-Xclang -dwarf-version=4");
    add_prefix_maps(command, &options->host);
}

/* ---- the host compiler's own folders ---- */

/* A compiler that searches no other folders than Clang. */
static bool is_plain(const char *compiler)
{
    const char *name = cc_base_name(compiler);

    return strstr(name, "g++") != NULL || strstr(name, "c++") == name ||
           strstr(name, "clang") != NULL;
}

static bool is_everybodys(const char *folder)
{
    return cc_starts(folder, "/usr/lib/gcc") || strcmp(folder, "/usr/local/include") == 0 ||
           strcmp(folder, "/usr/include") == 0 || cc_starts(folder, "/usr/include/");
}

/* -ccbin mpicxx: the folders in which such a compiler looks for headers. */
static void add_wrapper_folders(struct cc_list *command, const char *compiler)
{
    char line[4096];
    bool inside = false;
    FILE *said =
        is_plain(compiler)
            ? NULL
            : popen(cc_format("LC_ALL=C '%s' -E -x c++ -v /dev/null 2>&1", compiler), "re");

    while (said != NULL && fgets(line, sizeof line, said) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strstr(line, "search starts here") != NULL)
            inside = true;
        else if (cc_starts(line, "End of search"))
            inside = false;
        else if (inside && *line == ' ' && !is_everybodys(line + 1))
            cc_add_line(command, "-isystem %s", line + 1);
    }
    if (said != NULL)
        pclose(said);
}

void cc_add_language(struct cc_list *command, const struct cc_job *job)
{
    const struct cc_options *options = job->options;
    const char *std = options->std != NULL ? options->std : "gnu++17";

    /* CUDA's headers are C++11 */
    cc_add_line(command, "-std=%s", strcmp(std, "c++03") == 0 ? "c++11" : std);
    /* What Clang knows of a Toolkit stays away; its version chooses how a launch is compiled. */
    cc_add_words(command, "--cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_70 "
                          "-Xclang -target-sdk-version=11.5 -Wno-unknown-cuda-version "
                          "-Wno-unknown-warning-option -Wno-unused-command-line-argument "
                          "-Wno-ignored-optimization-argument");
    cc_add_words(command, "-D__CUDACC__ -D__NVCC__ -D__CUDACC_VER_MAJOR__=13 "
                          "-D__CUDACC_VER_MINOR__=0 -D__CUDACC_VER_BUILD__=88 "
                          "-D__CUDA_ARCH_LIST__=900");
    /* as nvcc: type traits use functions f(...) that are never called */
    cc_add_words(command, "-Xclang -fcuda-allow-variadic-functions");
    /* as nvcc: a constexpr function is the host's */
    cc_add_words(command, options->relaxed ? "-DVGPU_RELAXED_CONSTEXPR"
                                           : "-Xclang -fno-cuda-host-device-constexpr");
    cc_add_words(command, "-Wno-error=c++11-narrowing -Wno-register "
                          "-Wno-reserved-user-defined-literal"); /* as g++ */
    cc_add_line(command, "-isystem %s/vgpu/over", job->places.include);
    cc_add_headers_folders(command, job);
}

void cc_add_prelude(struct cc_list *command, const struct cc_job *job)
{
    cc_add_line(command, "-include %s/vgpu/prelude.h", job->places.include);
}

struct cc_list cc_clang_command(const struct cc_job *job, const char *clang, enum cc_side side,
                                enum cc_stage stage, const char *source, const char *output)
{
    const struct cc_options *options = job->options;
    struct cc_list command = {0};

    cc_add(&command, clang);
    cc_add(&command, stage == CC_TO_TEXT ? "-E" : stage == CC_TO_HEADER ? "-fsyntax-only" : "-c");
    cc_add_language(&command, job);
    add_clang_side(&command, options, side);
    if (options->rdc)
        cc_add(&command, "-fgpu-rdc");
    if (isatty(STDERR_FILENO))
        cc_add(&command, "-fcolor-diagnostics");
    if (stage == CC_TO_CODE || stage == CC_TO_TEXT)
        cc_add_prelude(&command, job);
    cc_add_all(&command, &options->common);
    add_wrapper_folders(&command, options->cxx);
    cc_add_all(&command, &options->warnings);
    cc_add_line(&command, "-x cuda %s", source);
    if (output != NULL)
        cc_add_line(&command, WRITES_IT " -o %s", output);
    return command;
}

struct cc_list cc_host_code_command(const struct cc_job *job, const char *clang,
                                    const char *bitcode, const char *object)
{
    struct cc_list command = {0};

    cc_add_line(&command, "%s -c -Wno-unused-command-line-argument", clang);
    cc_add_all(&command, &job->options->host);
    cc_add_line(&command, "-fno-optimize-sibling-calls -x ir %s " WRITES_IT " -o %s", bitcode,
                object);
    return command;
}

/* ---- the device image ---- */

/* __device__ variables get pages of their own, over which vgpu-exec maps device memory. */
static const char layout[] = "PHDRS {\n"
                             "  head PT_LOAD FILEHDR PHDRS FLAGS(4);\n"
                             "  text PT_LOAD FLAGS(5);\n"
                             "  constants PT_LOAD FLAGS(4);\n"
                             "  data PT_LOAD FLAGS(6);\n"
                             "  dynamic PT_DYNAMIC FLAGS(6);\n"
                             "  stack PT_GNU_STACK FLAGS(6);\n"
                             "}\n"
                             "SECTIONS {\n"
                             "  . = SIZEOF_HEADERS;\n"
                             "  .hash : { *(.hash) } :head\n"
                             "  .gnu.hash : { *(.gnu.hash) } :head\n"
                             "  .dynsym : { *(.dynsym) }\n"
                             "  .dynstr : { *(.dynstr) }\n"
                             "  .rela.dyn : { *(.rela.*) }\n"
                             "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                             "  .plt : { *(.plt) *(.iplt) } :text\n"
                             "  .plt.got : { *(.plt.got) }\n"
                             "  .plt.sec : { *(.plt.sec) }\n"
                             "  .text : { BYTE(0xcc) *(.text .text.*) } :text\n"
                             "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                             "  .rodata : { *(.rodata .rodata.*) } :constants\n"
                             "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                             "  .data.rel.ro : { *(.data.rel.ro .data.rel.ro.*) } :data\n"
                             "  .dynamic : { *(.dynamic) } :data :dynamic\n"
                             "  .got : { *(.got) *(.got.plt) } :data\n"
                             "  .data : { *(.data .data.*) }\n"
                             "  /DISCARD/ : { *(.note.* .comment) *(.eh_frame .eh_frame_hdr) }\n"
                             "  . = ALIGN(CONSTANT(MAXPAGESIZE));\n"
                             "  " VGPU_DEVICE_VAR_SECTION " : { *(" VGPU_DEVICE_VAR_SECTION
                             ") . = ALIGN(CONSTANT(MAXPAGESIZE)); }\n"
                             "  .bss : { *(.bss .bss.*) *(COMMON) }\n"
                             "}\n";

static const char exports[] = "{ global: vgpu_image_abi; vgpu_image_kernels; "
                              "vgpu_image_kernel_count; vgpu_image_vars; vgpu_image_var_count; "
                              "vgpu_image_second_stack; local: *; };\n";

bool cc_link_image(const struct cc_job *job, const char *object, const char *image)
{
    const char *script = cc_temp_path("clang.ld"), *names = cc_temp_path("clang.ver");
    struct cc_list command = {0};

    cc_add_line(&command,
                "%s -shared -nostdlib -Wl,-z,now -Wl,-z,norelro -Wl,-z,noexecstack "
                "-Wl,--build-id=none -Wl,--hash-style=gnu "
                "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset "
                "-Wl,-T,%s -Wl,--version-script=%s %s -lgcc -o %s",
                job->options->cxx, script, names, object, image);
    return cc_write_file(script, layout, strlen(layout)) &&
           cc_write_file(names, exports, strlen(exports)) && cc_run(&command) == 0;
}
