/* SPDX-License-Identifier: MIT
 * array_copy.c: copies to and from arrays, which are copies of their memory. cudaMemcpy3D
 * (copy3d.c) takes arrays, too.
 */
#include "runtime.h"

/* A place in an array: bytes of a row, and a row. */
struct array_place {
    cudaArray_const_t array;
    size_t x, y;
};

/* Checks that `rows` of `width` bytes fit; an error is recorded, with a message. */
static cudaError_t check_place(const char *call, struct array_place at, size_t width, size_t rows)
{
    cudaArray_const_t a = at.array;
    if (!vgpu__array_known(a))
        return vgpu__refuse(cudaErrorInvalidResourceHandle, call,
                            "%p is not an array of this process", (const void *)a);
    if (at.x <= a->row_bytes && width <= a->row_bytes - at.x && at.y <= a->height &&
        rows <= a->height - at.y)
        return cudaSuccess;
    return vgpu__refuse(cudaErrorInvalidValue, call,
                        "%zu rows of %zu bytes from byte %zu of row %zu on; the array has %zu rows "
                        "of %zu bytes",
                        rows, width, at.x, at.y, a->height, a->row_bytes);
}

static char *place_address(struct array_place at)
{
    return at.array->texels + at.y * at.array->row_bytes + at.x;
}

/* Of a call that vgpu__admit has let pass. */
static cudaError_t admitted_copy_to(struct vgpu__copy copy, struct array_place at)
{
    cudaError_t error = check_place(copy.call, at, copy.width, copy.rows);
    if (error != cudaSuccess)
        return error;
    copy.dst = place_address(at);
    copy.dst_pitch = at.array->row_bytes;
    return vgpu__admitted_copy(&copy);
}

static cudaError_t copy_to(struct vgpu__copy copy, struct array_place at)
{
    return vgpu__admit(copy.call, VGPU_OP_COPY) ? admitted_copy_to(copy, at) : vgpu__failed();
}

static cudaError_t copy_from(struct vgpu__copy copy, struct array_place at)
{
    if (!vgpu__admit(copy.call, VGPU_OP_COPY))
        return vgpu__failed();
    cudaError_t error = check_place(copy.call, at, copy.width, copy.rows);
    if (error != cudaSuccess)
        return error;
    copy.src = place_address(at);
    copy.src_pitch = at.array->row_bytes;
    return vgpu__admitted_copy(&copy);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                                size_t spitch, size_t width, size_t height,
                                enum cudaMemcpyKind kind)
{
    return copy_to((struct vgpu__copy){"cudaMemcpy2DToArray", NULL, src, width, height, 0, spitch,
                                       kind, NULL, .sync = true},
                   (struct array_place){dst, wOffset, hOffset});
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                     const void *src, size_t spitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_to((struct vgpu__copy){"cudaMemcpy2DToArrayAsync", NULL, src, width, height, 0,
                                       spitch, kind, stream, .sync = false},
                   (struct array_place){dst, wOffset, hOffset});
}

cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset,
                                  size_t hOffset, size_t width, size_t height,
                                  enum cudaMemcpyKind kind)
{
    return copy_from((struct vgpu__copy){"cudaMemcpy2DFromArray", dst, NULL, width, height, dpitch,
                                         0, kind, NULL, .sync = true},
                     (struct array_place){src, wOffset, hOffset});
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src,
                                       size_t wOffset, size_t hOffset, size_t width, size_t height,
                                       enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_from((struct vgpu__copy){"cudaMemcpy2DFromArrayAsync", dst, NULL, width, height,
                                         dpitch, 0, kind, stream, .sync = false},
                     (struct array_place){src, wOffset, hOffset});
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                     cudaArray_const_t src, size_t wOffsetSrc, size_t hOffsetSrc,
                                     size_t width, size_t height, enum cudaMemcpyKind kind)
{
    struct array_place from = {src, wOffsetSrc, hOffsetSrc};
    struct vgpu__copy copy = {
        "cudaMemcpy2DArrayToArray", NULL, NULL, width, height, 0, 0, kind, NULL, .sync = true};
    if (!vgpu__admit(copy.call, VGPU_OP_COPY))
        return vgpu__failed();
    cudaError_t error = check_place(copy.call, from, width, height);
    if (error != cudaSuccess)
        return error;
    copy.src = place_address(from);
    copy.src_pitch = src->row_bytes;
    return admitted_copy_to(copy, (struct array_place){dst, wOffsetDst, hOffsetDst});
}

/* ---- rows that follow each other ---- */

/* Checks that `count` bytes are left; an error is recorded, with a message. */
static cudaError_t check_rest(const char *call, struct array_place at, size_t count)
{
    cudaError_t error = check_place(call, at, 0, 0);
    if (error != cudaSuccess)
        return error;
    size_t rest = (at.array->height - at.y) * at.array->row_bytes - at.x;
    if (count <= rest)
        return cudaSuccess;
    return vgpu__refuse(cudaErrorInvalidValue, call,
                        "%zu bytes; %zu are left in the array from there on", count, rest);
}

cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src,
                              size_t count, enum cudaMemcpyKind kind)
{
    struct array_place at = {dst, wOffset, hOffset};
    if (!vgpu__admit("cudaMemcpyToArray", VGPU_OP_COPY))
        return vgpu__failed();
    cudaError_t error = check_rest("cudaMemcpyToArray", at, count);
    return error != cudaSuccess
               ? error
               : vgpu__admitted_copy(&(struct vgpu__copy){"cudaMemcpyToArray", place_address(at),
                                                          src, count, 1, count, count, kind, NULL,
                                                          .sync = true});
}

cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset,
                                size_t count, enum cudaMemcpyKind kind)
{
    struct array_place at = {src, wOffset, hOffset};
    if (!vgpu__admit("cudaMemcpyFromArray", VGPU_OP_COPY))
        return vgpu__failed();
    cudaError_t error = check_rest("cudaMemcpyFromArray", at, count);
    return error != cudaSuccess
               ? error
               : vgpu__admitted_copy(&(struct vgpu__copy){"cudaMemcpyFromArray", dst,
                                                          place_address(at), count, 1, count, count,
                                                          kind, NULL, .sync = true});
}
