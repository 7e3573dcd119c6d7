/* SPDX-License-Identifier: MIT
 * fatbin.h: the record that vgpu-cc gives Clang as the device code of a file. Clang embeds it in
 * the host object and generates a constructor that registers it (__cudaRegisterFatBinary), as nvcc
 * does with its own; the runtime reads from it the image and the properties of its kernels.
 *
 * The record consists of this header, a row for each kernel, and the data that the offsets refer
 * to. Offsets are relative to the header's first byte; strings end with a zero byte.
 */
#ifndef VGPU_FATBIN_H
#define VGPU_FATBIN_H

#include <stdint.h>

#define VGPU_FATBIN_MAGIC "vgpufat2"
#define VGPU_NVCC_FATBIN_MAGIC 0xba55ed50u   /* of nvcc's container of PTX and machine code */
#define VGPU_FATBIN_WRAPPER_MAGIC 0x466243b1 /* in CUDA's wrapper of the record */

struct vgpu_fatbin {
    char magic[8];
    uint64_t bytes;                   /* size of the record, a multiple of 8 */
    uint64_t code_at, code_bytes;     /* the device image */
    uint32_t source_at;               /* name of the source file */
    uint32_t parts;                   /* of PTX that are compiled when used; 0: there is an image */
    uint32_t kernel_count, kernel_at; /* struct vgpu_fatbin_kernel */
    uint32_t var_count, var_at;       /* struct vgpu_fatbin_var */
};

#define VGPU_FATBIN_UNIT_MAGIC "vgpuunit"

/* With -rdc=true, Clang embeds this record instead. The device code is in the image of a device
 * link, whose record names symbols local to this file "unit:symbol". */
struct vgpu_fatbin_unit {
    char magic[8];
    char name[120]; /* ends with a zero byte */
};

struct vgpu_fatbin_kernel {
    uint32_t symbol_at, name_at, file_at, line;
    uint32_t param_count, param_at; /* sizes of the parameters in bytes, a uint32_t each */
    uint32_t threads, shared_bytes;
    uint32_t cluster[3]; /* __cluster_dims__; 0: not given */
    uint32_t part;
};

/* A __device__, __constant__ or __managed__ variable. */
struct vgpu_fatbin_var {
    uint32_t symbol_at;
    uint16_t managed, part;
    uint64_t place_at; /* managed: offset in the image at which the variable's address is stored */
    uint64_t value_at; /* managed: offset of its initial value in the image */
    uint64_t bytes;
};

#endif
