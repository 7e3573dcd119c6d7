/* SPDX-License-Identifier: MIT
 * passes.h: the two readings of a .cu file. Each takes the preprocessed source with its
 * declarations and edits it; what it edits in is explained by vgpu/include/vgpu/pass.h, which the
 * edited text includes.
 */
#ifndef VGPU_CC_PASSES_H
#define VGPU_CC_PASSES_H

#include "scan.h"

struct cc_pass {
    struct cc_source *source;
    struct cc_decls *decls;
    const char *module; /* the source file's name, the first part of every key */
    const char *unit;   /* -rdc=true: what tells this file from all others; else null */
};

/* The first part of the keys of variables: one of its own for each file of an image. */
const char *cc_module_key(const struct cc_pass *pass);

/* Is there anything for the device: kernels, __device__ functions or variables? */
bool cc_has_device_code(const struct cc_pass *pass);

/* Device: kernels get an entry, host functions a mark, __shared__ and __device__ variables their
 * places; what cannot work in device code is an error. Text to be put behind the source. */
const char *cc_device_pass(struct cc_pass *pass);

/* Host: kernels become stubs, __device__ functions declarations. Text to be put behind the
 * source. `has_image`: there is device code, so the module is registered. */
const char *cc_host_pass(struct cc_pass *pass, bool has_image);

/* ---- parts of the passes, a file each ---- */

/* shared.c: __shared__ declarations in device code. */
void cc_rewrite_shared(struct cc_pass *pass);

/* variable.c: the __device__ and __constant__ variables that can be named by host code. */
struct cc_device_var {
    const char *name; /* qualified: "::a::table" */
    int token;
};

struct cc_device_vars {
    struct cc_device_var *item;
    size_t count, capacity;
};

struct cc_device_vars cc_find_device_vars(const struct cc_pass *pass);
void cc_place_variables(struct cc_pass *pass);

/* managed.c: __managed__ variables become references to managed memory. */
void cc_place_managed(struct cc_pass *pass, bool host);

/* ptx.c: inline PTX that has a meaning here. `at`: at the word asm. */
bool cc_is_known_ptx(const struct cc_source *source, int at);
void cc_rewrite_ptx(struct cc_pass *pass);

/* rules.c: what the tokens alone show to be wrong. */
void cc_check_device_rules(const struct cc_pass *pass);
void cc_check_host_rules(const struct cc_pass *pass);

/* kernel.c */

/* "k", "a::k<T, N>": how other code in the same scope names the kernel, template arguments
 * included. `qualified`: from the global scope, "::a::k". */
const char *cc_kernel_name(const struct cc_pass *pass, const struct cc_decl *decl, bool qualified);

/* "typename T, int N" of the kernel's template header, without defaults. */
const char *cc_template_params(const struct cc_pass *pass, const struct cc_decl *decl);

bool cc_is_kernel(const struct cc_decl *decl);
bool cc_is_template(const struct cc_decl *decl);

/* A kernel with a body that can be compiled; what is wrong with it was said otherwise. */
bool cc_is_sound_kernel(const struct cc_pass *pass, const struct cc_decl *decl);

/* Deletes those of the words that stand among the specifiers of the declaration. */
void cc_delete_words(struct cc_pass *pass, const struct cc_decl *decl, unsigned words);

#endif
