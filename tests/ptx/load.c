/* SPDX-License-Identifier: MIT
 * load.c: loads a PTX module, and then does what the words behind it say, one after the other.
 *
 *   ptx-load MODULE [launch KERNEL | read VARIABLE | about KERNEL | unload]...
 *
 * launch: kernel(out), which stores a 32-bit word, printed. read: the variable's first word. about:
 * the number of kernels in the module; of this one the threads and the bytes of shared memory.
 */
#include <string.h>

#include "driver_call.h"

static void launch(CUmodule module, const char *name)
{
    CUfunction kernel;
    CUdeviceptr out;
    unsigned int word = 0;

    CALL(cuModuleGetFunction(&kernel, module, name));
    CALL(cuMemAlloc(&out, sizeof word));
    void *arguments[] = {&out};
    CALL(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CALL(cuMemcpyDtoH(&word, out, sizeof word));
    CALL(cuMemFree(out));
    printf("%u\n", word);
}

static void read_variable(CUmodule module, const char *name)
{
    CUdeviceptr at;
    size_t bytes;
    unsigned int word = 0;

    CALL(cuModuleGetGlobal(&at, &bytes, module, name));
    CALL(cuMemcpyDtoH(&word, at, sizeof word));
    printf("%u\n", word);
}

static void tell_about(CUmodule module, const char *name)
{
    CUfunction kernel;
    unsigned int count;
    int threads, bytes;

    CALL(cuModuleGetFunctionCount(&count, module));
    CALL(cuModuleGetFunction(&kernel, module, name));
    CALL(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel));
    CALL(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel));
    printf("%u %d %d\n", count, threads, bytes);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;

    if (argc < 2)
        return 2;
    CALL(cuInit(0));
    CALL(cuDeviceGet(&device, 0));
    CALL(cuDevicePrimaryCtxRetain(&context, device));
    CALL(cuCtxSetCurrent(context));
    CALL(cuModuleLoad(&module, argv[1]));
    puts("loaded");
    for (int i = 2; i < argc; i++) {
        const char *name = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "unload") == 0)
            CALL(cuModuleUnload(module));
        else if (strcmp(argv[i], "launch") == 0)
            launch(module, name), i++;
        else if (strcmp(argv[i], "read") == 0)
            read_variable(module, name), i++;
        else if (strcmp(argv[i], "about") == 0)
            tell_about(module, name), i++;
        else
            return 2;
        fflush(stdout);
    }
    return 0;
}
