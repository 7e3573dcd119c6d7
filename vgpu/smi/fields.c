/* SPDX-License-Identifier: MIT
 * fields.c: nvidia-smi's --query-gpu, --query-compute-apps and dmon. Fields of nvidia-smi that the
 * virtual node does not model are [N/A], as on a GPU that lacks them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "smi.h"

enum { MOST_FIELDS = 128 };
#define NOT_MODELLED "[N/A]"

/* Writes the value for GPU (or row) `i`. */
typedef void (*write_value)(const struct view *view, int i, char *text, size_t room);

struct field {
    const char *name, *unit;
    write_value write; /* NULL: not modelled */
};

#define GPU_FIELD(function, format, ...)                                                           \
    static void function(const struct view *view, int i, char *text, size_t room)                  \
    {                                                                                              \
        const struct vgpu_device_info *g = &view->info->device[i];                                 \
        (void)g;                                                                                   \
        snprintf(text, room, format, __VA_ARGS__);                                                 \
    }

GPU_FIELD(write_index, "%d", i)
GPU_FIELD(write_count, "%d", view->info->device_count)
GPU_FIELD(write_name, "%s", g->name)
GPU_FIELD(write_total, "%" PRIu64, g->total_bytes >> 20)
GPU_FIELD(write_used, "%" PRIu64, view_used_mib(view, i))
GPU_FIELD(write_free, "%" PRIu64, (g->total_bytes >> 20) - view_used_mib(view, i))
GPU_FIELD(write_clock, "%d", g->clock_khz / 1000)
GPU_FIELD(write_memory_clock, "%d", g->memory_clock_khz / 1000)
GPU_FIELD(write_capability, "%d.%d", g->cc_major, g->cc_minor)
GPU_FIELD(write_bus, "0x%02X", (unsigned)g->pci_bus)
GPU_FIELD(write_device, "0x%02X", (unsigned)g->pci_device)
GPU_FIELD(write_domain, "0x%04X", (unsigned)g->pci_domain)

static void write_mode(const struct view *view, int i, char *text, size_t room)
{
    (void)view, (void)i;
    snprintf(text, room, "Default");
}

static void write_uuid(const struct view *view, int i, char *text, size_t room)
{
    char uuid[UUID_ROOM];
    uuid_text(view->info->device[i].uuid, uuid);
    snprintf(text, room, "%s", uuid);
}

static void write_bus_id(const struct view *view, int i, char *text, size_t room)
{
    char bus[32];
    bus_text(&view->info->device[i], bus);
    snprintf(text, room, "%s", bus);
}

static void write_now(const struct view *view, int i, char *text, size_t room)
{
    char now[64];
    (void)view, (void)i;
    time_text("%Y/%m/%d %H:%M:%S.000", now);
    snprintf(text, room, "%s", now);
}

static const struct field gpu_fields[] = {
    {"index", "", write_index},
    {"count", "", write_count},
    {"name", "", write_name},
    {"gpu_name", "", write_name},
    {"uuid", "", write_uuid},
    {"gpu_uuid", "", write_uuid},
    {"timestamp", "", write_now},
    {"pci.bus_id", "", write_bus_id},
    {"gpu_bus_id", "", write_bus_id},
    {"pci.bus", "", write_bus},
    {"pci.device", "", write_device},
    {"pci.domain", "", write_domain},
    {"memory.total", " [MiB]", write_total},
    {"memory.used", " [MiB]", write_used},
    {"memory.free", " [MiB]", write_free},
    {"compute_cap", "", write_capability},
    {"compute_mode", "", write_mode},
    {"clocks.max.gr", " [MHz]", write_clock},
    {"clocks.max.sm", " [MHz]", write_clock},
    {"clocks.max.graphics", " [MHz]", write_clock},
    {"clocks.max.mem", " [MHz]", write_memory_clock},
    {"clocks.max.memory", " [MHz]", write_memory_clock},
    {"clocks.gr", " [MHz]", write_clock},
    {"clocks.current.graphics", " [MHz]", write_clock},
    {"clocks.sm", " [MHz]", write_clock},
    {"clocks.current.sm", " [MHz]", write_clock},
    {"clocks.mem", " [MHz]", write_memory_clock},
    {"clocks.current.memory", " [MHz]", write_memory_clock},
    {"driver_version", "", NULL},
    {"utilization.gpu", " [%]", NULL},
    {"utilization.memory", " [%]", NULL},
    {"utilization.encoder", " [%]", NULL},
    {"utilization.decoder", " [%]", NULL},
    {"temperature.gpu", "", NULL},
    {"temperature.memory", "", NULL},
    {"power.draw", " [W]", NULL},
    {"power.draw.average", " [W]", NULL},
    {"power.draw.instant", " [W]", NULL},
    {"power.limit", " [W]", NULL},
    {"enforced.power.limit", " [W]", NULL},
    {"power.default_limit", " [W]", NULL},
    {"power.min_limit", " [W]", NULL},
    {"power.max_limit", " [W]", NULL},
    {"power.management", "", NULL},
    {"fan.speed", " [%]", NULL},
    {"pstate", "", NULL},
    {"clocks_event_reasons.active", "", NULL},
    {"clocks_throttle_reasons.active", "", NULL},
    {"clocks.video", " [MHz]", NULL},
    {"serial", "", NULL},
    {"gpu_serial", "", NULL},
    {"vbios_version", "", NULL},
    {"persistence_mode", "", NULL},
    {"display_active", "", NULL},
    {"display_mode", "", NULL},
    {"accounting.mode", "", NULL},
    {"mig.mode.current", "", NULL},
    {"mig.mode.pending", "", NULL},
    {"ecc.mode.current", "", NULL},
    {"ecc.errors.corrected.volatile.total", "", NULL},
    {"ecc.errors.uncorrected.volatile.total", "", NULL},
    {"memory.reserved", " [MiB]", NULL},
    {"pcie.link.gen.current", "", NULL},
    {"pcie.link.gen.max", "", NULL},
    {"pcie.link.width.current", "", NULL},
    {"pcie.link.width.max", "", NULL},
    {NULL, NULL, NULL},
};

