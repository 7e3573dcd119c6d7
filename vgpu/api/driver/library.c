/* SPDX-License-Identifier: MIT
 * library.c: libraries of device code by the runtime's names. They are the driver's
 * (driver_module.c); messages name the driver's call.
 */
#include "driver.h"

/* Error values of the driver are those of the runtime. */
#define OF_THE_DRIVER(call)                                                                        \
    do {                                                                                           \
        cudaError_t error = vgpu__enter();                                                         \
        if (error == cudaSuccess && !vgpu__driver_current())                                       \
            vgpu__context_chosen();                                                                \
        return vgpu__record(error == cudaSuccess ? (cudaError_t)(call) : error);                   \
    } while (0)

/* No option has an effect. */
cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit,
                                void **values, unsigned int jitCount,
                                enum cudaLibraryOption *options, void **optionValues,
                                unsigned int optionCount)
{
    (void)jit, (void)values, (void)jitCount, (void)options, (void)optionValues, (void)optionCount;
    OF_THE_DRIVER(cuLibraryLoadData(library, code, NULL, NULL, 0, NULL, NULL, 0));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                    enum cudaJitOption *jit, void **values, unsigned int jitCount,
                                    enum cudaLibraryOption *options, void **optionValues,
                                    unsigned int optionCount)
{
    (void)jit, (void)values, (void)jitCount, (void)options, (void)optionValues, (void)optionCount;
    OF_THE_DRIVER(cuLibraryLoadFromFile(library, path, NULL, NULL, 0, NULL, NULL, 0));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    OF_THE_DRIVER(cuLibraryUnload(library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    OF_THE_DRIVER(cuLibraryGetKernel(kernel, library, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library)
{
    OF_THE_DRIVER(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int count,
                                        cudaLibrary_t library)
{
    OF_THE_DRIVER(cuLibraryEnumerateKernels(kernels, count, library));
}

/* A pointer and a CUdeviceptr are the same bits. */
cudaError_t cudaLibraryGetGlobal(void **ptr, size_t *bytes, cudaLibrary_t library, const char *name)
{
    OF_THE_DRIVER(cuLibraryGetGlobal((CUdeviceptr *)(void *)ptr, bytes, library, name));
}

cudaError_t cudaLibraryGetManaged(void **ptr, size_t *bytes, cudaLibrary_t library,
                                  const char *name)
{
    OF_THE_DRIVER(cuLibraryGetManaged((CUdeviceptr *)(void *)ptr, bytes, library, name));
}

cudaError_t cudaLibraryGetUnifiedFunction(void **function, cudaLibrary_t library, const char *name)
{
    OF_THE_DRIVER(cuLibraryGetUnifiedFunction(function, library, name));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute,
                                            int value, int device)
{
    OF_THE_DRIVER(cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel, device));
}
