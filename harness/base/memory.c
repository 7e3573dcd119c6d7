/* SPDX-License-Identifier: MIT
 * memory.c: how much memory a submission uses, where no control group counts it.
 *
 * For each process: resident and swapped-out memory, and its page tables, which grow even if none
 * of the pages is present. In addition memory that belongs to no process: memory files (memfd) that
 * are only open, and sockets, each counted with the most that it may hold (the seccomp filter
 * forbids enlarging it). For the processes that run kernels (contexts) GPU memory does not count,
 * since the node limits it; their other memory does.
 *
 * After fork parent and child share pages, and RSS counts these in both. So if the sum is above the
 * limit, it is computed again from each process's proportional share (PSS). Files in transit
 * through a socket appear in no process: RLIMIT_FSIZE and the limit on descriptors bound them.
 */
#include "process.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 8192

static ino_t seen[FILES_MAX]; /* inodes, so that a file counts once */
static int seen_count;

static bool is_new(ino_t inode)
{
    for (int i = 0; i < seen_count; i++)
        if (seen[i] == inode)
            return false;
    if (seen_count < FILES_MAX)
        seen[seen_count++] = inode;
    return true;
}

/* The most bytes that a socket may buffer for sending. */
static uint64_t socket_bytes(void)
{
    static uint64_t bytes;
    FILE *file = bytes ? NULL : fopen("/proc/sys/net/core/wmem_default", "re");
    if (!bytes && (!file || fscanf(file, "%" SCNu64, &bytes) != 1))
        bytes = 212992;
    if (file)
        fclose(file);
    return bytes;
}

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static uint64_t of_descriptor(const char *path)
{
    char target[64] = "";
    struct stat info;
    if (readlink(path, target, sizeof target - 1) < 0)
        return 0;
    const bool file = begins_with(target, "/memfd:"), socket = begins_with(target, "socket:[");
    if (!(file || socket) || stat(path, &info) != 0 || !is_new(info.st_ino))
        return 0;
    return socket ? socket_bytes() : (uint64_t)info.st_blocks * 512;
}

static uint64_t of_process(pid_t pid)
{
    char folder[64], path[400];
    uint64_t bytes = 0;
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
    DIR *all = opendir(folder);
    for (struct dirent *e; all && (e = readdir(all));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (isdigit((unsigned char)e->d_name[0]))
            bytes += of_descriptor(path);
    }
    if (all)
        closedir(all);
    return bytes;
}

static uint64_t of_files(const pid_t *processes, int count)
{
    uint64_t bytes = 0;
    seen_count = 0;
    for (int i = 0; i < count; i++)
        bytes += of_process(processes[i]);
    return bytes;
}

/* Memory files that the node holds for its GPUs. Only root may inspect a node in a jail; otherwise
 * the limit is returned. */
static uint64_t of_gpus(pid_t node, uint64_t limit)
{
    char path[64];
    if (!node)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)node);
    return access(path, R_OK) == 0 ? of_files(&node, 1) : limit;
}

/* ---- of processes ---- */

struct held {
    uint64_t own, shared; /* bytes; own: includes page tables and swap */
};

static uint64_t status_field(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) << 10 : 0;
}

static bool read_proc_text(pid_t pid, const char *name, char *text, size_t room)
{
    char path[64];
    size_t length = 0;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n = fd < 0 ? 0 : 1; n > 0 && length + 1 < room; length += n > 0 ? (size_t)n : 0)
        n = read(fd, text + length, room - 1 - length);
    text[length] = 0;
    if (fd >= 0)
        close(fd);
    return length > 0;
}

/* exact: the proportional share (PSS) of shared pages if the kernel permits reading it; else
 * RSS. */
static struct held held_by(pid_t pid, bool exact)
{
    char text[8192], parts[8192];
    struct held held = {0, 0};
    if (!read_proc_text(pid, "status", text, sizeof text))
        return held;
    held.own = status_field(text, "\nVmPTE:") + status_field(text, "\nVmSwap:");
    if (exact && read_proc_text(pid, "smaps_rollup", parts, sizeof parts)) {
        held.own += status_field(parts, "\nPss_Anon:") + status_field(parts, "\nPss_File:");
        held.shared = status_field(parts, "\nPss_Shmem:");
        return held;
    }
    held.own += status_field(text, "\nRssAnon:") + status_field(text, "\nRssFile:");
    held.shared = status_field(text, "\nRssShmem:");
    return held;
}

static struct held held_by_all(const pid_t *processes, int count, bool exact)
{
    struct held all = {0, 0};
    for (int i = 0; i < count; i++) {
        struct held one = held_by(processes[i], exact);
        all.own += one.own;
        all.shared += one.shared;
    }
    return all;
}

/* Contexts have no memory files: their filter forbids them (harness/jail/filter.c). */
static uint64_t measure_family(const struct lab_family *f, uint64_t limit, bool exact)
{
    struct held runners = held_by_all(f->runners, f->runner_count, exact);
    struct held contexts = held_by_all(f->contexts, f->context_count, exact);
    uint64_t gpus = of_gpus(f->node, limit);
    uint64_t besides = contexts.shared > gpus ? contexts.shared - gpus : 0;
    return runners.own + runners.shared + of_files(f->runners, f->runner_count) + contexts.own +
           besides;
}

uint64_t lab__memory(const struct lab_family *family, uint64_t limit)
{
    uint64_t most = measure_family(family, limit, false);
    return most <= limit ? most : measure_family(family, limit, true);
}
