/* SPDX-License-Identifier: MIT
 * driver_module.c: modules and libraries, which are the same here: PTX, or what vgpu-cc -fatbin
 * (-cubin, -ptx) has made of a .cu file, loaded while the program runs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "fatbin.h"
#include "fatbin_text.h"
#include "registration.h"

/* Entries stay for good: the node has the image, and threads may have its kernels. */
struct CUmod_st {
    const struct vgpu__loaded *loaded;
    _Atomic bool unloaded;
    struct CUmod_st *next;
};

static struct CUmod_st *_Atomic all_modules;

static bool is_module(const struct CUmod_st *module)
{
    const struct CUmod_st *known = all_modules;
    while (known && known != module)
        known = known->next;
    return known && !known->unloaded;
}

/* ---- loading ---- */

static cudaError_t refuse_image(const char *call, const void *image)
{
    bool elf = memcmp(image, "\177ELF", 4) == 0;
    return vgpu__refuse(elf ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidKernelImage, call,
                        "this is %s; virtual GPUs load PTX, and what vgpu-cc -fatbin, -cubin or "
                        "-ptx makes of a .cu file",
                        elf ? "machine code of real GPUs (a cubin)" : "no device code");
}

static void put_log(const struct vgpu__jit_log *buffer, const char *log)
{
    if (buffer->text && buffer->room)
        snprintf(buffer->text, buffer->room, "%s", log);
}

struct vgpu__jit_log vgpu__jit_log(unsigned int count, const CUjit_option *options, void **values)
{
    struct vgpu__jit_log log = {0}, info = {0};
    for (unsigned int i = 0; i < count && options && values; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log.text = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            log.room = (size_t)(uintptr_t)values[i];
        if (options[i] == CU_JIT_INFO_LOG_BUFFER)
            info.text = values[i];
        if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
            info.room = (size_t)(uintptr_t)values[i];
    }
    put_log(&info, ""); /* nothing is ever said there */
    put_log(&log, "");
    return log;
}

static cudaError_t load_error(const char *log)
{
    if (strstr(log, "PTX of this version"))
        return cudaErrorUnsupportedPtxVersion;
    return strstr(log, "machine code") ? cudaErrorNoKernelImageForDevice : cudaErrorInvalidPtx;
}

/* The record of PTX, or of nvcc's container; null: *error was told. */
static void *translate_module(const char *call, const void *image, size_t bytes, int part,
                              const struct vgpu__jit_log *buffer, cudaError_t *error)
{
    char *log;
    void *record = vgpu__translate(image, bytes, part, &log);
    if (log)
        put_log(buffer, log);
    if (!record)
        *error = vgpu__refuse(load_error(log ? log : ""), call, "the PTX cannot be loaded: %s",
                              log && *log ? log : "vgpu-cc cannot be run");
    free(log);
    return record;
}

static cudaError_t add_module(const char *call, struct CUmod_st **module, const void *record,
                              const void *image)
{
    struct CUmod_st *made = calloc(1, sizeof *made);
    if (!made)
        return vgpu__no_memory(call);
    made->loaded = vgpu__load_record(record, image);
    made->next = all_modules;
    while (!atomic_compare_exchange_weak(&all_modules, &made->next, made)) {
    }
    *module = made;
    return cudaSuccess;
}

static bool is_module_record(const void *image)
{
    return strncmp(image, VGPU_FATBIN_MAGIC, sizeof VGPU_FATBIN_MAGIC - 1) == 0;
}

static void *copy_module_record(const char *call, const void *image, cudaError_t *error)
{
    const struct vgpu_fatbin *head = image;
    void *copy = malloc(head->bytes);
    if (copy)
        memcpy(copy, image, head->bytes);
    else
        *error = vgpu__no_memory(call);
    return copy;
}

static void *read_module_image(const char *call, const void *image, int part,
                               const struct vgpu__jit_log *log, cudaError_t *error)
{
    size_t bytes;
    if (is_module_record(image))
        return copy_module_record(call, image, error);
    void *record = vgpu_fatbin_from_text(image);
    if (record)
        return record;
    if (vgpu__is_foreign(image, &bytes))
        return translate_module(call, image, bytes, part, log, error);
    *error = refuse_image(call, image);
    return NULL;
}

void *vgpu__read_module(const char *call, const void *image, const struct vgpu__jit_log *log,
                        cudaError_t *error)
{
    return read_module_image(call, image, VGPU__WHOLE, log, error);
}

