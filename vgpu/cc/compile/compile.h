/* SPDX-License-Identifier: MIT
 * compile.h: from files to objects and programs.
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

/* ---- places.c, cccl.c, clang.c: where things are ---- */

/* Searches $VGPU_HOME, then folders relative to this program, then the build folder. False: the
 * headers were not found, which was reported. */
bool cc_find_places(struct cc_places *places);

/* The folder of CCCL's headers: $VGPU_CCCL, the one that `./lab start --cccl` has installed, that
 * of an installed Toolkit; `root`: the parent of bin/. False: $VGPU_CCCL is invalid, which was
 * reported. */
bool cc_find_cccl(const char *root, struct cc_places *places);
/* A hint about CCCL if one of the compiler's messages says that a header of it is missing; else
 * null. */
const char *cc_cccl_hint(const char *said);

struct cc_clang {
    const char *path; /* clang++ */
    int release;      /* 14 */
};

enum { CC_CLANG_OLDEST = 14, CC_CLANG_NEWEST = 19 };

/* $VGPU_CLANG, else the compiler `asked` for if it is a Clang (-ccbin, VGPU_CXX), else clang++ or
 * clang++-NN in PATH. False: no suitable one, which was reported. */
bool cc_find_clang(const char *asked, struct cc_clang *clang);

/* ---- commands.c: command lines of the host's compiler and of the linker ---- */

/* -isystem: CUDA's headers, and CCCL's if they are there. */
void cc_add_headers_folders(struct cc_list *command, const struct cc_job *job);
/* -MD and its like, for `object`. */
void cc_add_deps(const struct cc_job *job, struct cc_list *command, const char *source,
                 const char *object);
struct cc_list cc_plain_command(const struct cc_job *job, const struct cc_input *input,
                                const char *object);
struct cc_list cc_link_command(const struct cc_job *job, const struct cc_list *objects);

/* ---- clang_commands.c: command lines of Clang ---- */

/* One of the two passes over a .cu. */
enum cc_side { CC_HOST_SIDE, CC_DEVICE_SIDE };

/* What Clang generates from a .cu. */
enum cc_stage {
    CC_TO_CODE,      /* an object, or bitcode */
    CC_WITH_PRELUDE, /* the same, with the prelude precompiled */
    CC_TO_TEXT,      /* preprocessed, to be read; `output` null: to standard output */
    CC_TO_HEADER     /* precompiled */
};

struct cc_list cc_clang_command(const struct cc_job *job, const char *clang, enum cc_side side,
                                enum cc_stage stage, const char *source, const char *output);
/* Whether device code has line information: unless -g0. */
bool cc_keeps_lines(const struct cc_options *options);
/* What both sides are read with: CUDA's language, its macros, the folder of our headers. */
void cc_add_language(struct cc_list *command, const struct cc_job *job);
void cc_add_prelude(struct cc_list *command, const struct cc_job *job);
/* Compiles changed host code to an object. */
struct cc_list cc_host_code_command(const struct cc_job *job, const char *clang,
                                    const char *bitcode, const char *object);
bool cc_link_image(const struct cc_job *job, const char *object, const char *image);

/* ---- compile_cuda.c, merge.c ---- */

/* Compiles a .cu to an object. `number`: of the intermediate files. False: errors were reported. */
bool cc_compile_cuda(const struct cc_job *job, const char *source, const char *object, int number);

/* The host pass's messages, then those that only the device pass reports, which are about device
 * code. Messages are not changed. */
const char *cc_merge_messages(const char *host, const char *device);

/* ---- precompiled.c ---- */

/* --precompile FOLDER: precompiles the prelude for all later files that have the same options. */
bool cc_precompile(const struct cc_job *job);
/* The precompiled header for Clang's command of the stage CC_WITH_PRELUDE; null: there is none. */
const char *cc_precompiled(const struct cc_job *job, int release, enum cc_side side,
                           const struct cc_list *command);
/* Whether Clang rejected the precompiled header: compile again without it. */
bool cc_is_misfit(const char *said);

/* ---- build_image.c ---- */

/* Compiles bitcode to the record of fatbin.h that the host's object includes. `name`: of
 * intermediate files. */
bool cc_build_image(const struct cc_job *job, const struct cc_clang *clang, struct cc_bitcode *file,
                    size_t count, const char *name, struct cc_device_code *code,
                    struct cc_text *fatbin);
/* -fatbin and its like: writes the record. */
bool cc_write_module(const struct cc_job *job, const char *object, const struct cc_text *fatbin);
/* Compiles a PTX file to a module. */
bool cc_compile_ptx(const struct cc_job *job, const char *source, const char *object, int number);

/* ---- device_link.c: -rdc=true ---- */

/* "sum_cu_0123456789abcdef": an identifier that no other object has. */
const char *cc_unit_name(const struct cc_job *job, const char *source);
/* Writes the unit's name, which Clang includes in place of an image. */
bool cc_write_unit(const char *path, const char *unit);
/* Tells objcopy to add the file's bitcode to the object; `path`: of an intermediate file. */
bool cc_add_part(const char *object, const struct cc_bitcode *file, const char *path,
                 struct cc_list *objcopy);
/* Links the device code of those objects and archives that were compiled with -rdc=true and are not
 * linked yet, to the object `object`. *made: whether there was any. */
bool cc_device_link(const struct cc_job *job, const struct cc_list *objects, const char *object,
                    bool *made);

/* ---- verbose.c, editor.c: output for other programs ---- */

/* Prints the toolkit's folders: lines `#$ TOP=folder`, PATH, INCLUDES, LIBRARIES. CMake reads
 * them. */
void cc_show_places(const struct cc_places *places);
/* Prints the link that follows, as a command with which a user (or CMake) can link the same
 * objects. */
void cc_show_link(const struct cc_job *job, const struct cc_list *objects);
/* --clangd. False: it cannot be written. */
bool cc_print_clangd(const struct cc_job *job);

#endif
