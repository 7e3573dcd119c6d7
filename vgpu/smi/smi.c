/* SPDX-License-Identifier: MIT
 * smi.c: vgpu-smi, the counterpart of nvidia-smi for the virtual node.
 *
 *     vgpu-smi                                         the table: GPUs, memory, processes
 *     vgpu-smi -L                                      names and UUIDs
 *     vgpu-smi -q [-d MEMORY]                          all of it, a line each
 *     vgpu-smi --query-gpu=index,name --format=csv     some of it, for programs
 *     vgpu-smi dmon                                    a line a second
 *     vgpu-smi topo -m                                 the type of link between each pair
 *     vgpu-smi topo -p2p r                             which pairs support peer access (r, w, a)
 *
 * Like nvidia-smi it lists every GPU, regardless of CUDA_VISIBLE_DEVICES. It is no program of the
 * node: it occupies no memory there and holds no virtual time.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core.h"
#include "smi.h"
#include "wire.h"

#define TRIES 20

union answer {
    struct vgpu_reply r;
    char room[VGPU_MSG_MAX];
};

static int node_socket = -1;

/* Asks for what goes on, and stores the descriptor of the node's description unless `info` is NULL.
 * False: the node has ended. */
static bool observe(int fd, union answer *answer, int *info)
{
    struct vgpu_request q = {.op = VGPU_OP_OBSERVE};
    int fds[4], count = 4;
    if (vgpu_send(fd, &q, sizeof q, NULL, 0) != 0 ||
        vgpu_receive(fd, answer, sizeof *answer, info ? fds : NULL, info ? &count : NULL, 0) <= 0)
        return false;
    if (info)
        *info = count > 0 ? fds[0] : -1;
    return true;
}

static bool take_answer(struct view *view, const union answer *answer)
{
    if (answer->r.error || answer->r.value != VGPU_PROTOCOL ||
        answer->r.data_bytes != sizeof view->now) {
        fprintf(stderr, "vgpu-smi: %s\n",
                answer->r.error ? answer->r.explain
                                : "the node is of another version: build both again");
        return false;
    }
    memcpy(&view->now, answer->r.data, sizeof view->now);
    return true;
}

bool view_refresh(struct view *view)
{
    union answer answer;
    if (observe(node_socket, &answer, NULL))
        return take_answer(view, &answer);
    fprintf(stderr, "vgpu-smi: the node has ended\n");
    return false;
}

/* False: no node can be reached (reported on stderr). If the node ends just then, because the last
 * program has left it, another node is tried. */
static bool start_view(struct view *view)
{
    char why[512] = "the node closes each connection";
    union answer answer;
    int fd = -1, file = -1;
    for (int tries = 0; tries < TRIES; tries++) {
        fd = vgpu__reach_node(why, sizeof why);
        if (fd < 0 || observe(fd, &answer, &file))
            break;
        close(fd);
        fd = -1;
    }
    if (fd < 0) {
        fprintf(stderr, "vgpu-smi: no node: %s\n", why);
        return false;
    }
    node_socket = fd; /* stays open until the process ends */
    if (!take_answer(view, &answer))
        return false;
    void *info = mmap(NULL, sizeof(struct vgpu_node_info), PROT_READ, MAP_PRIVATE, file, 0);
    if (info == MAP_FAILED) {
        fprintf(stderr, "vgpu-smi: cannot map the node's description of its GPUs: %s\n",
                strerror(errno));
        return false;
    }
    view->info = info;
    return true;
}

bool view_has(const struct view *view, int device)
{
    return !view->without[device];
}

uint64_t view_used_mib(const struct view *view, int device)
{
    return view->now.used_bytes[device] >> 20;
}

