/* SPDX-License-Identifier: MIT
 * box.c: turns the parameters of a three-dimensional copy into a copy of planes of rows of bytes,
 * which the node treats as one operation. Arrays are not modelled.
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

cudaError_t vgpu__box(const char *call, const struct cudaMemcpy3DParms *p, struct vgpu__copy *copy)
{
    if (p->srcArray || p->dstArray)
        return vgpu__refuse(cudaErrorNotSupported, call, "copies of arrays are not modelled");
    struct cudaExtent e = p->extent;
    *copy = (struct vgpu__copy){.call = call, .kind = p->kind};
    if (e.width == 0 || e.height == 0 || e.depth == 0)
        return cudaSuccess;
    cudaError_t error = check_box(call, "destination", p->dstPtr, p->dstPos, e);
    if (error == cudaSuccess)
        error = check_box(call, "source", p->srcPtr, p->srcPos, e);
    copy->dst = box_begin(p->dstPtr, p->dstPos);
    copy->src = box_begin(p->srcPtr, p->srcPos);
    copy->width = e.width;
    copy->rows = e.height * e.depth;
    copy->dst_pitch = p->dstPtr.pitch;
    copy->src_pitch = p->srcPtr.pitch;
    copy->plane_rows = e.height;
    copy->dst_plane = p->dstPtr.pitch * p->dstPtr.ysize;
    copy->src_plane = p->srcPtr.pitch * p->srcPtr.ysize;
    return error;
}
