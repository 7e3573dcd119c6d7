/* SPDX-License-Identifier: MIT
 * driver_array.c: arrays, pitched copies, texture and surface objects of the driver API, which are
 * the runtime's.
 */
#include "driver.h"

#include <string.h>

#define P(ptr) vgpu__driver_pointer(ptr)

static struct cudaChannelFormatDesc channels(CUarray_format format, unsigned int count)
{
    struct cudaChannelFormatDesc desc = {0, 0, 0, 0, cudaChannelFormatKindNone};
    int bits = 0;
    if (format >= CU_AD_FORMAT_UNSIGNED_INT8 && format <= CU_AD_FORMAT_UNSIGNED_INT32)
        desc.f = cudaChannelFormatKindUnsigned, bits = 8 << (format - CU_AD_FORMAT_UNSIGNED_INT8);
    else if (format >= CU_AD_FORMAT_SIGNED_INT8 && format <= CU_AD_FORMAT_SIGNED_INT32)
        desc.f = cudaChannelFormatKindSigned, bits = 8 << (format - CU_AD_FORMAT_SIGNED_INT8);
    else if (format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT)
        desc.f = cudaChannelFormatKindFloat, bits = format == CU_AD_FORMAT_HALF ? 16 : 32;
    else
        return desc;
    desc.x = count > 0 ? bits : 0;
    desc.y = count > 1 ? bits : 0;
    desc.z = count > 2 ? bits : 0;
    desc.w = count > 3 ? bits : 0;
    return desc;
}

/* ---- arrays: the flags have the runtime's values ---- */

_Static_assert((int)CUDA_ARRAY3D_LAYERED == (int)cudaArrayLayered, "flags");
_Static_assert((int)CUDA_ARRAY3D_SURFACE_LDST == (int)cudaArraySurfaceLoadStore, "flags");
_Static_assert((int)CUDA_ARRAY3D_CUBEMAP == (int)cudaArrayCubemap, "flags");
_Static_assert((int)CUDA_ARRAY3D_TEXTURE_GATHER == (int)cudaArrayTextureGather, "flags");

static cudaError_t make_array(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    struct cudaChannelFormatDesc desc = channels(d->Format, d->NumChannels);
    return cudaMalloc3DArray(array, &desc, (struct cudaExtent){d->Width, d->Height, d->Depth},
                             d->Flags);
}

CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
    const CUDA_ARRAY_DESCRIPTOR *d = descriptor;
    VGPU_DRIVER(array && d
                    ? make_array(array, &(CUDA_ARRAY3D_DESCRIPTOR){d->Width, d->Height, 0,
                                                                   d->Format, d->NumChannels, 0})
                    : cudaErrorInvalidValue);
}

CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    VGPU_DRIVER(array && descriptor ? make_array(array, descriptor) : cudaErrorInvalidValue);
}

CUresult cuArrayDestroy(CUarray array)
{
    VGPU_DRIVER(array ? cudaFreeArray(array) : cudaErrorInvalidResourceHandle);
}

/* ---- pitched memory ---- */

CUresult cuMemAllocPitch(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height,
                         unsigned int elementBytes)
{
    bool fits = elementBytes == 4 || elementBytes == 8 || elementBytes == 16;
    VGPU_DRIVER(ptr && width && height && fits ? cudaMallocPitch((void **)ptr, pitch, width, height)
                                               : cudaErrorInvalidValue);
}

/* One side of a copy as the runtime has it. */
struct side {
    cudaArray_t array;
    struct cudaPitchedPtr ptr;
    struct cudaPos pos;
};

static struct side take_side(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array,
                             struct cudaPitchedPtr shape, struct cudaPos pos)
{
    struct side side = {NULL, shape, pos};
    side.ptr.ptr = type == CU_MEMORYTYPE_HOST ? (void *)host : P(device);
    if (type == CU_MEMORYTYPE_ARRAY) {
        side.array = array;
        side.ptr = (struct cudaPitchedPtr){NULL, 0, 0, 0};
    }
    return side;
}

/* Positions and widths are in bytes here, and in elements for the runtime's copies of arrays. */
static cudaError_t in_elements(size_t *bytes, cudaArray_const_t array)
{
    if (!vgpu__array_known(array))
        return cudaErrorInvalidResourceHandle;
    if (*bytes % array->texel_bytes != 0)
        return cudaErrorInvalidValue;
    *bytes /= array->texel_bytes;
    return cudaSuccess;
}

