/* SPDX-License-Identifier: MIT
 * processes.c: CPU time and memory of a node and its contexts, from /proc.
 */
#include "bench.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 512 };

static size_t read_file(int pid, const char *name, char *text, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    FILE *file = fopen(path, "re");
    size_t got = file ? fread(text, 1, room - 1, file) : 0;
    if (file)
        fclose(file);
    text[got] = '\0';
    return got;
}

/* Whether the process is `vgpu-node --id ID ...`. */
static int is_node(int pid, const char *id)
{
    char line[4096];
    size_t got = read_file(pid, "cmdline", line, sizeof line);
    const char *end = line + got, *option = line + strlen(line) + 1;
    if (!strstr(line, "vgpu-node") || option >= end || strcmp(option, "--id") != 0)
        return 0;
    const char *value = option + strlen(option) + 1;
    return value < end && strcmp(value, id) == 0;
}

static int parent_of(int pid)
{
    char line[512];
    int parent = 0;
    read_file(pid, "stat", line, sizeof line);
    const char *end = strrchr(line, ')');
    if (end)
        sscanf(end + 1, " %*c %d", &parent);
    return parent;
}

/* Adds the children of pid[first] to pid[end - 1]; returns the new end. */
static int list_children(int *pid, int first, int end)
{
    int count = end;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && count < MOST && (e = readdir(proc));) {
        int at = atoi(e->d_name), parent = at ? parent_of(at) : 0;
        for (int i = first; i < end && count < MOST; i++)
            if (parent && pid[i] == parent)
                pid[count++] = at;
    }
    if (proc)
        closedir(proc);
    return count;
}

/* The node, its contexts, and their worker processes. */
static int list(const char *id, int *pid)
{
    int count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && !count && (e = readdir(proc));)
        if (atoi(e->d_name) && is_node(atoi(e->d_name), id))
            pid[count++] = atoi(e->d_name);
    if (proc)
        closedir(proc);
    int contexts = list_children(pid, 0, count);
    return list_children(pid, count, contexts);
}

/* CPU time of children that a process has waited for: worker processes that have ended. In steps of
 * 10 ms. */
static double children_seconds(int pid)
{
    char line[512];
    unsigned long user = 0, system = 0;
    read_file(pid, "stat", line, sizeof line);
    const char *end = strrchr(line, ')');
    if (end)
        sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu", &user,
               &system);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

double node_cpu_seconds(const char *id)
{
    int pid[MOST], count = list(id, pid);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        clockid_t clock;
        struct timespec t;
        if (clock_getcpuclockid(pid[i], &clock) == 0 && clock_gettime(clock, &t) == 0)
            sum += (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
        sum += children_seconds(pid[i]);
    }
    return sum;
}

static double megabytes(int pid)
{
    char text[8192];
    long kilobytes = 0, pages = 0;
    read_file(pid, "smaps_rollup", text, sizeof text);
    const char *pss = strstr(text, "\nPss:");
    if (pss && sscanf(pss, "\nPss: %ld", &kilobytes) == 1)
        return (double)kilobytes / 1024;
    read_file(pid, "statm", text, sizeof text);
    sscanf(text, "%*d %ld", &pages);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

double node_megabytes(const char *id)
{
    int pid[MOST], count = list(id, pid);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += megabytes(pid[i]);
    return sum;
}
