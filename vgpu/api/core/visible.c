/* SPDX-License-Identifier: MIT
 * visible.c: CUDA_VISIBLE_DEVICES. The list is read from the left and ends at its first invalid
 * entry; an entry is an index or a prefix of exactly one UUID ("GPU-6969f2"). If a device is named
 * twice, every call fails with 101; if no device is left, with 100 (both recorded on hardware).
 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static long long bus_key(const struct vgpu_device_info *d)
{
    return ((long long)d->pci_domain << 32) | (d->pci_bus << 8) | d->pci_device;
}

/* Stores all devices in the order of CUDA_DEVICE_ORDER. Insertion sort, which is stable: equal keys
 * stay in the node's order. */
static void sort_devices(const struct vgpu_node_info *info, bool by_bus, int *order)
{
    for (int i = 0; i < info->device_count; i++) {
        int at = i;
        for (;
             by_bus && at > 0 && bus_key(&info->device[order[at - 1]]) > bus_key(&info->device[i]);
             at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
static void uuid_text(const uint8_t *uuid, char text[48])
{
    int at = sprintf(text, "GPU-");
    for (int i = 0; i < 16; i++)
        at += sprintf(text + at, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

static int find_by_uuid(const struct vgpu_node_info *info, const char *prefix)
{
    int found = -1;
    char text[48];
    for (int d = 0; d < info->device_count; d++) {
        uuid_text(info->device[d].uuid, text);
        if (strncasecmp(text, prefix, strlen(prefix)) != 0)
            continue;
        if (found >= 0)
            return -1; /* ambiguous */
        found = d;
    }
    return found;
}

/* The physical device of one entry; -1: the entry is invalid. */
static int entry_device(const struct vgpu_node_info *info, const int *order, const char *text)
{
    if (strncasecmp(text, "GPU-", 4) == 0)
        return text[4] ? find_by_uuid(info, text) : -1;
    if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 8)
        return -1;
    int index = atoi(text);
    return index < info->device_count ? order[index] : -1;
}

/* Copies the first entry of `list` without surrounding blanks. Returns what follows its comma, or
 * NULL. */
static const char *next_entry(const char *list, char *text, size_t room)
{
    size_t length = strcspn(list, ",");
    const char *rest = list[length] ? list + length + 1 : NULL;
    while (length && (*list == ' ' || *list == '\t'))
        list++, length--;
    while (length && (list[length - 1] == ' ' || list[length - 1] == '\t'))
        length--;
    snprintf(text, room, "%.*s", (int)length, list);
    return rest;
}

cudaError_t vgpu__visible(const struct vgpu_node_info *info, const char *list, bool by_bus,
                          int *physical, int *count)
{
    int order[VGPU_MAX_DEVICES];
    bool used[VGPU_MAX_DEVICES] = {false};
    char text[64];
    *count = 0;
    sort_devices(info, by_bus, order);
    for (int i = 0; !list && i < info->device_count; i++)
        physical[(*count)++] = order[i];
    while (list) {
        list = next_entry(list, text, sizeof text);
        int device = entry_device(info, order, text);
        if (device < 0)
            break;
        if (used[device])
            return cudaErrorInvalidDevice;
        used[device] = true;
        physical[(*count)++] = device;
    }
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
