/* SPDX-License-Identifier: MIT
 * collectives.c: reads how long NCCL's collectives take: "nccl" of a node description.
 */
#include <cjson/cJSON.h>

#include "topology.h"

static uint64_t read_time_us(struct reader *r, const cJSON *object, const char *key)
{
    return (uint64_t)(reader_number(r, object, key, 0) * 1e6 + 0.5);
}

static void read_protocols(struct reader *r, const cJSON *list, const char *name,
                           struct collective_cost *cost)
{
    const cJSON *one;
    int count = cJSON_GetArraySize(list);
    reader_at(r, list);
    if (count < 1 || count > COLLECTIVE_PROTOCOLS) {
        reader_complain(r, "\"nccl\": \"%s\" has %d protocols, expected 1 to %d", name, count,
                        COLLECTIVE_PROTOCOLS);
        return;
    }
    cJSON_ArrayForEach(one, list)
    {
        struct collective_protocol *p = &cost->protocol[cost->protocols++];
        reader_fields(r, one, "a protocol",
                      "ranks protocol base_us step_us gbs channels channel_bytes");
        p->ranks = (uint32_t)reader_number(r, one, "ranks", 2);
        p->base_ps = read_time_us(r, one, "base_us");
        p->step_ps = read_time_us(r, one, "step_us");
        p->bytes_s = reader_number(r, one, "gbs", 1e-6) * 1e9;
        p->channels = reader_number(r, one, "channels", 1);
        p->channel_bytes = reader_number(r, one, "channel_bytes", 1);
    }
}

void topology_read_collectives(struct reader *r, const cJSON *root, struct topology *t)
{
    static const char *const names[VGPU_COLLECTIVES] = {
        [VGPU_ALL_REDUCE] = "all_reduce", [VGPU_REDUCE_SCATTER] = "reduce_scatter",
        [VGPU_ALL_GATHER] = "all_gather", [VGPU_BROADCAST] = "broadcast",
        [VGPU_REDUCE] = "reduce",         [VGPU_SEND_RECV] = "send_recv",
        [VGPU_ALL_TO_ALL] = "all_to_all",
    };
    const cJSON *nccl = cJSON_GetObjectItemCaseSensitive(root, "nccl");
    t->cost.collective_launch_ps = t->cost.launch_ps;
    if (!nccl)
        return;
    reader_fields(r, nccl, "\"nccl\"",
                  "launch_us group_us all_reduce reduce_scatter all_gather broadcast reduce "
                  "send_recv all_to_all");
    t->cost.collective_launch_ps = read_time_us(r, nccl, "launch_us");
    t->cost.collective_group_ps = read_time_us(r, nccl, "group_us");
    for (int kind = VGPU_ALL_REDUCE; kind < VGPU_COLLECTIVES; kind++) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(nccl, names[kind]);
        if (list)
            read_protocols(r, list, names[kind], &t->collective[kind]);
    }
}
