/* SPDX-License-Identifier: MIT
 * copy_request.c: copies, checked and sent to the node. The node moves bytes between device memory
 * and pinned memory. This file checks the direction against the pointers, moves pageable memory
 * through staging buffers, and makes copies from host to host itself.
 */
#include "work.h"

#include <string.h>

#define LARGE_BYTES (16u << 20)

/* ---- direction ---- */

static const char *const kind_names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                         "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                         "cudaMemcpyDefault"};

static bool kind_says_device(enum cudaMemcpyKind kind, bool source)
{
    return kind == cudaMemcpyDeviceToDevice ||
           kind == (source ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice);
}

/* A pointer to pageable memory is the only one that can contradict the direction: other addresses
 * show where they lie, and the direction is ignored (recorded). */
static bool place_fits_direction(enum vgpu__place place, bool device)
{
    return place != VGPU__PAGEABLE || !device;
}

/* Checks one side of a copy against the direction; an error is recorded. */
static cudaError_t check_side(const struct vgpu__copy *c, const void *pointer, bool source)
{
    enum vgpu__place place = vgpu__place(pointer);
    bool device = kind_says_device(c->kind, source);
    if (!pointer)
        return vgpu__refuse(cudaErrorInvalidValue, c->call, "the %s is a null pointer",
                            source ? "source" : "destination");
    if (c->kind == cudaMemcpyDefault || place_fits_direction(place, device))
        return cudaSuccess;
    return vgpu__refuse(cudaErrorInvalidValue, c->call,
                        "the direction is %s, but the %s %p is %s memory; give the direction that "
                        "fits the pointers, or cudaMemcpyDefault",
                        kind_names[c->kind], source ? "source" : "destination", pointer,
                        place == VGPU__DEVICE ? "device" : "host");
}

cudaError_t vgpu__copy_check(const struct vgpu__copy *c)
{
    if (c->width == 0 || c->rows == 0)
        return cudaSuccess;
    if ((int)c->kind < cudaMemcpyHostToHost || c->kind > cudaMemcpyDefault)
        return vgpu__refuse(
            cudaErrorInvalidMemcpyDirection, c->call,
            "direction %d does not exist; use one of cudaMemcpyHostToDevice and so on",
            (int)c->kind);
    if (c->rows > 0 && (c->width > c->dst_pitch || c->width > c->src_pitch))
        return vgpu__refuse(
            c->rows > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue, c->call,
            "a row of %zu bytes is wider than a pitch (destination %zu, source %zu)", c->width,
            c->dst_pitch, c->src_pitch);
    cudaError_t error = check_side(c, c->dst, false);
    return error != cudaSuccess ? error : check_side(c, c->src, true);
}

/* ---- bytes ---- */

/* The layout of the rows of one side. In a packed layout, rows follow each other without gaps. */
struct layout {
    size_t pitch, plane; /* plane 0: there are no planes */
};

static struct layout packed_layout(const struct vgpu__copy *c)
{
    return (struct layout){c->width, c->width * c->plane_rows};
}

static struct layout side_layout(const struct vgpu__copy *c, bool source)
{
    return source ? (struct layout){c->src_pitch, c->src_plane}
                  : (struct layout){c->dst_pitch, c->dst_plane};
}

static size_t layout_row_offset(const struct vgpu__copy *c, struct layout l, size_t row)
{
    return c->plane_rows ? row / c->plane_rows * l.plane + row % c->plane_rows * l.pitch
                         : row * l.pitch;
}

static void copy_staged_rows(const struct vgpu__copy *c, void *dst, struct layout to,
                             const void *src, struct layout from)
{
    for (size_t i = 0; i < c->rows; i++)
        memmove((char *)dst + layout_row_offset(c, to, i),
                (const char *)src + layout_row_offset(c, from, i), c->width);
}

/* Copies from host to host in this process, after all earlier work of the stream is done. */
static cudaError_t copy_host_to_host(const struct vgpu__copy *c)
{
    struct vgpu_request *request = vgpu__new_request(c->call, VGPU_OP_STREAM_SYNC);
    request->stream = vgpu__stream_id(c->stream);
    cudaError_t error = vgpu__end(NULL);
    if (error == cudaSuccess)
        copy_staged_rows(c, c->dst, side_layout(c, false), c->src, side_layout(c, true));
    return error;
}

/* Stores the number of bytes from the first byte of the first row to the last byte of the last row;
 * false on overflow. */
static bool layout_span(const struct vgpu__copy *c, struct layout l, uint64_t *span)
{
    size_t rows = c->plane_rows ? c->plane_rows : c->rows, planes = c->rows / rows;
    uint64_t before;
    return !__builtin_mul_overflow(rows - 1, l.pitch, span) &&
           !__builtin_add_overflow(*span, c->width, span) &&
           !__builtin_mul_overflow(planes - 1, l.plane, &before) &&
           !__builtin_add_overflow(*span, before, span);
}

/* Checks that the device side lies in one allocation; an error is recorded, with a message. */
static cudaError_t check_device_side(const struct vgpu__copy *c, bool source)
{
    const struct vgpu_reply *reply;
    const void *first = source ? c->src : c->dst;
    const char *name = source ? "source" : "destination";
    uint64_t at = vgpu__node_address(first), span;
    struct vgpu_request *request = vgpu__new_request(c->call, VGPU_OP_POINTER);
    request->ptr = at;
    cudaError_t error = vgpu__record(vgpu__ask(-1, true, &reply));
    const struct vgpu_pointer *p = &reply->u.pointer;
    if (error != cudaSuccess)
        return error;
    if (p->kind == cudaMemoryTypeUnregistered)
        return vgpu__refuse(cudaErrorInvalidValue, c->call,
                            "the %s %p is not allocated: freed already, or never allocated?", name,
                            first);
    if (!layout_span(c, side_layout(c, source), &span) || span > p->reach)
        return vgpu__refuse(cudaErrorInvalidValue, c->call,
                            "%zu rows of %zu bytes from the %s, but only %llu of its allocation's "
                            "%llu bytes are left",
                            c->rows, c->width, name, (unsigned long long)p->reach,
                            (unsigned long long)p->bytes);
    return cudaSuccess;
}

