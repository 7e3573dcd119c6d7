/* SPDX-License-Identifier: MIT
 * numbers.c: what counts as a number wherever somebody may type one; how much memory there is by
 * default; the words of VGPU_FAULT.
 */
#include "number.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "inject.h"
#include "memory_limit.h"
#include "kernel_timeout.h"
#include "schedule.h"
#include "unit.h"

static const char *const wrong[] = {
    "",    " ",   "2 ",  " 2",  "2\n", "+2",  "-2",  "0x2",
    "2e3", "2.5", "2GB", "2 G", "G",   "2P",  "2g ", "two",
    "2,",  "2-",  "nan", "inf", "2\t", "2Gi", "1_0", "99999999999999999999999999"};

UNIT(sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } right[] = {{"0", 0},
                 {"65536", 65536},
                 {"007", 7},
                 {"64K", 64 << 10},
                 {"512M", 512ull << 20},
                 {"2G", 2ull << 30},
                 {"2g", 2ull << 30},
                 {"17179869183G", ~0ull - (1 << 30) + 1},
                 {"18446744073709551615", ~0ull}};
    for (unsigned i = 0; i < sizeof right / sizeof *right; i++) {
        uint64_t bytes = 1;
        EXPECT(vgpu_size(right[i].text, &bytes) && bytes == right[i].bytes, "%s is %llu",
               right[i].text, (unsigned long long)bytes);
    }
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint64_t bytes = 1;
        EXPECT(!vgpu_size(wrong[i], &bytes) && bytes == 1, "\"%s\" is %llu", wrong[i],
               (unsigned long long)bytes);
    }
    uint64_t bytes;
    EXPECT(!vgpu_size("17179869184G", &bytes) && !vgpu_size(NULL, &bytes), "2^64");
}

UNIT(plain_numbers)
{
    uint64_t n = 77;
    EXPECT(vgpu_number("30", 1, 86400, &n) && n == 30, "%llu", (unsigned long long)n);
    EXPECT(!vgpu_number("0", 1, 86400, &n) && !vgpu_number("86401", 1, 86400, &n), "range");
    EXPECT(!vgpu_number("18446744073709551616", 0, UINT64_MAX, &n), "2^64");
    EXPECT(!vgpu_number("2G", 0, UINT64_MAX, &n) && n == 30, "a unit");
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
        EXPECT(!vgpu_number(wrong[i], 0, UINT64_MAX, &n), "\"%s\" is a number", wrong[i]);
}

UNIT(decimals)
{
    double d = 0;
    const char *rest = vgpu_decimal_at("0.125=", &d);
    EXPECT(rest && *rest == '=' && fabs(d - 0.125) < 1e-12, "%g", d);
    EXPECT(!vgpu_decimal_at(".5", &d) && !vgpu_decimal_at("1.", &d), "half a number");
    EXPECT(!vgpu_decimal_at("inf", &d) && !vgpu_decimal_at("nan", &d), "no digits");
}

/* ---- who reads them ---- */

static bool limit_is(const char *text, uint64_t bytes)
{
    char error[200] = "";
    setenv("VGPU_MEMORY_LIMIT", text, 1);
    return memory_limit(error, sizeof error) == bytes && !*error == (bytes != 0);
}

UNIT(settings_take_nothing_else)
{
    char error[200];
    EXPECT(limit_is("2G", 2ull << 30) && limit_is("0", 0), "sizes");
    for (unsigned i = 1; i < sizeof wrong / sizeof *wrong; i++) { /* "" is: not set */
        setenv("VGPU_KERNEL_SECONDS", wrong[i], 1);
        setenv("VGPU_SCHEDULE", wrong[i], 1);
        EXPECT(limit_is(wrong[i], 0), "VGPU_MEMORY_LIMIT=\"%s\"", wrong[i]);
        EXPECT(!vgpu_kernel_seconds_are_right(error, sizeof error) && vgpu_kernel_seconds() == 30,
               "VGPU_KERNEL_SECONDS=\"%s\"", wrong[i]);
        EXPECT(!vgpu_schedule_is_right(error, sizeof error) && vgpu_schedule() == 0,
               "VGPU_SCHEDULE=\"%s\"", wrong[i]);
    }
}

/* seed 0: not taken */
static bool is_weak_with(const char *text, uint64_t seed)
{
    char error[200];
    setenv("VGPU_SCHEDULE", text, 1);
    return vgpu_schedule() == seed && vgpu_schedule_is_weak() == (seed != 0) &&
           vgpu_schedule_is_right(error, sizeof error) == (seed != 0);
}

