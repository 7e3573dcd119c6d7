/* SPDX-License-Identifier: MIT
 * links.c: reads the links between the GPUs of a node: "nvlink", "pcie", "sockets" and "peers" of
 * its description. route.c turns them into resources.
 */
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "topology.h"

/* Reads arrays of arrays of GPU numbers: group[i] becomes the index of the inner array that
 * contains GPU i, or -1. */
static void read_groups(struct reader *r, const cJSON *array, const char *key, int n, int *group)
{
    for (int i = 0; i < VGPU_MAX_DEVICES; i++)
        group[i] = -1;
    const cJSON *inner, *item;
    int index = 0;
    cJSON_ArrayForEach(inner, array)
    {
        cJSON_ArrayForEach(item, inner)
        {
            reader_at(r, item);
            if (!cJSON_IsNumber(item) || item->valueint < 0 || item->valueint >= n)
                reader_complain(r, "\"%s\" names a GPU that is not in \"gpus\" (0 to %d)", key,
                                n - 1);
            else
                group[item->valueint] = index;
        }
        index++;
    }
    reader_at(r, array);
    if (index > n)
        reader_complain(r, "\"%s\" has more groups than there are GPUs", key);
}

/* Reads [a, b, ...], in which a and b must be two different GPUs. */
static bool read_pair(struct reader *r, const cJSON *item, int numbers, int n, int *pair)
{
    reader_at(r, item);
    for (int k = 0; k < numbers; k++) {
        const cJSON *one = cJSON_GetArrayItem(item, k);
        pair[k] = cJSON_IsNumber(one) ? one->valueint : -1;
    }
    return cJSON_GetArraySize(item) == numbers && pair[0] >= 0 && pair[0] < n && pair[1] >= 0 &&
           pair[1] < n && pair[0] != pair[1];
}

/* ---- peer access ---- */

static void read_peer_list(struct reader *r, const cJSON *peers, struct topology *t)
{
    const cJSON *item;
    int pair[2];
    cJSON_ArrayForEach(item, peers)
    {
        if (read_pair(r, item, 2, t->info.device_count, pair))
            t->info.pair[pair[0]][pair[1]].access = 1;
        else
            reader_complain(r, "\"peers\" holds a pair that is not [from, to] of two different "
                               "GPUs");
    }
}

/* True for GPUs with a link of their own or on the same NVSwitch. */
static bool has_nvlink(const struct wires *w, int i, int j)
{
    return w->port_gbs > 0 || w->links[i][j] > 0;
}

static void set_all_peers(struct topology *t, const struct wires *w, bool linked_only)
{
    for (int i = 0; i < t->info.device_count; i++)
        for (int j = 0; j < t->info.device_count; j++)
            t->info.pair[i][j].access = i != j && (!linked_only || has_nvlink(w, i, j));
}

static void read_peers(struct reader *r, const cJSON *root, struct topology *t,
                       const struct wires *w)
{
    const cJSON *peers = reader_item(r, root, "peers");
    const char *word = cJSON_IsString(peers) ? peers->valuestring : "";
    if (cJSON_IsArray(peers))
        read_peer_list(r, peers, t);
    else if (strcmp(word, "all") == 0 || strcmp(word, "nvlink") == 0)
        set_all_peers(t, w, strcmp(word, "nvlink") == 0);
    else if (strcmp(word, "none") != 0)
        reader_complain(r, "\"peers\" must be \"all\", \"nvlink\", \"none\" or a list of "
                           "[from, to]");
}

/* What nvidia-smi prints for a pair without access; "NS" if the description does not say. */
static const char *read_refusal(struct reader *r, const cJSON *root)
{
    static const char *const known[] = {"NS", "CNS", "GNS", "TNS"};
    if (!cJSON_HasObjectItem(root, "peers_refused"))
        return known[0];
    const char *given = reader_text(r, root, "peers_refused");
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(given, known[i]) == 0)
            return known[i];
    reader_complain(r, "\"peers_refused\" must be \"NS\", \"CNS\", \"GNS\" or \"TNS\"");
    return known[0];
}

static void set_attributes(struct reader *r, const cJSON *root, struct topology *t)
{
    bool atomics = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(root, "native_atomics"));
    const char *refusal = read_refusal(r, root);
    for (int i = 0; i < t->info.device_count; i++)
        for (int j = 0; j < t->info.device_count; j++) {
            struct vgpu_pair_info *p = &t->info.pair[i][j];
            p->native_atomics = p->array_access = p->access && atomics;
            p->performance_rank = p->access && !atomics;
            snprintf(p->status, sizeof p->status, "%s", p->access ? "OK" : refusal);
        }
}

