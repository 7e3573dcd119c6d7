/* SPDX-License-Identifier: MIT
 * modules.c: device code that is loaded while the program runs: from a file and from memory, twice
 * side by side, its kernels and variables by name, and files that hold no module.
 *
 * And device code that is compiled first, by NVRTC, or linked first.
 *
 *   api-modules MODULE    what vgpu-cc -fatbin has made of module_kernels.cu
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvrtc.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { COUNT = 100 };

static CUdeviceptr data;

static void put_numbers(void)
{
    int number[COUNT];
    for (int i = 0; i < COUNT; i++)
        number[i] = i;
    EXPECT_IS(cuMemcpyHtoD(data, number, sizeof number), CUDA_SUCCESS);
}

/* Is data[i] now i * factor + added? */
static void expect_numbers(int factor, int added)
{
    int number[COUNT];
    EXPECT_IS(cuMemcpyDtoH(number, data, sizeof number), CUDA_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        EXPECT(number[i] == i * factor + added);
}

static void scale(CUmodule module)
{
    CUfunction function;
    int count = COUNT;
    void *arguments[] = {&data, &count};
    put_numbers();
    EXPECT_IS(cuModuleGetFunction(&function, module, "scale"), CUDA_SUCCESS);
    EXPECT_IS(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL), CUDA_SUCCESS);
    EXPECT_IS(cuCtxSynchronize(), CUDA_SUCCESS);
}

static void set(CUmodule module, const char *name, int value)
{
    CUdeviceptr at;
    size_t bytes = 0;
    EXPECT_IS(cuModuleGetGlobal(&at, &bytes, module, name), CUDA_SUCCESS);
    EXPECT(bytes == sizeof value);
    EXPECT_IS(cuMemcpyHtoD(at, &value, sizeof value), CUDA_SUCCESS);
}

static int get(CUmodule module, const char *name)
{
    CUdeviceptr at;
    int value = -1;
    EXPECT_IS(cuModuleGetGlobal(&at, NULL, module, name), CUDA_SUCCESS);
    EXPECT_IS(cuMemcpyDtoH(&value, at, sizeof value), CUDA_SUCCESS);
    return value;
}

static char *read_file(const char *path)
{
    static char bytes[4 << 20];
    FILE *file = fopen(path, "rb");
    EXPECT(file && fread(bytes, 1, sizeof bytes, file) > 0);
    fclose(file);
    return bytes;
}

static void test_two_instances(const char *path)
{
    CUmodule first, second;
    EXPECT_IS(cuModuleLoad(&first, path), CUDA_SUCCESS);
    EXPECT_IS(cuModuleLoadDataEx(&second, read_file(path), 0, NULL, NULL), CUDA_SUCCESS);
    scale(first);
    expect_numbers(3, 5);
    set(second, "factor", 7);
    set(second, "shared_with_host", 1);
    scale(second);
    expect_numbers(7, 1);
    scale(first);
    expect_numbers(3, 5);
    EXPECT(get(first, "calls") == 2 && get(second, "calls") == 1);
    EXPECT_IS(cuModuleUnload(second), CUDA_SUCCESS);
    EXPECT_IS(cuModuleUnload(second), CUDA_ERROR_INVALID_HANDLE);
}

static void test_occupancy(const char *path)
{
    CUmodule module;
    CUfunction function;
    int blocks = 0, threads = 0, active = 0, processors = 0;
    size_t bytes = 0;
    EXPECT_IS(cuModuleLoad(&module, path), CUDA_SUCCESS);
    EXPECT_IS(cuModuleGetFunction(&function, module, "scale"), CUDA_SUCCESS);
    EXPECT_IS(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, NULL, 0, 512),
              CUDA_SUCCESS);
    EXPECT_IS(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0),
              CUDA_SUCCESS);
    EXPECT_IS(
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&active, function, threads, 0, 0),
        CUDA_SUCCESS);
    EXPECT(threads > 0 && threads <= 512 && blocks == active * processors);
    EXPECT_IS(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, threads), CUDA_SUCCESS);
    EXPECT(bytes > 0);
}

static void test_library(const char *path)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    int value = 9;
    void *arguments[] = {&data, &value};
    EXPECT_IS(cuLibraryLoadData(&library, read_file(path), NULL, NULL, 0, NULL, NULL, 0),
              CUDA_SUCCESS);
    EXPECT_IS(cuLibraryGetKernel(&kernel, library, "_Z4fillIiEvPT_S0_"), CUDA_SUCCESS);
    EXPECT_IS(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
    EXPECT_IS(cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, NULL, arguments, NULL),
              CUDA_SUCCESS);
    expect_numbers(0, 9);
    EXPECT_IS(cuLibraryUnload(library), CUDA_SUCCESS);
}

