/* SPDX-License-Identifier: MIT
 * device_code.h: a file's device code as Clang compiled it, and its kernels and variables.
 */
#ifndef VGPU_CC_DEVICE_CODE_H
#define VGPU_CC_DEVICE_CODE_H

#include <stdint.h>

#include "mem.h"

/* Whether blocks may run in any order although the kernel has atomics, and its parameters (bits) on
 * which that depends: struct vgpu_kernel. */
struct cc_sums {
    bool only;
    uint64_t summed, others;
};

struct cc_kernel {
    const char *symbol; /* mangled */
    const char *name;   /* for messages: "a::sum" */
    const char *file;
    uint32_t line, param_count, *param_bytes, threads, shared_bytes;
    uint32_t cluster[3]; /* __cluster_dims__; 0, 0, 0: not given */
    struct cc_sums sums;
    struct LLVMOpaqueValue *function;
    unsigned part; /* of a module whose parts are compiled later */
};

struct cc_variable { /* __device__ or __constant__ */
    const char *symbol;
    uint64_t bytes;
    unsigned part;
};

/* A __managed__ variable: the image has a mark (16 bytes) before its first value. The runtime
 * searches for the mark, and overwrites it with the variable's address. */
struct cc_managed {
    const char *symbol;
    uint64_t bytes, mark[2], value_at; /* value_at: offset from the start of the mark */
};

struct cc_device_code {
    struct cc_kernel *kernel;
    size_t kernel_count, kernel_capacity;
    struct cc_variable *variable;
    size_t variable_count, variable_capacity;
    struct cc_managed *managed;
    size_t managed_count, managed_capacity;
    bool names_managed; /* uses some, possibly another file's */
    unsigned parts;     /* that are compiled later; 0: there is an image */
};

/* A file's device code as Clang compiled it. */
struct cc_bitcode {
    const char *source; /* the file's name */
    const char *unit;   /* -rdc=true: an identifier that no other file has; else null */
    const char *data;
    size_t bytes;
    bool is_ptx;     /* PTX's text, or nvcc's container of it, in the place of bitcode */
    bool no_lambdas; /* device code must not contain lambdas of host functions */
    bool checks_indices;
    bool fast_math;
    bool debug; /* for debuggers: keeps every variable, optimizes nothing */
};

#endif
