/* SPDX-License-Identifier: MIT
 * jail.h: lab-jail, the program that starts every program of a submission.
 *
 *     lab-jail [--supervise] POLICY PROGRAM ARGUMENT...
 *
 * POLICY is a file that the grader wrote (policy.c documents it). There are two ways:
 *
 *     bubblewrap   execs bwrap: its own user, mount, PID, network and IPC namespaces; inside them
 *                  lab-jail once more, for what can only be set there
 *     landlock     in place: another uid if started as root, Landlock, seccomp, limits; keeps the
 *                  PID, as vgpu-node requires of vgpu-exec
 *
 *     main.c      the order of the steps;  broken.c  the end if a step fails
 *     policy.c    reading the policy
 *     filter.c    the seccomp filter;  landlock.c  the file rules;  limits.c  limits and the uid
 *     box.c       bwrap's command line
 *     queue.c     connections to the node, made before sockets are forbidden
 *     supervise.c waits outside the sandbox, and ends processes that the program leaves behind
 *
 * Until PROGRAM starts, only trusted code runs. If a step fails, lab-jail exits with status 125
 * after a message on the report descriptor: our failure, never the student's.
 */
#ifndef LAB_JAIL_H
#define LAB_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JAIL_PATHS_MAX 256
#define JAIL_WORDS_MAX 1024
#define JAIL_BROKEN 125

struct jail_path {
    const char *path;
    bool writable;
};

struct jail_policy {
    bool bubblewrap;   /* else in place */
    bool bare;         /* in place without Landlock */
    const char *bwrap; /* path of bwrap; features of its version: */
    bool can_size, can_disable_userns;
    uid_t uid;          /* 0: unchanged */
    const char *folder; /* working directory */
    struct jail_path paths[JAIL_PATHS_MAX];
    int path_count;
    const char *cgroups[4]; /* folders with a cgroup.procs to join */
    int cgroup_count;
    char *environment[JAIL_WORDS_MAX]; /* complete when the policy was read; ends with NULL */
    int environment_count;
    uint64_t cpu_seconds, data_bytes, file_bytes, temporary_bytes;
    uint64_t processes, descriptors;
    int keep;   /* descriptors 0 .. keep-1 are the program's */
    int report; /* descriptor for our own errors, -1: stderr only */
    int clocks; /* 1: may read other processes' CPU time */
    int files;  /* 0: may create no memory files and no socket pairs */
    int queue;  /* a connection to the node on descriptor `keep`, which hands out others; 0: none */
};

/* Ends lab-jail with "WHAT: errno's text" on the report descriptor or stderr. */
void jail_broken(const struct jail_policy *policy, const char *what) __attribute__((noreturn));

/* Reads the policy and builds the environment from it and `environ`. Ends lab-jail on a rule that
 * it does not understand: a rule left out would be a hole. */
void jail_read_policy(const char *path, struct jail_policy *policy);

/* If root and permitted: a private mount namespace without access times, by which other submissions
 * could see who read a file. */
void jail_own_mounts(void);
/* In bwrap's root, where all files may be read: forbids reading files below /proc, which show the
 * activity of others. Does nothing if the kernel has no Landlock. */
void jail_hide_numbers(void);

/* ---- steps; each ends lab-jail when it cannot be done ---- */

void jail_join_cgroups(const struct jail_policy *policy);
void jail_offer_to_oom(const struct jail_policy *policy);
/* Connects to the node of VGPU_NODE_ID and leaves the connection on descriptor keep. */
void jail_queue_node(struct jail_policy *policy);
/* From root to the policy's uid, for good. Nothing when it is 0. */
void jail_become(const struct jail_policy *policy);
void jail_limit(const struct jail_policy *policy);
/* RLIMIT_NPROC. alone: nothing else here uses the uid, so the limit can be the plain count. */
void jail_limit_processes(uint64_t processes, bool alone);
/* Restricts file access to the policy's paths, and signals to the sandbox if the kernel can;
 * returns whether it could. */
bool jail_landlock(const struct jail_policy *policy);

/* What other means enforce already, so that the filter has no rule for it: signals reach no process
 * outside; files of others cannot be changed (or some must be: the run writes somewhere). clocks:
 * the program must read other processes' CPU time, as vgpu-exec does of its worker processes.
 * files: it may create no memory files and no socket pairs, since files in transit through sockets
 * cannot be counted. */
struct jail_walls {
    bool signals, changes, clocks, files;
};
void jail_filter_self(const struct jail_policy *policy, const struct jail_walls *walls);
/* The same filter as a file, for bwrap's --seccomp. */
int jail_filter_file(const struct jail_policy *policy);

/* Runs `words` as lab-jail's own arguments, waits, and ends everything that is left of it. Returns
 * its status, 128 + N after signal N. SIGTERM ends it early. */
int jail_supervise(char *words[]);

/* Execs bwrap. */
void jail_box(const struct jail_policy *policy, char *const words[]) __attribute__((noreturn));

#endif
