// SPDX-License-Identifier: MIT
// texture.cu: textures and surfaces of every shape, with the address modes, filters and boundaries
// that a fetch can meet, and the queries that nvcc makes only of inline PTX. Prints the same by
// both compilers.
#include <stdio.h>
#include <string.h>

enum { W = 12, H = 8, D = 6, RESULTS = 64 };

struct objects {
    cudaTextureObject_t line, plane, box, lines, planes, cube, linear, bytes;
    cudaSurfaceObject_t row, plane_s, box_s, planes_s;
};

__device__ unsigned asked(cudaTextureObject_t object, int what)
{
    unsigned value = 0;
    if (what == 0)
        asm("txq.width.b32 %0, [%1];" : "=r"(value) : "l"(object));
    if (what == 1)
        asm("txq.height.b32 %0, [%1];" : "=r"(value) : "l"(object));
    if (what == 2)
        asm("txq.depth.b32 %0, [%1];" : "=r"(value) : "l"(object));
    if (what == 3)
        asm("txq.normalized_coords.b32 %0, [%1];" : "=r"(value) : "l"(object));
    return value;
}

__global__ void fetches(float *out, objects o, float x, float y, float z, int i)
{
    float4 four = tex2Dgather<float4>(o.plane, x, y, 0);
    float2 slope = make_float2(0.1f, 0.1f);
    float4 slopes = make_float4(0.1f, 0.1f, 0.1f, 0);
    uchar4 color = tex2D<uchar4>(o.bytes, x, y);
    unsigned size;
    out[0] = tex1D<float>(o.line, x);
    out[1] = tex2D<float>(o.plane, x, y);
    out[2] = tex3D<float>(o.box, x, y, z);
    out[3] = tex1DLayered<float>(o.lines, x, i);
    out[4] = tex2DLayered<float>(o.planes, x, y, i);
    out[5] = texCubemap<float>(o.cube, x - 3, y - 2, z - 1);
    out[6] = tex1Dfetch<float>(o.linear, i);
    out[7] = tex1Dfetch<float>(o.linear, i + 1000);
    out[8] = four.x, out[9] = four.y, out[10] = four.z, out[11] = four.w;
    out[12] = color.x, out[13] = color.y, out[14] = color.z, out[15] = color.w;
    out[16] = tex1DLod<float>(o.line, x, 1) + tex1DGrad<float>(o.line, x, 0.1f, 0.1f);
    out[17] = tex2DLod<float>(o.plane, x, y, 1) + tex2DGrad<float>(o.plane, x, y, slope, slope);
    out[18] = tex3DLod<float>(o.box, x, y, z, 1) + tex3DGrad<float>(o.box, x, y, z, slopes, slopes);
    out[19] = tex2DLayeredLod<float>(o.planes, x, y, i, 1);
    out[20] = (float)(asked(o.plane, 0) * 100 + asked(o.plane, 1));
    out[21] = (float)(asked(o.box, 2) * 10 + asked(o.cube, 3));
    asm("suq.width.b32 %0, [%1];" : "=r"(size) : "l"(o.plane_s));
    out[22] = (float)size;
    asm("suq.array_size.b32 %0, [%1];" : "=r"(size) : "l"(o.planes_s));
    out[23] = (float)size;
}

__global__ void surfaces(float *out, objects o, int i)
{
    int value = 0;
    float2 two = make_float2(1.5f, 2.5f);
    surf1Dwrite((short)(7 + i), o.row, i * 2);
    surf2Dwrite(two, o.plane_s, i * 8, i);
    surf2Dwrite(make_float2(9, 9), o.plane_s, 10000, 3, cudaBoundaryModeZero);
    surf2Dwrite(make_float2(8, 8), o.plane_s, 10000, 3, cudaBoundaryModeClamp);
    surf3Dwrite(make_uchar4(1, 2, 3, 4), o.box_s, i * 4, i, 2);
    surf2DLayeredwrite(31 + i, o.planes_s, i * 4, 1, i);
    out[0] = surf1Dread<short>(o.row, i * 2);
    out[1] = surf2Dread<float2>(o.plane_s, i * 8, i).y;
    out[2] = surf2Dread<float2>(o.plane_s, (W - 1) * 8, 3).x;
    out[3] = surf2Dread<float2>(o.plane_s, -8, 0, cudaBoundaryModeZero).x;
    out[4] = surf3Dread<uchar4>(o.box_s, i * 4, i, 2).z;
    surf2DLayeredread(&value, o.planes_s, i * 4, 1, i);
    out[5] = (float)value;
    asm("suld.b.2d.v2.b32.clamp {%0, %1}, [%2, {%3, %4}];"
        : "=f"(out[6]), "=f"(out[7])
        : "l"(o.plane_s), "r"(10000), "r"(3));
}

