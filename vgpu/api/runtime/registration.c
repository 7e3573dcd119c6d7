/* SPDX-License-Identifier: MIT
 * registration.c: the functions that Clang and nvcc make compiled CUDA code call, in its
 * constructors and at launches. They build a struct vgpu_host_module from their arguments.
 */
#include "registration.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

/* Without a GPU the variable lives in ordinary memory. */
void *vgpu_make_managed(struct vgpu_managed *variable)
{
    if (cudaMallocManaged(&variable->address, variable->bytes, cudaMemAttachGlobal) !=
        cudaSuccess) {
        cudaGetLastError();
        variable->address = calloc(1, variable->bytes);
        if (!variable->address)
            abort();
    }
    memcpy(variable->address, variable->first, variable->bytes);
    vgpu__add_managed(variable);
    return variable->address;
}

static pthread_mutex_t registration_lock = PTHREAD_MUTEX_INITIALIZER;
/* Images of device links, guarded by registration_lock; entries are never removed. */
static struct image *linked_images;

void *vgpu__checked_memory(void *memory)
{
    static const char text[] =
        "vgpu: no memory for the list of the program's kernels (malloc fails): "
        "is it limited (ulimit -v, a job's limit)?\n";
    if (!memory && write(STDERR_FILENO, text, sizeof text - 1) != 0)
        /* Before main no call could return an error. */
        _exit(EXIT_FAILURE);
    return memory;
}

static bool is_our_wrapper(const struct wrapper *wrapper)
{
    const struct vgpu_fatbin *head = wrapper->data;
    return wrapper->magic == VGPU_FATBIN_WRAPPER_MAGIC &&
           memcmp(head->magic, VGPU_FATBIN_MAGIC, sizeof head->magic) == 0;
}

/* The record of PTX that nvcc has packed into the program; null after a message, with the error of
 * those who use its kernels, if it packed none. */
static const struct vgpu_fatbin *translate_image(const struct wrapper *wrapper, int *error)
{
    size_t bytes;
    char *log = NULL;
    if (wrapper->magic != VGPU_FATBIN_WRAPPER_MAGIC || !vgpu__is_foreign(wrapper->data, &bytes)) {
        vgpu__message("__cudaRegisterFatBinary",
                      "device code that neither vgpu-cc nor nvcc compiled: the virtual node cannot "
                      "run it; compile the file with vgpu-cc");
        *error = cudaErrorInvalidKernelImage;
        return NULL;
    }
    const void *record = vgpu__translate(wrapper->data, bytes, VGPU__PARTS, &log);
    if (!record) {
        vgpu__message("__cudaRegisterFatBinary",
                      "device code that nvcc compiled cannot be loaded: %s",
                      log ? log : "vgpu-cc cannot be run");
        *error = log && strstr(log, "machine code") ? cudaErrorNoKernelImageForDevice
                                                    : cudaErrorInvalidPtx;
    }
    free(log);
    return record;
}

static struct image *make_image(const struct vgpu_fatbin *head)
{
    struct image *image = vgpu__checked_memory(calloc(1, sizeof *image));
    image->head = head;
    image->image.name = vgpu__record_text(head, head->source_at);
    image->image.begin = (const uint8_t *)head + head->code_at;
    image->image.end = image->image.begin + head->code_bytes;
    return image;
}

static void set_image(struct unit *unit, struct image *image)
{
    unit->head = image->head;
    unit->part.image = &image->image;
    unit->module.part = &unit->part;
}

void vgpu__set_record(struct unit *unit, const struct vgpu_fatbin *head)
{
    set_image(unit, make_image(head));
}

static struct unit *make_unit(struct image *image)
{
    struct unit *unit = vgpu__checked_memory(calloc(1, sizeof *unit));
    set_image(unit, image);
    unit->kernel_room = image->head->kernel_count + 1;
    unit->kernels = vgpu__checked_memory(calloc(unit->kernel_room, sizeof *unit->kernels));
    unit->module.kernels = unit->kernels;
    return unit;
}

struct unit *vgpu__make_unit(const struct vgpu_fatbin *head)
{
    return make_unit(make_image(head));
}

static void translate_unit(struct vgpu_host_module *module);

/* A program may have much code of which it uses little: it is translated when something is used. */
static struct unit *make_foreign_unit(const struct wrapper *wrapper)
{
    struct unit *unit = vgpu__checked_memory(calloc(1, sizeof *unit));
    unit->foreign = wrapper;
    unit->module.translate = translate_unit;
    return unit;
}