static cudaError_t load_image(const char *call, struct CUmod_st **module, const void *image,
                              const struct vgpu__jit_log *log)
{
    cudaError_t error = cudaSuccess;
    if (!module || !image)
        return cudaErrorInvalidValue;
    if (is_module_record(image)) /* it stays where it is */
        return add_module(call, module, image, NULL);
    void *record = read_module_image(call, image, VGPU__PARTS, log, &error);
    if (record)
        error = add_module(call, module, record, image);
    free(record);
    return error;
}

static cudaError_t load_data(const char *call, struct CUmod_st **module, const void *image)
{
    return load_image(call, module, image, &(struct vgpu__jit_log){0});
}

/* The file's bytes and a zero; null: see errno. */
char *vgpu__read_module_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    long length = -1;

    if (file && fseek(file, 0, SEEK_END) == 0)
        length = ftell(file);
    if (length >= 0 && fseek(file, 0, SEEK_SET) == 0)
        data = calloc(1, (size_t)length + 1);
    if (data && fread(data, 1, (size_t)length, file) != (size_t)length) {
        free(data);
        data = NULL;
    }
    if (file)
        fclose(file);
    return data;
}

static cudaError_t load_file(const char *call, struct CUmod_st **module, const char *path)
{
    if (!module || !path)
        return cudaErrorInvalidValue;
    char *data = vgpu__read_module_file(path);
    if (!data)
        return vgpu__refuse(cudaErrorFileNotFound, call, "%s: %s", path, strerror(errno));
    cudaError_t error = load_data(call, module, data);
    free(data);
    return error;
}

static cudaError_t unload_module(struct CUmod_st *module)
{
    if (!is_module(module))
        return cudaErrorInvalidResourceHandle;
    module->unloaded = true;
    return cudaSuccess;
}

/* ---- what is in it ---- */

static cudaError_t find_loaded_kernel(const char *call, const void **kernel,
                                      struct CUmod_st *module, const char *name)
{
    if (!kernel || !name)
        return cudaErrorInvalidValue;
    if (!is_module(module))
        return cudaErrorInvalidResourceHandle;
    const struct vgpu_fatbin *head = module->loaded->head;
    const void *rows = (const char *)head + head->kernel_at;
    const struct vgpu_fatbin_kernel *row = rows;
    for (uint32_t i = 0; i < head->kernel_count; i++)
        if (strcmp((const char *)head + row[i].symbol_at, name) == 0) {
            *kernel = &module->loaded->stubs[i];
            return cudaSuccess;
        }
    return vgpu__refuse(cudaErrorSymbolNotFound, call,
                        "there is no kernel '%s' in the module%s%s; one that is not extern \"C\" "
                        "has its mangled name",
                        name, head->kernel_count ? ", whose first is " : "",
                        head->kernel_count ? (const char *)head + row[0].symbol_at : "");
}

static cudaError_t count_kernels(unsigned int *count, const struct CUmod_st *module)
{
    if (!count)
        return cudaErrorInvalidValue;
    if (!is_module(module))
        return cudaErrorInvalidResourceHandle;
    *count = module->loaded->head->kernel_count;
    return cudaSuccess;
}

/* The first `count` of them. */
static cudaError_t list_kernels(const void **kernels, unsigned int count,
                                const struct CUmod_st *module)
{
    unsigned int there;
    cudaError_t error = count_kernels(&there, module);
    if (error != cudaSuccess || (!kernels && count))
        return error != cudaSuccess ? error : cudaErrorInvalidValue;
    for (unsigned int i = 0; i < count && i < there; i++)
        kernels[i] = &module->loaded->stubs[i];
    return cudaSuccess;
}

/* The module, or library, that has the kernel; none has one of the program itself. */
static cudaError_t find_module(struct CUmod_st **found, const void *kernel)
{
    if (!found)
        return cudaErrorInvalidValue;
    for (struct CUmod_st *module = all_modules; module; module = module->next)
        for (uint32_t i = 0; !module->unloaded && i < module->loaded->head->kernel_count; i++)
            if (&module->loaded->stubs[i] == kernel) {
                *found = module;
                return cudaSuccess;
            }
    return cudaErrorInvalidResourceHandle;
}

/* A static variable has the name "_ZL7factors" for Clang, and "factors" for nvcc. */
static bool names_variable(const char *symbol, const char *name)
{
    char *rest;
    if (strcmp(symbol, name) == 0)
        return true;
    if (strncmp(symbol, "_ZL", 3) != 0)
        return false;
    size_t length = strtoul(symbol + 3, &rest, 10);
    return length == strlen(name) && strncmp(rest, name, length) == 0;
}

