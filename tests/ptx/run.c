/* SPDX-License-Identifier: MIT
 * run.c: runs a kernel of a PTX module: kernel(out, in), each an array of 32-bit words.
 *
 *   ptx-run MODULE KERNEL BLOCKS THREADS WORDS < words in    prints the words out, in hexadecimal
 */
#include "driver_call.h"

int main(int argc, char **argv)
{
    static unsigned int word[1 << 20];
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr in, out;
    size_t count = 0;

    if (argc != 6)
        return 2;
    while (count < sizeof word / sizeof *word && scanf("%x", &word[count]) == 1)
        count++;
    size_t bytes = (size_t)atol(argv[5]) * sizeof *word;
    CALL(cuInit(0));
    CALL(cuDeviceGet(&device, 0));
    CALL(cuDevicePrimaryCtxRetain(&context, device));
    CALL(cuCtxSetCurrent(context));
    CALL(cuModuleLoad(&module, argv[1]));
    CALL(cuModuleGetFunction(&kernel, module, argv[2]));
    CALL(cuMemAlloc(&in, count * sizeof *word + 16));
    CALL(cuMemAlloc(&out, bytes + 16));
    CALL(cuMemcpyHtoD(in, word, count * sizeof *word));
    CALL(cuMemsetD8(out, 0, bytes));
    void *arguments[] = {&out, &in};
    CALL(cuLaunchKernel(kernel, (unsigned)atoi(argv[3]), 1, 1, (unsigned)atoi(argv[4]), 1, 1, 0,
                        NULL, arguments, NULL));
    CALL(cuCtxSynchronize());
    CALL(cuMemcpyDtoH(word, out, bytes));
    for (size_t i = 0; i < bytes / sizeof *word; i++)
        printf("%08x\n", word[i]);
    return 0;
}
