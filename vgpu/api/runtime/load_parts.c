/* SPDX-License-Identifier: MIT
 * load_parts.c: device code that is loaded while the program runs. PTX of several parts is
 * translated part by part, when a kernel is launched or a variable's address asked for (CUDA's lazy
 * loading). Each part is a module of its own here. Its kernels' rows are complete before, from the
 * list of parts.
 */
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* ---- translating a part ---- */

/* Sets the kernels' ordinals, which are those of the list so far. False: a kernel is missing, and
 * nothing has changed. */
static bool renumber_kernels(struct unit *unit, const struct vgpu_fatbin *list)
{
    const void *rows = (const char *)list + list->kernel_at;
    const struct vgpu_fatbin_kernel *row = rows;
    uint32_t count = unit->module.kernel_count;
    uint32_t *number = vgpu__checked_memory(calloc(count + 1, sizeof *number));
    bool found = true;
    for (uint32_t i = 0; i < count && found; i++) {
        uint32_t symbol_at = row[unit->kernels[i].ordinal].symbol_at;
        found = vgpu__find_row(unit, vgpu__record_text(list, symbol_at), &number[i]) != NULL;
    }
    for (uint32_t i = 0; i < count && found; i++)
        unit->kernels[i].ordinal = number[i];
    free(number);
    return found;
}

static cudaError_t translate_part(struct unit *unit, const char *call)
{
    const struct vgpu_fatbin *list = unit->head, *record = NULL;
    size_t bytes;
    char *log = NULL;
    cudaError_t error = cudaSuccess;
    if (unit->ptx && vgpu__is_foreign(unit->ptx, &bytes))
        record = vgpu__translate(unit->ptx, bytes, (int)unit->number, &log);
    if (record)
        vgpu__set_record(unit, record);
    if (record && renumber_kernels(unit, list)) {
        __atomic_store_n(&unit->module.complete, NULL, __ATOMIC_RELEASE);
    } else {
        unit->head = list;
        error = vgpu__refuse(cudaErrorInvalidPtx, call, "the PTX cannot be translated: %s",
                             log && *log ? log : "vgpu-cc cannot be run");
    }
    free(log);
    return error;
}

/* Parts are translated side by side where threads ask for them. */
static int complete_part(struct vgpu_host_module *module, const char *call)
{
    struct unit *unit = (struct unit *)module;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&unit->completing);
    if (module->complete)
        error = translate_part(unit, call);
    pthread_mutex_unlock(&unit->completing);
    return (int)error;
}

/* ---- the parts of a record ---- */

static struct unit *make_part(const struct vgpu_fatbin *list, const void *ptx, uint32_t number)
{
    struct unit *unit = vgpu__checked_memory(calloc(1, sizeof *unit));
    unit->head = list;
    unit->ptx = ptx;
    unit->number = number;
    unit->module.complete = complete_part;
    pthread_mutex_init(&unit->completing, NULL);
    return unit;
}

/* Of a record with code the one unit. */
static struct unit **make_parts(const struct vgpu_fatbin *head, const void *ptx, uint32_t *count)
{
    *count = head->parts ? head->parts : 1;
    struct unit **unit = vgpu__checked_memory(calloc(*count, sizeof(struct unit *)));
    for (uint32_t i = 0; i < *count; i++)
        unit[i] = head->parts ? make_part(head, ptx, i) : vgpu__make_unit(head);
    return unit;
}

static void register_parts(struct unit **unit, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (unit[i]->module.part || unit[i]->module.kernel_count || unit[i]->module.var_count)
            vgpu_register_module(&unit[i]->module);
    free(unit);
}

static void register_kernel(struct unit *unit, const void *stub, const char *symbol)
{
    __cudaRegisterFunction((void **)unit, stub, NULL, symbol, 0, NULL, NULL, NULL, NULL, NULL);
}

static void register_shadow(struct unit *unit, const void *shadow, const char *symbol, size_t bytes)
{
    __cudaRegisterVar((void **)unit, (char *)(uintptr_t)shadow, NULL, symbol, 0, bytes, 0, 0);
}

void vgpu__divide_unit(const struct unit *unit, const struct vgpu_fatbin *list, const void *ptx)
{
    uint32_t count, number;
    struct unit **part = make_parts(list, ptx, &count);
    const struct unit *all = part[0];
    for (uint32_t i = 0; i < unit->module.kernel_count; i++) {
        const struct vgpu_fatbin_kernel *row = vgpu__find_row(all, unit->kernels[i].name, &number);
        if (row)
            register_kernel(part[row->part], unit->kernels[i].stub, unit->kernels[i].name);
    }
    for (uint32_t i = 0; i < unit->module.var_count; i++) {
        const struct vgpu_fatbin_var *row = vgpu__find_var_row(all, unit->vars[i].key);
        if (row)
            register_shadow(part[row->part], unit->vars[i].shadow, unit->vars[i].key,
                            unit->vars[i].bytes);
    }
    register_parts(part, count);
}

/* ---- loaded by the program ---- */

/* Programs may free the PTX when it has been loaded. */
static const void *copy_ptx(const void *ptx)
{
    size_t bytes;
    if (!ptx || !vgpu__is_foreign(ptx, &bytes))
        return NULL;
    char *copy = vgpu__checked_memory(calloc(1, bytes + 1));
    return memcpy(copy, ptx, bytes);
}

/* A kernel's stub and a variable's shadow are places that nothing else has: host code does not have
 * their names. */
const struct vgpu__loaded *vgpu__load_record(const void *record, const void *ptx)
{
    const struct vgpu_fatbin *from = record;
    struct vgpu_fatbin *head =
        vgpu__checked_memory(aligned_alloc(16, (from->bytes + 15) / 16 * 16));
    memcpy(head, from, from->bytes);
    uint32_t count;
    struct unit **unit = make_parts(head, head->parts ? copy_ptx(ptx) : NULL, &count);
    const void *rows = (const char *)head + head->var_at;
    const struct vgpu_fatbin_var *variable = rows;
    rows = (const char *)head + head->kernel_at;
    const struct vgpu_fatbin_kernel *kernel = rows;
    char *stub = vgpu__checked_memory(calloc(head->kernel_count + 1, 1));
    void **cell = vgpu__checked_memory(calloc(head->var_count + 1, sizeof *cell));

    for (uint32_t i = 0; i < head->kernel_count; i++)
        register_kernel(unit[kernel[i].part], &stub[i],
                        vgpu__record_text(head, kernel[i].symbol_at));
    for (uint32_t i = 0; i < head->var_count; i++)
        register_shadow(unit[variable[i].part], &cell[i],
                        vgpu__record_text(head, variable[i].symbol_at), variable[i].bytes);
    register_parts(unit, count);
    struct vgpu__loaded *loaded = vgpu__checked_memory(calloc(1, sizeof *loaded));
    *loaded = (struct vgpu__loaded){.head = head, .stubs = stub, .cells = cell};
    return loaded;
}
