// Textures over arrays, linear and pitched memory: every filter and address mode against the CUDA
// C++ Programming Guide's formulas, with weights rounded as on GPUs of compute capability 9.0;
// formats, layers, cubemaps, gathers; surfaces.
#include <math.h>
#include <string.h>

#include "../check.h"

enum { W = 7, H = 5, D = 3, SAMPLES = 96 };

static float texel(int x, int y, int z)
{
    return 1.0f + 3.0f * x + 0.5f * y * y + 7.0f * z + (x * y % 3) * 0.25f;
}

/* ---- the formulas ---- */

static int resolve(int i, int n, cudaTextureAddressMode mode)
{
    if (i >= 0 && i < n)
        return i;
    if (mode == cudaAddressModeBorder)
        return -1;
    if (mode == cudaAddressModeClamp)
        return i < 0 ? 0 : n - 1;
    int period = mode == cudaAddressModeWrap ? n : 2 * n, at = ((i % period) + period) % period;
    return at < n ? at : period - 1 - at;
}

struct Line {
    int at[2];
    int weight; // of the second one, in 256ths
};

static Line line(float coordinate, int n, cudaTextureAddressMode mode, bool linear, bool normalized)
{
    double x = normalized ? (double)coordinate * n : coordinate;
    if (!linear)
        return {{resolve((int)floor(x), n, mode), 0}, 0};
    int fixed = (int)floor((x - 0.5) * 256 + 0.5), i = fixed >> 8;
    return {{resolve(i, n, mode), resolve(i + 1, n, mode)}, fixed & 255};
}

static double expected(float x, float y, float z, int dimensions, const cudaTextureDesc &d)
{
    bool linear = d.filterMode == cudaFilterModeLinear, normalized = d.normalizedCoords;
    cudaTextureAddressMode mode[3];
    for (int i = 0; i < 3; i++) {
        bool repeats =
            d.addressMode[i] == cudaAddressModeWrap || d.addressMode[i] == cudaAddressModeMirror;
        mode[i] = repeats && !normalized ? cudaAddressModeClamp : d.addressMode[i];
    }
    Line lx = line(x, W, mode[0], linear, normalized);
    Line ly = dimensions > 1 ? line(y, H, mode[1], linear, normalized) : Line{{0, 0}, 0};
    Line lz = dimensions > 2 ? line(z, D, mode[2], linear, normalized) : Line{{0, 0}, 0};
    int both = (lx.weight * ly.weight + 128) / 256, sum256 = 0;
    int flat[4] = {256 - lx.weight - ly.weight + both, lx.weight - both, ly.weight - both, both};
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        int far = (flat[corner & 3] * lz.weight + 128) / 256;
        int weight = corner & 4 ? far : flat[corner & 3] - far;
        int i = lx.at[corner & 1], j = ly.at[corner >> 1 & 1], k = lz.at[corner >> 2];
        if (weight != 0)
            sum += weight / 256.0 * (i < 0 || j < 0 || k < 0 ? d.borderColor[0] : texel(i, j, k));
        sum256 += weight;
    }
    HOLDS(sum256 == 256, "weights of %d", sum256);
    return sum;
}

/* ---- arrays of one to three dimensions ---- */

__global__ void sample(cudaTextureObject_t texture, int dimensions, const float3 *at, float *out)
{
    float3 p = at[threadIdx.x];
    out[threadIdx.x] = dimensions == 1   ? tex1D<float>(texture, p.x)
                       : dimensions == 2 ? tex2D<float>(texture, p.x, p.y)
                                         : tex3D<float>(texture, p.x, p.y, p.z);
}

