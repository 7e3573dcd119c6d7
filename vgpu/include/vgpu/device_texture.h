/* SPDX-License-Identifier: MIT
 * device_texture.h: reads of textures, reads and writes of surfaces. Without mipmaps, levels and
 * gradients choose nothing.
 */
#ifndef VGPU_DEVICE_TEXTURE_H
#define VGPU_DEVICE_TEXTURE_H

#include "../surface_types.h"
#include "../texture_types.h"

/* ---- a texel's channels as a type ---- */

template <class T> VGPU_INLINE T vgpu_channel(uint32_t bits)
{
    return (T)bits;
}
template <> __device__ inline float vgpu_channel<float>(uint32_t bits)
{
    return __builtin_bit_cast(float, bits);
}

#define VGPU_TEXEL(type, scalar, ...)                                                              \
    VGPU_INLINE void vgpu_texel(type *to, const uint32_t *from)                                    \
    {                                                                                              \
        typedef scalar part;                                                                       \
        *to = type __VA_ARGS__;                                                                    \
    }
#define VGPU_PART(i) vgpu_channel<part>(from[i])
#define VGPU_TEXELS(scalar, name)                                                                  \
    VGPU_TEXEL(name##1, scalar, {VGPU_PART(0)})                                                    \
    VGPU_TEXEL(name##2, scalar, {VGPU_PART(0), VGPU_PART(1)})                                      \
    VGPU_TEXEL(name##4, scalar, {VGPU_PART(0), VGPU_PART(1), VGPU_PART(2), VGPU_PART(3)})
#define VGPU_SCALAR_TEXEL(scalar)                                                                  \
    VGPU_INLINE void vgpu_texel(scalar *to, const uint32_t *from)                                  \
    {                                                                                              \
        *to = vgpu_channel<scalar>(from[0]);                                                       \
    }
VGPU_SCALAR_TEXEL(char)
VGPU_SCALAR_TEXEL(signed char)
VGPU_SCALAR_TEXEL(unsigned char)
VGPU_SCALAR_TEXEL(short)
VGPU_SCALAR_TEXEL(unsigned short)
VGPU_SCALAR_TEXEL(int)
VGPU_SCALAR_TEXEL(unsigned int)
VGPU_SCALAR_TEXEL(float)
VGPU_TEXELS(signed char, char)
VGPU_TEXELS(unsigned char, uchar)
VGPU_TEXELS(short, short)
VGPU_TEXELS(unsigned short, ushort)
VGPU_TEXELS(int, int)
VGPU_TEXELS(unsigned int, uint)
VGPU_TEXELS(float, float)
#undef VGPU_TEXEL
#undef VGPU_PART
#undef VGPU_TEXELS
#undef VGPU_SCALAR_TEXEL

/* ---- textures ---- */

/* Both forms of a read: into *to, and as the result. */
#define VGPU_TEXTURE(name, shape, parameters, arguments, ...)                                      \
    template <class T>                                                                             \
    VGPU_INLINE void name(T *to, cudaTextureObject_t object, VGPU_UNWRAP parameters)               \
    {                                                                                              \
        uint32_t channel[4];                                                                       \
        vgpu_texture_read(object, VGPU_TEXTURE_##shape, __VA_ARGS__, channel);                     \
        vgpu_texel(to, channel);                                                                   \
    }                                                                                              \
    template <class T> VGPU_INLINE T name(cudaTextureObject_t object, VGPU_UNWRAP parameters)      \
    {                                                                                              \
        T texel;                                                                                   \
        name(&texel, object, VGPU_UNWRAP arguments);                                               \
        return texel;                                                                              \
    }
#define VGPU_UNWRAP(...) __VA_ARGS__

VGPU_TEXTURE(tex1Dfetch, FETCH, (int x), (x), 0, 0, 0, x)
VGPU_TEXTURE(tex1D, 1D, (float x), (x), x, 0, 0, 0)
VGPU_TEXTURE(tex1DLod, 1D, (float x, float level), (x, level), x, 0, 0, ((void)level, 0))
VGPU_TEXTURE(tex1DGrad, 1D, (float x, float, float), (x, 0, 0), x, 0, 0, 0)
VGPU_TEXTURE(tex2D, 2D, (float x, float y), (x, y), x, y, 0, 0)
VGPU_TEXTURE(tex2DLod, 2D, (float x, float y, float), (x, y, 0), x, y, 0, 0)
VGPU_TEXTURE(tex2DGrad, 2D, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy), x, y, 0,
             ((void)dx, (void)dy, 0))
VGPU_TEXTURE(tex2Dgather, GATHER, (float x, float y, int channel_number = 0),
             (x, y, channel_number), x, y, 0, channel_number)
VGPU_TEXTURE(tex3D, 3D, (float x, float y, float z), (x, y, z), x, y, z, 0)
VGPU_TEXTURE(tex3DLod, 3D, (float x, float y, float z, float), (x, y, z, 0), x, y, z, 0)
VGPU_TEXTURE(tex3DGrad, 3D, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy), x,
             y, z, ((void)dx, (void)dy, 0))
VGPU_TEXTURE(tex1DLayered, 1D_LAYERED, (float x, int layer), (x, layer), x, 0, 0, layer)
VGPU_TEXTURE(tex1DLayeredLod, 1D_LAYERED, (float x, int layer, float), (x, layer, 0), x, 0, 0,
             layer)
VGPU_TEXTURE(tex1DLayeredGrad, 1D_LAYERED, (float x, int layer, float, float), (x, layer, 0, 0), x,
             0, 0, layer)
VGPU_TEXTURE(tex2DLayered, 2D_LAYERED, (float x, float y, int layer), (x, y, layer), x, y, 0, layer)
VGPU_TEXTURE(tex2DLayeredLod, 2D_LAYERED, (float x, float y, int layer, float), (x, y, layer, 0), x,
             y, 0, layer)
VGPU_TEXTURE(tex2DLayeredGrad, 2D_LAYERED, (float x, float y, int layer, float2 dx, float2 dy),
             (x, y, layer, dx, dy), x, y, 0, ((void)dx, (void)dy, layer))
VGPU_TEXTURE(texCubemap, CUBEMAP, (float x, float y, float z), (x, y, z), x, y, z, 0)
VGPU_TEXTURE(texCubemapLod, CUBEMAP, (float x, float y, float z, float), (x, y, z, 0), x, y, z, 0)
VGPU_TEXTURE(texCubemapLayered, CUBEMAP_LAYERED, (float x, float y, float z, int layer),
             (x, y, z, layer), x, y, z, layer)
VGPU_TEXTURE(texCubemapLayeredLod, CUBEMAP_LAYERED, (float x, float y, float z, int layer, float),
             (x, y, z, layer, 0), x, y, z, layer)

/* ---- surfaces: x is in bytes ---- */

#define VGPU_SURFACE(name, parameters, arguments, x, y, z)                                         \
    template <class T>                                                                             \
    VGPU_INLINE T name##read(cudaSurfaceObject_t object, VGPU_UNWRAP parameters,                   \
                             cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)                  \
    {                                                                                              \
        uint64_t at = vgpu_surface_at(object, x, y, z, sizeof(T), (vgpu_boundary_mode)mode);       \
        return at ? *(const T *)at : T();                                                          \
    }                                                                                              \
    template <class T>                                                                             \
    VGPU_INLINE void name##read(T *to, cudaSurfaceObject_t object, VGPU_UNWRAP parameters,         \
                                cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)               \
    {                                                                                              \
        *to = name##read<T>(object, VGPU_UNWRAP arguments, mode);                                  \
    }                                                                                              \
    template <class T>                                                                             \
    VGPU_INLINE void name##write(T value, cudaSurfaceObject_t object, VGPU_UNWRAP parameters,      \
                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap)              \
    {                                                                                              \
        uint64_t at = vgpu_surface_at(object, x, y, z, sizeof(T), (vgpu_boundary_mode)mode);       \
        if (at)                                                                                    \
            *(T *)at = value;                                                                      \
    }

VGPU_SURFACE(surf1D, (int x), (x), x, 0, 0)
VGPU_SURFACE(surf2D, (int x, int y), (x, y), x, y, 0)
VGPU_SURFACE(surf3D, (int x, int y, int z), (x, y, z), x, y, z)
VGPU_SURFACE(surf1DLayered, (int x, int layer), (x, layer), x, 0, layer)
VGPU_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), x, y, layer)
VGPU_SURFACE(surfCubemap, (int x, int y, int face), (x, y, face), x, y, face)
VGPU_SURFACE(surfCubemapLayered, (int x, int y, int face), (x, y, face), x, y, face)

#undef VGPU_TEXTURE
#undef VGPU_SURFACE
#undef VGPU_UNWRAP

#endif
