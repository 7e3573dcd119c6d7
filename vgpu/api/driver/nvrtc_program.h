/* SPDX-License-Identifier: MIT
 * nvrtc_program.h: a program of NVRTC's; see nvrtc.c.
 */
#ifndef VGPU_NVRTC_PROGRAM_H
#define VGPU_NVRTC_PROGRAM_H

#include <nvrtc.h>
#include <stdbool.h>
#include <stddef.h>

struct file {
    char *name, *text;
};

struct _nvrtcProgram {
    struct file *file; /* the source, then its headers */
    int file_count;
    char **expression;
    int expression_count;
    char *folder; /* of the source, by its name: quoted headers are looked for there */
    bool compiled;
    char *log, *record, *text; /* null: none yet; text: the record as PTX */
    size_t record_bytes;
};

/* nvrtc_names.c: what follows the source, in memory that the caller frees: uses of what the name
 * expressions name, so that templates are compiled. NULL: no memory. */
char *vgpu__nvrtc_uses(const struct _nvrtcProgram *program, bool forced);

#endif
