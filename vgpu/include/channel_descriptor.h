/* SPDX-License-Identifier: MIT
 * channel_descriptor.h: cudaCreateChannelDesc<T>(), the format of an array's elements by their
 * type.
 */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#ifdef __cplusplus

#include "cuda_runtime_api.h"
#include "vector_types.h"

template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc(void)
{
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

/* `count` channels of the same width. */
static inline cudaChannelFormatDesc vgpu_channels(int bits, int count, cudaChannelFormatKind kind)
{
    return cudaCreateChannelDesc(bits, count > 1 ? bits : 0, count > 2 ? bits : 0,
                                 count > 3 ? bits : 0, kind);
}

#define VGPU_CHANNELS(type, bits, count, kind)                                                     \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<type>(void)                     \
    {                                                                                              \
        return vgpu_channels(bits, count, cudaChannelFormatKind##kind);                            \
    }
#define VGPU_VECTOR_CHANNELS(scalar, name, bits, kind)                                             \
    VGPU_CHANNELS(scalar, bits, 1, kind)                                                           \
    VGPU_CHANNELS(name##1, bits, 1, kind)                                                          \
    VGPU_CHANNELS(name##2, bits, 2, kind)                                                          \
    VGPU_CHANNELS(name##4, bits, 4, kind)

#ifdef __CHAR_UNSIGNED__
VGPU_CHANNELS(char, 8, 1, Unsigned)
#else
VGPU_CHANNELS(char, 8, 1, Signed)
#endif
VGPU_VECTOR_CHANNELS(signed char, char, 8, Signed)
VGPU_VECTOR_CHANNELS(unsigned char, uchar, 8, Unsigned)
VGPU_VECTOR_CHANNELS(short, short, 16, Signed)
VGPU_VECTOR_CHANNELS(unsigned short, ushort, 16, Unsigned)
VGPU_VECTOR_CHANNELS(int, int, 32, Signed)
VGPU_VECTOR_CHANNELS(unsigned int, uint, 32, Unsigned)
VGPU_VECTOR_CHANNELS(float, float, 32, Float)

#undef VGPU_VECTOR_CHANNELS
#undef VGPU_CHANNELS

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf(void)
{
    return vgpu_channels(16, 1, cudaChannelFormatKindFloat);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf1(void)
{
    return vgpu_channels(16, 1, cudaChannelFormatKindFloat);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf2(void)
{
    return vgpu_channels(16, 2, cudaChannelFormatKindFloat);
}

static inline cudaChannelFormatDesc cudaCreateChannelDescHalf4(void)
{
    return vgpu_channels(16, 4, cudaChannelFormatKindFloat);
}

#endif

#endif
