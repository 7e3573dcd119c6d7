/* SPDX-License-Identifier: MIT
 * box.c: bwrap's command line: new namespaces for each run, and in them only the paths that the
 * policy names.
 *
 * The options are passed through a descriptor: /proc/1/cmdline inside shows bwrap's arguments.
 * bwrap gets the program's environment for the same reason.
 */
#include "jail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void write_words(FILE *to, const char *first, const char *second, const char *third)
{
    const char *const all[] = {first, second, third};
    for (int i = 0; i < 3 && all[i]; i++)
        fwrite(all[i], 1, strlen(all[i]) + 1, to);
}

static void write_number(FILE *to, const char *option, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    write_words(to, option, text, NULL);
}

/* /bin is a link to /usr/bin on most distributions, a folder on others. */
static void system_folder(FILE *to, const char *path)
{
    char target[256];
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n < 0) {
        write_words(to, "--ro-bind-try", path, path);
        return;
    }
    target[n] = '\0';
    write_words(to, "--symlink", target, path);
}

static void write_temporary(FILE *to, const struct jail_policy *policy, const char *path)
{
    if (policy->can_size && policy->temporary_bytes)
        write_number(to, "--size", policy->temporary_bytes);
    write_words(to, "--tmpfs", path, NULL);
}

static void write_namespaces(FILE *to, const struct jail_policy *policy)
{
    write_words(to, "--unshare-all", "--unshare-user", "--die-with-parent");
    write_words(to, "--new-session", "--cap-drop", "ALL");
    if (policy->can_disable_userns)
        write_words(to, "--disable-userns", NULL, NULL);
}

static void write_files(FILE *to, const struct jail_policy *policy, const char *self)
{
    static const char *const folders[] = {"/bin", "/sbin", "/lib", "/lib64"};
    write_words(to, "--ro-bind", "/usr", "/usr");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        system_folder(to, folders[i]);
    write_words(to, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache");
    write_words(to, "--ro-bind-try", "/etc/alternatives", "/etc/alternatives");
    write_words(to, "--proc", "/proc", NULL);
    write_words(to, "--dev", "/dev", NULL);
    write_temporary(to, policy, "/tmp");
    write_temporary(to, policy, "/dev/shm");
    for (int i = 0; i < policy->path_count; i++)
        write_words(to, policy->paths[i].writable ? "--bind" : "--ro-bind", policy->paths[i].path,
                    policy->paths[i].path);
    write_words(to, "--ro-bind", self, self);
    write_words(to, "--remount-ro", "/", NULL);
    write_words(to, "--chdir", policy->folder, NULL);
}

static int write_options(const struct jail_policy *policy, const char *self, int filter)
{
    int fd = memfd_create("lab-box", 0);
    FILE *to = fd < 0 ? NULL : fdopen(dup(fd), "w");
    if (!to)
        jail_broken(policy, "memory for bwrap's options");
    write_namespaces(to, policy);
    write_files(to, policy, self);
    write_number(to, "--seccomp", (uint64_t)filter);
    if (policy->report >= 0)
        write_number(to, "--json-status-fd", (uint64_t)policy->report);
    if (fclose(to) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        jail_broken(policy, "memory for bwrap's options");
    return fd;
}

void jail_box(const struct jail_policy *policy, char *const program[])
{
    char self[4096], args[16], processes[32], keep[16];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        jail_broken(policy, "/proc/self/exe");
    self[n] = '\0';
    int filter = jail_filter_file(policy);
    snprintf(args, sizeof args, "%d", write_options(policy, self, filter));
    snprintf(processes, sizeof processes, "%llu", (unsigned long long)policy->processes);
    snprintf(keep, sizeof keep, "%d", policy->keep);
    const char *argv[JAIL_WORDS_MAX] = {"bwrap", "--args",   args,      "--",
                                        self,    "--inside", processes, keep};
    for (int i = 0; program[i]; i++) {
        if (i + 10 > JAIL_WORDS_MAX)
            jail_broken(policy, "too many words");
        argv[8 + i] = program[i];
    }
    execve(policy->bwrap, (char *const *)argv, policy->environment);
    jail_broken(policy, policy->bwrap);
}