cudaError_t vgpu__driver_box(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *out)
{
    if (!c)
        return cudaErrorInvalidValue;
    struct side src = take_side(
        c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray,
        (struct cudaPitchedPtr){NULL, c->srcPitch ? c->srcPitch : c->srcXInBytes + c->WidthInBytes,
                                c->WidthInBytes, c->srcHeight ? c->srcHeight : c->srcY + c->Height},
        (struct cudaPos){c->srcXInBytes, c->srcY, c->srcZ});
    struct side dst = take_side(
        c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray,
        (struct cudaPitchedPtr){NULL, c->dstPitch ? c->dstPitch : c->dstXInBytes + c->WidthInBytes,
                                c->WidthInBytes, c->dstHeight ? c->dstHeight : c->dstY + c->Height},
        (struct cudaPos){c->dstXInBytes, c->dstY, c->dstZ});
    struct cudaExtent extent = {c->WidthInBytes, c->Height, c->Depth};
    cudaError_t error = cudaSuccess;
    if (src.array)
        error = in_elements(&src.pos.x, src.array);
    if (error == cudaSuccess && dst.array)
        error = in_elements(&dst.pos.x, dst.array);
    if (error == cudaSuccess && (dst.array || src.array))
        error = in_elements(&extent.width, dst.array ? dst.array : src.array);
    if (error != cudaSuccess)
        return error;
    *out = (struct cudaMemcpy3DParms){src.array, src.pos, src.ptr, dst.array,
                                      dst.pos,   dst.ptr, extent,  cudaMemcpyDefault};
    return cudaSuccess;
}

/* The kind of memory of one side, whose width and position in bytes are those in elements times
 * *texel. */
static CUmemorytype side_type(cudaArray_const_t array, const void *ptr, size_t *texel)
{
    if (!array)
        return vgpu__place(ptr) == VGPU__DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    *texel = vgpu__array_known(array) ? array->texel_bytes : 1;
    return CU_MEMORYTYPE_ARRAY;
}

void vgpu__driver_box_of(const struct cudaMemcpy3DParms *c, CUDA_MEMCPY3D *out)
{
    size_t src_texel = 1, dst_texel = 1;
    CUmemorytype src = side_type(c->srcArray, c->srcPtr.ptr, &src_texel);
    CUmemorytype dst = side_type(c->dstArray, c->dstPtr.ptr, &dst_texel);
    *out = (CUDA_MEMCPY3D){.srcXInBytes = c->srcPos.x * src_texel,
                           .srcY = c->srcPos.y,
                           .srcZ = c->srcPos.z,
                           .srcMemoryType = src,
                           .srcHost = src == CU_MEMORYTYPE_HOST ? c->srcPtr.ptr : NULL,
                           .srcDevice = src == CU_MEMORYTYPE_DEVICE ? (uintptr_t)c->srcPtr.ptr : 0,
                           .srcArray = c->srcArray,
                           .srcPitch = c->srcPtr.pitch,
                           .srcHeight = c->srcPtr.ysize,
                           .dstXInBytes = c->dstPos.x * dst_texel,
                           .dstY = c->dstPos.y,
                           .dstZ = c->dstPos.z,
                           .dstMemoryType = dst,
                           .dstHost = dst == CU_MEMORYTYPE_HOST ? c->dstPtr.ptr : NULL,
                           .dstDevice = dst == CU_MEMORYTYPE_DEVICE ? (uintptr_t)c->dstPtr.ptr : 0,
                           .dstArray = c->dstArray,
                           .dstPitch = c->dstPtr.pitch,
                           .dstHeight = c->dstPtr.ysize,
                           .WidthInBytes = c->extent.width * (c->dstArray ? dst_texel : src_texel),
                           .Height = c->extent.height,
                           .Depth = c->extent.depth};
}

static cudaError_t copy_driver_box(const CUDA_MEMCPY3D *c, cudaStream_t stream, bool sync)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = vgpu__driver_box(c, &copy);
    if (error != cudaSuccess)
        return error;
    return sync ? cudaMemcpy3D(&copy) : cudaMemcpy3DAsync(&copy, stream);
}

