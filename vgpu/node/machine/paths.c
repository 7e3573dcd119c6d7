/* SPDX-License-Identifier: MIT
 * paths.c: reads the costs of copies, kernels and waits: "copies", "edges", "kernel" and some of
 * "calls" of a node description.
 */
#include <cjson/cJSON.h>

#include "topology.h"

static double read_optional(struct reader *r, const cJSON *object, const char *key,
                            double otherwise, double least)
{
    if (!cJSON_HasObjectItem(object, key))
        return otherwise;
    return reader_number(r, object, key, least);
}

static uint64_t read_optional_us(struct reader *r, const cJSON *object, const char *key,
                                 uint64_t otherwise_ps)
{
    return (uint64_t)(read_optional(r, object, key, (double)otherwise_ps / 1e6, 0) * 1e6 + 0.5);
}

static void read_edges(struct reader *r, const cJSON *edges, const char *key, struct edge_costs *c)
{
    const cJSON *one = cJSON_GetObjectItemCaseSensitive(edges, key);
    reader_fields(r, one, "\"stream\" or \"graph\" of \"edges\"", "other_gpu_us other_kind_us");
    c->other_gpu_ps = read_optional_us(r, one, "other_gpu_us", 0);
    c->other_kind_ps = read_optional_us(r, one, "other_kind_us", 0);
}

static void read_bands(struct reader *r, const cJSON *one, const char *name, struct path_model *m)
{
    const cJSON *bands = cJSON_GetObjectItemCaseSensitive(one, "bands"), *band;
    double last = 0;
    reader_at(r, bands);
    if (cJSON_GetArraySize(bands) > MAX_BANDS) {
        reader_complain(r, "\"copies\": \"%s\" has more than %d bands", name, MAX_BANDS);
        return;
    }
    cJSON_ArrayForEach(band, bands)
    {
        reader_fields(r, band, "a band", "up_to_bytes gbs");
        double up_to = reader_number(r, band, "up_to_bytes", 1);
        if (up_to <= last)
            reader_complain(r, "\"copies\": the bands of \"%s\" must grow: %g after %g bytes", name,
                            up_to, last);
        last = m->band[m->bands].up_to_bytes = up_to;
        m->band[m->bands++].bytes_s = reader_number(r, band, "gbs", 1e-6) * 1e9;
    }
}

static void read_path(struct reader *r, const cJSON *one, const char *name, uint64_t issue_ps,
                      struct path_model *m)
{
    const cJSON *ramp = cJSON_GetObjectItemCaseSensitive(one, "ramp");
    const cJSON *direct = cJSON_GetObjectItemCaseSensitive(one, "inline");
    reader_fields(
        r, one, name,
        "issue_us idle_us latency_us graph_us carried_bytes default_issue_us default_us gbs "
        "handover_us ramp inline bands");
    reader_fields(r, ramp, "\"ramp\"", "bytes gbs");
    reader_fields(r, direct, "\"inline\"", "up_to_bytes gbs idle_us");
    m->bytes_s = reader_number(r, one, "gbs", 1e-6) * 1e9;
    m->latency_ps = (uint64_t)(reader_number(r, one, "latency_us", 0) * 1e6 + 0.5);
    m->graph_ps = read_optional_us(r, one, "graph_us", m->latency_ps);
    m->carried_bytes = read_optional(r, one, "carried_bytes", 0, 0);
    m->issue_ps = read_optional_us(r, one, "issue_us", issue_ps);
    m->idle_ps = read_optional_us(r, one, "idle_us", 0);
    m->default_issue_ps = read_optional_us(r, one, "default_issue_us", 0);
    m->default_ps = read_optional_us(r, one, "default_us", 0);
    m->handover_ps = read_optional_us(r, one, "handover_us", 0);
    if (ramp) {
        m->ramp_bytes = reader_number(r, ramp, "bytes", 1);
        m->ramp_bytes_s = reader_number(r, ramp, "gbs", 1e-6) * 1e9;
    }
    if (direct) {
        m->inline_bytes = reader_number(r, direct, "up_to_bytes", 1);
        m->inline_bytes_s = reader_number(r, direct, "gbs", 1e-6) * 1e9;
        m->inline_idle_ps = read_optional_us(r, direct, "idle_us", m->idle_ps);
    }
    read_bands(r, one, name, m);
}

static void read_cold(struct reader *r, const cJSON *cold, struct cold_costs *c)
{
    reader_fields(r, cold, "\"cold\"", "context_us peer_us launch_us pair_us pool_us");
    c->context_ps = read_optional_us(r, cold, "context_us", 0);
    c->peer_ps = read_optional_us(r, cold, "peer_us", 0);
    c->launch_ps = read_optional_us(r, cold, "launch_us", 0);
    c->pair_ps = read_optional_us(r, cold, "pair_us", 0);
    c->pool_ps = read_optional_us(r, cold, "pool_us", 0);
}

