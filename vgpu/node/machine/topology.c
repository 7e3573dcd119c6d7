/* SPDX-License-Identifier: MIT
 * topology.c: reads a node description, except its paths (paths.c) and links (links.c). Every error
 * message names the file, the position and the key.
 */
#include "topology.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json_place.h"

/* A node description that is being read. The first error is kept. */
struct reader {
    const char *directory;
    char file[512];
    char *text; /* contents of the file */
    cJSON *root;
    const cJSON *at;          /* the value that an error message refers to */
    struct json_place syntax; /* position of a syntax error; line 0: none */
    char *error;
    int error_room;
    int failed;
};

void reader_complain(struct reader *r, const char *format, ...)
{
    if (r->failed++)
        return;
    struct json_place place = r->root ? json_place(r->text, r->root, r->at) : r->syntax;
    int used = snprintf(r->error, (size_t)r->error_room, "node description '%s'", r->file);
    if (used >= 0 && used < r->error_room && place.line)
        used += snprintf(r->error + used, (size_t)(r->error_room - used), ", line %d, column %d",
                         place.line, place.column);
    if (used >= 0 && used < r->error_room)
        used += snprintf(r->error + used, (size_t)(r->error_room - used), ": ");
    if (used < 0 || used >= r->error_room)
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(r->error + used, (size_t)(r->error_room - used), format, list);
    va_end(list);
}

static char *read_node_text(const char *path)
{
    enum { LIMIT = 1 << 20 };
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    struct stat info;
    bool sized = fstat(fileno(file), &info) == 0 && info.st_size > 0 && info.st_size < LIMIT;
    size_t room = sized ? (size_t)info.st_size : LIMIT;
    char *text = malloc(room + 1);
    size_t got = text ? fread(text, 1, room, file) : 0;
    if (text)
        text[got] = '\0';
    fclose(file);
    return text;
}

static cJSON *parse_file(struct reader *r)
{
    r->text = read_node_text(r->file);
    if (!r->text) {
        reader_complain(r, "%s", strerror(errno));
        return NULL;
    }
    errno = 0;
    r->root = cJSON_Parse(r->text);
    if (!r->root && errno == ENOMEM) {
        reader_complain(r, "%s", strerror(errno));
    } else if (!r->root) {
        const char *at = cJSON_GetErrorPtr();
        r->syntax = json_place_of(r->text, at ? at : r->text);
        reader_complain(r, "not valid JSON from here on; a comma, quote or bracket too many or too "
                           "few?");
    } else if (!cJSON_IsObject(r->root)) {
        reader_complain(r, "one object is expected: { ... }");
    }
    return cJSON_IsObject(r->root) ? r->root : NULL;
}

static void close_file(struct reader *r)
{
    cJSON_Delete(r->root);
    free(r->text);
}

void reader_at(struct reader *r, const cJSON *item)
{
    r->at = item;
}

/* An error about `key` of `object` refers to the value or, if it is missing, to the object. */
const cJSON *reader_item(struct reader *r, const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    r->at = item ? item : object;
    return item;
}

double reader_number(struct reader *r, const cJSON *object, const char *key, double least)
{
    const double most = 1e13;
    const cJSON *item = reader_item(r, object, key);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= least) || item->valuedouble > most) {
        reader_complain(r, "\"%s\" must be a number of at least %g%s", key, least,
                        item ? "" : ": it is missing");
        return least;
    }
    return item->valuedouble;
}

