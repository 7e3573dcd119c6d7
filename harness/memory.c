/* SPDX-License-Identifier: MIT
 * memory.c: memory that belongs to no process: files that lie in memory and are only open.
 *
 * No limit of a process counts them, and no resident size. Where a control group does, this is not
 * needed; elsewhere a program that writes memory files until the computer has nothing left is found
 * by looking at what it has open.
 */
#define _GNU_SOURCE
#include "verifier.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX 8192

static ino_t seen[FILES_MAX]; /* a file counts once, however many have it open */
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

static uint64_t of_descriptor(const char *path)
{
    static const char memory_file[] = "/memfd:";
    char target[64];
    struct stat info;
    ssize_t n = readlink(path, target, sizeof target);
    if (n < (ssize_t)sizeof memory_file ||
        strncmp(target, memory_file, sizeof memory_file - 1) != 0)
        return 0;
    return stat(path, &info) == 0 && is_new(info.st_ino) ? (uint64_t)info.st_blocks * 512 : 0;
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

uint64_t lab__memory_files(const pid_t *processes, int count)
{
    uint64_t bytes = 0;
    seen_count = 0;
    for (int i = 0; i < count; i++)
        bytes += of_process(processes[i]);
    return bytes;
}