static cudaArray_t make_array(int dimensions)
{
    static float host[D][H][W];
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                host[z][y][x] = texel(x, y, z);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaExtent extent = make_cudaExtent(W, dimensions > 1 ? H : 0, dimensions > 2 ? D : 0);
    MUST(cudaMalloc3DArray(&array, &format, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, W * sizeof(float), W, H);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(W, dimensions > 1 ? H : 1, dimensions > 2 ? D : 1);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    return array;
}

static cudaTextureObject_t make_texture(cudaArray_t array, const cudaTextureDesc &desc)
{
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureObject_t texture;
    MUST(cudaCreateTextureObject(&texture, &resource, &desc, nullptr));
    return texture;
}

static void check_array(cudaArray_t array, int dimensions, const cudaTextureDesc &desc, float3 *at,
                        float *out)
{
    bool normalized = desc.normalizedCoords;
    for (int i = 0; i < SAMPLES; i++) {
        float u = (float)((i * 37) % SAMPLES) / SAMPLES * 3 - 1, v = (float)i / SAMPLES * 3 - 1;
        float w = (float)((i * 11) % SAMPLES) / SAMPLES * 3 - 1;
        at[i] = normalized ? make_float3(u, v, w) : make_float3(u * W, v * H, w * D);
    }
    cudaTextureObject_t texture = make_texture(array, desc);
    sample<<<1, SAMPLES>>>(texture, dimensions, at, out);
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < SAMPLES; i++) {
        double want = expected(at[i].x, at[i].y, at[i].z, dimensions, desc);
        HOLDS(fabs(out[i] - want) <= 1e-6 * (1 + fabs(want)),
              "%d dimensions, filter %d, mode %d, normalized %d: (%g, %g, %g) is %g, not %g",
              dimensions, desc.filterMode, desc.addressMode[0], desc.normalizedCoords, at[i].x,
              at[i].y, at[i].z, out[i], want);
    }
    MUST(cudaDestroyTextureObject(texture));
}

static void check_arrays(float3 *at, float *out)
{
    for (int dimensions = 1; dimensions <= 3; dimensions++) {
        cudaArray_t array = make_array(dimensions);
        for (int kind = 0; kind < 16; kind++) {
            cudaTextureDesc desc = {};
            for (int i = 0; i < 3; i++)
                desc.addressMode[i] = (cudaTextureAddressMode)(kind & 3);
            desc.filterMode = kind & 4 ? cudaFilterModeLinear : cudaFilterModePoint;
            desc.normalizedCoords = kind & 8 ? 1 : 0;
            desc.borderColor[0] = -2.5f;
            check_array(array, dimensions, desc, at, out);
        }
        MUST(cudaFreeArray(array));
    }
}

/* ---- as recorded ---- */

static unsigned int random_state;

static float random_fraction()
{
    random_state = random_state * 1664525u + 1013904223u;
    return (float)(random_state >> 8) * (1.0f / 16777216);
}

enum { RECORDED_W = 64, RECORDED_H = 32, RECORDED = 4096 };

__global__ void sample_2d(cudaTextureObject_t texture, const float2 *at, float *out)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

// 65,536 fetches: a hash of their bits, which is that of a GPU of compute capability 9.0.
static void check_recorded()
{
    static float texels[RECORDED_W * RECORDED_H], result[RECORDED];
    static float2 at[RECORDED];
    float2 *device_at;
    float *device_result;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    unsigned int hash = 2166136261u;
    random_state = 1;
    for (float &texel : texels)
        texel = random_fraction() * 2 - 1;
    MUST(cudaMalloc(&device_at, sizeof at));
    MUST(cudaMalloc(&device_result, sizeof result));
    MUST(cudaMallocArray(&array, &format, RECORDED_W, RECORDED_H));
    MUST(cudaMemcpy2DToArray(array, 0, 0, texels, RECORDED_W * 4, RECORDED_W * 4, RECORDED_H,
                             cudaMemcpyHostToDevice));
    for (int kind = 0; kind < 16; kind++) {
        cudaTextureDesc desc = {};
        desc.normalizedCoords = kind >> 3;
        desc.filterMode = (cudaTextureFilterMode)(kind >> 2 & 1);
        desc.addressMode[0] = desc.addressMode[1] = (cudaTextureAddressMode)(kind & 3);
        desc.borderColor[0] = 0.75f;
        for (float2 &p : at) {
            p.x = (random_fraction() * 3 - 1) * (desc.normalizedCoords ? 1 : RECORDED_W);
            p.y = (random_fraction() * 3 - 1) * (desc.normalizedCoords ? 1 : RECORDED_H);
        }
        MUST(cudaMemcpy(device_at, at, sizeof at, cudaMemcpyHostToDevice));
        cudaTextureObject_t texture = make_texture(array, desc);
        sample_2d<<<RECORDED / 256, 256>>>(texture, device_at, device_result);
        MUST(cudaMemcpy(result, device_result, sizeof result, cudaMemcpyDeviceToHost));
        MUST(cudaDestroyTextureObject(texture));
        for (const float &value : result) {
            unsigned int bits;
            memcpy(&bits, &value, sizeof bits);
            hash = (hash ^ bits) * 16777619u;
        }
    }
    HOLDS(hash == 0x7f65cd56, "the hash is %#x", hash);
    MUST(cudaFreeArray(array));
    MUST(cudaFree(device_at));
    MUST(cudaFree(device_result));
}