#define APP_FIELD(function, format, value)                                                         \
    static void function(const struct view *view, int i, char *text, size_t room)                  \
    {                                                                                              \
        snprintf(text, room, format, value);                                                       \
    }

APP_FIELD(write_pid, "%d", view->now.user[i].pid)
APP_FIELD(write_program, "%s", view->now.user[i].program)
APP_FIELD(write_app_used, "%" PRIu64, view->now.user[i].bytes >> 20)

static void write_app_uuid(const struct view *view, int i, char *text, size_t room)
{
    write_uuid(view, view->now.user[i].device, text, room);
}

static void write_app_gpu(const struct view *view, int i, char *text, size_t room)
{
    write_name(view, view->now.user[i].device, text, room);
}

static const struct field app_fields[] = {
    {"pid", "", write_pid},
    {"process_name", "", write_program},
    {"name", "", write_program},
    {"used_memory", " [MiB]", write_app_used},
    {"used_gpu_memory", " [MiB]", write_app_used},
    {"gpu_uuid", "", write_app_uuid},
    {"gpu_name", "", write_app_gpu},
    {NULL, NULL, NULL},
};

struct query {
    const struct field *field[MOST_FIELDS];
    int count;
    bool header, units;
};

static const struct field *find_field(const struct field *known, const char *name, size_t length)
{
    for (; known->name; known++)
        if (strlen(known->name) == length && strncmp(known->name, name, length) == 0)
            return known;
    return NULL;
}

static bool parse_fields(struct query *q, const struct field *known, const char *words)
{
    while (*words && q->count < MOST_FIELDS) {
        words += strspn(words, " ");
        size_t length = strcspn(words, ", ");
        q->field[q->count] = find_field(known, words, length);
        if (!q->field[q->count++]) {
            printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)length, words);
            return false;
        }
        words += length + strspn(words + length, ", ");
    }
    return q->count > 0;
}

static bool parse_format(struct query *q, const char *format)
{
    q->header = !strstr(format, "noheader");
    q->units = !strstr(format, "nounits");
    if (strncmp(format, "csv", 3) == 0)
        return true;
    puts("\"--format=\" switch is missing. The only format is csv: "
         "--format=csv[,noheader][,nounits]");
    return false;
}

static void print_header(const struct query *q)
{
    for (int f = 0; f < q->count; f++)
        printf("%s%s%s", f ? ", " : "", q->field[f]->name, q->field[f]->unit);
    puts("");
}

static void print_row(const struct query *q, const struct view *view, int i)
{
    char text[128], unit[8];
    for (int f = 0; f < q->count; f++) {
        const struct field *one = q->field[f];
        unit[0] = '\0';
        if (one->write && one->unit[0] && q->units) /* " [MiB]" -> " MiB" */
            snprintf(unit, sizeof unit, " %.*s", (int)strlen(one->unit) - 3, one->unit + 2);
        if (one->write)
            one->write(view, i, text, sizeof text);
        printf("%s%s%s", f ? ", " : "", one->write ? text : NOT_MODELLED, unit);
    }
    puts("");
}

int print_gpu_fields(const struct view *view, const char *fields, const char *format, bool again)
{
    struct query q = {0};
    if (!parse_fields(&q, gpu_fields, fields) || !parse_format(&q, format))
        return 2;
    if (q.header && !again)
        print_header(&q);
    for (int d = 0; d < view->info->device_count; d++)
        if (view_has(view, d))
            print_row(&q, view, d);
    return 0;
}