static cudaArray_t array_of(cudaChannelFormatDesc format, int w, int h, int d, unsigned flags)
{
    static unsigned char bytes[W * H * D * 8];
    int texel = (format.x + format.y + format.z + format.w) / 8;
    cudaArray_t array;
    cudaMemcpy3DParms copy = {};

    for (int i = 0; i < W * H * D; i++)
        if (format.f == cudaChannelFormatKindFloat)
            for (int c = 0; c < texel / 4; c++)
                ((float *)bytes)[i * texel / 4 + c] = (float)(i * 7 % 101) / 8;
        else
            memset(bytes + i * texel, i % 251, (size_t)texel);
    cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d), flags);
    copy.srcPtr = make_cudaPitchedPtr(bytes, (size_t)(w * texel), w, h ? h : 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    return array;
}

static cudaTextureObject_t texture(cudaArray_t array, cudaTextureAddressMode mode, bool linear,
                                   bool normalized)
{
    cudaResourceDesc of = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t object = 0;
    of.resType = cudaResourceTypeArray;
    of.res.array.array = array;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = normalized;
    cudaCreateTextureObject(&object, &of, &how, 0);
    return object;
}

static cudaTextureObject_t linear_texture()
{
    cudaResourceDesc of = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t object = 0;
    float *memory;
    cudaMallocManaged(&memory, 32 * sizeof *memory);
    for (int i = 0; i < 32; i++)
        memory[i] = (float)i + 0.25f;
    of.resType = cudaResourceTypeLinear;
    of.res.linear.devPtr = memory;
    of.res.linear.desc = cudaCreateChannelDesc<float>();
    of.res.linear.sizeInBytes = 32 * sizeof *memory;
    cudaCreateTextureObject(&object, &of, &how, 0);
    return object;
}

static cudaSurfaceObject_t surface(cudaChannelFormatDesc format, int w, int h, int d,
                                   unsigned flags)
{
    cudaResourceDesc of = {};
    cudaSurfaceObject_t object = 0;
    of.resType = cudaResourceTypeArray;
    of.res.array.array = array_of(format, w, h, d, flags | cudaArraySurfaceLoadStore);
    cudaCreateSurfaceObject(&object, &of);
    return object;
}

static void show(const char *what, const float *out, int count)
{
    printf("%s: %d\n", what, (int)cudaDeviceSynchronize());
    for (int i = 0; i < count; i++)
        printf("%.6g%c", out[i], i + 1 == count ? '\n' : ' ');
}

int main()
{
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>();
    const cudaTextureAddressMode modes[] = {cudaAddressModeClamp, cudaAddressModeWrap,
                                            cudaAddressModeMirror, cudaAddressModeBorder};
    objects o = {};
    float *out;

    cudaMallocManaged(&out, RESULTS * sizeof *out);
    cudaArray_t line = array_of(one, W, 0, 0, 0), box = array_of(one, W, H, D, 0);
    cudaArray_t plane = array_of(one, W, H, 0, cudaArrayTextureGather);
    cudaArray_t lines = array_of(one, W, 0, D, cudaArrayLayered);
    cudaArray_t planes = array_of(one, W, H, D, cudaArrayLayered);
    cudaArray_t cube = array_of(one, H, H, 6, cudaArrayCubemap);
    cudaArray_t bytes = array_of(cudaCreateChannelDesc<uchar4>(), W, H, 0, 0);
    o.linear = linear_texture();
    o.row = surface(cudaCreateChannelDesc<short>(), W, 0, 0, 0);
    o.plane_s = surface(cudaCreateChannelDesc<float2>(), W, H, 0, 0);
    o.box_s = surface(cudaCreateChannelDesc<uchar4>(), W, H, D, 0);
    o.planes_s = surface(cudaCreateChannelDesc<int>(), W, H, D, cudaArrayLayered);
    for (int kind = 0; kind < 8; kind++) {
        bool linear = kind % 2, normalized = kind >= 2 && kind < 6;
        cudaTextureAddressMode mode = modes[kind / 2];
        o.line = texture(line, mode, linear, normalized);
        o.plane = texture(plane, mode, linear, normalized);
        o.box = texture(box, mode, linear, normalized);
        o.lines = texture(lines, mode, linear, normalized);
        o.planes = texture(planes, mode, linear, normalized);
        o.cube = texture(cube, cudaAddressModeClamp, linear, true);
        o.bytes = texture(bytes, mode, false, normalized);
        for (int i = 0; i < 4; i++) {
            float by = normalized ? 0.31f : 3.7f;
            fetches<<<1, 1>>>(out, o, by * (float)i - 0.2f, by * (float)i + 0.3f, 0.4f, 3 * i);
            show("fetches", out, 24);
        }
    }
    for (int i = 0; i < 3; i++) {
        surfaces<<<1, 1>>>(out, o, i);
        show("surfaces", out, 8);
    }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    return 0;
}
