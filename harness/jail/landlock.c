/* SPDX-License-Identifier: MIT
 * landlock.c: the files that a process in place can open, and the processes that it may signal; in
 * a box, it restricts /proc to listing names.
 *
 * Constants and structs of the kernel are defined here: Debian 12's headers have version 1 only.
 * The version that the kernel supports is queried (version 6, Linux 6.12, can confine signals).
 */
#include "jail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, VERSION = 1, PATH_BENEATH = 1 };
enum { SCOPE_VERSION = 6, SCOPE_ABSTRACT_SOCKETS = 1, SCOPE_SIGNALS = 2 };

#define EXECUTE (1ull << 0)
#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)
#define TRUNCATE (1ull << 14)
#define ALL_OF_VERSION_1 ((1ull << 13) - 1)

struct ruleset {
    uint64_t files, network, scoped;
};

struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

static uint64_t handled_rights(int version)
{
    uint64_t files = ALL_OF_VERSION_1;
    files |= version >= 2 ? 1ull << 13 : 0; /* hard links and renames between folders */
    files |= version >= 3 ? TRUNCATE : 0;
    files |= version >= 5 ? 1ull << 15 : 0; /* ioctl on devices */
    return files;
}

static void allow_path(const struct jail_policy *policy, int rules, const char *path, uint64_t what)
{
    const uint64_t of_files = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | 1ull << 15;
    struct stat info;
    struct beneath rule = {what, open(path, O_PATH | O_CLOEXEC)};
    if (rule.parent < 0 && errno == ENOENT)
        return;
    if (rule.parent < 0 || fstat(rule.parent, &info) != 0)
        jail_broken(policy, path);
    if (!S_ISDIR(info.st_mode))
        rule.allowed &= of_files;
    if (syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0) != 0)
        jail_broken(policy, path);
    close(rule.parent);
}

static void allow_system(const struct jail_policy *policy, int rules, uint64_t read)
{
    static const char *const programs[] = {
        "/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/alternatives"};
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                          "/dev/urandom"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        allow_path(policy, rules, programs[i], read);
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        allow_path(policy, rules, devices[i], READ_FILE | WRITE_FILE);
    allow_path(policy, rules, "/proc", READ_DIR); /* a process may count its own descriptors */
}

bool jail_landlock(const struct jail_policy *policy)
{
    long version = syscall(CREATE_RULESET, NULL, 0, VERSION);
    if (version < 1)
        jail_broken(policy, "Landlock is not in this kernel (5.13 or newer, switched on)");
    struct ruleset set = {.files = handled_rights((int)version)};
    if (version >= SCOPE_VERSION)
        set.scoped = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS;
    size_t bytes = version >= SCOPE_VERSION ? sizeof set : sizeof set.files;
    int rules = (int)syscall(CREATE_RULESET, &set, bytes, 0);
    if (rules < 0)
        jail_broken(policy, "landlock_create_ruleset");
    const uint64_t read = (EXECUTE | READ_FILE | READ_DIR) & set.files;
    allow_system(policy, rules, read);
    for (int i = 0; i < policy->path_count; i++)
        allow_path(policy, rules, policy->paths[i].path,
                   policy->paths[i].writable ? set.files : read);
    if (syscall(RESTRICT_SELF, rules, 0) != 0)
        jail_broken(policy, "landlock_restrict_self");
    close(rules);
    return set.scoped != 0;
}

/* The root is bwrap's, so everything in it is allowed except files below /proc, which describe the
 * whole machine. */
static void allow_box(int rules, uint64_t files)
{
    const struct jail_policy nobody = {.report = -1};
    DIR *root = opendir("/");
    allow_path(&nobody, rules, "/", READ_DIR);
    for (struct dirent *e; root && (e = readdir(root));) {
        char path[300];
        snprintf(path, sizeof path, "/%s", e->d_name);
        if (e->d_name[0] != '.' && strcmp(e->d_name, "proc") != 0 && e->d_type != DT_LNK)
            allow_path(&nobody, rules, path, files);
    }
    if (root)
        closedir(root);
}

void jail_hide_numbers(void)
{
    const struct jail_policy nobody = {.report = -1};
    long version = syscall(CREATE_RULESET, NULL, 0, VERSION);
    const struct ruleset set = {.files = handled_rights((int)version)};
    int rules = version < 1 ? -1 : (int)syscall(CREATE_RULESET, &set, sizeof set.files, 0);
    if (rules < 0)
        return;
    allow_box(rules, set.files);
    if (syscall(RESTRICT_SELF, rules, 0) != 0)
        jail_broken(&nobody, "landlock_restrict_self");
    close(rules);
}
