// SPDX-License-Identifier: MIT
// more_calls.cu: copies in three dimensions, launches by configuration, and calls that few programs
// make.
#include "check.h"

__global__ void scale(int *p, int n, long long factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= (int)factor;
}

static void cuboids(int other)
{
    enum { X = 5, Y = 4, Z = 3 };
    unsigned char from[Z][Y][X], to[Z + 1][Y + 2][X + 3] = {};
    for (int i = 0; i < X * Y * Z; i++)
        ((unsigned char *)from)[i] = (unsigned char)(i + 1);
    cudaPitchedPtr first, second;
    cudaExtent extent = make_cudaExtent(X, Y, Z);
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc3D(&first, extent));
    MUST(cudaMemset3D(first, 0xEE, extent));
    MUST(cudaDeviceSynchronize()); /* the next copy is in a stream of the other GPU */
    MUST(cudaSetDevice(other));
    MUST(cudaMalloc3D(&second, make_cudaExtent(X + 1, Y + 1, Z + 1)));
    HOLDS(first.pitch % 256 == 0 && first.ysize == Y, "pitch %zu, ysize %zu", first.pitch,
          first.ysize);
    cudaMemcpy3DParms in = {};
    in.srcPtr = make_cudaPitchedPtr(from, X, X, Y);
    in.dstPtr = first;
    in.extent = extent;
    in.kind = cudaMemcpyHostToDevice;
    MUST(cudaMemcpy3D(&in));
    cudaMemcpy3DPeerParms across = {};
    across.srcPtr = first;
    across.srcDevice = 0;
    across.dstPtr = second;
    across.dstPos = make_cudaPos(1, 1, 1);
    across.dstDevice = other;
    across.extent = extent;
    MUST(cudaMemcpy3DPeer(&across));
    cudaMemcpy3DParms out = {};
    out.srcPtr = second;
    out.srcPos = make_cudaPos(1, 1, 1);
    out.dstPtr = make_cudaPitchedPtr(to, X + 3, X + 3, Y + 2);
    out.dstPos = make_cudaPos(2, 1, 1);
    out.extent = extent;
    out.kind = cudaMemcpyDeviceToHost;
    MUST(cudaMemcpy3DAsync(&out, 0));
    MUST(cudaDeviceSynchronize());
    int sum = 0;
    for (int z = 0; z < Z; z++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++)
                HOLDS(to[z + 1][y + 1][x + 2] == from[z][y][x], "[%d][%d][%d] is %d", z, y, x,
                      to[z + 1][y + 1][x + 2]);
    for (size_t i = 0; i < sizeof to; i++)
        sum += ((unsigned char *)to)[i];
    HOLDS(sum == X * Y * Z * (X * Y * Z + 1) / 2, "something else was written: %d", sum);
    out.dstPtr.ysize = 2;
    HOLDS(cudaMemcpy3D(&out) == cudaErrorInvalidPitchValue, "planes that overlap");
    cudaGetLastError();
    MUST(cudaFree(first.ptr));
    MUST(cudaFree(second.ptr));
}

static void configured(int gpu)
{
    int *d, h[64], n = 64;
    long long factor = 3;
    MUST(cudaSetDevice(gpu));
    MUST(cudaMalloc((void **)&d, sizeof h));
    for (int i = 0; i < n; i++)
        h[i] = i;
    MUST(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    cudaLaunchAttribute cooperative = {};
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    config.attrs = &cooperative;
    config.numAttrs = 1;
    void *args[] = {&d, &n, &factor};
    MUST(cudaLaunchKernelExC(&config, (const void *)scale, args));
    MUST(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        HOLDS(h[i] == 3 * i, "[%d] is %d", i, h[i]);
    config.gridDim = dim3(1 << 20);
    config.blockDim = dim3(1024);
    HOLDS(cudaLaunchKernelExC(&config, (const void *)scale, args) ==
              cudaErrorCooperativeLaunchTooLarge,
          "a grid that cannot be resident");
    cudaGetLastError();
    size_t offset, bytes;
    MUST(cudaFuncGetParamInfo((const void *)scale, 2, &offset, &bytes));
    HOLDS(offset == 16 && bytes == 8, "the third parameter: %zu bytes at %zu", bytes, offset);
    HOLDS(cudaFuncGetParamInfo((const void *)scale, 3, &offset, &bytes) == cudaErrorInvalidValue,
          "there is no fourth");
    cudaGetLastError();
    MUST(cudaFree(d));
}

static void devices(int gpus)
{
    cudaDeviceProp want = {};
    int device = -1, all[64];
    MUST(cudaChooseDevice(&device, &want));
    HOLDS(device == 0, "any will do: %d", device);
    for (int i = 0; i < gpus; i++)
        all[i] = gpus - 1 - i;
    MUST(cudaSetValidDevices(all, gpus));
    all[0] = gpus;
    HOLDS(cudaSetValidDevices(all, 1) == cudaErrorInvalidDevice, "no such device");
    cudaGetLastError();
    HOLDS(cudaCtxResetPersistingL2Cache() == cudaErrorDeviceUninitialized, "no context yet");
    MUST(cudaSetDevice(0));
    MUST(cudaCtxResetPersistingL2Cache());
}

/* The answers of an H200: tests/recorded/hgx-h200-1/shared_config.txt. */
static void banks()
{
    for (int value = -1; value <= 3; value++) {
        cudaSharedMemConfig config = (cudaSharedMemConfig)value;
        cudaError_t want = value < 0 || value > 2 ? cudaErrorInvalidValue : cudaSuccess;
        cudaError_t device = cudaDeviceSetSharedMemConfig(config);
        cudaError_t kernel = cudaFuncSetSharedMemConfig(scale, config);
        HOLDS(device == want && kernel == want, "%d: %d %d", value, device, kernel);
        MUST(cudaDeviceGetSharedMemConfig(&config));
        HOLDS(config == cudaSharedMemBankSizeFourByte, "%d: %d", value, config);
    }
    const cudaSharedMemConfig any = cudaSharedMemBankSizeDefault;
    cudaError_t none = cudaFuncSetSharedMemConfig((const void *)nullptr, any);
    cudaError_t other = cudaFuncSetSharedMemConfig((const void *)&stdout, any);
    cudaError_t nowhere = cudaDeviceGetSharedMemConfig(nullptr);
    HOLDS(none == cudaErrorInvalidDeviceFunction && other == cudaErrorInvalidResourceHandle &&
              nowhere == cudaErrorInvalidValue,
          "%d %d %d", none, other, nowhere);
    (void)cudaGetLastError();
}

int main()
{
    int gpus;
    MUST(cudaGetDeviceCount(&gpus));
    devices(gpus);
    banks();
    for (int gpu = 0; gpu < gpus; gpu++) {
        cuboids(gpu);
        configured(gpu);
    }
    printf("more calls on %d GPUs: right\n", gpus);
    return 0;
}
