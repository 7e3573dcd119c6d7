/* SPDX-License-Identifier: MIT
 * texture.c: texture and surface objects. An object is the address of a record in host memory
 * (texture.h), which kernels' reads look into: so it costs no copy, and orders nothing.
 *
 * Programs destroy objects that a kernel in flight still reads, and GPUs let that pass: so a record
 * stays as it is, and its place is not used again.
 */
#include "texture.h"
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_BYTES = 512, BLOCK_BYTES = 128 * RECORD_BYTES };

struct object {
    struct vgpu_texture texture; /* first: what vgpu-exec reads */
    struct cudaResourceDesc resource;
    struct cudaTextureDesc desc;
    bool destroyed;
};
_Static_assert(sizeof(struct object) <= RECORD_BYTES, "a record has its place");

/* Memory for records, which this process shares with its contexts. */
struct block {
    uint64_t address;
    size_t used; /* bytes */
    struct block *next;
};
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks; /* guarded by blocks_lock; the newest first */

/* ---- what it is made of ---- */

static void set_format(struct vgpu_texture *t, const struct cudaChannelFormatDesc *desc)
{
    t->bits = (uint32_t)desc->x;
    t->channels = desc->w ? 4 : desc->z ? 3 : desc->y ? 2 : 1;
    t->kind = (uint32_t)desc->f; /* the same order */
}

static void take_array(struct vgpu_texture *t, cudaArray_const_t array)
{
    set_format(t, &array->desc);
    t->texels = (uint64_t)(uintptr_t)array->texels;
    t->pitch = array->row_bytes;
    t->plane = array->row_bytes * array->height;
    t->width = array->width;
    t->height = array->height;
    t->depth = array->depth;
}

static cudaError_t take_linear(const char *call, struct vgpu_texture *t,
                               const struct cudaResourceDesc *resource)
{
    const bool rows = resource->resType == cudaResourceTypePitch2D;
    const struct cudaChannelFormatDesc *desc =
        rows ? &resource->res.pitch2D.desc : &resource->res.linear.desc;
    size_t texel = vgpu__texel_bytes(desc);
    if (texel == 0)
        return vgpu__refuse(cudaErrorInvalidChannelDescriptor, call,
                            "channels of %d, %d, %d and %d bits: 1, 2 or 4 channels of the same 8, "
                            "16 or 32 bits",
                            desc->x, desc->y, desc->z, desc->w);
    set_format(t, desc);
    t->texels =
        (uint64_t)(uintptr_t)(rows ? resource->res.pitch2D.devPtr : resource->res.linear.devPtr);
    t->pitch = rows ? resource->res.pitch2D.pitchInBytes : resource->res.linear.sizeInBytes;
    t->width = rows ? resource->res.pitch2D.width : resource->res.linear.sizeInBytes / texel;
    t->height = rows ? resource->res.pitch2D.height : 1;
    t->depth = 1;
    t->plane = t->pitch * t->height;
    if (t->texels == 0 || t->width == 0 || t->height == 0 || t->pitch < t->width * texel)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%llu x %llu texels of %zu bytes at %#llx in rows of %llu bytes",
                            (unsigned long long)t->width, (unsigned long long)t->height, texel,
                            (unsigned long long)t->texels, (unsigned long long)t->pitch);
    return cudaSuccess;
}

/* textureAlignment and texturePitchAlignment of cudaDeviceProp. */
static cudaError_t check_alignment(const char *call, const struct vgpu_texture *t,
                                   enum cudaResourceType type)
{
    if (t->texels % 512 != 0)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "the texels begin at %#llx, not at a multiple of 512 bytes "
                            "(textureAlignment)",
                            (unsigned long long)t->texels);
    if (type == cudaResourceTypePitch2D && t->pitch % 32 != 0)
        return vgpu__refuse(
            cudaErrorInvalidValue, call,
            "a pitch of %llu bytes is not a multiple of 32 (texturePitchAlignment): "
            "cudaMallocPitch chooses one",
            (unsigned long long)t->pitch);
    return cudaSuccess;
}

