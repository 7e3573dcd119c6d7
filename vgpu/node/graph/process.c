/* SPDX-License-Identifier: MIT
 * process.c: see process.h.
 */
#include "process.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codes.h"
#include "counts.h"

/* Roughly cudaLimitPrintfFifoSize as recorded. */
#define PRINT_LIMIT (8u << 20)

static struct process *first_process;

static bool (*has_left)(const struct process *process); /* set by process_watch */

/* The process that owns the memory. */
static struct process *process_of(struct owner *owner)
{
    return (struct process *)((char *)owner - offsetof(struct process, memory));
}

void process_watch(bool (*gone)(const struct process *process))
{
    has_left = gone;
}

bool process_is_gone(const struct process *process)
{
    return has_left && has_left(process);
}

static bool owner_is_gone(const struct owner *owner)
{
    return process_is_gone(process_of((struct owner *)owner));
}

struct process *process_first(void)
{
    return first_process;
}

bool process_any_alive(void)
{
    for (const struct process *p = first_process; p; p = p->next)
        if (!p->dead)
            return true;
    return false;
}

static void start_devices(struct process *process)
{
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        process->device[d].legacy =
            (struct stream){.id = VGPU_STREAM_LEGACY, .process = process, .device = d};
}

struct process *process_new(struct order *order, pid_t pid, const char *program, char *error,
                            int error_room)
{
    struct process *process = calloc(1, sizeof *process);
    if (!process || !owner_start(&process->memory, owner_is_gone)) {
        snprintf(error, (size_t)error_room, "cannot make host memory for process %d: %s", (int)pid,
                 strerror(errno));
        free(process);
        return NULL;
    }
    process->order = order;
    process->pid = pid;
    process->usage = usage_next();
    snprintf(process->program, sizeof process->program, "%s", program);
    process->refs = 1;
    start_devices(process);
    process->next = first_process;
    first_process = process;
    process->arrived = (int)++node_counts.processes;
    return process;
}

struct process *process_keep(struct process *process)
{
    process->refs++;
    return process;
}

struct remark {
    struct remark *next;
    char text[];
};

void process_remark(struct process *process, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct remark *remark = malloc(sizeof *remark + bytes);
    if (!remark)
        return;
    remark->next = NULL;
    memcpy(remark->text, text, bytes);
    if (!process->remarks)
        process->last_remark = &process->remarks;
    *process->last_remark = remark;
    process->last_remark = &remark->next;
}

static void drop_remark(struct process *process)
{
    struct remark *gone = process->remarks;
    process->remarks = gone->next;
    free(gone);
}

void process_take_remarks(struct process *process, char *text, size_t room)
{
    size_t used = strlen(text);
    while (process->remarks && used + strlen(process->remarks->text) + 2 <= room) {
        used += (size_t)snprintf(text + used, room - used, "%s%s", used ? "\n" : "",
                                 process->remarks->text);
        drop_remark(process);
    }
}

void process_drop(struct process *process)
{
    if (--process->refs > 0)
        return;
    for (struct process **at = &first_process; *at; at = &(*at)->next)
        if (*at == process) {
            *at = process->next;
            break;
        }
    for (int i = 0; i < process->module_count; i++)
        close(process->module_fd[i]);
    owner_end(&process->memory);
    while (process->remarks)
        drop_remark(process);
    free(process->printed);
    free(process->variable);
    free(process);
}

int process_context(struct process *process, int device)
{
    if (process->sticky)
        return process->memory.context[device] ? process->sticky : VGPU_DEVICES_UNAVAILABLE;
    owner_set_context(&process->memory, device, true);
    return VGPU_SUCCESS;
}

void process_set_peer(struct process *process, int device, int peer, bool accessible)
{
    uint32_t *peers = &process->device[device].peers;
    *peers = accessible ? *peers | 1u << peer : *peers & ~(1u << peer);
    owner_mappings_changed(&process->memory);
}

bool process_peers_linked(const struct process *process, int from, int to)
{
    return (process->device[from].peers >> to & 1) || (process->device[to].peers >> from & 1);
}

static uint32_t known_variables(const struct process *process, uint32_t module)
{
    uint32_t known = 0;
    for (int i = 0; i < process->variable_count; i++)
        known += process->variable[i].module == module;
    return known;
}

void process_learn_variables(struct process *process, uint32_t module, uint32_t known,
                             const uint8_t *data, uint32_t bytes)
{
    struct vgpu_exec_var var;
    int count = (int)(bytes / sizeof var);
    if (count == 0 || known_variables(process, module) != known)
        return;
    size_t total = (size_t)(process->variable_count + count);
    struct variable *grown = realloc(process->variable, total * sizeof *grown);
    if (!grown)
        return;
    process->variable = grown;
    for (int i = 0; i < count; i++) {
        struct variable *v = &grown[process->variable_count++];
        memcpy(&var, data + (size_t)i * sizeof var, sizeof var);
        *v = (struct variable){.module = module, .offset = var.offset, .bytes = var.bytes};
        memcpy(v->key, var.key, sizeof v->key);
        v->key[sizeof v->key - 1] = '\0';
    }
}

void process_explain(struct process *process, const char *text)
{
    size_t used = strlen(process->explain), more = strlen(text);
    if (used == 0)
        snprintf(process->explain, sizeof process->explain, "%s", text);
    else if (used + 1 + more < sizeof process->explain)
        snprintf(process->explain + used, sizeof process->explain - used, "\n%s", text);
}

void process_fail(struct process *process, int error, const char *explain)
{
    if (process->sticky)
        return;
    process->sticky = error;
    char before[sizeof process->explain];
    memcpy(before, process->explain, sizeof before);
    process->explain[0] = '\0';
    process_explain(process, explain);
    if (before[0])
        process_explain(process, before);
}

void process_print(struct process *process, const uint8_t *text, uint32_t bytes)
{
    if (bytes == 0 || process->printed_bytes + bytes > PRINT_LIMIT)
        return;
    char *grown = realloc(process->printed, process->printed_bytes + bytes);
    if (!grown)
        return;
    memcpy(grown + process->printed_bytes, text, bytes);
    process->printed = grown;
    process->printed_bytes += bytes;
    node_counts.printed_bytes += bytes;
}