/* Called by CUDA programs; returns a handle for the calls below. */
void **__cudaRegisterFatBinary(void *fatbin);
void **__cudaRegisterFatBinary(void *fatbin)
{
    const struct wrapper *wrapper = fatbin;
    if (is_our_wrapper(wrapper))
        return (void **)make_unit(make_image(wrapper->data));
    return (void **)make_foreign_unit(wrapper);
}

/* ---- kernels and variables ---- */

/* True if the record's symbol is the name that host code registers. A symbol local to one file is
 * recorded as "unit:symbol"; newer Clangs append "__static__" or "__intern__" and a number to the
 * name. */
static bool is_symbol(const struct unit *unit, const char *symbol, const char *name)
{
    if (strcmp(symbol, name) == 0)
        return true;
    size_t length = unit->name ? strlen(unit->name) : 0;
    if (length == 0 || strncmp(symbol, unit->name, length) != 0 || symbol[length] != ':')
        return false;
    symbol += length + 1;
    length = strlen(symbol);
    const char *rest = name + length;
    return strncmp(symbol, name, length) == 0 &&
           (*rest == 0 || strncmp(rest, "__static__", 10) == 0 ||
            strncmp(rest, "__intern__", 10) == 0);
}

const struct vgpu_fatbin_kernel *vgpu__find_row(const struct unit *unit, const char *name,
                                                uint32_t *number)
{
    const struct vgpu_fatbin *head = unit->head;
    const void *at = (const char *)head + head->kernel_at;
    const struct vgpu_fatbin_kernel *row = at;
    for (uint32_t i = 0; i < head->kernel_count; i++)
        if (is_symbol(unit, vgpu__record_text(head, row[i].symbol_at), name)) {
            *number = i;
            return &row[i];
        }
    return NULL;
}

const struct vgpu_fatbin_var *vgpu__find_var_row(const struct unit *unit, const char *name)
{
    const struct vgpu_fatbin *head = unit->head;
    const void *at = (const char *)head + head->var_at;
    const struct vgpu_fatbin_var *row = at;
    for (uint32_t i = 0; i < head->var_count; i++)
        if (is_symbol(unit, vgpu__record_text(head, row[i].symbol_at), name))
            return &row[i];
    return NULL;
}

/* False: there is no code of this name. */
static bool describe_kernel(const struct unit *unit, struct vgpu_host_kernel *kernel)
{
    uint32_t number;
    const struct vgpu_fatbin_kernel *row =
        unit->head ? vgpu__find_row(unit, kernel->name, &number) : NULL;
    if (!row)
        return false;
    const void *params = (const char *)unit->head + row->param_at;
    *kernel =
        (struct vgpu_host_kernel){.name = vgpu__record_text(unit->head, row->name_at),
                                  .stub = kernel->stub,
                                  .ordinal = number,
                                  .param_count = row->param_count,
                                  .param_bytes = params,
                                  .max_threads = row->threads,
                                  .static_shared_bytes = row->shared_bytes,
                                  .file = vgpu__record_text(unit->head, row->file_at),
                                  .line = (int)row->line,
                                  .cluster = {row->cluster[0], row->cluster[1], row->cluster[2]}};
    return true;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid,
                            int *warp_size)
{
    struct unit *unit = (struct unit *)handle;
    struct vgpu_host_kernel kernel = {.name = name, .stub = stub};
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    if (!unit->foreign && !describe_kernel(unit, &kernel))
        return; /* no code was generated; a launch reports it */
    if (unit->module.kernel_count == unit->kernel_room) {
        unit->kernel_room = unit->kernel_room * 2 + 8;
        unit->kernels =
            vgpu__checked_memory(realloc(unit->kernels, unit->kernel_room * sizeof *unit->kernels));
        unit->module.kernels = unit->kernels;
    }
    unit->kernels[unit->module.kernel_count++] = kernel;
}

/* `cell`: the host variable that holds the managed variable's address. Another file may already
 * have set it. */
static void make_managed(const struct unit *unit, const struct vgpu_fatbin_var *row, void **cell)
{
    if (*cell)
        return;
    struct vgpu_managed *variable = vgpu__checked_memory(calloc(1, sizeof *variable));
    variable->first = unit->part.image->begin + row->value_at;
    variable->bytes = row->bytes;
    variable->place = unit->part.image->begin + row->place_at;
    *cell = vgpu_make_managed(variable);
}

