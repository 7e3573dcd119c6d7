/* SPDX-License-Identifier: MIT
 * clang.h: which Clang compiles .cu files.
 */
#ifndef VGPU_CC_CLANG_H
#define VGPU_CC_CLANG_H

#include "compile.h"
#include "lowering.h"
#include "part.h"

struct cc_clang {
    const char *path; /* clang++ */
    int release;      /* 14 */
};

enum { CC_CLANG_OLDEST = 14, CC_CLANG_NEWEST = 19 };

/* What a command of Clang's is to make of a .cu. */
enum cc_stage {
    CC_TO_CODE,       /* an object, or bitcode */
    CC_WITH_HEADER,   /* the same, with a precompiled header in the place of the prelude */
    CC_TO_TEXT,       /* preprocessed, for people; `output` null: to standard output */
    CC_TO_WHOLE_TEXT, /* with its headers, and all macros as they are: what rewrite.h changes */
    CC_FROM_WHOLE_TEXT,
    CC_TO_HEADER /* precompiled */
};

/* clang_commands.c: for one side of a .cu. */
struct cc_list cc_clang_command(const struct cc_job *job, const char *clang, enum cc_side side,
                                enum cc_stage stage, const char *source, const char *output);
/* Device code has its lines, unless -g0 says otherwise. */
bool cc_keeps_lines(const struct cc_options *options);
/* What both sides are read with: CUDA's language, its macros, the folder of our headers. */
void cc_add_language(struct cc_list *command, const struct cc_job *job);
void cc_add_prelude(struct cc_list *command, const struct cc_job *job);
/* Host code that was changed, to an object. */
struct cc_list cc_host_code_command(const struct cc_job *job, const char *clang,
                                    const char *bitcode, const char *object);
/* The file that the host's object takes in as its device code. */
void cc_add_gpu_binary(struct cc_list *command, const char *path);
bool cc_link_image(const struct cc_job *job, const char *object, const char *image);

/* ---- precompiled.c ---- */

/* --precompile FOLDER: reads the prelude for all files that will be compiled. */
bool cc_precompile(const struct cc_job *job, const char *folder);
/* The precompiled header for these options; null where no file fits them. */
const char *cc_precompiled(const struct cc_job *job, int release, enum cc_side side);
/* Clang did not take it: compile again without. */
bool cc_is_misfit(const char *said);

/* editor.c: --clangd. False: it cannot be written. */
bool cc_print_clangd(const struct cc_job *job);

/* build_image.c: bitcode to the record of fatbin.h that the host's object takes in. `name`: of
 * intermediate files. */
bool cc_build_image(const struct cc_job *job, const struct cc_clang *clang,
                    const struct cc_bitcode *file, size_t count, const char *name,
                    struct cc_device_code *code, struct cc_text *fatbin);

/* ---- link_parts.c: -rdc=true ---- */

/* "sum_cu_0123456789abcdef": tells the object from all others. */
const char *cc_unit_name(const struct cc_job *job, const char *source);
/* What Clang takes in as device code in place of an image. */
bool cc_write_unit(const char *path, const char *unit);
/* The object gets the file's bitcode; `path`: of an intermediate file. */
bool cc_add_part(const char *object, const struct cc_bitcode *file, const char *path);

bool cc_link_parts(const struct cc_job *job, const struct cc_parts *parts, const char *object);

/* The compiler `asked` for if it is a Clang (-ccbin, VGPU_CXX), else $VGPU_CLANG, else clang++ or
 * clang++-NN in PATH. False: there is none that will do, which was said. */
bool cc_find_clang(const char *asked, struct cc_clang *clang);

#endif