/* The same by the runtime's names: before any call of the driver, too. */
static void test_library_of_the_runtime(const char *path)
{
    cudaLibrary_t library = NULL;
    cudaKernel_t kernel, kernels[8] = {0};
    unsigned int count = 0;
    size_t bytes = 0;
    void *at = NULL, *function;
    int value = 7;
    void *arguments[] = {&data, &value};
    EXPECT_IS(cudaLibraryLoadFromFile(&library, "absent", NULL, NULL, 0, NULL, NULL, 0),
              cudaErrorFileNotFound);
    EXPECT_IS(cudaGetLastError(), cudaErrorFileNotFound);
    EXPECT_IS(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0), cudaSuccess);
    EXPECT_IS(cudaLibraryUnload(library), cudaSuccess);
    EXPECT_IS(cudaLibraryUnload(library), cudaErrorInvalidResourceHandle);
    EXPECT_IS(cudaLibraryLoadData(&library, read_file(path), NULL, NULL, 0, NULL, NULL, 0),
              cudaSuccess);
    EXPECT_IS(cudaLibraryGetKernelCount(&count, library), cudaSuccess);
    EXPECT_IS(cudaLibraryEnumerateKernels(kernels, 8, library), cudaSuccess);
    EXPECT(count > 1 && kernels[count - 1] && !kernels[count]);
    EXPECT_IS(cudaLibraryGetGlobal(&at, &bytes, library, "factor"), cudaSuccess);
    EXPECT(at && bytes == sizeof(int));
    EXPECT_IS(cudaLibraryGetManaged(&at, &bytes, library, "factor"), cudaErrorSymbolNotFound);
    EXPECT_IS(cudaLibraryGetManaged(&at, &bytes, library, "shared_with_host"), cudaSuccess);
    EXPECT_IS(cudaLibraryGetUnifiedFunction(&function, library, "scale"), cudaErrorSymbolNotFound);
    EXPECT_IS(cudaLibraryGetKernel(&kernel, library, "absent"), cudaErrorSymbolNotFound);
    EXPECT_IS(cudaLibraryGetKernel(&kernel, library, "_Z4fillIiEvPT_S0_"), cudaSuccess);
    EXPECT_IS(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              50000, 0),
              cudaSuccess);
    EXPECT_IS(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                              50000, 99),
              cudaErrorInvalidDevice);
    EXPECT_IS(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT_IS(cudaMalloc((void **)(void *)&data, COUNT * sizeof(int)), cudaSuccess);
    EXPECT_IS(cudaLaunchKernel((const void *)kernel, (dim3){1, 1, 1}, (dim3){COUNT, 1, 1},
                               arguments, 0, NULL),
              cudaSuccess);
    expect_numbers(0, 7);
    EXPECT_IS(cudaFree((void *)(uintptr_t)data), cudaSuccess);
    EXPECT_IS(cudaLibraryUnload(library), cudaSuccess);
}