int print_app_fields(const struct view *view, const char *fields, const char *format, bool again)
{
    struct query q = {0};
    if (!parse_fields(&q, app_fields, fields) || !parse_format(&q, format))
        return 2;
    if (q.header && !again)
        print_header(&q);
    for (uint32_t i = 0; i < view->now.count; i++)
        if (view_has(view, view->now.user[i].device))
            print_row(&q, view, (int)i);
    return 0;
}

int print_known_fields(void)
{
    puts("Fields of --query-gpu=; those in brackets are not modelled, and are " NOT_MODELLED ":\n");
    for (const struct field *f = gpu_fields; f->name; f++)
        printf(f->write ? "%s\n" : "[%s]\n", f->name);
    return 0;
}

/* ---- dmon ---- */

enum { HEADER_EVERY = 25 };

static const struct monitor_group {
    char letter;
    const char *names, *units;
    int dashes; /* columns that are not modelled, before the others */
} groups_known[] = {
    {'p', "   pwr  gtemp  mtemp ", "     W      C      C ", 3},
    {'u', "    sm    mem    enc    dec    jpg    ofa ",
     "     %      %      %      %      %      % ", 6},
    {'c', "  mclk   pclk ", "   MHz    MHz ", 0},
    {'v', " pviol  tviol ", "     %   bool ", 2},
    {'m', "    fb   bar1   ccpm ", "    MB     MB     MB ", 0},
    {'e', " sbecc  dbecc    pci ", "  errs   errs   errs ", 3},
    {'t', " rxpci  txpci ", "  MB/s   MB/s ", 2},
};

/* What stands before a line's columns: of a heading, of its units, and of a row, for strftime(). */
static const struct monitor_times {
    const char *letters, *name, *unit, *row;
} times_known[] = {
    {"", "# gpu ", "# Idx ", ""},
    {"T", "#Time         gpu ", "#HH:MM:SS     Idx ", " %H:%M:%S   "},
    {"DT", "#Date        Time         gpu ", "#YYYYMMDD    HH:MM:SS     Idx ",
     " %Y%m%d    %H:%M:%S   "},
};

static const struct monitor_group *find_group(char letter)
{
    for (size_t i = 0; i < sizeof groups_known / sizeof *groups_known; i++)
        if (groups_known[i].letter == letter)
            return &groups_known[i];
    return NULL;
}

static const struct monitor_times *find_times(const char *letters)
{
    for (size_t i = 0; i < sizeof times_known / sizeof *times_known; i++)
        if (strcmp(times_known[i].letters, letters) == 0)
            return &times_known[i];
    return NULL;
}

static void print_monitor_header(const char *groups, const struct monitor_times *times)
{
    printf("%s", times->name);
    for (const char *g = groups; *g; g++)
        printf("%s", find_group(*g)->names);
    printf("\n%s", times->unit);
    for (const char *g = groups; *g; g++)
        printf("%s", find_group(*g)->units);
    puts("");
}

static void print_monitor_row(const struct view *view, int d, const char *groups,
                              const struct monitor_times *times)
{
    const struct vgpu_device_info *device = &view->info->device[d];
    char now[64] = "";
    if (times->row[0])
        time_text(times->row, now);
    printf("%s%5d ", now, d);
    for (const char *g = groups; *g; g++) {
        for (int i = 0; i < find_group(*g)->dashes; i++)
            printf("%6s ", "-");
        if (*g == 'c')
            printf("%6d %6d ", device->memory_clock_khz / 1000, device->clock_khz / 1000);
        if (*g == 'm')
            printf("%6" PRIu64 " %6s %6s ", view_used_mib(view, d), "-", "-");
    }
    puts("");
}

int print_monitor(struct view *view, const char *groups, const char *letters, long count,
                  long seconds)
{
    const struct monitor_times *times = find_times(letters);
    for (const char *g = groups; *g; g++)
        if (!find_group(*g)) {
            fprintf(stderr, "vgpu-smi: dmon has the groups p, u, c, v, m, e and t, and not '%c'\n",
                    *g);
            return 2;
        }
    if (!times) {
        fprintf(stderr, "vgpu-smi: dmon -o takes T or DT, and not '%s'\n", letters);
        return 2;
    }
    for (long n = 0; count == 0 || n < count; n++) {
        if (n > 0) {
            sleep((unsigned)seconds);
            if (!view_refresh(view))
                return 1;
        }
        if (n % HEADER_EVERY == 0)
            print_monitor_header(groups, times);
        for (int d = 0; d < view->info->device_count; d++)
            if (view_has(view, d))
                print_monitor_row(view, d, groups, times);
        fflush(stdout);
    }
    return 0;
}