void uuid_text(const uint8_t *u, char text[UUID_ROOM])
{
    int at = snprintf(text, UUID_ROOM, "GPU-");
    for (int i = 0; i < 16; i++)
        at += snprintf(text + at, UUID_ROOM - (size_t)at, "%02x%s", u[i],
                       i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
}

void bus_text(const struct vgpu_device_info *g, char text[32])
{
    snprintf(text, 32, "%08X:%02X:%02X.0", (unsigned)g->pci_domain, (unsigned)g->pci_bus,
             (unsigned)g->pci_device);
}

void time_text(const char *format, char text[64])
{
    time_t now = time(NULL);
    struct tm parts;
    if (!localtime_r(&now, &parts) || strftime(text, 64, format, &parts) == 0)
        text[0] = '\0';
}

static int print_names(const struct view *view)
{
    const struct vgpu_node_info *info = view->info;
    for (int d = 0; d < info->device_count; d++) {
        char uuid[UUID_ROOM];
        uuid_text(info->device[d].uuid, uuid);
        if (view_has(view, d))
            printf("GPU %d: %s (UUID: %s)\n", d, info->device[d].name, uuid);
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

/* ---- the command line ---- */

struct wish {
    bool names, links, log, monitor, known_fields;
    char peers; /* 0: not asked for */
    const char *gpu_fields, *app_fields, *format, *sections, *only;
    const char *loop, *loop_ms, *groups, *times, *count, *seconds;
};

static int print_usage(void)
{
    puts(
        "usage: vgpu-smi [-i GPU,...] [-l SECONDS] [-L | -q [-d SECTION,...] |\n"
        "                 --query-gpu=FIELDS --format=csv[,noheader][,nounits]]\n"
        "       vgpu-smi dmon [-s pucvmet] [-o T|DT] [-c COUNT] [-d SECONDS] [-i GPU,...]\n"
        "       vgpu-smi topo -m | topo -p2p r|w|a\n"
        "Shows the GPUs of the virtual node that VGPU_NODE_ID and VGPU_NODE name.\n"
        "  (nothing)    the table: GPUs, memory, and the programs that use them\n"
        "  -L           names and UUIDs (--list-gpus)\n"
        "  -q           the same and more, a line each (--query); -d chooses: MEMORY, CLOCK, ...\n"
        "  --query-gpu  name, memory.used and so on, as --help-query-gpu lists them;\n"
        "               --query-compute-apps=pid,process_name,used_memory does so for programs\n"
        "  -i           only these GPUs: numbers, UUIDs or PCI bus ids (--id)\n"
        "  -l           again every so many seconds (--loop), or milliseconds (-lms)\n"
        "  dmon         a line a second for each GPU: c are clocks, m is memory; p, u, v, e and t\n"
        "               are not modelled\n"
        "  topo -m      which link joins which pair of GPUs (--matrix)\n"
        "  topo -p2p X  which pairs can read (r), write (w), or do atomics (a) on each other\n"
        "What the virtual node does not model (temperature, power, utilisation) is N/A.");
    return 0;
}

/* If argument *at is `name` ("--query-gpu"), stores its value, which follows = or is the next
 * argument. */
static bool take_smi_option(char **words, int *at, const char *name, const char **value)
{
    size_t length = strlen(name);
    if (strncmp(words[*at], name, length) != 0)
        return false;
    if (words[*at][length] == '=')
        *value = words[*at] + length + 1;
    else if (words[*at][length] == '\0' && words[*at + 1])
        *value = words[++*at];
    else
        return false;
    return true;
}

struct value_option {
    const char *name, *long_name;
    size_t at; /* of its value in struct wish */
};

static const struct value_option table_options[] = {
    {"-i", "--id", offsetof(struct wish, only)},
    {"-d", "--display", offsetof(struct wish, sections)},
    {"-l", "--loop", offsetof(struct wish, loop)},
    {"-lms", "--loop-ms", offsetof(struct wish, loop_ms)},
    {"--query-gpu", "--query-gpu", offsetof(struct wish, gpu_fields)},
    {"--query-compute-apps", "--query-compute-apps", offsetof(struct wish, app_fields)},
    {"--format", "--format", offsetof(struct wish, format)},
    {NULL, NULL, 0},
};

static const struct value_option monitor_options[] = {
    {"-i", "--id", offsetof(struct wish, only)},
    {"-s", "--select", offsetof(struct wish, groups)},
    {"-o", "--options", offsetof(struct wish, times)},
    {"-c", "--count", offsetof(struct wish, count)},
    {"-d", "--delay", offsetof(struct wish, seconds)},
    {NULL, NULL, 0},
};

static bool take_wish_value(const struct value_option *known, char **words, int *at,
                            struct wish *wish)
{
    for (; known->name; known++) {
        const char **value = (const char **)((char *)wish + known->at);
        if (take_smi_option(words, at, known->name, value) ||
            take_smi_option(words, at, known->long_name, value))
            return true;
    }
    return false;
}

static bool take_flag(const char *word, struct wish *wish)
{
    const struct {
        const char *name, *long_name;
        bool *flag;
    } flags[] = {
        {"-L", "--list-gpus", &wish->names},
        {"-q", "--query", &wish->log},
        {"--help-query-gpu", "--help-query-gpu", &wish->known_fields},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(word, flags[i].name) == 0 || strcmp(word, flags[i].long_name) == 0)
            return *flags[i].flag = true;
    return false;
}

/* Each parser returns the word that it does not know; NULL: none. */
static const char *parse_topology(char **words, struct wish *wish)
{
    const char *what = words[0] ? words[0] : "topo";
    bool peers = strcmp(what, "-p2p") == 0 || strcmp(what, "--p2p_capability") == 0;
    if (peers) {
        if (!words[1] || strlen(words[1]) != 1 || !strchr("rwa", words[1][0]))
            return words[1] ? words[1] : what;
        wish->peers = words[1][0];
    } else if (strcmp(what, "-m") == 0 || strcmp(what, "--matrix") == 0)
        wish->links = true;
    else
        return what;
    return words[1 + peers];
}

static const char *parse_words(char **words, struct wish *wish)
{
    if (words[0] && strcmp(words[0], "topo") == 0)
        return parse_topology(words + 1, wish);
    wish->monitor = words[0] && strcmp(words[0], "dmon") == 0;
    for (int i = wish->monitor; words[i]; i++)
        if (!take_wish_value(wish->monitor ? monitor_options : table_options, words, &i, wish) &&
            (wish->monitor || !take_flag(words[i], wish)))
            return words[i];
    return NULL;
}

/* Whether `word` (NULL: the number stays) is a number of that size. */
static bool take_number(const char *word, long least, long most, long *number)
{
    char *end;
    if (!word)
        return true;
    *number = strtol(word, &end, 10);
    if (end != word && !*end && *number >= least && *number <= most)
        return true;
    fprintf(stderr, "vgpu-smi: '%s' is not a number from %ld to %ld\n", word, least, most);
    return false;
}

/* Whether a GPU has this number, UUID or PCI bus id, of which the front may be missing. */
static bool is_called(const struct view *view, int d, const char *word, size_t length)
{
    char number[16], uuid[UUID_ROOM], bus[32];
    snprintf(number, sizeof number, "%d", d);
    uuid_text(view->info->device[d].uuid, uuid);
    bus_text(&view->info->device[d], bus);
    const char *names[] = {number, uuid, bus, bus + 4, bus + 9}; /* 00000000:, 0000:, nothing */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncasecmp(names[i], word, length) == 0)
            return true;
    return false;
}

/* -i: False: one is not there, which is reported on stdout, as nvidia-smi does. */
static bool choose_gpus(struct view *view, const char *words)
{
    if (words)
        memset(view->without, true, sizeof view->without);
    while (words && *words) {
        size_t length = strcspn(words, ",");
        int d = 0;
        while (d < view->info->device_count && !is_called(view, d, words, length))
            d++;
        if (d == view->info->device_count) {
            printf("No devices were found: there is no GPU %.*s\n", (int)length, words);
            return false;
        }
        view->without[d] = false;
        words += length + (words[length] == ',');
    }
    return true;
}

static int print_wish(const struct view *view, const struct wish *wish, bool again)
{
    const char *format = wish->format ? wish->format : "";
    if (wish->names)
        return print_names(view);
    if (wish->links)
        return print_links(view->info);
    if (wish->peers)
        return print_peer_access(view->info, wish->peers);
    if (wish->gpu_fields)
        return print_gpu_fields(view, wish->gpu_fields, format, again);
    if (wish->app_fields)
        return print_app_fields(view, wish->app_fields, format, again);
    if (wish->log || wish->sections)
        return print_query(view, wish->sections);
    return print_table(view);
}

/* Once, or every `ms` milliseconds until it is interrupted. */
static int print_often(struct view *view, const struct wish *wish, long ms)
{
    int status = print_wish(view, wish, false);
    while (!status && ms) {
        fflush(stdout);
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
        status = view_refresh(view) ? print_wish(view, wish, true) : 1;
    }
    return status;
}

int main(int argc, char **argv)
{
    struct wish wish = {0};
    struct view view = {0};
    long count = 0, seconds = 1, loop = 0, ms = 0;
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
        return print_usage();
    const char *unknown = parse_words(argv + 1, &wish);
    if (unknown) {
        fprintf(stderr, "vgpu-smi: it has no '%s' there; 'vgpu-smi -h' shows what it has\n",
                unknown);
        return 2;
    }
    if (!take_number(wish.count, 1, 1L << 30, &count) ||
        !take_number(wish.seconds, 1, 1L << 20, &seconds) ||
        !take_number(wish.loop, 1, 1L << 20, &loop) || !take_number(wish.loop_ms, 1, 1L << 30, &ms))
        return 2;
    if (wish.known_fields)
        return print_known_fields();
    if (!start_view(&view))
        return 1;
    if (!choose_gpus(&view, wish.only))
        return 6;
    if (wish.monitor)
        return print_monitor(&view, wish.groups ? wish.groups : "puc", wish.times ? wish.times : "",
                             count, seconds);
    return print_often(&view, &wish, loop ? 1000 * loop : ms);
}
