/* SPDX-License-Identifier: MIT
 * clang.h: which Clang compiles .cu files.
 */
#ifndef VGPU_CC_CLANG_H
#define VGPU_CC_CLANG_H

#include "compile.h"

struct cc_clang {
    const char *path; /* clang++ */
    int release;      /* 14 */
};

enum { CC_CLANG_OLDEST = 14, CC_CLANG_NEWEST = 19 };

/* Does $VGPU_FRONT ask for this front end? */
bool cc_wants_clang(void);

/* compile_clang.c: a .cu to an object, as cc_compile_cuda. */
bool cc_compile_with_clang(const struct cc_job *job, const char *source, const char *object,
                           int number);

/* clang_commands.c: for one side of a .cu. `output` null: the preprocessed text, to standard
 * output. */
struct cc_list cc_clang_command(const struct cc_job *job, const char *clang, enum cc_side side,
                                const char *source, const char *output);
/* The file that the host's object takes in as its device code. */
void cc_add_gpu_binary(struct cc_list *command, const char *path);
bool cc_link_image(const struct cc_job *job, const char *object, const char *image);

/* The compiler `asked` for if it is a Clang (-ccbin, VGPU_CXX), else $VGPU_CLANG, else clang++ or
 * clang++-NN in PATH. False: there is none that will do, which was said. */
bool cc_find_clang(const char *asked, struct cc_clang *clang);

#endif
