/* SPDX-License-Identifier: MIT
 * main.c: vgpu-node, the driver and the hardware of a virtual multi-GPU node.
 *
 *     vgpu-node --id ID [--ready-fd N] [--usage-fd N] [--foreground]
 *
 * Programs start it on their first CUDA call. It becomes a daemon (own session, no inherited
 * stdio), writes "ok\n" or an error message to the ready descriptor, and exits after its last
 * client. VGPU_NODE names the node description, VGPU_NODES the folder of descriptions.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "context.h"
#include "close_range.h"
#include "inject.h"
#include "jail.h"
#include "device_memory.h"
#include "node.h"
#include "sim.h"
#include "number.h"
#include "kernel_timeout.h"
#include "known_image.h"
#include "run_directory.h"
#include "schedule.h"
#include "spawner.h"
#include "topology.h"
#include "usage.h"
#include "workers.h"

enum { MAPPED_BYTES = 16 << 10 };

static struct topology topology;
static int ready_fd = -1;

static void report_ready(const char *text)
{
    if (ready_fd < 0)
        return;
    for (size_t left = strlen(text); left > 0;) {
        ssize_t wrote = write(ready_fd, text, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            break; /* the program that started the node has stopped reading */
        text += wrote;
        left -= (size_t)wrote;
    }
    close(ready_fd);
    ready_fd = -1;
}

static int refuse_start(const char *what, const char *why)
{
    char text[1024];
    snprintf(text, sizeof text, "vgpu-node: %s: %s\n", what, why);
    if (ready_fd < 0)
        fputs(text, stderr);
    report_ready(text);
    return 1;
}

/* Mappings of the node and its contexts begin at multiples of this, at fixed addresses. */
enum { PAGE_BYTES = 4096 };

static int refuse_pages(long bytes)
{
    char why[160];
    snprintf(why, sizeof why,
             "this system's memory pages have %ld bytes, and the virtual node needs a kernel with "
             "pages of %d bytes",
             bytes, PAGE_BYTES);
    return refuse_start("cannot start", why);
}

