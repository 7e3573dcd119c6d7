/* SPDX-License-Identifier: MIT
 * ptx_module.h: a whole PTX module, while it is read.
 */
#ifndef VGPU_CC_PTX_MODULE_H
#define VGPU_CC_PTX_MODULE_H

#include "ptx.h"
#include "ptx_parts.h"

enum cc_ptx_space { CC_PTX_GLOBAL = 1, CC_PTX_SHARED = 3, CC_PTX_CONST = 4, CC_PTX_LOCAL = 5 };

struct cc_ptx_file {
    int number;
    const char *path;
    LLVMMetadataRef node; /* null: not made yet */
};

struct cc_ptx_module {
    struct cc_lowering *l;
    const char *at;      /* the rest of the text */
    const char *counted; /* lines up to here are counted */
    int line;
    struct cc_ptx_file *file; /* those of .file, and the PTX file itself, number 0 */
    size_t files, file_room;
    LLVMDIBuilderRef info;
};

struct cc_ptx_param {
    const char *name;
    unsigned bits, align; /* bits 0: bytes */
    uint64_t bytes;
    bool is_register;
};

struct cc_ptx_signature {
    const char *name;
    struct cc_ptx_param *param;
    unsigned params;
    struct cc_ptx_param result;
    bool has_result, is_kernel;
    uint64_t threads;    /* .maxntid, .reqntid; 0: not given */
    uint64_t cluster[3]; /* .reqnctapercluster; 0: not given */
};

#define CC_PTX_NOT_KNOWN "PTX that the virtual node does not know"
#define CC_PTX_TWICE "the second definition of this name in the module"

/* ---- ptx_words.c ---- */

/* The next word, on whatever line; "" at the end of the text. */
const char *cc_ptx_next(struct cc_ptx_module *m);
/* The same without taking it. */
const char *cc_ptx_peek(struct cc_ptx_module *m);
/* Takes the word if it is next. */
bool cc_ptx_take(struct cc_ptx_module *m, const char *word);
void cc_ptx_skip_past(struct cc_ptx_module *m, const char *word);
/* Where the next word is in the PTX file. */
struct cc_place cc_ptx_here(struct cc_ptx_module *m);
/* Reports that the text from `from` to the end of the statement is not known; false. */
bool cc_ptx_refuse(struct cc_ptx_module *m, struct cc_place place, const char *from,
                   const char *why);

/* ---- ptx_variable.c ---- */

/* Reads a variable's declaration behind its state space up to the semicolon; null: it was refused.
 * In .local space (`entry` not null) it is on the stack. */
LLVMValueRef cc_ptx_variable(struct cc_ptx_module *m, enum cc_ptx_space space, bool external,
                             LLVMBuilderRef entry, const char **name);
/* Strings and tables of the compiler: nothing else has their names, and nothing writes to them. */
bool cc_ptx_is_compilers(const char *name);

/* ---- ptx_signature.c ---- */

/* Reads "(.param .b32 r) name (.param .b64 a, ...)" and the directives behind it. */
bool cc_ptx_read_signature(struct cc_ptx_module *m, struct cc_ptx_signature *signature);
/* Reads the parameter's declaration behind .param or .reg. */
bool cc_ptx_read_param(struct cc_ptx_module *m, struct cc_ptx_param *param);
/* The type as which a parameter is passed between functions, and stored. */
LLVMTypeRef cc_ptx_param_type(struct cc_lowering *l, const struct cc_ptx_param *param);
LLVMTypeRef cc_ptx_function_type(struct cc_lowering *l, const struct cc_ptx_signature *signature);
/* The function, declared if necessary. */
LLVMValueRef cc_ptx_declare_function(struct cc_lowering *l,
                                     const struct cc_ptx_signature *signature);

/* ---- ptx_function.c ---- */

/* Reads the function's body behind its opening brace. */
bool cc_ptx_read_body(struct cc_ptx_module *m, const struct cc_ptx_signature *signature,
                      LLVMValueRef function);

/* ---- ptx_lines.c ---- */

/* Finds the files that .file names. */
void cc_ptx_find_files(struct cc_ptx_module *m, const char *text);
/* Gives the function a place: that of its first .loc, or of its own line in the PTX file. */
LLVMMetadataRef cc_ptx_place_function(struct cc_ptx_module *m, LLVMValueRef function,
                                      const char *name);
/* The location in the function. */
LLVMMetadataRef cc_ptx_location(struct cc_ptx_module *m, LLVMMetadataRef function, int file,
                                unsigned line, unsigned column);
struct cc_place cc_ptx_source_place(struct cc_ptx_module *m, int file, int line, int column);
void cc_ptx_end_lines(struct cc_ptx_module *m);
/* "1 7 40" behind .loc. */
bool cc_ptx_read_loc(const char *at, int *file, unsigned *line, unsigned *column);

/* ---- ptx_pointers.c ---- */

/* Makes pointers of addresses, in all functions. */
bool cc_ptx_make_pointers(struct cc_lowering *l);

/* ---- ptx_shuffle.c ---- */

/* Makes a shuffle that CUDA has, too, of one that PTX alone has, where the values are known. */
void cc_ptx_simplify_shuffle(struct cc_lowering *l, LLVMValueRef call);

#endif
