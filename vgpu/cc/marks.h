/* SPDX-License-Identifier: MIT
 * marks.h: what the compiler has made of the declarations, read from the marks in its assembly
 * (words.h and device_entry.h in vgpu/include/vgpu put them there), and the tables added to it.
 */
#ifndef VGPU_CC_MARKS_H
#define VGPU_CC_MARKS_H

#include <stdint.h>

#include "mem.h"

/* A kernel or an instance of a kernel template. */
struct cc_entry {
    int decl;           /* the declaration's id in the device pass */
    const char *symbol; /* of the kernel, the same in both passes */
    const char *call;   /* of the function that unpacks its arguments */
    uint32_t threads;
    uint32_t *param_bytes;
    uint32_t param_count, params_read;
    uint32_t shared_bytes; /* of the __shared__ variables in its own code */
};

/* A function that carries a mark: a host function in the device pass, a stub in the host pass. */
struct cc_marked {
    int decl;
    const char *symbol;
};

struct cc_marks {
    struct cc_entry *entry; /* in the order of their declarations: the image's table */
    size_t entry_count, entry_capacity;
    struct cc_marked *host, *stub;
    size_t host_count, host_capacity, stub_count, stub_capacity;
};

struct cc_marks cc_read_marks(const char *assembly);

/* What a person calls a kernel, and where it stands. */
struct cc_named {
    const char *name, *file;
    int line;
};

/* The image's table of kernels; name[i] belongs to entry[i]. */
void cc_put_image_table(struct cc_text *assembly, const struct cc_marks *marks,
                        const struct cc_named *name, const char *module);

/* The host object's: those kernels that have a stub here. */
void cc_put_host_table(struct cc_text *assembly, const struct cc_marks *image_marks,
                       const struct cc_marks *host_marks, const struct cc_named *name);

/* The symbol of a file's struct vgpu_image_part: `unit` tells files apart that share an image;
 * null: the file has its own. */
const char *cc_part_symbol(const char *unit);

/* The image in the file `image`, and behind it the parts in it. */
void cc_put_image(struct cc_text *assembly, const char *image, const char *name);
void cc_put_part(struct cc_text *assembly, const char *unit, uint64_t first_kernel);

#endif