/* One that is __managed__, or any. */
static cudaError_t find_variable(CUdeviceptr *at, size_t *bytes, struct CUmod_st *module,
                                 const char *name, bool managed)
{
    if (!name || (!at && !bytes))
        return cudaErrorInvalidValue;
    if (!is_module(module))
        return cudaErrorInvalidResourceHandle;
    const struct vgpu_fatbin *head = module->loaded->head;
    const void *rows = (const char *)head + head->var_at;
    const struct vgpu_fatbin_var *row = rows;
    for (uint32_t i = 0; i < head->var_count; i++) {
        void *const *cell = &module->loaded->cells[i];
        void *address = *cell;
        if (!names_variable((const char *)head + row[i].symbol_at, name) ||
            (managed && !row[i].managed))
            continue;
        cudaError_t error = address ? cudaSuccess : cudaGetSymbolAddress(&address, cell);
        if (error == cudaSuccess && at)
            *at = (CUdeviceptr)(uintptr_t)address;
        if (error == cudaSuccess && bytes)
            *bytes = row[i].bytes;
        return error;
    }
    return cudaErrorSymbolNotFound;
}

/* ---- modules ---- */

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    VGPU_DRIVER(load_file("cuModuleLoad", module, path));
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    VGPU_DRIVER(load_data("cuModuleLoadData", module, image));
}

/* Of the options only the buffer for errors counts: vgpu-cc optimizes as it always does. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values)
{
    struct vgpu__jit_log log = vgpu__jit_log(count, options, values);
    VGPU_DRIVER(load_image("cuModuleLoadDataEx", module, image, &log));
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    VGPU_DRIVER(load_data("cuModuleLoadFatBinary", module, image));
}

CUresult cuModuleUnload(CUmodule module)
{
    VGPU_DRIVER(unload_module(module));
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    VGPU_DRIVER(find_loaded_kernel("cuModuleGetFunction", (const void **)function, module, name));
}

CUresult cuModuleGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUmodule module, const char *name)
{
    VGPU_DRIVER(find_variable(ptr, bytes, module, name, false));
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule module)
{
    VGPU_DRIVER(count_kernels(count, module));
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule module)
{
    VGPU_DRIVER(list_kernels((const void **)functions, count, module));
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    VGPU_DRIVER(find_module(module, function));
}

/* ---- libraries ---- */

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit, void **values,
                           unsigned int jitCount, CUlibraryOption *options, void **optionValues,
                           unsigned int optionCount)
{
    (void)jit, (void)values, (void)jitCount, (void)options, (void)optionValues, (void)optionCount;
    VGPU_DRIVER(load_data("cuLibraryLoadData", (struct CUmod_st **)library, code));
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit,
                               void **values, unsigned int jitCount, CUlibraryOption *options,
                               void **optionValues, unsigned int optionCount)
{
    (void)jit, (void)values, (void)jitCount, (void)options, (void)optionValues, (void)optionCount;
    VGPU_DRIVER(load_file("cuLibraryLoadFromFile", (struct CUmod_st **)library, path));
}

CUresult cuLibraryUnload(CUlibrary library)
{
    VGPU_DRIVER(unload_module((struct CUmod_st *)library));
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    VGPU_DRIVER(find_loaded_kernel("cuLibraryGetKernel", (const void **)kernel,
                                   (struct CUmod_st *)library, name));
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary library)
{
    VGPU_DRIVER(count_kernels(count, (struct CUmod_st *)library));
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count, CUlibrary library)
{
    VGPU_DRIVER(list_kernels((const void **)kernels, count, (struct CUmod_st *)library));
}

static cudaError_t library_module(CUmodule *module, CUlibrary library)
{
    if (!module)
        return cudaErrorInvalidValue;
    if (!is_module((struct CUmod_st *)library))
        return cudaErrorInvalidResourceHandle;
    *module = (struct CUmod_st *)library;
    return cudaSuccess;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    VGPU_DRIVER(library_module(module, library));
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    VGPU_DRIVER(find_module((struct CUmod_st **)library, kernel));
}

CUresult cuLibraryGetGlobal(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
    VGPU_DRIVER(find_variable(ptr, bytes, (struct CUmod_st *)library, name, false));
}

CUresult cuLibraryGetManaged(CUdeviceptr *ptr, size_t *bytes, CUlibrary library, const char *name)
{
    VGPU_DRIVER(find_variable(ptr, bytes, (struct CUmod_st *)library, name, true));
}

/* Functions that the host and GPUs can both call; no GPU of a node reads the host's code. */
static cudaError_t no_unified_function(void **function, CUlibrary library, const char *name)
{
    if (!function || !name)
        return cudaErrorInvalidValue;
    return is_module((struct CUmod_st *)library) ? cudaErrorSymbolNotFound
                                                 : cudaErrorInvalidResourceHandle;
}

CUresult cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *name)
{
    VGPU_DRIVER(no_unified_function(function, library, name));
}