static cudaError_t copy_pitched(const CUDA_MEMCPY2D *c, cudaStream_t stream, bool sync)
{
    if (!c)
        return cudaErrorInvalidValue;
    return copy_driver_box(&(CUDA_MEMCPY3D){.srcXInBytes = c->srcXInBytes,
                                            .srcY = c->srcY,
                                            .srcMemoryType = c->srcMemoryType,
                                            .srcHost = c->srcHost,
                                            .srcDevice = c->srcDevice,
                                            .srcArray = c->srcArray,
                                            .srcPitch = c->srcPitch,
                                            .dstXInBytes = c->dstXInBytes,
                                            .dstY = c->dstY,
                                            .dstMemoryType = c->dstMemoryType,
                                            .dstHost = c->dstHost,
                                            .dstDevice = c->dstDevice,
                                            .dstArray = c->dstArray,
                                            .dstPitch = c->dstPitch,
                                            .WidthInBytes = c->WidthInBytes,
                                            .Height = c->Height,
                                            .Depth = 1},
                           stream, sync);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy)
{
    VGPU_DRIVER(copy_pitched(copy, NULL, true));
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *copy)
{
    VGPU_DRIVER(copy_pitched(copy, NULL, true));
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream)
{
    VGPU_DRIVER(copy_pitched(copy, stream, false));
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D *copy)
{
    VGPU_DRIVER(copy_driver_box(copy, NULL, true));
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
    VGPU_DRIVER(copy_driver_box(copy, stream, false));
}

/* ---- objects ---- */

static struct cudaResourceDesc runtime_resource(const CUDA_RESOURCE_DESC *r)
{
    struct cudaResourceDesc out = {.resType = (enum cudaResourceType)r->resType, .flags = r->flags};
    if (r->resType == CU_RESOURCE_TYPE_ARRAY)
        out.res.array.array = r->res.array.hArray;
    if (r->resType == CU_RESOURCE_TYPE_LINEAR) {
        out.res.linear.devPtr = P(r->res.linear.devPtr);
        out.res.linear.desc = channels(r->res.linear.format, r->res.linear.numChannels);
        out.res.linear.sizeInBytes = r->res.linear.sizeInBytes;
    }
    if (r->resType == CU_RESOURCE_TYPE_PITCH2D) {
        out.res.pitch2D.devPtr = P(r->res.pitch2D.devPtr);
        out.res.pitch2D.desc = channels(r->res.pitch2D.format, r->res.pitch2D.numChannels);
        out.res.pitch2D.width = r->res.pitch2D.width;
        out.res.pitch2D.height = r->res.pitch2D.height;
        out.res.pitch2D.pitchInBytes = r->res.pitch2D.pitchInBytes;
    }
    return out;
}

static cudaError_t make_texture(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                                const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *view)
{
    if (!object || !resource || !t)
        return cudaErrorInvalidValue;
    struct cudaResourceDesc made = runtime_resource(resource);
    struct cudaTextureDesc desc = {
        .filterMode = (enum cudaTextureFilterMode)t->filterMode,
        .readMode = t->flags & CU_TRSF_READ_AS_INTEGER ? cudaReadModeElementType
                                                       : cudaReadModeNormalizedFloat,
        .sRGB = (t->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (t->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = t->maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)t->mipmapFilterMode,
        .mipmapLevelBias = t->mipmapLevelBias,
        .minMipmapLevelClamp = t->minMipmapLevelClamp,
        .maxMipmapLevelClamp = t->maxMipmapLevelClamp,
        .seamlessCubemap = (t->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0,
    };
    for (int d = 0; d < 3; d++)
        desc.addressMode[d] = (enum cudaTextureAddressMode)t->addressMode[d];
    memcpy(desc.borderColor, t->borderColor, sizeof desc.borderColor);
    return cudaCreateTextureObject(object, &made, &desc,
                                   (const struct cudaResourceViewDesc *)(const void *)view);
}

static cudaError_t make_surface(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)
{
    struct cudaResourceDesc made = runtime_resource(resource);
    return cudaCreateSurfaceObject(object, &made);
}

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
    VGPU_DRIVER(make_texture(object, resource, texture, view));
}

CUresult cuTexObjectDestroy(CUtexObject object)
{
    VGPU_DRIVER(cudaDestroyTextureObject(object));
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)
{
    VGPU_DRIVER(object && resource ? make_surface(object, resource) : cudaErrorInvalidValue);
}

CUresult cuSurfObjectDestroy(CUsurfObject object)
{
    VGPU_DRIVER(cudaDestroySurfaceObject(object));
}
