/* SPDX-License-Identifier: MIT
 * editor.c: vgpu-cc --clangd prints a `.clangd` file, with which clangd parses .cu files as vgpu-cc
 * does, so that an editor marks exactly what the compiler would reject.
 */
#include <stdio.h>

#include "compile.h"

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

    cc_add_words(&flags, "-xcuda --cuda-host-only");
    cc_add_language(&flags, job);
    cc_add_prelude(&flags, job);
    cc_add_all(&flags, &job->options->common);
    cc_add_all(&flags, &job->options->warnings);
    fputs(head, stdout);
    for (size_t i = 0; i < flags.count; i++)
        print_flag(flags.item[i]);
    return fflush(stdout) == 0;
}
