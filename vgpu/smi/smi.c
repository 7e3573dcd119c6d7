/* SPDX-License-Identifier: MIT
 * smi.c: vgpu-smi, the counterpart of nvidia-smi for the virtual node.
 *
 *     vgpu-smi              the GPUs, a line each
 *     vgpu-smi -L           names and UUIDs
 *     vgpu-smi topo -m      the type of link between each pair
 *     vgpu-smi topo -p2p r  which pairs support peer access (r, w, a)
 *
 * Like nvidia-smi it lists every GPU, regardless of CUDA_VISIBLE_DEVICES.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "protocol.h"
#include "core.h"
#include "wire.h"

#define TRIES 20

union answer {
    struct vgpu_reply r;
    char room[VGPU_MSG_MAX];
};

/* Sends hello and stores the descriptor of the node's description. False: the node has ended. */
static bool send_smi_hello(int fd, union answer *answer, int *info)
{
    struct vgpu_request hello = {.op = VGPU_OP_HELLO};
    int fds[4], count = 4;
    hello.u.hello.protocol = VGPU_PROTOCOL;
    hello.u.hello.pid = getpid();
    snprintf(hello.u.hello.program, sizeof hello.u.hello.program, "vgpu-smi");
    if (vgpu_send(fd, &hello, sizeof hello, NULL, 0) != 0 ||
        vgpu_receive(fd, answer, sizeof *answer, fds, &count, 0) <= 0)
        return false;
    *info = count > 0 ? fds[0] : -1;
    return count > 0 || answer->r.error;
}

/* Returns the node's description; NULL if no node can be reached (reported on stderr). If the node
 * ends just then, because the last program has left it, another node is tried. */
static const struct vgpu_node_info *read_smi_info(void)
{
    char why[512] = "the node closes each connection";
    union answer answer;
    int fd = -1, file = -1;
    for (int tries = 0; tries < TRIES; tries++) {
        fd = vgpu__reach_node(why, sizeof why);
        if (fd < 0 || send_smi_hello(fd, &answer, &file))
            break;
        close(fd);
        fd = -1;
    }
    if (fd < 0) {
        fprintf(stderr, "vgpu-smi: no node: %s\n", why);
        return NULL;
    }
    if (answer.r.error) {
        fprintf(stderr, "vgpu-smi: %s\n", answer.r.explain);
        return NULL;
    }
    void *info = mmap(NULL, sizeof(struct vgpu_node_info), PROT_READ, MAP_PRIVATE, file, 0);
    if (info == MAP_FAILED) {
        fprintf(stderr, "vgpu-smi: cannot map what the node says of its GPUs: %s\n",
                strerror(errno));
        return NULL;
    }
    return info; /* the connection stays open until the process ends */
}

static void print_uuid(const uint8_t *u)
{
    printf("GPU-");
    for (int i = 0; i < 16; i++)
        printf("%02x%s", u[i], i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
}

static int print_names(const struct vgpu_node_info *info)
{
    for (int d = 0; d < info->device_count; d++) {
        printf("GPU %d: %s (UUID: ", d, info->device[d].name);
        print_uuid(info->device[d].uuid);
        printf(")\n");
    }
    if (info->device_count == 0)
        printf("No devices were found\n");
    return 0;
}

static int print_table(const struct vgpu_node_info *info)
{
    printf("vgpu-smi: node %s, CUDA %d.%d, virtual\n", info->name, info->driver_version / 1000,
           info->driver_version % 1000 / 10);
    for (int d = 0; d < info->device_count; d++) {
        const struct vgpu_device_info *g = &info->device[d];
        printf("%3d  %-28s %04x:%02x:%02x.0  %6llu MiB  %3d SMs  capability %d.%d\n", d, g->name,
               (unsigned)g->pci_domain, (unsigned)g->pci_bus, (unsigned)g->pci_device,
               (unsigned long long)(g->total_bytes >> 20), g->sm_count, g->cc_major, g->cc_minor);
    }
    if (info->device_count == 0)
        printf("No devices were found\n");
    return 0;
}

static void print_table_heading(const struct vgpu_node_info *info)
{
    for (int d = 0; d < info->device_count; d++)
        printf("\tGPU%d", d);
}

static int print_links(const struct vgpu_node_info *info)
{
    print_table_heading(info);
    printf("\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n");
    for (int i = 0; i < info->device_count; i++) {
        const struct vgpu_device_info *g = &info->device[i];
        printf("GPU%d", i);
        for (int j = 0; j < info->device_count; j++)
            printf("\t%s", i == j ? " X " : info->pair[i][j].link);
        printf("\t%s\t%d\t\tN/A\n", g->cpus[0] ? g->cpus : "N/A", g->numa_node);
    }
    puts("\nLegend:\n\n"
         "  X    = Self\n"
         "  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes "
         "(e.g., QPI/UPI)\n"
         "  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host "
         "Bridges within a NUMA node\n"
         "  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
         "  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host "
         "Bridge)\n"
         "  PIX  = Connection traversing at most a single PCIe bridge\n"
         "  NV#  = Connection traversing a bonded set of # NVLinks");
    return 0;
}

static int print_peer_access(const struct vgpu_node_info *info, char what)
{
    printf(" ");
    print_table_heading(info);
    printf("\t\n");
    for (int i = 0; i < info->device_count; i++) {
        printf(" GPU%d", i);
        for (int j = 0; j < info->device_count; j++) {
            const struct vgpu_pair_info *p = &info->pair[i][j];
            bool slow = what == 'a' && p->access && !p->native_atomics;
            printf("\t%s", i == j ? "X" : slow ? "NS" : p->status);
        }
        printf("\t\n");
    }
    puts("\nLegend:\n\n"
         "  X    = Self\n"
         "  OK   = Status Ok\n"
         "  CNS  = Chipset not supported\n"
         "  GNS  = GPU not supported\n"
         "  TNS  = Topology not supported\n"
         "  NS   = Not supported\n"
         "  U    = Unknown");
    return 0;
}

static int print_usage(FILE *to)
{
    fputs("usage: vgpu-smi [-L | topo -m | topo -p2p r|w|a | --help]\n"
          "Shows the GPUs of the virtual node that VGPU_NODE_ID and VGPU_NODE name.\n"
          "  (nothing)    the GPUs, a line each\n"
          "  -L           names and UUIDs\n"
          "  topo -m      which link joins which pair of GPUs\n"
          "  topo -p2p X  which pairs can read (r), write (w), or do atomics (a) on each other\n",
          to);
    return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    bool topo = argc > 1 && strcmp(argv[1], "topo") == 0;
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return print_usage(stdout);
    bool names = argc == 2 && strcmp(argv[1], "-L") == 0;
    bool links = topo && argc == 3 && strcmp(argv[2], "-m") == 0;
    bool peers = topo && argc == 4 && strcmp(argv[2], "-p2p") == 0 && strlen(argv[3]) == 1 &&
                 strchr("rwa", argv[3][0]);
    if (argc > 1 && !names && !links && !peers)
        return print_usage(stderr);
    const struct vgpu_node_info *info = read_smi_info();
    if (!info)
        return 1;
    return names   ? print_names(info)
           : links ? print_links(info)
           : peers ? print_peer_access(info, argv[3][0])
                   : print_table(info);
}
