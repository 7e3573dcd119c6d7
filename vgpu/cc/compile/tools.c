/* SPDX-License-Identifier: MIT
 * tools.c: output that other programs read.
 *
 * --dryrun and -v print more than commands, in nvcc's form. CMake
 * (CMakeDetermineCUDACompiler.cmake) takes from it: TOP, the toolkit's folder; INCLUDES; the
 * architecture behind `-arch compute_`; and the line that holds what LIBRARIES says, whose first
 * word becomes the program that links. That is nvcc of this toolkit, so that a program which CMake
 * links gets what every program of vgpu-cc gets.
 *
 * --clangd prints a `.clangd` file, with which clangd parses .cu files as vgpu-cc does, so that an
 * editor marks exactly what the compiler would reject.
 */
#include <stdio.h>
#include <stdlib.h>

#include "compile.h"

void cc_show_places(const struct cc_places *places)
{
    const char *path = getenv("PATH"), *top = places->toolkit;

    if (top == NULL)
        return;
    fprintf(stderr, "#$ _HERE_=%s/bin\n#$ TOP=%s\n#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n", top,
            top, top);
    fprintf(stderr, "#$ PATH=%s/bin:%s\n", top, path != NULL ? path : "");
    fprintf(stderr, "#$ INCLUDES=\"-I%s/include\"\n#$ LIBRARIES=  \"-L%s/lib64\"\n", top, top);
    fputs("#$ DEVICE_FLAGS=-arch compute_90\n", stderr);
}

void cc_show_link(const struct cc_job *job, const struct cc_list *objects)
{
    const char *top = job->places.toolkit;

    if (top == NULL)
        return;
    fprintf(stderr, "#$ %s/bin/nvcc -o \"%s\"", top, cc_output_or(job->options, "a.out"));
    for (size_t i = 0; i < objects->count; i++)
        fprintf(stderr, " \"%s\"", objects->item[i]);
    fprintf(stderr, " \"-L%s/lib64\" -lcudadevrt -lcudart_static -lrt -lpthread -ldl\n", top);
}

static const char head[] =
    "# Made by vgpu-cc --clangd: clangd reads .cu files as vgpu-cc does.\n"
    "If:\n"
    "  PathMatch: .*\\.cuh?\n"
    "CompileFlags:\n"
    "  Compiler: clang++\n"
    "  # what nvcc takes and Clang does not, where a build system says how a file is compiled\n"
    "  Remove: [-x, -rdc=*, -dc, -G, -gencode*, --generate-code*, -arch=*, --gpu-architecture*,\n"
    "           -code=*, -ccbin*, --compiler-*, -Xcompiler*, -Xptxas*, -lineinfo, --options-file,\n"
    "           --expt-*, -expt-*, --extended-lambda, -extended-lambda, --default-stream*,\n"
    "           -forward-unknown-to-host-compiler, --use_fast_math, -use_fast_math]\n"
    "  Add:\n";

/* Prints a quoted YAML string. */
static void print_flag(const char *flag)
{
    fputs("    - '", stdout);
    for (; *flag != 0; flag++)
        fputs(*flag == '\'' ? "''" : (char[]){*flag, 0}, stdout);
    fputs("'\n", stdout);
}

bool cc_print_clangd(const struct cc_job *job)
{
    struct cc_list flags = {0};

    cc_add_line(&flags, "-xcuda --cuda-host-only");
    cc_add_language(&flags, job);
    cc_add_prelude(&flags, job);
    cc_add_all(&flags, &job->options->common);
    cc_add_all(&flags, &job->options->warnings);
    fputs(head, stdout);
    for (size_t i = 0; i < flags.count; i++)
        print_flag(flags.item[i]);
    return fflush(stdout) == 0;
}
