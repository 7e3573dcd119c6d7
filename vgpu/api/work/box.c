/* SPDX-License-Identifier: MIT
 * box.c: turns the parameters of a three-dimensional copy into a copy of planes of rows of bytes,
 * which the node treats as one operation. An array is memory whose rows have no gaps; where one
 * takes part, the extent is in its elements, and so is the position in it.
 */
#include "work.h"

/* The address of the box's first byte. */
static void *box_begin(struct cudaPitchedPtr p, struct cudaPos pos)
{
    return (char *)p.ptr + (pos.z * p.ysize + pos.y) * p.pitch + pos.x;
}

/* Checks that the box lies inside its rows and planes; an error is recorded, with a message. As
 * recorded (case copy of boxes.txt), a box that is larger than a row or plane is an invalid pitch;
 * a box that reaches out only because of its position is an invalid value, and so is a box of a
 * single row or plane. */
static cudaError_t check_box(const char *call, const char *side, struct cudaPitchedPtr p,
                             struct cudaPos pos, struct cudaExtent e)
{
    bool row = e.height == 1 && e.depth == 1;
    if (e.width > p.pitch || pos.x > p.pitch - e.width)
        return vgpu__refuse(
            e.width > p.pitch && !row ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue, call,
            "the %s's rows have %zu bytes (its pitch), the box takes %zu from %zu on", side,
            p.pitch, e.width, pos.x);
    if (e.height > p.ysize || pos.y > p.ysize - e.height)
        return vgpu__refuse(
            e.height > p.ysize && e.depth > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue,
            call, "the %s's planes have %zu rows (its ysize), the box takes %zu from %zu on", side,
            p.ysize, e.height, pos.y);
    return cudaSuccess;
}

/* ---- arrays ---- */

struct side {
    struct cudaPitchedPtr ptr;
    struct cudaPos pos;
};

/* The array's memory; an error is recorded, with a message. */
static cudaError_t array_side(const char *call, cudaArray_const_t a, struct cudaPos pos,
                              struct cudaExtent e, struct side *side)
{
    if (!vgpu__array_known(a))
        return vgpu__refuse(cudaErrorInvalidResourceHandle, call,
                            "%p is not an array of this process", (const void *)a);
    if (pos.x > a->width || e.width > a->width - pos.x || pos.y > a->height ||
        e.height > a->height - pos.y || pos.z > a->depth || e.depth > a->depth - pos.z)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "a box of %zu x %zu x %zu elements at %zu, %zu, %zu is not inside the "
                            "array of %zu x %zu x %zu",
                            e.width, e.height, e.depth, pos.x, pos.y, pos.z, a->width, a->height,
                            a->depth);
    pos.x *= a->texel_bytes;
    *side = (struct side){{a->texels, a->row_bytes, a->row_bytes, a->height}, pos};
    return cudaSuccess;
}

/* Both sides as memory, and the extent's width in bytes. */
static cudaError_t take_sides(const char *call, const struct cudaMemcpy3DParms *p,
                              struct cudaExtent *e, struct side *dst, struct side *src)
{
    cudaArray_const_t any = p->dstArray ? p->dstArray : p->srcArray;
    cudaError_t error = cudaSuccess;
    *dst = (struct side){p->dstPtr, p->dstPos};
    *src = (struct side){p->srcPtr, p->srcPos};
    if (p->dstArray)
        error = array_side(call, p->dstArray, p->dstPos, *e, dst);
    if (error == cudaSuccess && p->srcArray)
        error = array_side(call, p->srcArray, p->srcPos, *e, src);
    if (error == cudaSuccess && p->srcArray && p->dstArray &&
        p->srcArray->texel_bytes != p->dstArray->texel_bytes)
        error = vgpu__refuse(cudaErrorInvalidValue, call,
                             "elements of %zu bytes cannot be copied to elements of %zu bytes",
                             p->srcArray->texel_bytes, p->dstArray->texel_bytes);
    if (error == cudaSuccess && any)
        e->width *= any->texel_bytes;
    return error;
}

cudaError_t vgpu__box(const char *call, const struct cudaMemcpy3DParms *p, struct vgpu__copy *copy)
{
    struct cudaExtent e = p->extent;
    struct side dst, src;
    *copy = (struct vgpu__copy){.call = call, .kind = p->kind};
    if (e.width == 0 || e.height == 0 || e.depth == 0)
        return cudaSuccess;
    cudaError_t error = take_sides(call, p, &e, &dst, &src);
    if (error == cudaSuccess)
        error = check_box(call, "destination", dst.ptr, dst.pos, e);
    if (error == cudaSuccess)
        error = check_box(call, "source", src.ptr, src.pos, e);
    if (error != cudaSuccess)
        return error;
    copy->dst = box_begin(dst.ptr, dst.pos);
    copy->src = box_begin(src.ptr, src.pos);
    copy->width = e.width;
    copy->rows = e.height * e.depth;
    copy->dst_pitch = dst.ptr.pitch;
    copy->src_pitch = src.ptr.pitch;
    copy->plane_rows = e.height;
    copy->dst_plane = dst.ptr.pitch * dst.ptr.ysize;
    copy->src_plane = src.ptr.pitch * src.ptr.ysize;
    return cudaSuccess;
}
