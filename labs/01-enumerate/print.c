/* SPDX-License-Identifier: MIT
 * print.c: prints what lab 01's functions find, for people and for programs. Comes with the lab.
 *
 * The functions return numbers in plain units; turning bytes into GiB is a printer's business.
 */
#include "lab01.h"

void inv_uuid_text(const unsigned char uuid[16], char text[INV_UUID_BYTES])
{
    int at = snprintf(text, INV_UUID_BYTES, "GPU");
    for (int i = 0; i < 16; i++) {
        const char *dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";
        at += snprintf(text + at, (size_t)(INV_UUID_BYTES - at), "%s%02x", dash, uuid[i]);
    }
}

const char *inv_sentence(int result)
{
    switch (result) {
    case LAB_OK:
        return "all went well";
    case LAB_EINVAL:
        return "an argument makes no sense: a null pointer, or a negative count";
    case LAB_ENOGPU:
        return "there is no such GPU here; 'inventory' without arguments lists those there are";
    case LAB_ENOMEM:
        return "a GPU has not that much memory left; see the column 'free' of the inventory";
    case LAB_ECUDA:
        return "a CUDA call failed; is CUDA_VISIBLE_DEVICES a list of different GPUs of this "
               "machine?";
    default:
        return "a result that is not in lab.h: a function returned some other value";
    }
}

/* What the printers show of a GPU besides gpu_info. */
struct gpu_row {
    struct gpu_info info;
    size_t free_bytes, total_bytes;
};

static int row_of(int device, struct gpu_row *row)
{
    int rc = inv_device(device, &row->info);
    return rc ? rc : inv_mem(device, &row->free_bytes, &row->total_bytes);
}

static double gib(size_t bytes)
{
    return (double)bytes / (1 << 30);
}

static void print_row(FILE *out, int device, const struct gpu_row *row)
{
    const struct gpu_info *g = &row->info;
    char uuid[INV_UUID_BYTES];
    inv_uuid_text(g->uuid, uuid);
    fprintf(out, "%3d  %-28.28s  %d.%d  %4d  %5d  %7.1f  %7.1f  %5.0f  %6d  %-12s  %s\n", device,
            g->name, g->major, g->minor, g->sms, g->clock_mhz, gib(row->total_bytes),
            gib(row->free_bytes), (double)g->l2_bytes / (1 << 20), g->copy_engines, g->bus_id,
            uuid);
}

int inv_print_table(FILE *out)
{
    int n, rc = inv_count(&n);
    if (rc)
        return rc;
    if (n == 0) {
        fprintf(out, "no GPU here\n");
        return LAB_OK;
    }
    fprintf(out, "%3s  %-28s  %-3s  %4s  %5s  %7s  %7s  %5s  %6s  %-12s  %s\n", "GPU", "name", "cc",
            "SMs", "MHz", "GiB", "free", "L2MiB", "copies", "bus", "UUID");
    for (int i = 0; i < n; i++) {
        struct gpu_row row;
        if ((rc = row_of(i, &row)))
            return rc;
        print_row(out, i, &row);
    }
    return LAB_OK;
}

/* CUDA's names hold no quote and no backslash, but CUDA does not promise it. */
static void json_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, "\"%s\": \"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        if ((unsigned char)*text >= ' ')
            fputc(*text, out);
    }
    fprintf(out, "\", ");
}

static void json_row(FILE *out, int device, const struct gpu_row *row)
{
    const struct gpu_info *g = &row->info;
    char uuid[INV_UUID_BYTES];
    inv_uuid_text(g->uuid, uuid);
    fprintf(out, "    {\"device\": %d, ", device);
    json_text(out, "name", g->name);
    json_text(out, "bus_id", g->bus_id);
    json_text(out, "uuid", uuid);
    fprintf(out, "\"major\": %d, \"minor\": %d, \"sms\": %d, ", g->major, g->minor, g->sms);
    fprintf(out, "\"copy_engines\": %d, \"clock_mhz\": %d, ", g->copy_engines, g->clock_mhz);
    fprintf(out, "\"memory_bytes\": %zu, \"l2_bytes\": %zu, ", g->memory_bytes, g->l2_bytes);
    fprintf(out, "\"free_bytes\": %zu, \"total_bytes\": %zu}", row->free_bytes, row->total_bytes);
}

int inv_print_json(FILE *out)
{
    int n, rc = inv_count(&n);
    if (rc)
        return rc;
    fprintf(out, "{\n  \"count\": %d,\n  \"gpus\": [\n", n);
    for (int i = 0; i < n; i++) {
        struct gpu_row row;
        if ((rc = row_of(i, &row)))
            return rc;
        json_row(out, i, &row);
        fprintf(out, "%s\n", i + 1 < n ? "," : "");
    }
    fprintf(out, "  ]\n}\n");
    return LAB_OK;
}
