/* SPDX-License-Identifier: MIT
 * fatbin.h: what vgpu-cc hands to Clang as a file's device code. Clang puts it into the host object
 * as it is and registers it from a constructor (__cudaRegisterFatBinary), as nvcc's objects do
 * theirs; the runtime finds the image in it, and what it must know about kernels.
 *
 * One record: this head, a row a kernel, then whatever the offsets lead to. Offsets count from the
 * head's first byte; texts are ended by a zero byte.
 */
#ifndef VGPU_FATBIN_H
#define VGPU_FATBIN_H

#include <stdint.h>

#define VGPU_FATBIN_MAGIC "vgpufat1"
#define VGPU_FATBIN_WRAPPER_MAGIC 0x466243b1 /* of CUDA's own wrapper around it */

struct vgpu_fatbin {
    char magic[8];
    uint64_t bytes;                   /* of the record, a multiple of 8 */
    uint64_t code_at, code_bytes;     /* the device image */
    uint32_t source_at, reserved;     /* the source file's name */
    uint32_t kernel_count, kernel_at; /* struct vgpu_fatbin_kernel */
    uint32_t var_count, var_at;       /* struct vgpu_fatbin_var */
};

#define VGPU_FATBIN_UNIT_MAGIC "vgpuunit"

/* -rdc=true: what Clang takes in instead. The device code is in the image of a device link, whose
 * record calls what is this file's alone "unit:symbol". */
struct vgpu_fatbin_unit {
    char magic[8];
    char name[120]; /* ended by a zero byte */
};

struct vgpu_fatbin_kernel {
    uint32_t symbol_at, name_at, file_at, line;
    uint32_t param_count, param_at; /* a uint32_t each: bytes */
    uint32_t threads, shared_bytes;
};

/* A __device__, __constant__ or __managed__ variable. */
struct vgpu_fatbin_var {
    uint32_t symbol_at, managed;
    uint64_t place_at; /* managed: in the image, where the variable's address is to stand */
    uint64_t value_at; /* managed: in the image, its first value */
    uint64_t bytes;
};

#endif
