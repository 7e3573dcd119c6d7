/* SPDX-License-Identifier: MIT
 * ptx_parts.h: a PTX module divided into parts, which are translated one by one when something in
 * them is first used. A part is some kernels, with all that they call and name. Kernels that name
 * the same variable of a module, of which there is only one, are in one part.
 */
#ifndef VGPU_CC_PTX_PARTS_H
#define VGPU_CC_PTX_PARTS_H

#include <stddef.h>

enum {
    CC_PTX_PARTS_MAX = 128, /* of a module: each is a device image, of which a program has at most
                               MAX_MODULES (vgpu/node/graph/door/process.h) */
    CC_PTX_PARTS_FEW = 4    /* one run of vgpu-cc for so many takes less time than one for each */
};

struct cc_ptx_parts;

/* nvcc_fatbin.c: the PTX for the newest architecture, if this is nvcc's container of device code,
 * or else the data itself. Null, after a message, if the container has none. */
const char *cc_ptx_text(const char *data, size_t bytes);

/* Divides the module. One that cannot be divided is one part. */
struct cc_ptx_parts *cc_ptx_divide(const char *text);
unsigned cc_ptx_part_count(const struct cc_ptx_parts *parts);
/* The part with the kernel or the variable. */
unsigned cc_ptx_part_of(const struct cc_ptx_parts *parts, const char *symbol);
/* The module's text in which the part alone is left; lines keep their numbers. */
const char *cc_ptx_part_text(const struct cc_ptx_parts *parts, unsigned part);

#endif
