/* SPDX-License-Identifier: MIT
 * visible.c: CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, on a made-up node of four devices whose
 * bus order is 2, 0, 3, 1 and whose UUIDs begin with 11, 12, 22 and ab.
 */
#include "expect.h"
#include "core.h"

#include <string.h>

static struct vgpu_node_info node;

static void make_node(void)
{
    const uint8_t first[] = {0x11, 0x12, 0x22, 0xab};
    const int bus[] = {0x20, 0x40, 0x10, 0x30};
    node.device_count = 4;
    for (int d = 0; d < 4; d++) {
        memset(node.device[d].uuid, d, sizeof node.device[d].uuid);
        node.device[d].uuid[0] = first[d];
        node.device[d].pci_bus = bus[d];
    }
}

/* `want`: the devices as digits, or the code that every call answers. */
static void check(const char *list, bool by_bus, const char *want)
{
    char got[64] = "";
    int physical[VGPU_MAX_DEVICES], count;
    cudaError_t error = vgpu__visible(&node, list, by_bus, physical, &count);
    if (error != cudaSuccess)
        sprintf(got, "%d", error);
    for (int i = 0; error == cudaSuccess && i < count; i++)
        sprintf(got + i, "%d", physical[i]);
    if (strcmp(got, want) == 0)
        return;
    fprintf(stderr, "'%s' gives %s, expected %s\n", list ? list : "(not set)", got, want);
    exit(1);
}

int main(void)
{
    make_node();
    check(NULL, false, "0123");
    check(NULL, true, "2031");
    check("2,0", false, "20");
    check("2,0", true, "32");
    check(" 3 , 1", false, "31");
    check("1,9,0", false, "1");
    check("1,-1,0", false, "1");
    check("1,x,0", false, "1");
    check("1,,0", false, "1");
    check("0,0", false, "101");
    check("1,9,1", false, "1");
    check("", false, "100");
    check("-1", false, "100");
    check("4", false, "100");
    check("NoDevFiles", false, "100");
    check("GPU-ab", false, "3");
    check("GPU-22020202-0202-0202-0202-020202020202", false, "2");
    check("gpu-AB030303,0", false, "30");
    check("GPU-1,0", false, "100");
    check("GPU-12,GPU-11", false, "10");
    check("GPU-,0", false, "100");
    check("0,GPU-11", false, "101");
    check("GPU-22020202-0202-0202-0202-0202020202020", false, "100");
    return 0;
}