/* True if `name` is one of the words of `fields`. */
static bool is_among(const char *name, const char *fields)
{
    size_t length = strlen(name);
    for (const char *at = fields; length && (at = strstr(at, name)); at += length)
        if ((at == fields || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

void reader_fields(struct reader *r, const cJSON *object, const char *what, const char *fields)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        if (item->string && !is_among(item->string, fields)) {
            reader_at(r, item);
            reader_complain(r, "%s has no field \"%s\"; it has: %s", what, item->string, fields);
        }
    }
}

static int32_t read_whole(struct reader *r, const cJSON *object, const char *key, double least)
{
    double value = reader_number(r, object, key, least);
    if (value > INT32_MAX)
        reader_complain(r, "\"%s\" must be at most %d", key, INT32_MAX);
    return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

const char *reader_text(struct reader *r, const cJSON *object, const char *key)
{
    const cJSON *item = reader_item(r, object, key);
    if (!cJSON_IsString(item)) {
        reader_complain(r, "\"%s\" must be a string%s", key, item ? "" : ": it is missing");
        return "";
    }
    return item->valuestring;
}

static uint64_t read_us(struct reader *r, const cJSON *object, const char *key)
{
    return (uint64_t)(reader_number(r, object, key, 0) * 1e6 + 0.5);
}

static void copy_text(struct reader *r, const cJSON *o, const char *key, char *to, size_t room)
{
    snprintf(to, room, "%s", reader_text(r, o, key));
}

static void read_processor(struct reader *r, const cJSON *part, struct processor *to)
{
    const cJSON *p = cJSON_GetObjectItemCaseSensitive(part, "processor");
    struct {
        const char *key;
        double *to, unit;
    } number[] = {{"slots", &to->slots, 1},
                  {"integers", &to->integers, 1},
                  {"doubles", &to->doubles, 1},
                  {"special", &to->special, 1},
                  {"line_cycles", &to->line_cycles, 1},
                  {"barrier_cycles", &to->barrier_cycles, 1},
                  {"launch_ns", &to->launch_ps, 1e3},
                  {"block_ns", &to->block_ps, 1e3},
                  {"warp_ns", &to->warp_ps, 1e3},
                  {"first_access_ns", &to->first_access_ps, 1e3},
                  {"l2_ns", &to->l2_ps, 1e3},
                  {"memory_ns", &to->memory_ps, 1e3},
                  {"l2_share", &to->l2_share, 1},
                  {"atomic_ns", &to->atomic_ps, 1e3},
                  {"atomic_float_ns", &to->atomic_float_ps, 1e3},
                  {"atomic_spread", &to->atomic_spread, 1}};
    if (!p)
        return;
    reader_fields(r, p, "\"processor\"",
                  "about slots integers doubles special line_cycles barrier_cycles launch_ns "
                  "block_ns warp_ns first_access_ns l2_ns memory_ns l2_share atomic_ns "
                  "atomic_float_ns atomic_spread");
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        *number[i].to = reader_number(r, p, number[i].key, 1e-6) * number[i].unit;
}

static void read_part(struct reader *r, const cJSON *p, struct vgpu_device_info *d, double *memory)
{
    reader_fields(r, p, "a part",
                  "about name capability sms total_bytes l2_bytes clock_khz memory_clock_khz "
                  "memory_bus_bits shared_per_block_optin shared_per_sm memory_gbs threads_per_sm "
                  "blocks_per_sm regs_per_block regs_per_sm async_engines ecc shared_per_block "
                  "constant_bytes processor");
    copy_text(r, p, "name", d->name, sizeof d->name);
    const cJSON *capability = reader_item(r, p, "capability");
    if (!cJSON_IsArray(capability) || cJSON_GetArraySize(capability) != 2)
        reader_complain(r, "\"capability\" must be [major, minor]");
    else {
        d->cc_major = cJSON_GetArrayItem(capability, 0)->valueint;
        d->cc_minor = cJSON_GetArrayItem(capability, 1)->valueint;
    }
    d->sm_count = read_whole(r, p, "sms", 1);
    d->max_threads_per_sm = read_whole(r, p, "threads_per_sm", 1024);
    d->max_blocks_per_sm = read_whole(r, p, "blocks_per_sm", 1);
    d->regs_per_block = read_whole(r, p, "regs_per_block", 1);
    d->regs_per_sm = read_whole(r, p, "regs_per_sm", 1);
    d->clock_khz = read_whole(r, p, "clock_khz", 1);
    d->memory_clock_khz = read_whole(r, p, "memory_clock_khz", 1);
    d->memory_bus_bits = read_whole(r, p, "memory_bus_bits", 1);
    d->async_engines = read_whole(r, p, "async_engines", 0);
    d->ecc = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(p, "ecc"));
    d->cooperative = d->concurrent_kernels = 1;
    d->total_bytes = (uint64_t)reader_number(r, p, "total_bytes", VGPU_CHUNK_BYTES);
    d->l2_bytes = (uint64_t)reader_number(r, p, "l2_bytes", 0);
    d->vmm_granule = VGPU_CHUNK_BYTES; /* main.c replaces it by the value of inject.h */
    d->shared_per_block = (uint64_t)reader_number(r, p, "shared_per_block", 1);
    d->shared_per_block_optin = (uint64_t)reader_number(r, p, "shared_per_block_optin", 1);
    d->shared_per_sm = (uint64_t)reader_number(r, p, "shared_per_sm", 1);
    d->constant_bytes = (uint64_t)reader_number(r, p, "constant_bytes", 0);
    *memory = reader_number(r, p, "memory_gbs", 1e-6) * 1e9;
    reader_item(r, p, "total_bytes");
    if (d->total_bytes > VGPU_DEVICE_STRIDE)
        reader_complain(r, "\"total_bytes\" is more than the %llu a device can have",
                        (unsigned long long)VGPU_DEVICE_STRIDE);
}

static int hex_uuid(const char *s, uint8_t uuid[16])
{
    if (strncmp(s, "GPU-", 4) != 0)
        return -1;
    int digits = 0;
    memset(uuid, 0, 16);
    for (s += 4; *s; s++) {
        if (*s == '-')
            continue;
        int v = *s >= '0' && *s <= '9' ? *s - '0' : *s >= 'a' && *s <= 'f' ? *s - 'a' + 10 : -1;
        if (v < 0 || digits >= 32)
            return -1;
        uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | v);
        digits++;
    }
    return digits == 32 ? 0 : -1;
}

