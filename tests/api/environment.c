/* SPDX-License-Identifier: MIT
 * environment.c: what surrounds a program: no node to be had, other nodes, visibility on a real
 * node, many programs that start one node at once; and what the runtime must leave as it found it.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>

#include "expect.h"

static const char *test_id; /* the node's name that this test was given */

/* Runs `body` in a process of its own, with a node of its own. */
static pid_t begin(void (*body)(void), const char *node)
{
    char id[128];
    pid_t child = fork();
    if (child != 0)
        return child;
    snprintf(id, sizeof id, "%.80s-%s", test_id, node);
    setenv("VGPU_NODE_ID", id, 1);
    body();
    exit(0);
}

static void finish(pid_t child)
{
    int status;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT_IS(status, 0);
}

static void no_node_program(void)
{
    int n = -1, version = -1;
    setenv("VGPU_HOME", "/nonexistent", 1);
    EXPECT_IS(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
    EXPECT_IS(n, -1);
    EXPECT_IS(cudaDeviceSynchronize(), cudaErrorInsufficientDriver);
    EXPECT_IS(cudaGetLastError(), cudaErrorInsufficientDriver);
    OK(cudaDriverGetVersion(&version));
    EXPECT_IS(version, 0);
}

static void no_such_description(void)
{
    int n;
    setenv("VGPU_NODE", "no-such-node", 1);
    EXPECT_IS(cudaGetDeviceCount(&n), cudaErrorInsufficientDriver);
}

static void no_devices(void)
{
    int n = -1, version;
    setenv("VGPU_NODE", "none", 1);
    EXPECT_IS(cudaGetDeviceCount(&n), cudaErrorNoDevice);
    EXPECT_IS(n, -1);
    EXPECT_IS(cudaSetDevice(0), cudaErrorNoDevice);
    OK(cudaDriverGetVersion(&version));
    EXPECT_IS(version, 13000);
}

static void by_uuid(void)
{
    int n, device;
    char bus[32];
    setenv("CUDA_VISIBLE_DEVICES", "GPU-aed8,0", 1);
    OK(cudaGetDeviceCount(&n));
    EXPECT_IS(n, 2);
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    EXPECT_IS(strcmp(bus, "0000:3B:00.0"), 0);
    OK(cudaDeviceGetByPCIBusId(&device, "0000:19:00.0"));
    EXPECT_IS(device, 1);
    OK(cudaDeviceGetByPCIBusId(&device, "3b:00.0"));
    EXPECT_IS(device, 0);
    EXPECT_IS(cudaDeviceGetByPCIBusId(&device, "0000:5d:00.0"), cudaErrorInvalidDevice);
    EXPECT_IS(cudaDeviceGetByPCIBusId(&device, "gpu 0"), cudaErrorInvalidValue);
    EXPECT_IS(cudaDeviceGetPCIBusId(bus, 12, 0), cudaErrorInvalidValue);
}

/* Memory and peers are the physical device's, numbers the visible one's. */
static void numbers_are_visible_ones(void)
{
    void *p;
    struct cudaPointerAttributes a;
    setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&p, 64));
    OK(cudaPointerGetAttributes(&a, p));
    EXPECT_IS(a.device, 1);
    OK(cudaSetDevice(0));
    OK(cudaPointerGetAttributes(&a, p));
    EXPECT(a.device == 1 && a.devicePointer == NULL);
    OK(cudaDeviceEnablePeerAccess(1, 0));
    OK(cudaPointerGetAttributes(&a, p));
    EXPECT(a.devicePointer == p);
    OK(cudaDeviceDisablePeerAccess(1));
}

static void count_four(void)
{
    int n;
    OK(cudaGetDeviceCount(&n));
    EXPECT_IS(n, 4);
    OK(cudaDeviceSynchronize());
}

static void all_at_once(void)
{
    pid_t child[8];
    for (int i = 0; i < 8; i++)
        child[i] = begin(count_four, "crowd");
    for (int i = 0; i < 8; i++)
        finish(child[i]);
}

static void own_handler(int signal_number)
{
    (void)signal_number;
}

static void left_as_found(void)
{
    cpu_set_t before, after;
    struct sigaction mine = {.sa_handler = own_handler}, now;
    sigaction(SIGSEGV, &mine, NULL);
    EXPECT_IS(sched_getaffinity(0, sizeof before, &before), 0);
    count_four();
    EXPECT_IS(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT(CPU_EQUAL(&before, &after));
    sigaction(SIGSEGV, NULL, &now);
    EXPECT(now.sa_handler == own_handler);
}

/* A child forked before any call is a program of its own. */
static void fork_before_any_call(void)
{
    finish(begin(count_four, "family"));
    count_four();
}

int main(void)
{
    test_id = getenv("VGPU_NODE_ID");
    EXPECT(test_id);
    finish(begin(no_node_program, "nothing"));
    finish(begin(no_such_description, "unknown"));
    finish(begin(no_devices, "none"));
    finish(begin(by_uuid, "uuid"));
    finish(begin(numbers_are_visible_ones, "numbers"));
    all_at_once();
    finish(begin(left_as_found, "left"));
    finish(begin(fork_before_any_call, "family"));
    return 0;
}