UNIT(a_schedule_may_be_weak)
{
    EXPECT(is_weak_with("weak", 1) && is_weak_with("weak:7", 7), "%s", "weak, or weak:7");
    EXPECT(is_weak_with("weak:", 0) && is_weak_with("weak:0", 0) && is_weak_with("weak7", 0), "%s",
           "weak with something else");
    setenv("VGPU_SCHEDULE", "7", 1);
    EXPECT(!vgpu_schedule_is_weak() && vgpu_schedule() == 7, "%s", "a seed alone");
}

static bool injects(const char *text)
{
    char error[200];
    setenv("VGPU_FAULT", text, 1);
    return inject_start(4, error, sizeof error);
}

UNIT(words_of_vgpu_fault)
{
    static const char *const bad[] = {"alloc: 3",
                                      "alloc:3 ",
                                      "alloc:+3",
                                      "alloc:nan",
                                      "alloc:inf",
                                      "alloc:1e9",
                                      "alloc:",
                                      "call:=1",
                                      "call:cudaFree",
                                      "call:cudaFree=0",
                                      "peer-drop:0- 1",
                                      "peer-drop:0-4",
                                      "peer-drop:0-0",
                                      "link:0-1=",
                                      "link:0-1=-1",
                                      "copy-delay:0-1=inf",
                                      "gpu-lost:4294967296@op=1",
                                      "gpu-lost:1@op=0x2",
                                      "clock:1=.5",
                                      "granule:1=3",
                                      "copy-delay:0-1=18446744073709551615"};
    EXPECT(injects("alloc:3,event:2,peer-drop:0-1,link:0-1=0.1,copy-delay:0-1=50,gpu-lost:2@op=10,"
                   "granule:1=4,clock:1=0.1,peer-tear:3-2,peer-clip:2-3,call:cudaMemcpyAsync=2,"
                   "process-dies:9@call=2,link-damage:0-1=2,stale:1"),
           "the examples");
    EXPECT(injects("call:launch=1,call:sync=2"), "kinds of calls");
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT(!injects(bad[i]), "\"%s\"", bad[i]);
}

/* ---- control groups ---- */

static char root[] = "/tmp/vgpu-cgroup-XXXXXX";

static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s", root);
    for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
        snprintf(whole, sizeof whole, "%s%.*s", root, (int)(slash - path), path);
        mkdir(whole, 0700);
    }
    snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *file = fopen(whole, "w");
    EXPECT(file, "cannot write %s", whole);
    fputs(text, file);
    fclose(file);
}

static int drop(const char *path, const struct stat *status, int kind, struct FTW *at)
{
    (void)status, (void)kind, (void)at;
    return remove(path);
}

UNIT(limit_of_control_groups)
{
    EXPECT(mkdtemp(root), "no folder");
    uint64_t none = cgroup_memory_bytes(root);
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/sys/fs/cgroup/memory.max", "max\n");
    uint64_t open = cgroup_memory_bytes(root);
    put("/sys/fs/cgroup/a/b/memory.max", "3000000\n"); /* an ancestor's counts */
    put("/sys/fs/cgroup/a/b/c/memory.max", "5000000\n");
    uint64_t two = cgroup_memory_bytes(root);
    put("/proc/self/cgroup", "12:cpu,cpuacct:/x\n4:memory:/y\n0::/\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/y/memory.limit_in_bytes", "7000000\n");
    uint64_t one = cgroup_memory_bytes(root);
    put("/proc/self/cgroup", "0::/of/the/host\n"); /* and here it is the root */
    put("/sys/fs/cgroup/memory.max", "6000000\n");
    uint64_t inside = cgroup_memory_bytes(root), share = memory_available(root);
    put("/sys/fs/cgroup/memory.max", "9223372036854771712\n");
    uint64_t all = memory_available(root);
    nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
    EXPECT(none == UINT64_MAX && open == UINT64_MAX, "no limit is none");
    EXPECT(two == 3000000, "version 2: %llu", (unsigned long long)two);
    EXPECT(one == 7000000, "version 1: %llu", (unsigned long long)one);
    EXPECT(inside == 6000000, "in a container: %llu", (unsigned long long)inside);
    EXPECT(share == 6000000, "there are %llu", (unsigned long long)share);
    EXPECT(all == (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
           "without a limit there are %llu", (unsigned long long)all);
}