static void read_part_file(struct reader *r, const char *name, struct topology *t, int index)
{
    struct reader part = {
        .directory = r->directory, .error = r->error, .error_room = r->error_room};
    snprintf(part.file, sizeof part.file, "%s/parts/%s.json", r->directory, name);
    cJSON *p = parse_file(&part);
    if (p)
        read_part(&part, p, &t->info.device[index], &t->memory_bytes_s[index]);
    read_processor(&part, p, &t->processor[index]);
    close_file(&part);
    r->failed += part.failed;
}

/* `parts`: those that the description has itself, or NULL. */
static void read_gpu(struct reader *r, const cJSON *g, const cJSON *parts, struct topology *t,
                     int index)
{
    struct vgpu_device_info *d = &t->info.device[index];
    reader_fields(r, g, "a GPU", "part pci numa cpus uuid");
    const char *name = reader_text(r, g, "part");
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(parts, name);
    if (strchr(name, '/') || name[0] == '.') {
        reader_complain(r, "\"part\": \"%s\" must be a name in nodes/parts/", name);
        return;
    }
    if (own) {
        read_part(r, own, d, &t->memory_bytes_s[index]);
        read_processor(r, own, &t->processor[index]);
    } else {
        read_part_file(r, name, t, index);
    }
    unsigned domain, bus, device;
    if (sscanf(reader_text(r, g, "pci"), "%x:%x:%x.0", &domain, &bus, &device) != 3)
        reader_complain(r, "gpu %d: \"pci\" must look like \"0000:19:00.0\"", index);
    else {
        d->pci_domain = (int32_t)domain;
        d->pci_bus = (int32_t)bus;
        d->pci_device = (int32_t)device;
    }
    if (hex_uuid(reader_text(r, g, "uuid"), d->uuid) != 0)
        reader_complain(r, "gpu %d: \"uuid\" must be \"GPU-\" and 32 small hex digits", index);
    d->numa_node = read_whole(r, g, "numa", 0);
    if (cJSON_GetObjectItemCaseSensitive(g, "cpus"))
        snprintf(d->cpus, sizeof d->cpus, "%s", reader_text(r, g, "cpus"));
}