/* ---- the request ---- */

struct staged {
    struct vgpu__stage *stage; /* NULL: both sides are visible to the node */
    bool dst, src;             /* the side that the staging buffer replaces */
};

static void *staging_address(const struct staged *s)
{
    return (void *)(uintptr_t)s->stage->address;
}

/* Takes a staging buffer if one side is pageable, and fills it if that is the source. The device
 * side is checked first, before a pageable source is read or much staging memory is taken, since a
 * byte count that is too large for the device memory is usually too large for the host memory, too.
 */
static cudaError_t stage_pageable(const struct vgpu__copy *c, struct staged *s)
{
    size_t bytes;
    cudaError_t error = cudaSuccess;
    *s = (struct staged){.dst = vgpu__place(c->dst) == VGPU__PAGEABLE,
                         .src = vgpu__place(c->src) == VGPU__PAGEABLE};
    if (__builtin_mul_overflow(c->width, c->rows, &bytes))
        return vgpu__record(cudaErrorInvalidValue);
    if ((!s->dst && !s->src) || bytes == 0)
        return cudaSuccess;
    if (s->src || bytes >= LARGE_BYTES)
        error = check_device_side(c, s->dst);
    if (error == cudaSuccess)
        error = vgpu__record(vgpu__stage_take(bytes, &s->stage));
    if (error == cudaSuccess && s->src)
        copy_staged_rows(c, staging_address(s), packed_layout(c), c->src, side_layout(c, true));
    return error;
}

static struct vgpu_copy copy_fields(const struct vgpu__copy *c, const struct staged *s)
{
    uint64_t dst = (uint64_t)(uintptr_t)c->dst, src = (uint64_t)(uintptr_t)c->src;
    struct layout to = s->dst || c->rows <= 1 ? packed_layout(c) : side_layout(c, false);
    struct layout from = s->src || c->rows <= 1 ? packed_layout(c) : side_layout(c, true);
    return (struct vgpu_copy){
        .dst_user = dst,
        .src_user = src,
        .dst = s->dst && s->stage ? s->stage->address : vgpu__node_address(c->dst),
        .src = s->src && s->stage ? s->stage->address : vgpu__node_address(c->src),
        .bytes = c->rows ? c->width : 0,
        .rows = c->rows ? c->rows : 1,
        .pitch_dst = to.pitch,
        .pitch_src = from.pitch,
        .plane_rows = c->plane_rows,
        .plane_dst = to.plane,
        .plane_src = from.plane,
        .api = VGPU_COPY_MEMCPY,
        .dst_device = -1,
        .src_device = -1,
        .dst_pageable = s->dst,
        .src_pageable = s->src,
        .sync = c->sync,
        .host_done = s->dst || s->src,
    };
}

static cudaError_t send_copy_request(const struct vgpu__copy *c, const struct vgpu_copy *fields)
{
    struct vgpu_request *request = vgpu__new_request(c->call, VGPU_OP_COPY);
    request->stream = vgpu__stream_id(c->stream);
    request->u.copy = *fields;
    return vgpu__end(NULL);
}

cudaError_t vgpu__copy_send(const struct vgpu__copy *c)
{
    struct staged s;
    if (c->width && c->rows && vgpu__place(c->dst) != VGPU__DEVICE &&
        vgpu__place(c->src) != VGPU__DEVICE)
        return copy_host_to_host(c);
    cudaError_t error = stage_pageable(c, &s);
    if (error != cudaSuccess)
        return error;
    const struct vgpu_copy fields = copy_fields(c, &s);
    error = send_copy_request(c, &fields);
    if (error == cudaSuccess && s.dst && s.stage)
        copy_staged_rows(c, c->dst, side_layout(c, false), staging_address(&s), packed_layout(c));
    if (s.stage)
        vgpu__stage_give(s.stage);
    return error;
}

cudaError_t vgpu__copy_again(const struct vgpu__copy *c)
{
    if (!vgpu__admit(c->call, VGPU_OP_COPY))
        return vgpu__failed();
    cudaError_t error = vgpu__copy_check(c);
    return error == cudaSuccess ? vgpu__copy_send(c) : error;
}

/* ---- copies between devices given by number ---- */

cudaError_t vgpu__copy_peer_check(const struct vgpu__copy *c, int dst_device, int src_device)
{
    if (c->width == 0 || (vgpu__device_exists(dst_device) && vgpu__device_exists(src_device)))
        return cudaSuccess;
    return vgpu__refuse(cudaErrorInvalidDevice, c->call,
                        "devices %d and %d; this process sees %d (0 to %d)", dst_device, src_device,
                        vgpu__process.device_count, vgpu__process.device_count - 1);
}

cudaError_t vgpu__copy_peer_send(const struct vgpu__copy *c, int dst_device, int src_device)
{
    struct vgpu_copy fields = copy_fields(c, &(struct staged){NULL, false, false});
    if (c->width > 0) {
        fields.api = VGPU_COPY_PEER;
        fields.dst_device = vgpu__process.physical[dst_device];
        fields.src_device = vgpu__process.physical[src_device];
    }
    return send_copy_request(c, &fields);
}