/* What a library has, and which library has a kernel. */
static void test_library_contents(const char *path)
{
    CUlibrary library, other;
    CUkernel kernel, kernels[8] = {0};
    CUmodule module;
    CUdeviceptr at;
    size_t bytes = 0, offset = 1;
    unsigned int count = 0;
    const char *name = NULL;
    void *function;
    int value = 0;
    EXPECT_IS(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0), CUDA_SUCCESS);
    EXPECT_IS(cuLibraryGetKernel(&kernel, library, "scale"), CUDA_SUCCESS);
    EXPECT_IS(cuLibraryGetKernelCount(&count, library), CUDA_SUCCESS);
    EXPECT(count > 1 && count <= 8);
    EXPECT_IS(cuLibraryEnumerateKernels(kernels, count - 1, library), CUDA_SUCCESS);
    EXPECT(kernels[0] && !kernels[count - 1]);
    EXPECT_IS(cuLibraryEnumerateKernels(kernels, 8, library), CUDA_SUCCESS);
    EXPECT(kernels[count - 1] && !kernels[count]);
    EXPECT_IS(cuKernelGetLibrary(&other, kernels[count - 1]), CUDA_SUCCESS);
    EXPECT(other == library);
    EXPECT_IS(cuLibraryGetModule(&module, library), CUDA_SUCCESS);
    EXPECT_IS(cuModuleGetFunctionCount(&count, module), CUDA_SUCCESS);
    EXPECT_IS(cuLibraryGetGlobal(&at, &bytes, library, "factor"), CUDA_SUCCESS);
    EXPECT(bytes == sizeof(int));
    EXPECT_IS(cuLibraryGetManaged(&at, &bytes, library, "factor"), CUDA_ERROR_NOT_FOUND);
    EXPECT_IS(cuLibraryGetManaged(&at, &bytes, library, "shared_with_host"), CUDA_SUCCESS);
    EXPECT_IS(cuLibraryGetUnifiedFunction(&function, library, "scale"), CUDA_ERROR_NOT_FOUND);
    EXPECT_IS(cuKernelGetParamInfo(kernel, 1, &offset, &bytes), CUDA_SUCCESS);
    EXPECT(offset == sizeof(CUdeviceptr) && bytes == sizeof(int));
    EXPECT_IS(cuKernelGetParamInfo(kernel, 2, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IS(
        cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 50000, kernel, 0),
        CUDA_SUCCESS);
    EXPECT_IS(
        cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0),
        CUDA_SUCCESS);
    EXPECT(value == 50000);
    EXPECT_IS(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1, kernel, 99),
              CUDA_ERROR_INVALID_DEVICE);
    EXPECT_IS(cuKernelGetName(&name, kernel), CUDA_SUCCESS);
    EXPECT(strcmp(name, "scale") == 0);
    EXPECT_IS(cuLibraryUnload(library), CUDA_SUCCESS);
    EXPECT_IS(cuLibraryGetKernelCount(&count, library), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_IS(cuKernelGetLibrary(&other, kernel), CUDA_ERROR_INVALID_HANDLE);
}

/* One input is linked: PTX, with its mistakes in the buffer, and what vgpu-cc -fatbin has made. */
static void test_link(const char *path)
{
    static char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                        ".visible .entry put(.param .u64 to)\n{\n"
                        ".reg .u64 %rd<2>;\nld.param.u64 %rd1, [to];\n"
                        "cvta.to.global.u64 %rd1, %rd1;\nst.global.u32 [%rd1], 77;\nret;\n}\n";
    static char wrong[] = ".version 8.0\n.target sm_90\n.address_size 64\n.frob\n";
    char log[200] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    CUlinkState state;
    CUmodule module;
    CUfunction function;
    void *code, *arguments[] = {&data};
    size_t bytes = 0;
    int value = 0;
    EXPECT_IS(cuLinkCreate(2, options, values, &state), CUDA_SUCCESS);
    EXPECT_IS(cuLinkComplete(state, &code, &bytes), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IS(cuLinkAddData(state, CU_JIT_INPUT_PTX, wrong, sizeof wrong, "a", 0, NULL, NULL),
              CUDA_ERROR_INVALID_PTX);
    EXPECT(strstr(log, "frob"));
    EXPECT_IS(cuLinkAddData(state, CU_JIT_INPUT_PTX, ptx, sizeof ptx - 1, "a", 0, NULL, NULL),
              CUDA_SUCCESS);
    EXPECT_IS(cuLinkAddData(state, CU_JIT_INPUT_PTX, ptx, sizeof ptx, "b", 0, NULL, NULL),
              CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_IS(cuLinkComplete(state, &code, &bytes), CUDA_SUCCESS);
    EXPECT(bytes > 0);
    EXPECT_IS(cuModuleLoadData(&module, code), CUDA_SUCCESS);
    EXPECT_IS(cuLinkDestroy(state), CUDA_SUCCESS);
    EXPECT_IS(cuModuleGetFunction(&function, module, "put"), CUDA_SUCCESS);
    EXPECT_IS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), CUDA_SUCCESS);
    EXPECT_IS(cuMemcpyDtoH(&value, data, sizeof value), CUDA_SUCCESS);
    EXPECT_IS(value, 77);
    EXPECT_IS(cuLinkCreate(0, NULL, NULL, &state), CUDA_SUCCESS);
    EXPECT_IS(cuLinkAddFile(state, CU_JIT_INPUT_FATBINARY, path, 0, NULL, NULL), CUDA_SUCCESS);
    EXPECT_IS(cuLinkComplete(state, &code, &bytes), CUDA_SUCCESS);
    EXPECT_IS(cuModuleLoadData(&module, code), CUDA_SUCCESS);
    EXPECT_IS(cuLinkDestroy(state), CUDA_SUCCESS);
    scale(module);
    expect_numbers(3, 5);
    EXPECT_IS(cuModuleUnload(module), CUDA_SUCCESS);
}

