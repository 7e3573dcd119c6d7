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
