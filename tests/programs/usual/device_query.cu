// SPDX-License-Identifier: MIT
// Lists every GPU's properties and which pairs can reach each other.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) {                                                               \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cudaGetErrorString(status));                                                   \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

int main()
{
    int count = 0, driver = 0, runtime = 0, bad = 0;
    CHECK(cudaGetDeviceCount(&count));
    CHECK(cudaDriverGetVersion(&driver));
    CHECK(cudaRuntimeGetVersion(&runtime));
    printf("Detected %d CUDA Capable device(s)\n", count);
    printf("  CUDA Driver Version / Runtime Version %d.%d / %d.%d\n", driver / 1000,
           (driver % 100) / 10, runtime / 1000, (runtime % 100) / 10);
    for (int dev = 0; dev < count; ++dev) {
        cudaDeviceProp prop;
        int value = 0, pci = -1;
        char bus[32];
        size_t free_bytes = 0, total_bytes = 0;
        CHECK(cudaSetDevice(dev));
        CHECK(cudaGetDeviceProperties(&prop, dev));
        CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
        printf("\nDevice %d: \"%s\"\n", dev, prop.name);
        printf("  CUDA Capability:        %d.%d\n", prop.major, prop.minor);
        printf("  Global memory:          %.0f MBytes, %.0f free\n",
               prop.totalGlobalMem / 1048576.0, free_bytes / 1048576.0);
        printf("  Multiprocessors:        %d\n", prop.multiProcessorCount);
        printf("  Shared memory a block:  %zu bytes\n", prop.sharedMemPerBlock);
        printf("  Registers a block:      %d\n", prop.regsPerBlock);
        printf("  Warp size:              %d\n", prop.warpSize);
        printf("  Threads a block:        %d\n", prop.maxThreadsPerBlock);
        printf("  Block dimensions:       (%d, %d, %d)\n", prop.maxThreadsDim[0],
               prop.maxThreadsDim[1], prop.maxThreadsDim[2]);
        printf("  Grid dimensions:        (%d, %d, %d)\n", prop.maxGridSize[0], prop.maxGridSize[1],
               prop.maxGridSize[2]);
        printf("  ECC, UVA, engines:      %d, %d, %d\n", prop.ECCEnabled, prop.unifiedAddressing,
               prop.asyncEngineCount);
        CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, dev));
        bad += value != prop.multiProcessorCount;
        CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, dev));
        bad += value != prop.maxThreadsPerBlock;
        CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, dev));
        bad += value <= 0;
        CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, dev));
        CHECK(cudaDeviceGetByPCIBusId(&pci, bus));
        printf("  PCI:                    %s\n", bus);
        bad += pci != dev || total_bytes != prop.totalGlobalMem || free_bytes > total_bytes;
    }
    for (int a = 0; a < count; ++a)
        for (int b = 0; b < count; ++b) {
            int can = 0;
            if (a == b)
                continue;
            CHECK(cudaDeviceCanAccessPeer(&can, a, b));
            printf("> Peer access from GPU%d -> GPU%d : %s\n", a, b, can ? "Yes" : "No");
        }
    printf("Result = %s\n", bad ? "FAIL" : "PASS");
    return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