void topology_read_paths(struct reader *r, const cJSON *root, struct topology *t)
{
    static const char *const names[PATH_COUNT] = {"h2d_pinned",   "h2d_pageable", "d2h_pinned",
                                                  "d2h_pageable", "local",        "peer",
                                                  "staged",       "host"};
    const cJSON *copies = cJSON_GetObjectItemCaseSensitive(root, "copies");
    const cJSON *kernel = cJSON_GetObjectItemCaseSensitive(root, "kernel");
    const cJSON *calls = cJSON_GetObjectItemCaseSensitive(root, "calls");
    const cJSON *edges = cJSON_GetObjectItemCaseSensitive(root, "edges");
    reader_fields(r, copies, "\"copies\"",
                  "h2d_pinned h2d_pageable d2h_pinned d2h_pageable local peer staged host at_once");
    t->copies_at_once = (int)read_optional(r, copies, "at_once", 0, 1);
    reader_fields(r, edges, "\"edges\"", "stream graph");
    read_edges(r, edges, "stream", &t->cost.stream_edge);
    read_edges(r, edges, "graph", &t->cost.graph_edge);
    for (int i = 0; i < PATH_COUNT; i++) {
        const cJSON *one = cJSON_GetObjectItemCaseSensitive(copies, names[i]);
        reader_at(r, one ? one : copies);
        if (!cJSON_IsObject(one))
            reader_complain(r, "\"copies\" must hold \"%s\" with \"latency_us\" and \"gbs\"",
                            names[i]);
        else
            read_path(r, one, names[i], t->cost.enqueue_ps, &t->path[i]);
    }
    uint64_t apart_ps = t->cost.kernel_delay_ps + t->cost.kernel_floor_ps;
    t->cost.kernel_idle_ps = read_optional_us(r, kernel, "idle_us", 0);
    t->cost.graph_first_ps = read_optional_us(r, kernel, "graph_first_us", apart_ps);
    t->cost.graph_next_ps = read_optional_us(r, kernel, "graph_next_us", apart_ps);
    t->cost.graph_launch_ps = read_optional_us(r, calls, "graph_launch_us", t->cost.launch_ps);
    t->cost.graph_node_ps = read_optional_us(r, calls, "graph_node_us", 0);
    t->cost.graph_gpu_ps = read_optional_us(r, calls, "graph_gpu_us", 0);
    t->cost.graph_copy_ps = read_optional_us(r, calls, "graph_copy_us", 0);
    t->cost.graph_engine_ps = read_optional_us(r, calls, "graph_engine_us", 0);
    t->cost.graph_wait_ps = read_optional_us(r, calls, "graph_wait_us", 0);
    t->cost.graph_kernel_ps = read_optional_us(r, calls, "graph_kernel_us", 0);
    t->cost.found_ps = read_optional_us(r, calls, "found_us", t->cost.wake_ps);
    t->info.message_ps = read_optional_us(r, calls, "message_us", 0);
    t->cost.send_ps = read_optional_us(r, calls, "send_us", 0);
    t->cost.receive_ps = read_optional_us(r, calls, "receive_us", 0);
    t->cost.record_untimed_ps = read_optional_us(r, calls, "record_untimed_us", t->cost.record_ps);
    const cJSON *cold = cJSON_GetObjectItemCaseSensitive(root, "cold");
    if (cold)
        read_cold(r, cold, &t->cost.cold);
    t->cost.pool_grow_ps = read_optional_us(r, calls, "pool_grow_us", 0);
    t->cost.wait_ps = read_optional_us(r, calls, "wait_us", t->cost.enqueue_ps);
    t->cost.wait_gpu_ps = read_optional_us(r, calls, "wait_gpu_us", t->cost.wait_ps);
    t->cost.record_shared_ps =
        read_optional_us(r, calls, "record_shared_us", t->cost.record_untimed_ps);
    t->cost.wait_shared_ps = read_optional_us(r, calls, "wait_shared_us", 0);
    t->cost.timed_event_ps = read_optional_us(r, calls, "timed_event_us", 0);
    t->cost.host_function_ps = read_optional_us(r, calls, "host_function_us", t->cost.wake_ps);
    t->cost.kernel_peer_bytes_s =
        read_optional(r, kernel, "peer_gbs", t->path[PATH_PEER].bytes_s / 1e9, 1e-6) * 1e9;
    t->cost.kernel_l2_bytes_s = read_optional(r, kernel, "l2_gbs", 0, 1e-6) * 1e9;
    t->cost.kernel_write_weight = read_optional(r, kernel, "write_weight", 1, 1);
}