/* Stores the folder of this executable. */
static void own_folder(char *folder, size_t room)
{
    ssize_t n = readlink("/proc/self/exe", folder, room - 1);
    folder[n < 0 ? 0 : n] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

/* The folder of descriptions: $VGPU_NODES, else in the installation of this program, else in the
 * source tree. */
static const char *descriptions_folder(void)
{
    static char path[4096];
    const char *folder = getenv("VGPU_NODES");
    if (folder && *folder)
        return folder;
    own_folder(path, sizeof path - 32);
    strcat(path, "/../share/vgpu/nodes");
    return access(path, R_OK) == 0 ? path : VGPU_NODES_DIR;
}

/* Checks a variable that contexts read, so that the error is reported at the start. */
static bool form_is_right(char *error, int room)
{
    const char *text = getenv("VGPU_FORM");
    if (!text || !*text || strcmp(text, "fast") == 0 || strcmp(text, "careful") == 0)
        return true;
    snprintf(error, (size_t)room, "VGPU_FORM=%s is not valid: expected fast or careful", text);
    return false;
}

/* And of VGPU_LANES: vgpu/exec/threads/fiber.c reads it. */
static bool lanes_are_right(char *error, int room)
{
    static const char seeded[] = "seeded:";
    const char *text = getenv("VGPU_LANES");
    uint64_t seed;
    if (!text || !*text || strcmp(text, "forward") == 0 || strcmp(text, "reverse") == 0 ||
        strcmp(text, "seeded") == 0 ||
        (strncmp(text, seeded, sizeof seeded - 1) == 0 &&
         vgpu_number(text + sizeof seeded - 1, 0, UINT32_MAX, &seed)))
        return true;
    snprintf(error, (size_t)room,
             "VGPU_LANES=%s is not valid: expected forward, reverse, seeded or seeded:NUMBER",
             text);
    return false;
}

static int load_node(char *error, int room)
{
    if (!vgpu_schedule_is_right(error, (size_t)room) ||
        !vgpu_kernel_seconds_are_right(error, (size_t)room) ||
        !vgpu_workers_are_right(error, (size_t)room) || !form_is_right(error, room) ||
        !lanes_are_right(error, room))
        return -1;
    const char *name = getenv("VGPU_NODE");
    if (!name || !*name)
        name = "hgx-h200-4";
    if (topology_load(&topology, descriptions_folder(), name, error, room) != 0)
        return -1;
    if (!inject_start(topology.info.device_count, error, (size_t)room))
        return -1;
    for (int i = 0; i < topology.info.device_count; i++)
        topology.info.device[i].vmm_granule = inject_granule(i);
    return memory_start(&topology.info, error, room);
}

/* Repeats interrupted and partial writes until everything is written. */
static bool write_bytes(int fd, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t written = write(fd, from, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        count -= (size_t)written;
    }
    return true;
}

/* Makes the description that every process maps: a copy in a sealed memfd. */
static int publish_info(void)
{
    int fd = memfd_create("vgpu-info", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
    if (fd < 0 || !write_bytes(fd, &topology.info, sizeof topology.info) ||
        fcntl(fd, F_ADD_SEALS, seals) != 0)
        return -1;
    return fd;
}

static int listen_at(const char *id, char *path, size_t path_room, char *error, int room)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (vgpu_socket_path(id, path, path_room, error, (size_t)room) != 0)
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%.107s", path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        snprintf(error, (size_t)room, "a node '%s' is running already", id);
        close(fd);
        return -1;
    }
    unlink(path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 64) != 0) {
        snprintf(error, (size_t)room, "cannot listen at %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* The CPUs (of the first 64) that this process may use, as bits. */
static uint64_t usable_cpus(void)
{
    cpu_set_t may;
    uint64_t mask = 0;
    if (sched_getaffinity(0, sizeof may, &may) != 0)
        return 0;
    for (int cpu = 0; cpu < 64; cpu++)
        mask |= (uint64_t) !!CPU_ISSET((size_t)cpu, &may) << cpu;
    return mask;
}

/* Pins the node, and with it its contexts, to one CPU, since a round trip between two CPUs takes
 * ten times as long. A lock file for each CPU makes nodes use different ones if possible. -1: not
 * pinned. */
static int pin_to_cpu(void)
{
    cpu_set_t may, one;
    char folder[128], path[192], error[256];
    if (sched_getaffinity(0, sizeof may, &may) != 0 || CPU_COUNT(&may) < 2 ||
        vgpu_run_dir(folder, sizeof folder, error, sizeof error) != 0)
        return -1;
    int pick = -1, turn = getpid() % CPU_COUNT(&may);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &may))
            continue;
        snprintf(path, sizeof path, "%s/cpu%d.lock", folder, cpu);
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            pick = cpu; /* the descriptor stays open, so the lock is held until the node ends */
            break;
        }
        if (fd >= 0)
            close(fd);
        if (turn-- == 0)
            pick = cpu;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)pick, &one);
    return pick >= 0 && sched_setaffinity(0, sizeof one, &one) == 0 ? pick : -1;
}

/* Waits until the intermediate process has ended. A jail makes the node die with its parent
 * (become_user(), jail.c), which must not be that process. */
static void await_end_of(pid_t between)
{
    const struct timespec moment = {.tv_nsec = 100 * 1000};
    while (getppid() == between)
        nanosleep(&moment, NULL);
}

/* Detaches the node from the program that started it: its session, terminal and pipes. */
static void detach_process(void)
{
    pid_t child = fork();
    if (child != 0) {
        waitpid(child, NULL, 0); /* it exits at once and must be waited for here */
        _exit(child < 0);
    }
    setsid();
    pid_t between = getpid();
    child = fork();
    if (child != 0)
        _exit(child < 0);
    await_end_of(between);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    if (chdir("/") != 0)
        _exit(1);
}

/* Closes descriptors inherited from the program that started the node. */
static void close_inherited(void)
{
    if (ready_fd > 3)
        vgpu_close_range(3, (unsigned)ready_fd - 1);
    vgpu_close_range(ready_fd < 3 ? 3 : (unsigned)ready_fd + 1, ~0u);
}

/* Every thread of every program and every exported allocation needs a descriptor, so the limit is
 * raised to its maximum. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

struct options {
    const char *id;
    int foreground, usage_fd; /* usage_fd 0: not given */
};

