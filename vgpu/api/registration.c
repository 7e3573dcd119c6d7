/* SPDX-License-Identifier: MIT
 * registration.c: what the constructors and launches of compiled CUDA code call: the functions that
 * Clang and nvcc emit calls of. They make a struct vgpu_host_module of what they are told.
 */
#include "registration.h"

#include <stdlib.h>
#include <string.h>

#include "fatbin.h"
#include "runtime.h"

struct wrapper { /* CUDA's __fatBinC_Wrapper_t */
    int magic, version;
    const void *data;
    void *file;
};

/* One file's device code. Its tables have room for all of its kernels from the start: the runtime
 * keeps pointers into them. */
struct unit {
    struct vgpu_host_module module;
    struct vgpu_image_part part;
    struct vgpu_host_image image;
    const struct vgpu_fatbin *head;
    struct vgpu_host_kernel *kernels;
    struct vgpu_host_var *vars;
    uint32_t var_room;
};

static const char *text_at(const struct vgpu_fatbin *head, uint32_t at)
{
    return (const char *)head + at;
}

static void *must(void *memory)
{
    if (!memory)
        abort(); /* before main: nobody could be told otherwise */
    return memory;
}

static bool is_ours(const struct wrapper *wrapper)
{
    const struct vgpu_fatbin *head = wrapper->data;
    return wrapper->magic == VGPU_FATBIN_WRAPPER_MAGIC &&
           memcmp(head->magic, VGPU_FATBIN_MAGIC, sizeof head->magic) == 0;
}

static struct unit *make_unit(const struct vgpu_fatbin *head)
{
    struct unit *unit = must(calloc(1, sizeof *unit));
    unit->head = head;
    unit->kernels = must(calloc(head->kernel_count + 1, sizeof *unit->kernels));
    unit->image.name = text_at(head, head->source_at);
    unit->image.begin = (const uint8_t *)head + head->code_at;
    unit->image.end = unit->image.begin + head->code_bytes;
    unit->part.image = &unit->image;
    unit->module.part = &unit->part;
    unit->module.kernels = unit->kernels;
    return unit;
}

/* CUDA: returns a handle for the calls below. */
void **__cudaRegisterFatBinary(void *fatbin);
void **__cudaRegisterFatBinary(void *fatbin)
{
    const struct wrapper *wrapper = fatbin;
    if (is_ours(wrapper))
        return (void **)make_unit(wrapper->data);
    vgpu__say("__cudaRegisterFatBinary",
              "device code that vgpu-cc did not compile: the virtual node cannot run it; compile "
              "the file with vgpu-cc");
    return (void **)must(calloc(1, sizeof(struct unit)));
}

/* ---- kernels and variables ---- */

static const struct vgpu_fatbin_kernel *find_row(const struct vgpu_fatbin *head, const char *symbol,
                                                 uint32_t *number)
{
    const void *at = (const char *)head + head->kernel_at;
    const struct vgpu_fatbin_kernel *row = at;
    for (uint32_t i = 0; i < head->kernel_count; i++)
        if (strcmp(text_at(head, row[i].symbol_at), symbol) == 0) {
            *number = i;
            return &row[i];
        }
    return NULL;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid,
                            int *warp_size);
void __cudaRegisterFunction(void **handle, const char *stub, char *device, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid,
                            int *warp_size)
{
    struct unit *unit = (struct unit *)handle;
    uint32_t number;
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    const struct vgpu_fatbin_kernel *row = unit->head ? find_row(unit->head, name, &number) : NULL;
    if (!row || unit->module.kernel_count == unit->head->kernel_count)
        return; /* no code was made of it: a launch says so */
    const void *params = (const char *)unit->head + row->param_at;
    unit->kernels[unit->module.kernel_count++] =
        (struct vgpu_host_kernel){.name = text_at(unit->head, row->name_at),
                                  .stub = stub,
                                  .ordinal = number,
                                  .param_count = row->param_count,
                                  .param_bytes = params,
                                  .max_threads = row->threads,
                                  .static_shared_bytes = row->shared_bytes,
                                  .file = text_at(unit->head, row->file_at),
                                  .line = (int)row->line};
}

void __cudaRegisterVar(void **handle, char *shadow, char *device, const char *name, int external,
                       size_t bytes, int constant, int global);
void __cudaRegisterVar(void **handle, char *shadow, char *device, const char *name, int external,
                       size_t bytes, int constant, int global)
{
    struct unit *unit = (struct unit *)handle;
    (void)device, (void)external, (void)constant, (void)global;
    if (unit->module.var_count == unit->var_room) {
        unit->var_room = unit->var_room * 2 + 8;
        unit->vars = must(realloc(unit->vars, unit->var_room * sizeof *unit->vars));
        unit->module.vars = unit->vars;
    }
    unit->vars[unit->module.var_count++] =
        (struct vgpu_host_var){.key = name, .shadow = shadow, .bytes = bytes};
}

void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle)
{
    struct unit *unit = (struct unit *)handle;
    if (unit->head)
        vgpu_register_module(&unit->module);
}

/* At exit, when other destructors may still launch: nothing goes. */
void __cudaUnregisterFatBinary(void **handle);
void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

/* ---- launches ---- */

unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                         struct CUstream_st *stream);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                         struct CUstream_st *stream)
{
    return vgpu_push_call(grid, block, shared, stream);
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    return vgpu_pop_call(grid, block, shared, stream);
}