static nvrtcProgram compiled(const char *source, const char *const *options, int count,
                             nvrtcResult want)
{
    static const char *const headers[] = {"#define ADDED 4\n"};
    static const char *const names[] = {"sub/added.h"};
    nvrtcProgram program;
    EXPECT_IS(nvrtcCreateProgram(&program, source, "../scale_kernel", 1, headers, names),
              NVRTC_SUCCESS);
    EXPECT_IS(nvrtcAddNameExpression(program, "scaling::scale"), NVRTC_SUCCESS);
    EXPECT_IS(nvrtcCompileProgram(program, count, options), want);
    return program;
}

static void test_nvrtc(void)
{
    static const char source[] =
        "#include <sub/added.h>\n"
        "namespace scaling {\n"
        "__global__ void scale(int *data, int count) {\n"
        "    if (threadIdx.x + blockIdx.x * blockDim.x < count)\n"
        "        assert(count > 0),\n"
        "        data[threadIdx.x + blockIdx.x * blockDim.x] =\n"
        "            (threadIdx.x + blockIdx.x * blockDim.x) * FACTOR + ADDED;\n"
        "}\n}\n";
    const char *const options[] = {"--gpu-architecture=compute_90", "-DFACTOR=2", "--std=c++17"};
    nvrtcProgram program = compiled(source, options, 3, NVRTC_SUCCESS);
    const char *name;
    CUmodule module;
    CUfunction function;
    size_t bytes;
    int count = COUNT;
    void *arguments[] = {&data, &count};
    EXPECT_IS(nvrtcGetCUBINSize(program, &bytes), NVRTC_SUCCESS);
    char *code = malloc(bytes);
    EXPECT_IS(nvrtcGetCUBIN(program, code), NVRTC_SUCCESS);
    EXPECT_IS(cuModuleLoadData(&module, code), CUDA_SUCCESS);
    free(code);
    EXPECT_IS(nvrtcGetPTXSize(program, &bytes), NVRTC_SUCCESS); /* a string, as PTX is */
    code = malloc(bytes);
    EXPECT_IS(nvrtcGetPTX(program, code), NVRTC_SUCCESS);
    EXPECT(strlen(code) + 1 == bytes);
    EXPECT_IS(nvrtcGetLoweredName(program, "scaling::scale", &name), NVRTC_SUCCESS);
    EXPECT_IS(cuModuleLoadData(&module, code), CUDA_SUCCESS);
    EXPECT_IS(cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
    free(code);
    EXPECT_IS(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
    EXPECT_IS(cuLaunchKernel(function, 2, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL), CUDA_SUCCESS);
    expect_numbers(2, 4);
}

/* Name expressions make templates be compiled, and have the names by which they are found. */
static void test_nvrtc_names(void)
{
    static const char source[] =
        "enum class kind { none, some };\n"
        "namespace deep { using real = float; template <class T> struct pair { T a, b; };\n"
        "template <class T, int N, kind K> __global__ void fill(pair<T> *p, pair<T> q, T (*r)[N]) "
        "{\n"
        "    *p = q; }\n}\n"
        "__device__ int plus() { return 5; }\n"
        "template <class T> __global__ void put(T *to, T value) { *to = value + plus(); }\n"
        "int unmarked() { return plus(); }\n"
        "__device__ int number = 3;\n"
        "extern \"C\" __global__ void plain(int *to) { *to = unmarked() + 1; }\n";
    static const char *const names[] = {"deep::fill<deep::real, (2 > 1) + 1, kind::some>",
                                        "&deep::fill<int, 3, kind::none>", "put<int>", "plain",
                                        "&number"};
    static const char *const symbols[] = {
        "_ZN4deep4fillIfLi2EL4kind1EEEvPNS_4pairIT_EES4_PAT0__S3_",
        "_ZN4deep4fillIiLi3EL4kind0EEEvPNS_4pairIT_EES4_PAT0__S3_", "_Z3putIiEvPT_S0_", "plain",
        "number"};
    const char *const options[] = {"-default-device", "--pch"};
    nvrtcProgram program;
    CUmodule module;
    CUfunction function;
    const char *name;
    int value = 37;
    void *arguments[] = {&data, &value};

    EXPECT_IS(nvrtcCreateProgram(&program, source, "names.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    for (int i = 0; i < 5; i++)
        EXPECT_IS(nvrtcAddNameExpression(program, names[i]), NVRTC_SUCCESS);
    EXPECT_IS(nvrtcCompileProgram(program, 2, options), NVRTC_SUCCESS);
    for (int i = 0; i < 5; i++) {
        EXPECT_IS(nvrtcGetLoweredName(program, names[i], &name), NVRTC_SUCCESS);
        if (strcmp(name, symbols[i]) != 0)
            printf("%s: %s, expected %s\n", names[i], name, symbols[i]);
        EXPECT(strcmp(name, symbols[i]) == 0);
    }
    size_t bytes;
    EXPECT_IS(nvrtcGetCUBINSize(program, &bytes), NVRTC_SUCCESS);
    char *code = malloc(bytes);
    EXPECT_IS(nvrtcGetCUBIN(program, code), NVRTC_SUCCESS);
    EXPECT_IS(cuModuleLoadData(&module, code), CUDA_SUCCESS);
    free(code);
    EXPECT_IS(cuModuleGetFunction(&function, module, symbols[2]), CUDA_SUCCESS);
    EXPECT_IS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), CUDA_SUCCESS);
    EXPECT_IS(cuMemcpyDtoH(&value, data, sizeof value), CUDA_SUCCESS);
    EXPECT_IS(value, 42);
    EXPECT_IS(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
}

static void test_nvrtc_mistakes(void)
{
    nvrtcProgram program =
        compiled("__global__ void scale() { no_such_name(); }\n", NULL, 0, NVRTC_ERROR_COMPILATION);
    static char log[4096];
    size_t bytes;
    EXPECT_IS(nvrtcGetProgramLogSize(program, &bytes), NVRTC_SUCCESS);
    EXPECT(bytes > 1 && bytes < sizeof log);
    EXPECT_IS(nvrtcGetProgramLog(program, log), NVRTC_SUCCESS);
    EXPECT(strstr(log, "scale_kernel.cu:1") && strstr(log, "no_such_name"));
    EXPECT_IS(nvrtcGetPTXSize(program, &bytes), NVRTC_ERROR_INVALID_INPUT);
    EXPECT_IS(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
    EXPECT(program == NULL);
    /* As NVIDIA's NVRTC 12.9 and its log have it. */
    program = compiled("__global__ void other() {}\n", NULL, 0, NVRTC_ERROR_COMPILATION);
    EXPECT_IS(nvrtcGetProgramLog(program, log), NVRTC_SUCCESS);
    EXPECT(strstr(log, "scaling"));
    const char *name;
    EXPECT_IS(nvrtcGetLoweredName(program, "scaling::scale", &name),
              NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    EXPECT_IS(nvrtcDestroyProgram(&program), NVRTC_SUCCESS);
}

/* Both buffers are texts afterwards, whatever they were before. */
static void test_logs(const char *path)
{
    CUmodule module;
    char info[4] = "old", error[4] = "old";
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {info, (void *)sizeof info, error, (void *)sizeof error};
    EXPECT_IS(cuModuleLoadDataEx(&module, read_file(path), 4, options, values), CUDA_SUCCESS);
    EXPECT(info[0] == 0 && error[0] == 0);
}

static void test_mistakes(const char *path)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr at;
    EXPECT_IS(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT_IS(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n.frob\n"),
              CUDA_ERROR_INVALID_PTX);
    EXPECT_IS(cuModuleLoadData(&module, "\177ELF\2\1\1"), CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_IS(cuModuleLoadData(&module, "something else"), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_IS(cuModuleLoadData(NULL, ""), CUDA_ERROR_INVALID_VALUE);
    EXPECT_IS(cuModuleLoad(&module, path), CUDA_SUCCESS);
    EXPECT_IS(cuModuleGetFunction(&function, module, "scales"), CUDA_ERROR_NOT_FOUND);
    EXPECT_IS(cuModuleGetGlobal(&at, NULL, module, "scale"), CUDA_ERROR_NOT_FOUND);
    EXPECT_IS(cuModuleGetFunction(&function, (CUmodule)(void *)&module, "scale"),
              CUDA_ERROR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    CUcontext context;
    EXPECT(argc == 2);
    test_library_of_the_runtime(argv[1]);
    EXPECT_IS(cuInit(0), CUDA_SUCCESS);
    EXPECT_IS(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_IS(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_IS(cuMemAlloc(&data, COUNT * sizeof(int)), CUDA_SUCCESS);
    test_two_instances(argv[1]);
    test_occupancy(argv[1]);
    test_library(argv[1]);
    test_library_contents(argv[1]);
    test_link(argv[1]);
    test_logs(argv[1]);
    test_mistakes(argv[1]);
    test_nvrtc();
    test_nvrtc_names();
    test_nvrtc_mistakes();
    return 0;
}
