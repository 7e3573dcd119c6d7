/* SPDX-License-Identifier: MIT
 * texture.h: what a texture or surface object refers to: a record in pinned host memory, whose
 * address is the object. The runtime writes it, and vgpu-exec reads it where a kernel uses the
 * object (exec/access/texture.c).
 */
#ifndef VGPU_TEXTURE_H
#define VGPU_TEXTURE_H

#include <stdint.h>

#define VGPU_TEXTURE_MAGIC 0x7e87u
#define VGPU_SURFACE_MAGIC 0x50facu

enum vgpu_texel_kind { VGPU_TEXEL_SIGNED, VGPU_TEXEL_UNSIGNED, VGPU_TEXEL_FLOAT };
/* cudaTextureAddressMode's values. */
enum vgpu_address_mode {
    VGPU_ADDRESS_WRAP,
    VGPU_ADDRESS_CLAMP,
    VGPU_ADDRESS_MIRROR,
    VGPU_ADDRESS_BORDER
};
/* cudaSurfaceBoundaryMode's values. */
enum vgpu_boundary_mode { VGPU_BOUNDARY_ZERO, VGPU_BOUNDARY_CLAMP, VGPU_BOUNDARY_TRAP };

struct vgpu_texture {
    uint32_t magic;
    uint32_t bits, channels; /* of a texel; bits of a channel */
    uint32_t kind;           /* enum vgpu_texel_kind */
    uint64_t texels;         /* address of the first one */
    uint64_t pitch, plane;   /* bytes from one row to the next, from one plane or layer */
    uint64_t width, height, depth;
    uint32_t address[3]; /* enum vgpu_address_mode */
    uint32_t linear;     /* filtered linearly */
    uint32_t normalized; /* coordinates from 0 to 1 */
    uint32_t to_float;   /* integers are read as numbers from 0 or -1 to 1 */
    float border[4];
};

/* How a kernel addresses texels; x, y, z are coordinates, `layer` an integer. */
enum vgpu_texture_shape {
    VGPU_TEXTURE_FETCH, /* tex1Dfetch: `layer` is the index */
    VGPU_TEXTURE_1D,
    VGPU_TEXTURE_2D,
    VGPU_TEXTURE_3D,
    VGPU_TEXTURE_1D_LAYERED,
    VGPU_TEXTURE_2D_LAYERED,
    VGPU_TEXTURE_CUBEMAP,
    VGPU_TEXTURE_CUBEMAP_LAYERED,
    VGPU_TEXTURE_GATHER /* `layer`: the channel */
};

/* What a kernel may ask of an object. */
enum vgpu_texture_query {
    VGPU_QUERY_WIDTH,
    VGPU_QUERY_HEIGHT,
    VGPU_QUERY_DEPTH,
    VGPU_QUERY_LAYERS,
    VGPU_QUERY_NORMALIZED
};

#endif
