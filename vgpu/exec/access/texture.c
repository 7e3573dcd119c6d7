/* SPDX-License-Identifier: MIT
 * texture.c: textures and surfaces. A texel is read where it lies, checked and counted like a load
 * of device code; filtering is that of the CUDA C++ Programming Guide's appendix on texture
 * fetching, with weights of 8 bits behind the point that are rounded as a GPU of compute
 * capability 9.0 rounds them.
 *
 * What a texture unit takes for a fetch beside the bytes, and its cache, are not modelled.
 */
#include "access.h"
#include "fault.h"
#include "float_bits.h"
#include "image.h"
#include "mapped_memory.h"

#include <math.h>
#include <string.h>

#define CALLER ((uint64_t)__builtin_return_address(0) - 1)

enum { CHANNELS = 4, NOWHERE = -1 };

struct fetch {
    const struct vgpu_texture *texture;
    uint64_t pc;
};

/* The object's record. A handle of no object is a fault. */
static const struct vgpu_texture *object_record(uint64_t object, uint32_t magic, uint64_t pc)
{
    const struct vgpu_texture *texture = (const struct vgpu_texture *)object;
    if (object >= VGPU_HOST_VA && object < VGPU_HOST_END && object % 16 == 0 &&
        memory_allows(object, object + sizeof *texture, false) && texture->magic == magic)
        return texture;
    fault_raise(VGPU_FAULT_ADDRESS, object, false, pc,
                "0x%llx is not a %s object: never created, or destroyed",
                (unsigned long long)object, magic == VGPU_TEXTURE_MAGIC ? "texture" : "surface");
}

/* ---- one texel ---- */

static bool reads_floats(const struct vgpu_texture *t)
{
    return t->kind == VGPU_TEXEL_FLOAT || t->to_float;
}

static uint32_t signed_channel(const struct vgpu_texture *t, uint32_t raw)
{
    int32_t value = t->bits == 8 ? (int8_t)raw : t->bits == 16 ? (int16_t)raw : (int32_t)raw;
    if (!t->to_float)
        return (uint32_t)value;
    return from_f32(fmaxf((float)value / (t->bits == 8 ? 127.0f : 32767.0f), -1.0f));
}

static uint32_t channel_value(const struct vgpu_texture *t, const uint8_t *at)
{
    uint32_t raw = 0;
    memcpy(&raw, at, t->bits / 8);
    if (t->kind == VGPU_TEXEL_FLOAT)
        return t->bits == 16 ? from_f32(from_f16((uint16_t)raw)) : raw;
    if (t->kind == VGPU_TEXEL_SIGNED)
        return signed_channel(t, raw);
    return t->to_float ? from_f32((float)raw / (t->bits == 8 ? 255.0f : 65535.0f)) : raw;
}

static void border_texel(const struct vgpu_texture *t, uint32_t *channel)
{
    for (int c = 0; c < CHANNELS; c++)
        channel[c] = reads_floats(t) ? from_f32(t->border[c]) : (uint32_t)(int32_t)t->border[c];
}

static void read_texel(const struct fetch *f, int64_t x, int64_t y, int64_t z, uint32_t *channel)
{
    const struct vgpu_texture *t = f->texture;
    uint32_t bytes = t->bits / 8 * t->channels;
    if (x == NOWHERE || y == NOWHERE || z == NOWHERE) {
        border_texel(t, channel);
        return;
    }
    const uint8_t *at = (const uint8_t *)(t->texels + (uint64_t)z * t->plane +
                                          (uint64_t)y * t->pitch + (uint64_t)x * bytes);
    access_load(at, bytes, f->pc);
    memset(channel, 0, CHANNELS * sizeof *channel);
    for (uint32_t c = 0; c < t->channels; c++)
        channel[c] = channel_value(t, at + c * (t->bits / 8));
}

/* ---- coordinates ---- */

/* The texel's index for one that may lie outside of [0, count). */
static int64_t resolve_index(int64_t index, uint64_t count, uint32_t mode)
{
    int64_t n = (int64_t)count;
    if (index >= 0 && index < n)
        return index;
    if (mode == VGPU_ADDRESS_BORDER)
        return NOWHERE;
    if (mode == VGPU_ADDRESS_CLAMP)
        return index < 0 ? 0 : n - 1;
    int64_t period = mode == VGPU_ADDRESS_WRAP ? n : 2 * n, at = index % period;
    if (at < 0)
        at += period;
    return at < n ? at : period - 1 - at;
}

/* A coordinate in texels. NaN is 0; what is far away stays far away. */
static double texel_coordinate(const struct vgpu_texture *t, float value, uint64_t count)
{
    double at = value;
    if (t->normalized)
        at *= (double)count;
    return at >= -1e12 ? (at <= 1e12 ? at : 1e12) : isnan(at) ? 0 : -1e12;
}

