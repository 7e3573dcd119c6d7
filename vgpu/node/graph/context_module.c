/* SPDX-License-Identifier: MIT
 * context_module.c: see context_module.h.
 */
#include "context_module.h"

#include <stdio.h>

#include "answer.h"
#include "context.h"
#include "context_request.h"
#include "device_memory.h"
#include "process.h"

/* Maps device memory over the image's variables, and stores the address of each. */
static int place_variables(struct context *c, struct process *process, uint32_t module,
                           const struct vgpu_exec_reply *loaded, char *error, int room)
{
    struct vgpu_exec_reply reply = *loaded;
    uint64_t va = memory_take_variables(&process->memory, c->device, reply.var_bytes);
    if (!va || !memory_view(va, reply.var_bytes)) {
        snprintf(error, (size_t)room, "no device memory for %llu bytes of __device__ variables",
                 (unsigned long long)reply.var_bytes);
        return -1;
    }
    process->variables[c->device][module] = va;
    union exec_request q = {.request = {.op = VGPU_EXEC_MAP,
                                        .va = reply.var_base,
                                        .bytes = reply.var_bytes,
                                        .offset = va - VGPU_DEVICE_VA(c->device),
                                        .memory = c->device,
                                        .writable = 1,
                                        .fixed = 1}};
    union exec_answer answer;
    return context_command(c, process, &q, NULL, 0, &answer, error, room);
}

/* Requests the variables that did not fit into the first reply. */
static int learn_more_variables(struct context *c, struct process *process, uint32_t module,
                                uint32_t known, uint32_t count, char *error, int room)
{
    while (known < count) {
        union exec_request q = {.request = {.op = VGPU_EXEC_MODULE, .module = module, .va = known}};
        union exec_answer answer;
        if (context_command(c, process, &q, NULL, 0, &answer, error, room) != 0)
            return -1;
        uint32_t more = answer_variables(&answer.reply);
        if (answer.reply.var_count != count || more == 0) {
            snprintf(error, (size_t)room, "module %u: %u of %u __device__ variables were reported",
                     module, known, count);
            return -1;
        }
        process_learn_variables(process, module, known, answer.reply.data, answer.reply.data_bytes);
        known += more;
    }
    return 0;
}

int context_load_module(struct context *c, struct process *process, uint32_t module, char *error,
                        int room)
{
    union exec_request q = {.request = {.op = VGPU_EXEC_MODULE, .module = module}};
    union exec_answer answer;
    int fd = process->module_fd[module];
    if (context_command(c, process, &q, &fd, 1, &answer, error, room) != 0)
        return -1;
    process_learn_variables(process, module, 0, answer.reply.data, answer.reply.data_bytes);
    uint32_t known = answer_variables(&answer.reply);
    if (learn_more_variables(c, process, module, known, answer.reply.var_count, error, room) != 0)
        return -1;
    if (answer.reply.var_bytes)
        return place_variables(c, process, module, &answer.reply, error, room);
    return 0;
}