static void read_costs(struct reader *r, const cJSON *root, struct costs *c)
{
    const cJSON *calls = cJSON_GetObjectItemCaseSensitive(root, "calls");
    const cJSON *kernel = cJSON_GetObjectItemCaseSensitive(root, "kernel");
    reader_fields(
        r, kernel, "\"kernel\"",
        "delay_us floor_us idle_us graph_first_us graph_next_us peer_gbs l2_gbs write_weight");
    reader_fields(r, calls, "\"calls\"",
                  "local_us enqueue_us launch_us record_us query_us wake_us malloc_us free_us "
                  "graph_launch_us graph_node_us host_function_us record_untimed_us wait_us "
                  "graph_gpu_us graph_copy_us graph_engine_us graph_wait_us pool_grow_us "
                  "message_us found_us wait_gpu_us record_shared_us wait_shared_us "
                  "timed_event_us graph_kernel_us send_us receive_us");
    c->local_ps = read_us(r, calls, "local_us");
    c->enqueue_ps = read_us(r, calls, "enqueue_us");
    c->launch_ps = read_us(r, calls, "launch_us");
    c->record_ps = read_us(r, calls, "record_us");
    c->query_ps = read_us(r, calls, "query_us");
    c->wake_ps = read_us(r, calls, "wake_us");
    c->malloc_ps = read_us(r, calls, "malloc_us");
    c->free_ps = read_us(r, calls, "free_us");
    c->kernel_delay_ps = read_us(r, kernel, "delay_us");
    c->kernel_floor_ps = read_us(r, kernel, "floor_us");
    reader_item(r, calls, "query_us");
    if (c->query_ps == 0)
        reader_complain(
            r, "\"query_us\" must be above 0, or a program that polls would never see time pass");
}

static void read_gpus(struct reader *r, const cJSON *root, struct topology *t)
{
    const cJSON *gpus = reader_item(r, root, "gpus"), *gpu;
    if (!cJSON_IsArray(gpus) || cJSON_GetArraySize(gpus) > VGPU_MAX_GPUS) {
        reader_complain(r, "\"gpus\" must be a list of 0 to %d GPUs", VGPU_MAX_GPUS);
        return;
    }
    const cJSON *parts = cJSON_GetObjectItemCaseSensitive(root, "parts");
    cJSON_ArrayForEach(gpu, gpus) read_gpu(r, gpu, parts, t, t->info.device_count++);
    const cJSON *memory = cJSON_GetObjectItemCaseSensitive(root, "memory_gbs");
    for (int i = 0; memory && i < t->info.device_count; i++)
        t->memory_bytes_s[i] = reader_number(r, root, "memory_gbs", 1e-6) * 1e9;
}

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name, "schema.json") != 0 &&
           strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* Reports that there is no such description, and lists those that exist. */
static void list_names(struct reader *r, const char *name)
{
    struct dirent **entry;
    int used = snprintf(r->error, (size_t)r->error_room,
                        "VGPU_NODE=%s is neither a path (with a '/') nor one of", name);
    int count = scandir(r->directory, &entry, is_description, alphasort);
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(entry[i]->d_name) - 5;
        if (used < r->error_room)
            used += snprintf(r->error + used, (size_t)(r->error_room - used), "%s %.*s",
                             i ? "," : "", length, entry[i]->d_name);
        free(entry[i]);
    }
    if (count < 0 && used < r->error_room)
        snprintf(r->error + used, (size_t)(r->error_room - used), " the names in %s (%s)",
                 r->directory, strerror(errno));
    else
        free(entry);
}

int topology_load(struct topology *t, const char *directory, const char *name, char *error,
                  int error_room)
{
    struct reader r = {.directory = directory, .error = error, .error_room = error_room};
    memset(t, 0, sizeof *t);
    if (strchr(name, '/'))
        snprintf(r.file, sizeof r.file, "%s", name);
    else
        snprintf(r.file, sizeof r.file, "%s/%s.json", directory, name);
    if (!strchr(name, '/') && access(r.file, F_OK) != 0) {
        list_names(&r, name);
        return -1;
    }
    cJSON *root = parse_file(&r);
    if (!root) {
        close_file(&r);
        return -1;
    }
    reader_fields(
        &r, root, "a node",
        "name about sources driver parts gpus memory_gbs peers peers_refused native_atomics "
        "nvlink pcie sockets drawing copies edges kernel calls cold nccl");
    copy_text(&r, root, "name", t->info.name, sizeof t->info.name);
    t->info.driver_version = t->info.runtime_version = read_whole(&r, root, "driver", 1000);
    read_gpus(&r, root, t);
    if (!r.failed) {
        read_costs(&r, root, &t->cost);
        topology_read_paths(&r, root, t);
        topology_read_collectives(&r, root, t);
        topology_read_links(&r, root, t);
        t->info.issue_ps = t->cost.local_ps;
    }
    close_file(&r);
    return r.failed ? -1 : 0;
}