/* ---- linear and pitched memory, formats ---- */

__global__ void formats(cudaTextureObject_t bytes, cudaTextureObject_t numbers, float *out)
{
    uchar4 c = tex1Dfetch<uchar4>(bytes, 1);
    out[0] = c.x + 10 * c.y + 100 * c.z + 1000 * c.w;
    out[1] = tex1Dfetch<uchar4>(bytes, -1).x; // outside: zeros
    out[2] = tex1Dfetch<uchar4>(bytes, 4).w;
    float2 f = tex2D<float2>(numbers, 0.5f, 1.5f);
    out[3] = f.x;
    out[4] = f.y;
    f = tex2D<float2>(numbers, 1.0f, 1.0f); // the mean of four texels
    out[5] = f.x;
}

static void check_formats(float *out)
{
    unsigned char *bytes;
    short2 *numbers, host[2][2] = {{{-32768, 0}, {32767, 0}}, {{16384, -1}, {-16384, 0}}};
    size_t pitch;
    unsigned char values[16] = {9, 9, 9, 9, 1, 2, 3, 4, 9, 9, 9, 9, 9, 9, 9, 9};
    MUST(cudaMalloc(&bytes, sizeof values));
    MUST(cudaMemcpy(bytes, values, sizeof values, cudaMemcpyHostToDevice));
    MUST(cudaMallocPitch(&numbers, &pitch, sizeof host[0], 2));
    MUST(cudaMemcpy2D(numbers, pitch, host, sizeof host[0], sizeof host[0], 2,
                      cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    cudaTextureDesc desc = {};
    cudaTextureObject_t texture[2];
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = bytes;
    resource.res.linear.desc = cudaCreateChannelDesc<uchar4>();
    resource.res.linear.sizeInBytes = sizeof values;
    MUST(cudaCreateTextureObject(&texture[0], &resource, &desc, nullptr));
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = numbers;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<short2>();
    resource.res.pitch2D.width = resource.res.pitch2D.height = 2;
    resource.res.pitch2D.pitchInBytes = pitch;
    desc.readMode = cudaReadModeNormalizedFloat;
    desc.filterMode = cudaFilterModeLinear;
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    MUST(cudaCreateTextureObject(&texture[1], &resource, &desc, nullptr));
    formats<<<1, 1>>>(texture[0], texture[1], out);
    MUST(cudaDeviceSynchronize());
    const float want[6] = {4321, 0, 0, 16384 / 32767.0f, -1 / 32767.0f, 0};
    for (int i = 0; i < 6; i++)
        HOLDS(fabsf(out[i] - want[i]) < 1e-6f, "format %d: %g, not %g", i, out[i], want[i]);
    MUST(cudaDestroyTextureObject(texture[0]));
    MUST(cudaDestroyTextureObject(texture[1]));
    MUST(cudaFree(bytes));
    MUST(cudaFree(numbers));
}

/* ---- layers, cubemaps, gathers ---- */

__global__ void layers(cudaTextureObject_t layered, cudaTextureObject_t cube, float *out)
{
    out[0] = tex2DLayered<float>(layered, 0.5f, 1.5f, 1);
    out[1] = tex2DLayered<float>(layered, 0.5f, 0.5f, 9); // the last one
    out[2] = texCubemap<float>(cube, 1, 0.1f, 0.1f);
    out[3] = texCubemap<float>(cube, -1, 0.1f, 0.1f);
    out[4] = texCubemap<float>(cube, 0.1f, 1, 0.1f);
    out[5] = texCubemap<float>(cube, 0.1f, -1, 0.1f);
    out[6] = texCubemap<float>(cube, 0.1f, 0.1f, 1);
    out[7] = texCubemap<float>(cube, 0.1f, 0.1f, -1);
    float4 four = tex2Dgather<float4>(layered, 1.0f, 1.0f);
    out[8] = four.x + 10 * four.y + 100 * four.z + 1000 * four.w;
}

static cudaArray_t make_layers(unsigned int flags, int count)
{
    float host[6][2][2];
    for (int i = 0; i < 24; i++)
        (&host[0][0][0])[i] = (float)i;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    MUST(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 2, count), flags));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 2 * sizeof(float), 2, 2);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(2, 2, count);
    copy.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&copy));
    return array;
}