static cudaError_t take_resource(const char *call, struct vgpu_texture *t,
                                 const struct cudaResourceDesc *resource)
{
    if (resource->resType == cudaResourceTypeMipmappedArray)
        return vgpu__refuse(cudaErrorNotSupported, call, "mipmapped arrays are not modelled");
    if (resource->resType == cudaResourceTypeArray) {
        if (!vgpu__array_known(resource->res.array.array))
            return vgpu__refuse(cudaErrorInvalidResourceHandle, call,
                                "%p is not an array of this process",
                                (void *)resource->res.array.array);
        take_array(t, resource->res.array.array);
        return cudaSuccess;
    }
    if (resource->resType != cudaResourceTypeLinear && resource->resType != cudaResourceTypePitch2D)
        return vgpu__refuse(cudaErrorInvalidValue, call, "resType %d is not a type of resource",
                            (int)resource->resType);
    cudaError_t error = take_linear(call, t, resource);
    return error == cudaSuccess ? check_alignment(call, t, resource->resType) : error;
}

/* ---- how it is read ---- */

static bool is_cubemap(const struct cudaResourceDesc *resource)
{
    return resource->resType == cudaResourceTypeArray &&
           resource->res.array.array->flags & cudaArrayCubemap;
}

/* Without normalized coordinates wrap and mirror become clamp, as in CUDA. */
static uint32_t address_mode(const struct cudaTextureDesc *desc, int dimension, bool cubemap)
{
    enum cudaTextureAddressMode mode = desc->addressMode[dimension];
    bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
    return cubemap || (repeats && !desc->normalizedCoords) ? VGPU_ADDRESS_CLAMP : (uint32_t)mode;
}

static cudaError_t take_description(const char *call, struct vgpu_texture *t,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *desc)
{
    const bool cubemap = is_cubemap(resource);
    bool integers = t->kind != VGPU_TEXEL_FLOAT;
    t->to_float = desc->readMode == cudaReadModeNormalizedFloat && integers && t->bits < 32;
    t->linear =
        desc->filterMode == cudaFilterModeLinear && resource->resType != cudaResourceTypeLinear;
    t->normalized = desc->normalizedCoords != 0 || cubemap;
    for (int d = 0; d < 3; d++)
        t->address[d] = address_mode(desc, d, cubemap);
    memcpy(t->border, desc->borderColor, sizeof t->border);
    if (desc->sRGB)
        return vgpu__refuse(cudaErrorNotSupported, call, "sRGB is not modelled");
    if (t->linear && integers && !t->to_float)
        return vgpu__refuse(cudaErrorInvalidFilterSetting, call,
                            "linear filtering returns floating-point numbers: a texture of "
                            "integers needs cudaReadModeNormalizedFloat");
    for (int d = 0; d < 3; d++)
        if (t->address[d] > VGPU_ADDRESS_BORDER)
            return vgpu__refuse(cudaErrorInvalidValue, call, "addressMode[%d] is %u", d,
                                t->address[d]);
    return cudaSuccess;
}

/* ---- objects ---- */

/* A new block; the caller holds blocks_lock. An error is recorded. */
static cudaError_t add_block(const char *call)
{
    const struct vgpu_reply *reply;
    struct block *block = malloc(sizeof *block);
    if (!block)
        return vgpu__no_memory(call);
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_HOST_ALLOC);
    cudaError_t error = cudaErrorUnknown;
    if (!request) {
        free(block);
        return vgpu__failed();
    }
    request->bytes = BLOCK_BYTES;
    request->value = VGPU_HOST_OBJECTS;
    error = vgpu__end(&reply);
    if (error == cudaSuccess) {
        *block = (struct block){reply->value, 0, blocks};
        if (!vgpu__map_host(block->address, BLOCK_BYTES))
            error = vgpu__record(cudaErrorOperatingSystem);
    }
    if (error == cudaSuccess)
        blocks = block;
    else
        free(block);
    return error;
}

static cudaError_t make_record(const char *call, unsigned long long *out, const struct object *made)
{
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&blocks_lock);
    if (!blocks || blocks->used == BLOCK_BYTES)
        error = add_block(call);
    if (error == cudaSuccess) {
        *out = blocks->address + blocks->used;
        memcpy((void *)(uintptr_t)*out, made, sizeof *made);
        blocks->used += RECORD_BYTES;
    }
    pthread_mutex_unlock(&blocks_lock);
    return error;
}

