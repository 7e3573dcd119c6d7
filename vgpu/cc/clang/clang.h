/* SPDX-License-Identifier: MIT
 * clang.h: which Clang compiles .cu files.
 */
#ifndef VGPU_CC_CLANG_H
#define VGPU_CC_CLANG_H

#include "compile.h"
#include "part.h"

struct cc_clang {
    const char *path; /* clang++ */
    int release;      /* 14 */
};

enum { CC_CLANG_OLDEST = 14, CC_CLANG_NEWEST = 19 };

/* VGPU_FRONT=gcc asks for the front end of our own, which goes. */
bool cc_wants_clang(void);

/* compile_clang.c: a .cu to an object, as cc_compile_cuda. */
bool cc_compile_with_clang(const struct cc_job *job, const char *source, const char *object,
                           int number);

/* What a command of Clang's is to make of a .cu. */
enum cc_stage {
    CC_TO_CODE,       /* an object, or bitcode */
    CC_TO_TEXT,       /* preprocessed, for people; `output` null: to standard output */
    CC_TO_WHOLE_TEXT, /* with its headers, and all macros as they are: what rewrite.h changes */
    CC_FROM_WHOLE_TEXT
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

/* editor.c: --clangd. False: it cannot be written. */
bool cc_print_clangd(const struct cc_job *job);

/* ---- link_parts.c: -rdc=true ---- */

struct cc_bitcode;

/* "sum_cu_0123456789abcdef": tells the object from all others. */
const char *cc_unit_name(const struct cc_job *job, const char *source);
/* What Clang takes in as device code in place of an image. */
bool cc_write_unit(const char *path, const char *unit);
/* The object gets the file's bitcode; `path`: of an intermediate file. */
bool cc_add_part(const char *object, const struct cc_bitcode *file, const char *path);

/* Are the parts Clang's? */
bool cc_has_bitcode(const struct cc_parts *parts);
bool cc_link_parts(const struct cc_job *job, const struct cc_parts *parts, const char *object);

/* ---- host_variables.c ---- */

struct cc_device_code;

/* Runs the command, which makes the host's bitcode, and warns of __device__ variables that host
 * code reads or writes. */
bool cc_check_host_variables(const struct cc_clang *clang, const struct cc_list *compile,
                             const char *bitcode, const struct cc_device_code *code);

/* ---- host_stubs.c ---- */

/* Tells each kernel whose stub is in the host's object and that the device code does not have. The
 * command makes the host's bitcode, which says where that kernel stands. False: there was one. */
bool cc_check_stubs(const struct cc_clang *clang, const struct cc_list *compile,
                    const char *bitcode, const char *object, const struct cc_device_code *code);

/* ---- host_managed.c: __managed__ ---- */

/* The host code in `bitcode`, changed so that it finds __managed__ variables in managed memory,
 * goes to `changed`. */
bool cc_change_managed(const struct cc_clang *clang, const char *bitcode, const char *changed);

/* The compiler `asked` for if it is a Clang (-ccbin, VGPU_CXX), else $VGPU_CLANG, else clang++ or
 * clang++-NN in PATH. False: there is none that will do, which was said. */
bool cc_find_clang(const char *asked, struct cc_clang *clang);

#endif