static void check_layers(float *out)
{
    cudaTextureDesc desc = {};
    cudaArray_t array[2] = {make_layers(cudaArrayLayered | cudaArrayTextureGather, 2),
                            make_layers(cudaArrayCubemap, 6)};
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t layered = make_texture(array[0], desc);
    desc.normalizedCoords = 1;
    cudaTextureObject_t cube = make_texture(array[1], desc);
    layers<<<1, 1>>>(layered, cube, out);
    MUST(cudaDeviceSynchronize());
    // Faces begin at 0, 4, ...; the direction is a little off each face's middle.
    const float want[9] = {6, 4, 0, 5, 11, 13, 17, 20, 2 + 30 + 100 + 0};
    for (int i = 0; i < 9; i++)
        HOLDS(out[i] == want[i], "layer %d: %g, not %g", i, out[i], want[i]);
    for (cudaTextureObject_t texture : {layered, cube})
        MUST(cudaDestroyTextureObject(texture));
    for (cudaArray_t one : array)
        MUST(cudaFreeArray(one));
}

/* ---- surfaces ---- */

__global__ void write_surface(cudaSurfaceObject_t surface)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    surf2Dwrite(make_uint2(x + 10 * y, x), surface, x * (int)sizeof(uint2), y);
    surf2Dwrite(make_uint2(77, 77), surface, -8, y, cudaBoundaryModeZero); // nowhere
}

__global__ void read_surface(cudaSurfaceObject_t surface, float *out)
{
    int x = (int)threadIdx.x;
    uint2 inside = surf2Dread<uint2>(surface, x * 8, 2);
    uint2 outside = surf2Dread<uint2>(surface, 8 * 8, x, cudaBoundaryModeZero);
    uint2 edge;
    surf2Dread(&edge, surface, 9 * 8, x - 1, cudaBoundaryModeClamp);
    out[x] = (float)(inside.x + inside.y + 100 * outside.x + 1000 * edge.x);
}

static void check_surfaces(float *out)
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uint2>();
    uint2 host[3][8];
    MUST(cudaMallocArray(&array, &format, 8, 3, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    MUST(cudaCreateSurfaceObject(&surface, &resource));
    write_surface<<<1, dim3(8, 3)>>>(surface);
    read_surface<<<1, 4>>>(surface, out);
    MUST(cudaDeviceSynchronize());
    for (int x = 0; x < 4; x++) {
        int row = x < 1 ? 0 : x - 1 > 2 ? 2 : x - 1;
        float want = (float)(20 + 2 * x + 1000 * (7 + 10 * row));
        HOLDS(out[x] == want, "surface %d: %g, not %g", x, out[x], want);
    }
    MUST(cudaMemcpy2DFromArray(host, sizeof host[0], array, 0, 0, sizeof host[0], 3,
                               cudaMemcpyDeviceToHost));
    HOLDS(host[2][7].x == 27 && host[2][7].y == 7, "%u %u", host[2][7].x, host[2][7].y);
    MUST(cudaDestroySurfaceObject(surface));
    MUST(cudaFreeArray(array));
}

int main()
{
    float3 *at;
    float *out;
    MUST(cudaMallocManaged(&at, SAMPLES * sizeof *at));
    MUST(cudaMallocManaged(&out, SAMPLES * sizeof *out));
    check_arrays(at, out);
    check_recorded();
    check_formats(out);
    check_layers(out);
    check_surfaces(out);
    MUST(cudaFree(at));
    MUST(cudaFree(out));
    puts("PASS");
}