/* Along one dimension: two texels, and the weight of the second one in 256ths. */
struct along {
    int64_t index[2];
    int32_t weight;
};

static struct along along_point(const struct vgpu_texture *t, float value, uint64_t count,
                                uint32_t mode)
{
    int64_t index = (int64_t)floor(texel_coordinate(t, value, count));
    return (struct along){{resolve_index(index, count, mode), 0}, 0};
}

static struct along along_linear(const struct vgpu_texture *t, float value, uint64_t count,
                                 uint32_t mode)
{
    int64_t fixed = (int64_t)floor((texel_coordinate(t, value, count) - 0.5) * 256 + 0.5);
    int64_t index = fixed >> 8;
    return (struct along){
        {resolve_index(index, count, mode), resolve_index(index + 1, count, mode)},
        (int32_t)(fixed & 255)};
}

static struct along along(const struct vgpu_texture *t, float value, uint64_t count, int dimension)
{
    uint32_t mode = t->address[dimension];
    return t->linear ? along_linear(t, value, count, mode) : along_point(t, value, count, mode);
}

static int64_t clamp_layer(const struct vgpu_texture *t, int64_t layer)
{
    return layer < 0 ? 0 : layer < (int64_t)t->depth ? layer : (int64_t)t->depth - 1;
}

/* ---- filtering ---- */

enum { WHOLE = 256, CORNERS = 8 };

/* The part of a weight that goes to the second texel along one more dimension. */
static int32_t second_part(int32_t weight, int32_t along_weight)
{
    return (weight * along_weight + WHOLE / 2) / WHOLE;
}

/* The corners' weights in 256ths, as GPUs of compute capability 9.0 have them: of two dimensions
 * each corner's is a whole number, and together they make 256. Bit d of a corner's number: the
 * second texel along d. */
static void corner_weights(const struct along at[3], int32_t weight[CORNERS])
{
    const int32_t x = at[0].weight, y = at[1].weight, both = second_part(x, y);
    const int32_t flat[4] = {WHOLE - x - y + both, x - both, y - both, both};
    for (int c = 0; c < 4; c++) {
        weight[4 + c] = second_part(flat[c], at[2].weight);
        weight[c] = flat[c] - weight[4 + c];
    }
}

static void add_texel(const struct fetch *f, const struct along at[3], int corner, int32_t weight,
                      double *sum)
{
    uint32_t channel[CHANNELS];
    read_texel(f, at[0].index[corner & 1], at[1].index[corner >> 1 & 1],
               at[2].index[corner >> 2 & 1], channel);
    for (int c = 0; c < CHANNELS; c++)
        sum[c] += weight * (double)to_f32(channel[c]);
}

/* To the nearest number, of two as near to the one that is farther from zero: as recorded. */
static float round_sum(double sum)
{
    float near = (float)sum;
    double beyond = sum - (double)near;
    if (beyond == 0)
        return near;
    float other = nextafterf(near, beyond > 0 ? INFINITY : -INFINITY);
    bool tie = fabs(sum - (double)other) == fabs(beyond);
    return tie && fabsf(other) > fabsf(near) ? other : near;
}

static void filter(const struct fetch *f, const struct along at[3], uint32_t *channel)
{
    double sum[CHANNELS] = {0, 0, 0, 0};
    int32_t weight[CORNERS];
    if (!f->texture->linear) {
        read_texel(f, at[0].index[0], at[1].index[0], at[2].index[0], channel);
        return;
    }
    corner_weights(at, weight);
    for (int corner = 0; corner < CORNERS; corner++)
        if (weight[corner] != 0)
            add_texel(f, at, corner, weight[corner], sum);
    for (int c = 0; c < CHANNELS; c++)
        channel[c] = from_f32(round_sum(sum[c] / WHOLE));
}

/* ---- cubemaps ---- */

struct face {
    int number;
    float s, t;
};

/* The appendix's table: the face to which a direction points, and where in it. */
static struct face cubemap_face(float x, float y, float z)
{
    float ax = fabsf(x), ay = fabsf(y), az = fabsf(z), s, t, m;
    int number;
    if (ax >= ay && ax >= az) {
        number = x < 0;
        m = ax, s = x < 0 ? z : -z, t = -y;
    } else if (ay >= az) {
        number = 2 + (y < 0);
        m = ay, s = x, t = y < 0 ? -z : z;
    } else {
        number = 4 + (z < 0);
        m = az, s = z < 0 ? -x : x, t = -y;
    }
    return (struct face){number, (s / m + 1) / 2, (t / m + 1) / 2};
}

/* ---- what kernels call ---- */

