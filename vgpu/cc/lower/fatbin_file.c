/* SPDX-License-Identifier: MIT
 * fatbin_file.c: see fatbin_file.h.
 */
#include "lowering.h"

#include <string.h>

#include "diag.h"
#include "fatbin.h"

static uint32_t put_text(struct cc_text *out, const char *text)
{
    uint32_t at = (uint32_t)out->length;

    cc_put(out, text, strlen(text) + 1);
    return at;
}

static void align(struct cc_text *out, size_t to)
{
    while (out->length % to != 0)
        cc_put(out, "", 1);
}

static uint32_t put_params(struct cc_text *out, const struct cc_kernel *kernel)
{
    align(out, sizeof(uint32_t));
    uint32_t at = (uint32_t)out->length;

    cc_put(out, (const char *)kernel->param_bytes, kernel->param_count * sizeof(uint32_t));
    return at;
}

static struct vgpu_fatbin_kernel put_kernel(struct cc_text *out, const struct cc_kernel *kernel)
{
    return (struct vgpu_fatbin_kernel){
        .symbol_at = put_text(out, kernel->symbol),
        .name_at = put_text(out, kernel->name),
        .file_at = put_text(out, kernel->file),
        .line = kernel->line,
        .param_count = kernel->param_count,
        .param_at = put_params(out, kernel),
        .threads = kernel->threads,
        .shared_bytes = kernel->shared_bytes,
        .cluster = {kernel->cluster[0], kernel->cluster[1], kernel->cluster[2]},
        .part = kernel->part};
}

/* ---- variables ---- */

struct image {
    const char *data;
    size_t bytes;
};

static bool find_managed_place(const struct image *image, const struct cc_managed *managed,
                               struct vgpu_fatbin_var *row)
{
    const char *at = memmem(image->data, image->bytes, managed->mark, sizeof managed->mark);

    if (at == NULL) {
        cc_fail("the device image has no place for the __managed__ variable '%s'", managed->symbol);
        return false;
    }
    row->managed = 1;
    row->place_at = (uint64_t)(at - image->data);
    row->value_at = row->place_at + managed->value_at;
    row->bytes = managed->bytes;
    return true;
}

static bool put_variables(struct cc_text *out, const struct cc_device_code *code,
                          const struct image *image, struct vgpu_fatbin_var *row)
{
    for (size_t i = 0; i < code->variable_count; i++, row++)
        *row = (struct vgpu_fatbin_var){.symbol_at = put_text(out, code->variable[i].symbol),
                                        .part = (uint16_t)code->variable[i].part,
                                        .bytes = code->variable[i].bytes};
    for (size_t i = 0; i < code->managed_count; i++, row++) {
        row->symbol_at = put_text(out, code->managed[i].symbol);
        if (!find_managed_place(image, &code->managed[i], row))
            return false;
    }
    return true;
}

bool cc_make_fatbin(const struct cc_device_code *code, const char *source, const char *data,
                    size_t bytes, struct cc_text *out)
{
    const struct image image = {data, bytes};
    size_t variables = code->variable_count + code->managed_count;
    size_t kernel_bytes = code->kernel_count * sizeof(struct vgpu_fatbin_kernel);
    size_t variable_bytes = variables * sizeof(struct vgpu_fatbin_var);
    struct vgpu_fatbin head = {.parts = code->parts,
                               .kernel_count = (uint32_t)code->kernel_count,
                               .kernel_at = sizeof head,
                               .var_count = (uint32_t)variables,
                               .var_at = (uint32_t)(sizeof head + kernel_bytes)};
    struct vgpu_fatbin_kernel *kernel = cc_alloc(kernel_bytes + 1);
    struct vgpu_fatbin_var *variable = cc_alloc(variable_bytes + 1);

    memcpy(head.magic, VGPU_FATBIN_MAGIC, sizeof head.magic);
    cc_put(out, (const char *)&head, sizeof head);
    cc_put(out, (const char *)kernel, kernel_bytes); /* rows follow below */
    cc_put(out, (const char *)variable, variable_bytes);
    head.source_at = put_text(out, source);
    for (size_t i = 0; i < code->kernel_count; i++)
        kernel[i] = put_kernel(out, &code->kernel[i]);
    if (!put_variables(out, code, &image, variable))
        return false;
    align(out, 16);
    head.code_at = out->length;
    head.code_bytes = bytes;
    cc_put(out, data, bytes);
    align(out, 8);
    head.bytes = out->length;
    memcpy(out->data, &head, sizeof head);
    memcpy(out->data + head.kernel_at, kernel, kernel_bytes);
    memcpy(out->data + head.var_at, variable, variable_bytes);
    return true;
}