/* ---- links ---- */

static void read_mesh(struct reader *r, const cJSON *nvlink, int n, struct wires *w)
{
    const cJSON *links = reader_item(r, nvlink, "links"), *item;
    int found[3];
    w->link_gbs = reader_number(r, nvlink, "link_gbs", 1e-6);
    reader_item(r, nvlink, "links");
    if (!cJSON_IsArray(links))
        reader_complain(r, "\"links\" must be a list of [GPU, GPU, how many NVLinks]");
    cJSON_ArrayForEach(item, links)
    {
        if (!read_pair(r, item, 3, n, found) || found[2] < 1 || found[2] > MAX_LINKS)
            reader_complain(r,
                            "\"links\" must hold [GPU, GPU, 1 to %d NVLinks], the GPUs of 0 to "
                            "%d and different",
                            MAX_LINKS, n - 1);
        else
            w->links[found[0]][found[1]] = w->links[found[1]][found[0]] = found[2];
    }
}

static void read_nvlink(struct reader *r, const cJSON *nvlink, int n, struct wires *w)
{
    const char *kind = reader_text(r, nvlink, "kind");
    bool mesh = strcmp(kind, "mesh") == 0;
    reader_fields(r, nvlink, "\"nvlink\"", mesh ? "kind link_gbs links" : "kind port_gbs label");
    if (mesh) {
        read_mesh(r, nvlink, n, w);
        return;
    }
    if (strcmp(kind, "switch") != 0)
        reader_complain(r, "\"kind\" of \"nvlink\" must be \"switch\" or \"mesh\"");
    w->port_gbs = reader_number(r, nvlink, "port_gbs", 1e-6);
    snprintf(w->nvlink_label, sizeof w->nvlink_label, "%s", reader_text(r, nvlink, "label"));
}

/* An optional rate; 0 if it is missing, which means no limit. */
static double read_optional_gbs(struct reader *r, const cJSON *object, const char *key)
{
    return cJSON_HasObjectItem(object, key) ? reader_number(r, object, key, 1e-6) : 0;
}

void topology_read_links(struct reader *r, const cJSON *root, struct topology *t)
{
    const cJSON *pcie = cJSON_GetObjectItemCaseSensitive(root, "pcie");
    const cJSON *sockets = cJSON_GetObjectItemCaseSensitive(root, "sockets");
    const cJSON *nvlink = cJSON_GetObjectItemCaseSensitive(root, "nvlink");
    const cJSON *switches = cJSON_GetObjectItemCaseSensitive(pcie, "switches");
    struct wires w = {0};
    int n = t->info.device_count;
    reader_fields(r, pcie, "\"pcie\"",
                  "gbs both_gbs staged_gbs switches switch_gbs root_gbs label");
    reader_fields(r, sockets, "\"sockets\"",
                  "groups gbs memory_gbs memory_written_gbs memory_read_gbs");
    read_groups(r, switches, "switches", n, t->switch_of);
    read_groups(r, cJSON_GetObjectItemCaseSensitive(sockets, "groups"), "sockets", n, t->socket_of);
    w.pcie_gbs = reader_number(r, pcie, "gbs", 1e-6);
    w.switch_gbs = switches ? reader_number(r, pcie, "switch_gbs", 1e-6) : 0;
    w.root_gbs = read_optional_gbs(r, pcie, "root_gbs");
    w.socket_gbs = reader_number(r, sockets, "gbs", 1e-6);
    w.memory_gbs = read_optional_gbs(r, sockets, "memory_gbs");
    w.memory_written_gbs = read_optional_gbs(r, sockets, "memory_written_gbs");
    w.memory_read_gbs = read_optional_gbs(r, sockets, "memory_read_gbs");
    w.pcie_both_gbs = read_optional_gbs(r, pcie, "both_gbs");
    w.staged_gbs = read_optional_gbs(r, pcie, "staged_gbs");
    snprintf(w.pcie_label, sizeof w.pcie_label, "%s", reader_text(r, pcie, "label"));
    if (nvlink)
        read_nvlink(r, nvlink, n, &w);
    read_peers(r, root, t, &w);
    set_attributes(r, root, t);
    topology_wire(t, &w);
}
