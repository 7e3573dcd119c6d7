/* SPDX-License-Identifier: MIT
 * clang.h: which Clang compiles .cu files.
 */
#ifndef VGPU_CC_CLANG_H
#define VGPU_CC_CLANG_H

#include "compile.h"
#include "lowering.h"

struct cc_clang {
    const char *path; /* clang++ */
    int release;      /* 14 */
};

enum { CC_CLANG_OLDEST = 14, CC_CLANG_NEWEST = 19 };

/* What a Clang command generates from a .cu. */
enum cc_stage {
    CC_TO_CODE,      /* an object, or bitcode */
    CC_WITH_PRELUDE, /* the same, with the prelude precompiled */
    CC_TO_TEXT,      /* preprocessed, to be read; `output` null: to standard output */
    CC_TO_HEADER     /* precompiled */
};

/* clang_commands.c: for one side of a .cu. */
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

/* ---- precompiled.c ---- */

/* --precompile FOLDER: precompiles the prelude for all later files. */
bool cc_precompile(const struct cc_job *job);
/* The precompiled header for these options; null where no file fits them. */
const char *cc_precompiled(const struct cc_job *job, int release, enum cc_side side);
/* Whether Clang rejected the precompiled header: compile again without it. */
bool cc_is_misfit(const char *said);

/* merge.c: the host pass's messages, then those that only the device pass reports, which are about
 * device code. Messages are not changed. */
const char *cc_merge_messages(const char *host, const char *device);

/* editor.c: --clangd. False: it cannot be written. */
bool cc_print_clangd(const struct cc_job *job);

/* build_image.c: compiles bitcode to the record of fatbin.h that the host's object includes.
 * `name`: of intermediate files. */
bool cc_build_image(const struct cc_job *job, const struct cc_clang *clang, struct cc_bitcode *file,
                    size_t count, const char *name, struct cc_device_code *code,
                    struct cc_text *fatbin);

/* -fatbin and its like: writes the record. */
bool cc_write_module(const struct cc_job *job, const char *object, const struct cc_text *fatbin);

/* ---- device_link.c: -rdc=true ---- */

/* "sum_cu_0123456789abcdef": an identifier that no other object has. */
const char *cc_unit_name(const struct cc_job *job, const char *source);
/* Writes the unit's name, which Clang includes in place of an image. */
bool cc_write_unit(const char *path, const char *unit);
/* Tells objcopy to add the file's bitcode to the object; `path`: of an intermediate file. */
bool cc_add_part(const char *object, const struct cc_bitcode *file, const char *path,
                 struct cc_list *objcopy);

/* The compiler `asked` for if it is a Clang (-ccbin, VGPU_CXX), else $VGPU_CLANG, else clang++ or
 * clang++-NN in PATH. False: no suitable one, which was reported. */
bool cc_find_clang(const char *asked, struct cc_clang *clang);

#endif
