/* SPDX-License-Identifier: MIT
 * driver_arrays.cu: arrays of the driver API: copies of boxes to and from them, where positions and
 * widths are in bytes, and texture and surface objects that kernels of the runtime use.
 */
#include <cuda.h>

#include "check.h"

#define DRIVER(call) driver_succeeds((call), #call, __LINE__)

enum { W = 13, H = 7, D = 3, LEFT = 2, TOP = 1 };

static void driver_succeeds(CUresult result, const char *call, int line)
{
    HOLDS(result == CUDA_SUCCESS, "line %d: %s: %d", line, call, (int)result);
}

__global__ void fetch(cudaTextureObject_t texture, float *to)
{
    to[threadIdx.y * W + threadIdx.x] =
        tex2D<float>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}

__global__ void triple(cudaSurfaceObject_t surface)
{
    int value;
    surf3Dread(&value, surface, (int)(threadIdx.x * sizeof value), threadIdx.y, threadIdx.z);
    surf3Dwrite(3 * value, surface, (int)(threadIdx.x * sizeof value), threadIdx.y, threadIdx.z);
}

static CUDA_MEMCPY2D whole_to(CUarray array, const float *from)
{
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.srcPitch = W * sizeof *from;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = W * sizeof *from;
    copy.Height = H;
    return copy;
}

static CUtexObject texture_of(CUarray array)
{
    CUtexObject texture = 0;
    CUDA_RESOURCE_DESC resource = {};
    CUDA_TEXTURE_DESC how = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    for (auto &mode : how.addressMode)
        mode = CU_TR_ADDRESS_MODE_CLAMP;
    how.filterMode = CU_TR_FILTER_MODE_POINT;
    DRIVER(cuTexObjectCreate(&texture, &resource, &how, nullptr));
    return texture;
}

/* The host's numbers through a texture; then a part of the array back to the host. */
static void plane()
{
    static float host[H][W], back[H][W], part[H - TOP][W - LEFT];
    const CUDA_ARRAY_DESCRIPTOR shape = {W, H, CU_AD_FORMAT_FLOAT, 1};
    CUarray array;
    float *seen;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            host[y][x] = (float)(100 * y + x);
    DRIVER(cuArrayCreate(&array, &shape));
    CUDA_MEMCPY2D copy = whole_to(array, host[0]);
    DRIVER(cuMemcpy2D(&copy));

    const CUtexObject texture = texture_of(array);
    MUST(cudaMalloc(&seen, sizeof back));
    fetch<<<1, dim3(W, H)>>>(texture, seen);
    MUST(cudaMemcpy(back, seen, sizeof back, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            HOLDS(back[y][x] == host[y][x], "(%d, %d): %g", x, y, back[y][x]);

    copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.srcXInBytes = LEFT * sizeof(float);
    copy.srcY = TOP;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = part;
    copy.dstPitch = sizeof part[0];
    copy.WidthInBytes = sizeof part[0];
    copy.Height = H - TOP;
    DRIVER(cuMemcpy2D(&copy));
    for (int y = 0; y < H - TOP; y++)
        for (int x = 0; x < W - LEFT; x++)
            HOLDS(part[y][x] == host[y + TOP][x + LEFT], "(%d, %d): %g", x, y, part[y][x]);

    copy.WidthInBytes = sizeof part[0] - 1;
    HOLDS(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE, "a part of an element");
    DRIVER(cuTexObjectDestroy(texture));
    DRIVER(cuArrayDestroy(array));
    HOLDS(cuMemcpy2D(&copy) != CUDA_SUCCESS, "an array that is gone");
    MUST(cudaFree(seen));
}

/* Device memory to a 3D array, a kernel that changes it in place, and back, in a stream. */
static void box()
{
    static int host[D * H * W], back[D * H * W];
    const size_t row = W * sizeof host[0];
    const CUDA_ARRAY3D_DESCRIPTOR shape = {
        W, H, D, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUarray array;
    CUstream stream;
    CUsurfObject surface;
    CUdeviceptr memory;
    for (int i = 0; i < W * H * D; i++)
        host[i] = 7 * i - 500;
    DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER(cuMemAlloc(&memory, sizeof host));
    DRIVER(cuMemcpyHtoD(memory, host, sizeof host));
    DRIVER(cuArray3DCreate(&array, &shape));

    CUDA_MEMCPY3D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = memory;
    copy.srcPitch = row;
    copy.srcHeight = H;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = row;
    copy.Height = H;
    copy.Depth = D;
    DRIVER(cuMemcpy3DAsync(&copy, stream));

    CUDA_RESOURCE_DESC resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    DRIVER(cuSurfObjectCreate(&surface, &resource));
    triple<<<1, dim3(W, H, D), 0, stream>>>(surface);

    CUDA_MEMCPY3D out = {};
    out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    out.srcArray = array;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = back;
    out.dstPitch = row;
    out.dstHeight = H;
    out.WidthInBytes = row;
    out.Height = H;
    out.Depth = D;
    DRIVER(cuMemcpy3DAsync(&out, stream));
    DRIVER(cuStreamSynchronize(stream));
    for (int i = 0; i < W * H * D; i++)
        HOLDS(back[i] == 3 * host[i], "%d: %d", i, back[i]);
    DRIVER(cuSurfObjectDestroy(surface));
    DRIVER(cuArrayDestroy(array));
    DRIVER(cuMemFree(memory));
    DRIVER(cuStreamDestroy(stream));
}

int main()
{
    MUST(cudaFree(nullptr));
    plane();
    box();
    puts("ok");
    return 0;
}
