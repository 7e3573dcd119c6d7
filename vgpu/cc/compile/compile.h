/* SPDX-License-Identifier: MIT
 * compile.h: compiles and links files to objects and programs.
 */
#ifndef VGPU_CC_COMPILE_H
#define VGPU_CC_COMPILE_H

#include "options.h"
#include "places.h"

struct cc_job {
    const struct cc_options *options;
    struct cc_places places;
};

/* compile/compile_cuda.c: compiles a .cu to an object. `number`: of the intermediate files. False:
 * errors were reported. */
bool cc_compile_cuda(const struct cc_job *job, const char *source, const char *object, int number);

/* compile/build_image.c: compiles a PTX file to a module. */
bool cc_compile_ptx(const struct cc_job *job, const char *source, const char *object, int number);

/* device_link.c: links the device code of those objects and archives that were compiled with
 * -rdc=true and are not linked yet, to the object `object`. *made: whether there was any. */
bool cc_device_link(const struct cc_job *job, const struct cc_list *objects, const char *object,
                    bool *made);

/* ---- verbose.c: additional output of --dryrun and -v, in nvcc's form ---- */

/* Prints the toolkit's folders: lines `#$ TOP=folder`, PATH, INCLUDES, LIBRARIES. CMake reads
 * them. */
void cc_show_places(const struct cc_places *places);

/* Prints the link that follows, as a command with which a user (or CMake) can link the same
 * objects. */
void cc_show_link(const struct cc_job *job, const struct cc_list *objects);

/* ---- commands.c: command lines of the compiler ---- */

/* One of the two passes of Clang over a .cu. */
enum cc_side { CC_HOST_SIDE, CC_DEVICE_SIDE };

/* -isystem: CUDA's headers, and CCCL's if they are there. */
void cc_add_headers_folders(struct cc_list *command, const struct cc_job *job);

/* -MD and its like, for `object`. */
void cc_add_deps(const struct cc_job *job, struct cc_list *command, const char *source,
                 const char *object);

struct cc_list cc_plain_command(const struct cc_job *job, const struct cc_input *input,
                                const char *object);
struct cc_list cc_link_command(const struct cc_job *job, const struct cc_list *objects);

#endif
