/* SPDX-License-Identifier: MIT
 * compile.h: from files to objects and programs. What fails is reported, and ends the program.
 */
#ifndef VGPU_CC_COMPILE_H
#define VGPU_CC_COMPILE_H

#include "lowering.h"
#include "options.h"

/* The folders of the installation. */
struct cc_places {
    const char *include;  /* cuda_runtime.h and vgpu/prelude.h */
    const char *library;  /* libvgpurt.a */
    const char *toolkit;  /* with CUDA's layout: bin/nvcc, include, lib64; null: not known */
    const char *programs; /* vgpu-node; null: the runtime looks in the build folder */
    const char *cccl;     /* folder of thrust/, cub/, cuda/std/; null: no suitable one */
};

struct cc_job {
    const struct cc_options *options;
    struct cc_places places;
};

/* ---- places.c: where things are ---- */

/* Searches $VGPU_HOME, then folders relative to this program, then the build folder. */
void cc_find_places(struct cc_places *places);

/* A hint about CCCL if one of the compiler's messages says that a header of it is missing; else
 * null. */
const char *cc_cccl_hint(const char *said);

struct cc_clang {
    const char *path; /* clang++ */
    int release;      /* 14 */
};

enum { CC_CLANG_OLDEST = 14, CC_CLANG_NEWEST = 21 };

/* $VGPU_CLANG, else the compiler asked for if it is a Clang (-ccbin, VGPU_CXX), else clang++ or
 * clang++-NN in PATH. */
struct cc_clang cc_find_clang(const struct cc_job *job);

/* ---- commands.c: command lines of Clang, of the host's compiler and of the linker ---- */

/* One of the two passes over a .cu. */
enum cc_side { CC_HOST_SIDE, CC_DEVICE_SIDE };

/* What Clang generates from a .cu. */
enum cc_stage {
    CC_TO_CODE,  /* an object, or bitcode */
    CC_TO_TEXT,  /* preprocessed, to be read; `output` null: to standard output */
    CC_TO_HEADER /* precompiled */
};

/* Clang would write into another file beside the output, and leave it there if it is killed; the
 * output itself is removed in any case. */
#define CC_WRITES_IT "-fno-temp-file"

/* `header`: the precompiled prelude; null: it is read, or it is the source (CC_TO_HEADER). */
struct cc_list cc_clang_command(const struct cc_job *job, enum cc_side side, enum cc_stage stage,
                                const char *header, const char *source, const char *output);
/* Whether device code has line information: unless -g0. */
bool cc_keeps_lines(const struct cc_options *options);
/* What both sides are read with: CUDA's language, its macros, the folder of our headers. */
void cc_add_language(struct cc_list *command, const struct cc_job *job);
void cc_add_prelude(struct cc_list *command, const struct cc_job *job);
/* -MD and its like, for `object`. */
void cc_add_deps(const struct cc_job *job, struct cc_list *command, const char *source,
                 const char *object);
/* Of the host's compiler; `object` null: to preprocessed text. */
struct cc_list cc_plain_command(const struct cc_job *job, const struct cc_input *input,
                                const char *object);
struct cc_list cc_link_command(const struct cc_job *job, const struct cc_list *objects);

/* ---- compile_cuda.c, merge.c, rewrite.c ---- */

/* Compiles a .cu to an object. `number`: of the intermediate files. */
void cc_compile_cuda(const struct cc_job *job, const char *source, const char *object, int number);

/* The host pass's messages, then those that only the device pass reports, which are about device
 * code. Messages are not changed. */
const char *cc_merge_messages(const char *host, const char *device);

/* Changes what the messages refuse, in new copies or in those that they are about. `copies`:
 * "file;copy" each, as for -remap-file; `name`: of new copies; `warns`: about __shared__ variables.
 * False: there is nothing to change. */
bool cc_rewrite(struct cc_list *copies, const char *said, const char *name, bool warns);
/* The text with a change for one message, which is about this place in it; null: none is known. */
const char *cc_rewrite_at(const char *text, int line, int column, const char *message);

/* ---- precompiled.c ---- */

/* --precompile FOLDER: precompiles the prelude for all later files that have the same options. */
void cc_precompile(const struct cc_job *job);
/* The precompiled prelude for Clang's command; null: there is none. */
const char *cc_precompiled(const struct cc_job *job, enum cc_side side);
/* Whether Clang rejected the precompiled header: compile again without it. */
bool cc_is_misfit(const char *said);

/* ---- build_image.c ---- */

/* Compiles bitcode to the record of fatbin.h that the host's object includes. `name`: of
 * intermediate files. False: errors were reported. */
bool cc_build_image(const struct cc_job *job, struct cc_bitcode *file, size_t count,
                    const char *name, struct cc_device_code *code, struct cc_text *fatbin);
/* -fatbin and its like: writes the record. */
void cc_write_module(const struct cc_job *job, const char *object, const struct cc_text *fatbin);
/* Compiles a PTX file to a module. */
void cc_compile_ptx(const struct cc_job *job, const char *source, const char *object, int number);

/* ---- device_link.c: -rdc=true ---- */

/* "sum_cu_0123456789abcdef": an identifier that no other object has. */
const char *cc_unit_name(const struct cc_job *job, const char *source);
/* Writes the unit's name, which Clang includes in place of an image. */
void cc_write_unit(const char *path, const char *unit);
/* Tells objcopy to add the file's bitcode to the object; `path`: of an intermediate file. */
void cc_add_part(const char *object, const struct cc_bitcode *file, const char *path,
                 struct cc_list *objcopy);
/* Links the device code of those objects and archives that were compiled with -rdc=true and are not
 * linked yet, to the object `object`. False: there was none, and no object is asked for. */
bool cc_device_link(const struct cc_job *job, const struct cc_list *objects, const char *object);

/* ---- tools.c: output for other programs ---- */

/* Prints the toolkit's folders: lines `#$ TOP=folder`, PATH, INCLUDES, LIBRARIES. CMake reads
 * them. */
void cc_show_places(const struct cc_places *places);
/* Prints the link that follows, as a command with which a user (or CMake) can link the same
 * objects. */
void cc_show_link(const struct cc_job *job, const struct cc_list *objects);
/* --clangd. False: it cannot be written. */
bool cc_print_clangd(const struct cc_job *job);

#endif
