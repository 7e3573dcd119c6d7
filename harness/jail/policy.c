/* SPDX-License-Identifier: MIT
 * policy.c: reads a policy: one rule per line, a key and, after one blank, its value.
 *
 *     tier bubblewrap            or landlock, or bare: in place without rules for files
 *     bwrap /usr/bin/bwrap       with `bwrap-can size`, `bwrap-can disable-userns`
 *     uid 20003                  when started by root
 *     cgroup /sys/fs/cgroup/...  joined before anything else
 *     read PATH, write PATH      files or folders that the program sees; it sees no others
 *     folder PATH                working directory
 *     pass NAME                  variables of the caller's environment (NAME* for a prefix)
 *     set NAME=VALUE             overrides `pass`
 *     cpu-seconds, data-bytes, file-bytes, temporary-bytes, processes, descriptors NUMBER
 *     keep 6                     descriptors 0 to 5 are the program's
 *     report 6                   descriptor for the errors of lab-jail
 *     clocks 1                   it may read other processes' CPU time
 *     files 0                    it may create no memory files and no socket pairs
 *     queue 1                    a connection to the virtual node, on descriptor `keep`
 */
#include "jail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void refuse_value(const struct jail_policy *policy, const char *key, const char *value)
{
    char text[512];
    snprintf(text, sizeof text, "the policy's rule '%s %s' is not understood", key, value);
    errno = 0;
    jail_broken(policy, text);
}

static uint64_t number_value(const struct jail_policy *policy, const char *key, const char *value)
{
    char *end;
    errno = 0;
    uint64_t n = strtoull(value, &end, 10);
    if (errno || end == value || *end || *value == '-')
        refuse_value(policy, key, value);
    return n;
}

/* ---- the environment ---- */

static void put_path(struct jail_policy *policy, char *text)
{
    size_t name = strcspn(text, "=") + 1;
    for (int i = 0; i < policy->environment_count; i++)
        if (strncmp(policy->environment[i], text, name) == 0) {
            policy->environment[i] = text;
            return;
        }
    if (policy->environment_count == JAIL_WORDS_MAX - 1)
        refuse_value(policy, "set", text);
    policy->environment[policy->environment_count++] = text;
}

static void pass_variable(struct jail_policy *policy, const char *name)
{
    size_t length = strlen(name);
    bool prefix = length > 0 && name[length - 1] == '*';
    for (char **e = environ; *e; e++)
        if (prefix ? strncmp(*e, name, length - 1) == 0
                   : strncmp(*e, name, length) == 0 && (*e)[length] == '=')
            put_path(policy, *e);
}

/* ---- rules ---- */

static void add_path(struct jail_policy *policy, const char *key, const char *value, bool writable)
{
    if (value[0] != '/' || policy->path_count == JAIL_PATHS_MAX)
        refuse_value(policy, key, value);
    policy->paths[policy->path_count++] = (struct jail_path){value, writable};
}

static bool word_rule(struct jail_policy *policy, const char *key, char *value)
{
    if (strcmp(key, "tier") == 0 && strcmp(value, "bubblewrap") == 0)
        policy->bubblewrap = true;
    else if (strcmp(key, "tier") == 0 && strcmp(value, "landlock") == 0)
        policy->bubblewrap = false;
    else if (strcmp(key, "tier") == 0 && strcmp(value, "bare") == 0)
        policy->bare = true;
    else if (strcmp(key, "bwrap") == 0 && value[0] == '/')
        policy->bwrap = value;
    else if (strcmp(key, "bwrap-can") == 0 && strcmp(value, "size") == 0)
        policy->can_size = true;
    else if (strcmp(key, "bwrap-can") == 0 && strcmp(value, "disable-userns") == 0)
        policy->can_disable_userns = true;
    else if (strcmp(key, "read") == 0 || strcmp(key, "write") == 0)
        add_path(policy, key, value, key[0] == 'w');
    else if (strcmp(key, "folder") == 0 && value[0] == '/')
        policy->folder = value;
    else if (strcmp(key, "cgroup") == 0 && value[0] == '/' && policy->cgroup_count < 4)
        policy->cgroups[policy->cgroup_count++] = value;
    else if (strcmp(key, "set") == 0 && strchr(value, '='))
        put_path(policy, value);
    else if (strcmp(key, "pass") == 0)
        pass_variable(policy, value);
    else
        return false;
    return true;
}

static bool number_rule(struct jail_policy *policy, const char *key, const char *value)
{
    const struct {
        const char *key;
        uint64_t *to;
    } big[] = {
        {"cpu-seconds", &policy->cpu_seconds}, {"data-bytes", &policy->data_bytes},
        {"file-bytes", &policy->file_bytes},   {"temporary-bytes", &policy->temporary_bytes},
        {"processes", &policy->processes},     {"descriptors", &policy->descriptors},
    };
    for (size_t i = 0; i < sizeof big / sizeof *big; i++)
        if (strcmp(key, big[i].key) == 0) {
            *big[i].to = number_value(policy, key, value);
            return true;
        }
    const struct {
        const char *key;
        int *to;
        uint64_t most;
    } small[] = {{"keep", &policy->keep, 16},
                 {"report", &policy->report, 1 << 20}, /* a grader may have many descriptors open */
                 {"clocks", &policy->clocks, 1},
                 {"files", &policy->files, 1},
                 {"queue", &policy->queue, 1}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (strcmp(key, small[i].key) == 0) {
            uint64_t n = number_value(policy, key, value);
            if (n > small[i].most)
                refuse_value(policy, key, value);
            *small[i].to = (int)n;
            return true;
        }
    if (strcmp(key, "uid") != 0)
        return false;
    policy->uid = (uid_t)number_value(policy, key, value);
    return true;
}

static void check_policy(const struct jail_policy *policy)
{
    errno = 0;
    if (policy->bubblewrap && !policy->bwrap)
        jail_broken(policy, "the policy names bubblewrap without its path");
    if (policy->uid == 0 && geteuid() == 0)
        jail_broken(policy, "started as root, and the policy names no other uid");
    if (!policy->processes || !policy->file_bytes || !policy->descriptors || !policy->cpu_seconds)
        jail_broken(policy, "the policy has no limits");
}

void jail_read_policy(const char *path, struct jail_policy *policy)
{
    *policy = (struct jail_policy){.folder = "/", .keep = 3, .report = -1, .files = 1};
    FILE *file = fopen(path, "re");
    if (!file)
        jail_broken(policy, path);
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; (n = getline(&line, &room, file)) > 0; line = NULL) {
        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        char *blank = strchr(line, ' ');
        if (!blank)
            refuse_value(policy, line, "");
        *blank = '\0';
        if (!word_rule(policy, line, blank + 1) && !number_rule(policy, line, blank + 1))
            refuse_value(policy, line, blank + 1);
    }
    fclose(file);
    check_policy(policy);
}
