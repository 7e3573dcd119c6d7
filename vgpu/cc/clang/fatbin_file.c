/* SPDX-License-Identifier: MIT
 * fatbin_file.c: see fatbin_file.h.
 */
#include "fatbin_file.h"

#include <string.h>

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
    return (struct vgpu_fatbin_kernel){.symbol_at = put_text(out, kernel->symbol),
                                       .name_at = put_text(out, kernel->name),
                                       .file_at = put_text(out, kernel->file),
                                       .line = kernel->line,
                                       .param_count = kernel->param_count,
                                       .param_at = put_params(out, kernel),
                                       .threads = kernel->threads,
                                       .shared_bytes = kernel->shared_bytes};
}

struct cc_text cc_make_fatbin(const struct cc_device_code *code, const char *source,
                              const char *image, size_t image_bytes)
{
    struct vgpu_fatbin head = {.kernel_count = (uint32_t)code->kernel_count,
                               .kernel_at = sizeof head};
    size_t rows = code->kernel_count * sizeof(struct vgpu_fatbin_kernel);
    struct vgpu_fatbin_kernel *row = cc_alloc(rows + 1);
    struct cc_text out = {0};

    memcpy(head.magic, VGPU_FATBIN_MAGIC, sizeof head.magic);
    cc_put(&out, (const char *)&head, sizeof head);
    cc_put(&out, (const char *)row, rows); /* both are written again below */
    head.source_at = put_text(&out, source);
    for (size_t i = 0; i < code->kernel_count; i++)
        row[i] = put_kernel(&out, &code->kernel[i]);
    align(&out, 16);
    head.code_at = out.length;
    head.code_bytes = image_bytes;
    cc_put(&out, image, image_bytes);
    align(&out, 8);
    head.bytes = out.length;
    memcpy(out.data, &head, sizeof head);
    memcpy(out.data + sizeof head, row, rows);
    return out;
}