static const struct along everywhere = {{0, 0}, 0};

static void read_gathered(const struct fetch *f, struct along x, struct along y, int32_t which,
                          uint32_t *channel)
{
    static const int corner[CHANNELS][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    uint32_t texel[CHANNELS];
    for (int c = 0; c < CHANNELS; c++) {
        read_texel(f, x.index[corner[c][0]], y.index[corner[c][1]], 0, texel);
        channel[c] = texel[which & (CHANNELS - 1)];
    }
}

static void read_element(const struct fetch *f, int32_t index, uint32_t *channel)
{
    if (index >= 0 && (uint64_t)index < f->texture->width)
        read_texel(f, index, 0, 0, channel);
    else
        memset(channel, 0, CHANNELS * sizeof *channel);
}

OFFERED void vgpu_texture_read(uint64_t object, enum vgpu_texture_shape shape, float x, float y,
                               float z, int32_t layer, uint32_t *channel)
{
    struct fetch f = {object_record(object, VGPU_TEXTURE_MAGIC, CALLER), CALLER};
    const struct vgpu_texture *t = f.texture;
    struct along at[3] = {everywhere, everywhere, everywhere};
    if (shape == VGPU_TEXTURE_FETCH) {
        read_element(&f, layer, channel);
        return;
    }
    if (shape == VGPU_TEXTURE_GATHER) {
        read_gathered(&f, along_linear(t, x, t->width, t->address[0]),
                      along_linear(t, y, t->height, t->address[1]), layer, channel);
        return;
    }
    if (shape == VGPU_TEXTURE_CUBEMAP || shape == VGPU_TEXTURE_CUBEMAP_LAYERED) {
        struct face face = cubemap_face(x, y, z);
        x = face.s, y = face.t;
        layer = face.number + (shape == VGPU_TEXTURE_CUBEMAP ? 0 : 6 * layer);
    }
    at[0] = along(t, x, t->width, 0);
    if (shape != VGPU_TEXTURE_1D && shape != VGPU_TEXTURE_1D_LAYERED)
        at[1] = along(t, y, t->height, 1);
    if (shape == VGPU_TEXTURE_3D)
        at[2] = along(t, z, t->depth, 2);
    else
        at[2].index[0] = at[2].index[1] = clamp_layer(t, layer);
    filter(&f, at, channel);
}

OFFERED uint32_t vgpu_texture_query(uint64_t object, int surface, enum vgpu_texture_query what)
{
    const struct vgpu_texture *t =
        object_record(object, surface ? VGPU_SURFACE_MAGIC : VGPU_TEXTURE_MAGIC, CALLER);
    switch (what) {
    case VGPU_QUERY_WIDTH:
        return (uint32_t)t->width;
    case VGPU_QUERY_HEIGHT:
        return (uint32_t)t->height;
    case VGPU_QUERY_NORMALIZED:
        return t->normalized;
    default:
        return (uint32_t)t->depth;
    }
}

OFFERED uint64_t vgpu_surface_at(uint64_t object, int32_t x, int32_t y, int32_t z, uint32_t bytes,
                                 enum vgpu_boundary_mode mode)
{
    const struct vgpu_texture *t = object_record(object, VGPU_SURFACE_MAGIC, CALLER);
    int64_t row = (int64_t)(t->width * t->channels * (t->bits / 8)), last = row - bytes;
    bool inside = x >= 0 && x <= last && y >= 0 && (uint64_t)y < t->height && z >= 0 &&
                  (uint64_t)z < t->depth;
    int64_t at[3] = {x, y, z};
    if (x % (int64_t)bytes != 0)
        fault_raise(VGPU_FAULT_MISALIGNED, (uint64_t)(int64_t)x, false, CALLER,
                    "byte %d of a surface's row is not a multiple of the %u bytes of the access: "
                    "x is in bytes",
                    x, bytes);
    if (!inside && mode == VGPU_BOUNDARY_ZERO)
        return 0;
    if (!inside && mode == VGPU_BOUNDARY_TRAP)
        fault_raise(VGPU_FAULT_TRAP, t->texels, false, CALLER,
                    "an access outside of a surface: byte %d of row %d in plane %d; it has %lld "
                    "bytes, %llu rows and %llu planes",
                    x, y, z, (long long)row, (unsigned long long)t->height,
                    (unsigned long long)t->depth);
    const int64_t most[3] = {last, (int64_t)t->height - 1, (int64_t)t->depth - 1};
    for (int d = 0; d < 3; d++)
        at[d] = at[d] < 0 ? 0 : at[d] > most[d] ? most[d] : at[d];
    return t->texels + (uint64_t)at[2] * t->plane + (uint64_t)at[1] * t->pitch + (uint64_t)at[0];
}
