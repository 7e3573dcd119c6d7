/* SPDX-License-Identifier: MIT
 * entry_points.c: looks up calls of the driver API by name.
 */
#include "driver.h"

#include <string.h>

CUresult cuGetExportTable(const void **table, const void *id); /* cuda.h does not declare it */

static const struct {
    const char *name;
    void (*function)(void);
} driver_calls[] = {
#define CALL(name, parameters) {#name, (void (*)(void))name},
    VGPU_DRIVER_CALLS(CALL) CALL(cuGetExportTable, )
#undef CALL
};

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status)
{
    if (!symbol || !function || version <= 0 ||
        flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    for (size_t i = 0; i < sizeof driver_calls / sizeof *driver_calls; i++)
        if (strcmp(driver_calls[i].name, symbol) == 0)
            memcpy(function, &driver_calls[i].function, sizeof *function);
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS; /* also if the name is unknown (recorded) */
}

/* Initializes the driver as cuInit does, so that the function found can be called at once. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned int version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found;
    cudaError_t error = vgpu__start();
    if (error != cudaSuccess)
        return vgpu__record(error);
    atomic_store(&vgpu__process.driver_ready, true);
    if (version > INT32_MAX ||
        cuGetProcAddress(symbol, function, (int)version, flags, &found) != CUDA_SUCCESS)
        return vgpu__record(cudaErrorInvalidValue);
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDA_VERSION, flags, status);
}

/* NVIDIA's runtime in its static form asks for these tables, and has the driver prove by one of
 * them that it is NVIDIA's. */
CUresult cuGetExportTable(const void **table, const void *id)
{
    static _Atomic bool told;
    (void)id;
    if (!atomic_exchange(&told, true))
        vgpu__message(
            "cuGetExportTable",
            "the CUDA runtime linked into this program (nvcc's default) accepts only NVIDIA's "
            "driver: start the program with vgpu-run, or link it with nvcc -cudart shared");
    if (table)
        *table = NULL;
    return CUDA_ERROR_NOT_SUPPORTED;
}
