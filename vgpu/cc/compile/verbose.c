/* SPDX-License-Identifier: MIT
 * verbose.c: additional output of --dryrun and -v, in nvcc's form.
 *
 * CMake (CMakeDetermineCUDACompiler.cmake) takes from nvcc's output: TOP, the toolkit's folder;
 * INCLUDES; the architecture behind `-arch compute_`; and the line that holds what LIBRARIES says,
 * whose first word becomes the program that links. That is nvcc of this toolkit, so that a program
 * which CMake links gets what every program of vgpu-cc gets.
 */
#include <stdio.h>
#include <stdlib.h>

#include "compile.h"

static void show_libraries(const struct cc_places *places)
{
    fprintf(stderr, "\"-L%s/lib64\"", places->toolkit);
}

void cc_show_places(const struct cc_places *places)
{
    const char *path = getenv("PATH");

    if (places->toolkit == NULL)
        return;
    fprintf(stderr, "#$ _HERE_=%s/bin\n#$ TOP=%s\n", places->toolkit, places->toolkit);
    fprintf(stderr, "#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n", places->toolkit);
    fprintf(stderr, "#$ PATH=%s/bin:%s\n", places->toolkit, path != NULL ? path : "");
    fprintf(stderr, "#$ INCLUDES=\"-I%s/include\"\n#$ LIBRARIES=  ", places->toolkit);
    show_libraries(places);
    fprintf(stderr, "\n#$ DEVICE_FLAGS=-arch compute_90\n");
}

void cc_show_link(const struct cc_job *job, const struct cc_list *objects)
{
    const char *output = job->options->output != NULL ? job->options->output : "a.out";

    if (job->places.toolkit == NULL)
        return;
    fprintf(stderr, "#$ %s/bin/nvcc -o \"%s\"", job->places.toolkit, output);
    for (size_t i = 0; i < objects->count; i++)
        fprintf(stderr, " \"%s\"", objects->item[i]);
    fputc(' ', stderr);
    show_libraries(&job->places);
    fputs(" -lcudadevrt -lcudart_static -lrt -lpthread -ldl\n", stderr);
}