static void print_usage(FILE *to)
{
    fputs("usage: vgpu-node --id ID [--ready-fd N] [--usage-fd N] [--foreground]\n"
          "The driver and the hardware of a virtual multi-GPU node. Programs start it themselves.\n"
          "  --id ID        the node's name; programs with VGPU_NODE_ID=ID use it\n"
          "  --ready-fd N   write \"ok\" or an error message to descriptor N when listening\n"
          "  --usage-fd N   count the requests of programs in this memory file\n"
          "  --foreground   do not detach\n"
          "environment: VGPU_NODE=NAME or PATH of a node description (default hgx-h200-4),\n"
          "  VGPU_FAULT=WORDS  faults to inject, such as alloc:3,link:0-1=0.1\n"
          "  VGPU_SCHEDULE=SEED  blocks, lanes and unordered operations in another order\n"
          "  VGPU_SCHEDULE=weak[:SEED]  the same, and kernels load older values, as PTX allows\n"
          "  VGPU_FORM=careful  run each thread of a kernel by itself (default: fast if possible)\n"
          "  VGPU_MEMORY_LIMIT=2G  how much of this computer's memory it may use (default: half)\n",
          to);
}

static int parse_options(int argc, char **argv, struct options *o)
{
    uint64_t descriptor;
    static const struct option known[] = {
        {"id", required_argument, NULL, 'i'},       {"ready-fd", required_argument, NULL, 'r'},
        {"usage-fd", required_argument, NULL, 'u'}, {"foreground", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},           {0}};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;)
        switch (c) {
        case 'i':
            o->id = optarg;
            break;
        case 'r':
            if (!vgpu_number(optarg, 0, INT_MAX, &descriptor))
                return -1;
            ready_fd = (int)descriptor;
            break;
        case 'u':
            if (!vgpu_number(optarg, 3, INT_MAX, &descriptor))
                return -1;
            o->usage_fd = (int)descriptor;
            break;
        case 'f':
            o->foreground = 1;
            break;
        case 'h':
            print_usage(stdout);
            exit(0);
        default:
            return -1;
        }
    return o->id ? 0 : -1;
}

/* Enters the jail: from here on the node has only what it has opened so far (jail.h). */
static bool enter_jail(const char *socket_path, char *error, size_t room)
{
    if (!jail_prepare(error, room))
        return false;
    if (!spawner_leave(socket_path)) {
        snprintf(error, room, "cannot make the process that starts contexts: %s", strerror(errno));
        return false;
    }
    return jail_close(error, room);
}

int main(int argc, char **argv)
{
    struct options o = {0};
    char error[512], socket_path[128], exec_path[4096];
    /* A large structure is mapped, so that its pages do not exist until they are used: calloc
     * clears what it takes from the heap. Most connections that a sandbox makes are never used. */
    mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    if (parse_options(argc, argv, &o) != 0) {
        print_usage(stderr);
        return 2;
    }
    if (o.usage_fd && !usage_start(o.usage_fd))
        return refuse_start("cannot map the page of --usage-fd", strerror(errno));
    if (sysconf(_SC_PAGESIZE) != PAGE_BYTES)
        return refuse_pages(sysconf(_SC_PAGESIZE));
    close_inherited();
    raise_descriptor_limit();
    signal(SIGPIPE, SIG_IGN);
    if (jail_wanted() || !getenv("VGPU_DEBUGGER")) /* it could not follow us into contexts */
        prctl(PR_SET_DUMPABLE, 0);
    own_folder(exec_path, sizeof exec_path - 16);
    strcat(exec_path, "/vgpu-exec");
    if (load_node(error, sizeof error) != 0)
        return refuse_start("cannot make the node", error);
    if (!known_images_read(error, sizeof error))
        return refuse_start("cannot start", error);
    int info = publish_info();
    if (info < 0)
        return refuse_start("cannot publish the node's description", strerror(errno));
    if (!o.foreground)
        detach_process();
    prctl(PR_SET_PDEATHSIG, 0); /* it ends after its last client, and removes its socket */
    int listener = listen_at(o.id, socket_path, sizeof socket_path, error, sizeof error);
    if (listener < 0)
        return refuse_start("cannot start", error);
    context_start(exec_path, usable_cpus());
    if (!node_start(&topology, info, pin_to_cpu()))
        return refuse_start("cannot make the rooms of the node", strerror(errno));
    if (jail_wanted() && !enter_jail(socket_path, error, sizeof error))
        return refuse_start("cannot start", error);
    report_ready("ok\n");
    server_loop(listener);
    sim_report_cost(server_state.sim);
    /* Programs that connect from now on start the next node, and those that have just connected are
     * refused before their hello and do the same. In a jail the helper process removes the socket.
     */
    if (!jail_wanted())
        unlink(socket_path);
    return 0;
}