static bool in_record(uint64_t address)
{
    bool found = false;
    pthread_mutex_lock(&blocks_lock);
    for (const struct block *b = blocks; b && !found; b = b->next)
        found =
            address >= b->address && address - b->address < b->used && address % RECORD_BYTES == 0;
    pthread_mutex_unlock(&blocks_lock);
    return found;
}

static struct object *find_object(unsigned long long number, uint32_t magic)
{
    struct object *object = (struct object *)(uintptr_t)number;
    bool found = in_record(number) && object->texture.magic == magic && !object->destroyed;
    return found ? object : NULL;
}

static cudaError_t destroy_object(const char *call, unsigned long long number, uint32_t magic)
{
    struct object *object = find_object(number, magic);
    if (number == 0)
        return cudaSuccess; /* recorded */
    if (!object)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "%#llx is not an object of this kind: destroyed already?", number);
    object->destroyed = true;
    return cudaSuccess;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject,
                                    const struct cudaResourceDesc *pResDesc,
                                    const struct cudaTextureDesc *pTexDesc,
                                    const struct cudaResourceViewDesc *pResViewDesc)
{
    static const char call[] = "cudaCreateTextureObject";
    if (!vgpu__begin(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (!pTexObject || !pResDesc || !pTexDesc)
        return vgpu__refuse(cudaErrorInvalidValue, call, "a null pointer");
    if (pResViewDesc)
        return vgpu__refuse(cudaErrorNotSupported, call, "resource views are not modelled");
    struct object made = {.texture.magic = VGPU_TEXTURE_MAGIC, .resource = *pResDesc};
    made.desc = *pTexDesc;
    cudaError_t error = take_resource(call, &made.texture, pResDesc);
    if (error == cudaSuccess)
        error = take_description(call, &made.texture, pResDesc, pTexDesc);
    return error == cudaSuccess ? make_record(call, pTexObject, &made) : error;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject)
{
    return destroy_object("cudaDestroyTextureObject", texObject, VGPU_TEXTURE_MAGIC);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject,
                                    const struct cudaResourceDesc *pResDesc)
{
    static const char call[] = "cudaCreateSurfaceObject";
    if (!vgpu__begin(call, VGPU_OP_CONTEXT))
        return vgpu__failed();
    if (!pSurfObject || !pResDesc)
        return vgpu__refuse(cudaErrorInvalidValue, call, "a null pointer");
    struct object made = {.texture.magic = VGPU_SURFACE_MAGIC, .resource = *pResDesc};
    cudaError_t error = take_resource(call, &made.texture, pResDesc);
    if (error != cudaSuccess)
        return error;
    if (pResDesc->resType != cudaResourceTypeArray)
        return vgpu__refuse(cudaErrorInvalidValue, call, "a surface is made of an array");
    return make_record(call, pSurfObject, &made);
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject)
{
    return destroy_object("cudaDestroySurfaceObject", surfObject, VGPU_SURFACE_MAGIC);
}

/* ---- queries ---- */

static cudaError_t get_resource(const char *call, struct cudaResourceDesc *out,
                                unsigned long long number, uint32_t magic)
{
    const struct object *object = find_object(number, magic);
    if (!object || !out)
        return vgpu__refuse(cudaErrorInvalidValue, call, "%#llx is not an object of this kind",
                            number);
    *out = object->resource;
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                             cudaTextureObject_t texObject)
{
    return get_resource("cudaGetTextureObjectResourceDesc", pResDesc, texObject,
                        VGPU_TEXTURE_MAGIC);
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                             cudaSurfaceObject_t surfObject)
{
    return get_resource("cudaGetSurfaceObjectResourceDesc", pResDesc, surfObject,
                        VGPU_SURFACE_MAGIC);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc,
                                            cudaTextureObject_t texObject)
{
    const struct object *object = find_object(texObject, VGPU_TEXTURE_MAGIC);
    if (!object || !pTexDesc)
        return vgpu__refuse(cudaErrorInvalidValue, "cudaGetTextureObjectTextureDesc",
                            "%#llx is not a texture object", texObject);
    *pTexDesc = object->desc;
    return cudaSuccess;
}
