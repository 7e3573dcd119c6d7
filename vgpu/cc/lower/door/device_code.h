/* SPDX-License-Identifier: MIT
 * device_code.h: what is made of Clang's bitcode: an object of device code, the record that the
 * host's object takes in, and changes to the host's own bitcode.
 */
#ifndef VGPU_CC_DEVICE_CODE_H
#define VGPU_CC_DEVICE_CODE_H

#include <stdint.h>

#include "mem.h"

struct cc_kernel {
    const char *symbol; /* mangled */
    const char *name;   /* as a person writes it: "a::sum" */
    const char *file;
    uint32_t line, param_count, *param_bytes, threads, shared_bytes;
    struct LLVMOpaqueValue *function;
};

struct cc_variable { /* __device__ or __constant__ */
    const char *symbol;
    uint64_t bytes;
};

/* A __managed__ variable: the image has a mark (16 bytes) in front of its first value. The runtime
 * finds it there, and puts the variable's address over the mark. */
struct cc_managed {
    const char *symbol;
    uint64_t bytes, mark[2], value_at; /* value_at: behind the mark's first byte */
};

struct cc_device_code {
    struct cc_kernel *kernel;
    size_t kernel_count, kernel_capacity;
    struct cc_variable *variable;
    size_t variable_count, variable_capacity;
    struct cc_managed *managed;
    size_t managed_count, managed_capacity;
    bool names_managed; /* there are some, be it another file's */
};

/* A file's device code as Clang made it. */
struct cc_bitcode {
    const char *source; /* the file's name */
    const char *unit;   /* -rdc=true: tells the file from all others; else null */
    const char *data;
    size_t bytes;
    bool no_lambdas; /* device code may have no lambdas of host functions */
    bool checks_indices;
    bool debug; /* for debuggers: every variable is kept, and nothing is optimized */
};

/* llvm.c: loads libLLVM of that release ("14") and initialises its code generator for this machine.
 * False: it is not there or lacks something, which was said. */
bool cc_load_llvm(int release);

/* Compiles the files together to `object`. `headers`: a file of our own headers; their folder is
 * none of the program's; null where no lines are kept. False: errors were told. */
bool cc_lower(const struct cc_bitcode *file, size_t count, const char *headers, const char *object,
              struct cc_device_code *code);

/* Finds what is wrong in a file whose code is to be linked to others' later. */
bool cc_check_bitcode(const struct cc_bitcode *file, struct cc_device_code *code);

/* ---- fatbin_file.c: the record of fatbin.h, as bytes ---- */

/* Of the image and what is known of it. False: it lacks something, which was said. */
bool cc_make_fatbin(const struct cc_device_code *code, const char *source, const char *data,
                    size_t bytes, struct cc_text *out);

/* Are there __managed__ variables? */
bool cc_fatbin_has_managed(const struct cc_text *fatbin);

/* ---- the host's code, as LLVM of that release reads it ---- */

/* host_variables.c: runs the command, which makes the host's bitcode, and warns of __device__
 * variables that host code reads or writes. */
bool cc_check_host_variables(int release, const struct cc_list *compile, const char *bitcode,
                             const struct cc_device_code *code);

/* host_stubs.c: tells each kernel whose stub is in the host's object and that the device code does
 * not have. The command makes the host's bitcode, which says where that kernel stands. False: there
 * was one. */
bool cc_check_stubs(int release, const struct cc_list *compile, const char *bitcode,
                    const char *object, const struct cc_device_code *code);

/* host_managed.c: the host code in `bitcode`, changed so that it finds __managed__ variables in
 * managed memory, goes to `changed`. */
bool cc_change_managed(int release, const char *bitcode, const char *changed);

#endif