void __cudaRegisterVar(void **handle, char *shadow, char *device, const char *name, int external,
                       size_t bytes, int constant, int global)
{
    struct unit *unit = (struct unit *)handle;
    (void)device, (void)external, (void)constant, (void)global;
    const struct vgpu_fatbin_var *row = unit->head ? vgpu__find_var_row(unit, name) : NULL;
    if (row && row->managed) {
        make_managed(unit, row, (void **)(void *)shadow);
        return;
    }
    if (unit->module.var_count == unit->var_room) {
        unit->var_room = unit->var_room * 2 + 8;
        unit->vars = vgpu__checked_memory(realloc(unit->vars, unit->var_room * sizeof *unit->vars));
        unit->module.vars = unit->vars;
    }
    unit->vars[unit->module.var_count++] =
        (struct vgpu_host_var){.key = row ? vgpu__record_text(unit->head, row->symbol_at) : name,
                               .shadow = shadow,
                               .bytes = bytes};
}

/* ---- code of nvcc's ---- */

/* Other threads may be searching the table: the rows stay where they are. */
static void describe_kernels(struct unit *unit)
{
    static const char no_code;
    for (uint32_t i = 0; i < unit->module.kernel_count; i++)
        if (!describe_kernel(unit, &unit->kernels[i])) {
            unit->kernels[i].lost = unit->module.error ? unit->kernels[i].stub : NULL;
            unit->kernels[i].stub = &no_code;
        }
}

static void describe_vars(struct unit *unit)
{
    for (uint32_t i = 0; i < unit->module.var_count; i++) {
        const struct vgpu_fatbin_var *row = vgpu__find_var_row(unit, unit->vars[i].key);
        if (row)
            unit->vars[i].key = vgpu__record_text(unit->head, row->symbol_at);
    }
}

static void translate_unit(struct vgpu_host_module *module)
{
    struct unit *unit = (struct unit *)module;
    pthread_mutex_lock(&registration_lock);
    if (unit->foreign) {
        const struct vgpu_fatbin *record = translate_image(unit->foreign, &module->error);
        bool whole = record && record->parts == 0;
        if (whole)
            vgpu__set_record(unit, record);
        else if (record)
            vgpu__divide_unit(unit, record, unit->foreign->data);
        if (!whole)
            module->var_count = 0;
        describe_kernels(unit);
        if (whole)
            describe_vars(unit);
        unit->foreign = NULL;
    }
    pthread_mutex_unlock(&registration_lock);
}

/* nvcc's form for a __managed__ variable: `cell` holds its address in host code. */
void __cudaRegisterManagedVar(void **handle, void **cell, char *device, const char *name,
                              int external, size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **cell, char *device, const char *name,
                              int external, size_t bytes, int constant, int global)
{
    translate_unit(&((struct unit *)handle)->module); /* host code has no other way to ask for it */
    __cudaRegisterVar(handle, (char *)cell, device, name, external, bytes, constant, global);
}

/* Called by nvcc's host code before it uses a __managed__ variable, which is there already. */
char __cudaInitModule(void **handle);
char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle)
{
    struct unit *unit = (struct unit *)handle;
    if (unit->head || unit->module.kernel_count || unit->module.var_count)
        vgpu_register_module(&unit->module);
}

/* ---- -rdc=true ---- */

static struct image *find_linked(const struct vgpu_fatbin *head)
{
    pthread_mutex_lock(&registration_lock);
    struct image *image = linked_images;
    while (image && image->head != head)
        image = image->next;
    if (!image) {
        image = make_image(head);
        image->next = linked_images;
        linked_images = image;
    }
    pthread_mutex_unlock(&registration_lock);
    return image;
}

/* Called by a file's constructor, through a function that the device link generates. The first four
 * arguments are those of CUDA's registration function, the last is the record of the link. */
void vgpu_register_linked(void (*globals)(void **), const struct wrapper *wrapper, const char *id,
                          void (*callback)(void *), const struct vgpu_fatbin *head);
void vgpu_register_linked(void (*globals)(void **), const struct wrapper *wrapper, const char *id,
                          void (*callback)(void *), const struct vgpu_fatbin *head)
{
    const struct vgpu_fatbin_unit *record = wrapper->data;
    struct unit *unit = make_unit(find_linked(head));
    (void)id, (void)callback;
    unit->name = record->name;
    globals((void **)unit);
    vgpu_register_module(&unit->module);
}

/* Called at exit. Nothing is freed, since later destructors may still launch kernels. */
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

/* nvcc's form since 13.0: the stub's kernel is asked for once, and is the stub itself here. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    *kernel = (cudaKernel_t)(uintptr_t)stub;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}

cudaError_t cudaLaunchKernel_ptsz(const void *stub, dim3 grid, dim3 block, void **args,
                                  size_t shared, cudaStream_t stream); /* per_thread.c */
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel_ptsz((const void *)kernel, grid, block, args, shared, stream);
}
